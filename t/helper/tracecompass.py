# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""tracecompass.py [--ctf2] ANALYSIS.xml TRACE - does what Trace Compass does with an analysis of ours, for a CTF trace.

Its rules, as its own code has them:
    A state system has an attribute for each path, and an attribute has intervals that follow one another. A state that is set
    ends the interval that is going on, unless it is the same; one that is set at the time at which that began takes its place.
    update="true" changes the value of the interval that is going on, back to its beginning. An attribute is null from the
    beginning of the trace until it is set. A path with a null in it is no path: nothing is done, and a warning goes to the log.
    Looking at an attribute makes it. An attribute keeps the type that it got first; another, or an array, ends the analysis.
    Values are compared as numbers if the left one is a number and the right one too, else as texts; null is the text "null".
    A text of the state system has no ISO control character (0x00-0x1f, 0x7f-0x9f) and at most 32767 bytes of UTF-8, or the analysis
    ends. So does one whose segment has a name that is not ASCII: its room is counted in characters. An attribute called * is called
    like its neighbour when the state system is read again.
    A string is read as Latin-1.
    A field's name loses its first underscore, as it does in babeltrace2. An enumeration is its label, and in CTF 2 (--ctf2) its number.
    Of the transitions of a pattern's state the first that holds is taken.

Prints one line of JSON for each row of a view and each segment, to be held against tracecompass-truth.py's; then what went
wrong or to the log. Fields that the analysis names and that no event of the trace has are wrong, too.
"""
import collections
import json
import re
import sys
import xml.etree.ElementTree as tree

import bt2


CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
TEXT_MAX = 32767
FOUND = {}


def find_all(e, tag):
    """The children, looked for once."""
    found = FOUND.get((e, tag))
    if found is None:
        found = FOUND[e, tag] = e.findall(tag)
    return found


def find(e, tag):
    found = find_all(e, tag)
    return found[0] if found else None


class Int(int):
    """A Java Integer; a plain int is a Long."""


class Ended(Exception):
    """The analysis ends, and what it has shows nothing of the rest."""


class StateSystem:
    def __init__(self, start):
        self.start, self.end = start, start
        self.ongoing = {}  # path: [value, since]
        self.types = {}
        self.past = collections.defaultdict(list)
        self.children = collections.defaultdict(list)

    def look(self, path):
        if path not in self.ongoing:
            if path[-1] == "*":
                raise Ended("an attribute is called *: %s" % (path,))
            if len(path) > 1:
                self.look(path[:-1])
            self.ongoing[path] = [None, self.start]
            self.children[path[:-1]].append(path)
        return self.ongoing[path]

    @staticmethod
    def check(path, value):
        if isinstance(value, list):
            raise Ended("StateValueTypeException at %s: %r" % ("/".join(path), value))
        if isinstance(value, str) and (CONTROL.search(value) or len(value.encode()) > TEXT_MAX):
            raise Ended("IllegalArgumentException at %s: %.99r" % ("/".join(path), value))

    def modify(self, ts, path, value):
        slot = self.look(path)
        self.check(path, value)
        if value is not None and self.types.setdefault(path, type(value)) is not type(value):
            raise Ended("StateValueTypeException at %s: %r" % ("/".join(path), value))
        if type(slot[0]) is type(value) and slot[0] == value:
            return
        if slot[1] < ts:
            self.past[path].append((slot[1], ts, slot[0]))
            slot[1] = ts
        slot[0] = value

    def update(self, path, value):
        self.check(path, value)
        self.look(path)[0] = value

    def intervals(self, path):
        """Those of one value that meet are one; none that are null or have no length; what goes on ends with the trace."""
        value, since = self.ongoing[path]
        out = []
        for a, b, v in self.past[path] + [(since, self.end, value)]:
            if out and out[-1][1:] == [a, v]:
                out[-1][1] = b
            elif v is not None and a < b:
                out.append([a, b, v])
        return out


def text(value):
    return "null" if value is None else "[J@" if isinstance(value, list) else str(value)


def compare(left, right):
    if isinstance(left, int) and isinstance(right, int):
        return (left > right) - (left < right)
    left, right = text(left), text(right)
    return (left > right) - (left < right)


OPERATORS = {"eq": lambda c: c == 0, "ne": lambda c: c != 0, "ge": lambda c: c >= 0, "gt": lambda c: c > 0,
             "le": lambda c: c <= 0, "lt": lambda c: c < 0}
CONSTANTS = {"null": lambda v: None, "int": Int, "long": int, "string": str}
FORCED = {"string": text, "long": int, "int": Int}


class Analysis:
    """A stateProvider or a pattern, over one state system."""

    def __init__(self, root, start):
        self.values = {v.get("name"): v.get("value") for v in root.findall("definedValue")}
        self.places = {p.get("id"): list(p) for p in root.findall("location")}
        self.handlers = root.findall("eventHandler")
        self.tests = {t.get("id"): t.find("if")[0] for t in root.findall("patternHandler/test")}
        self.actions = {a.get("id"): a for a in root.findall("patternHandler/action")}
        self.machines = []
        for fsm in root.findall("patternHandler/fsm"):
            # One scenario, which never ends: Trace Compass looks at every one that is going on for every event.
            assert fsm.get("multiple") == "false" and fsm.get("initial")
            states = {s.get("id"): s.findall("transition") for s in fsm.findall("state")}
            self.machines.append([states, fsm.get("initial")])
        self.ss = StateSystem(start)
        self.segments, self.warnings = [], collections.Counter()
        self.seen = collections.defaultdict(set)  # event: fields
        self.root, self.ts, self.name, self.event = root, start, None, None

    # --- values

    def field(self, name):
        return self.ts if name.lower() == "timestamp" and name not in self.event else self.event.get(name)

    def named(self, value):
        return self.values[value[1:]] if value and value.startswith("$") else value

    def path(self, attributes):
        """None: there is a null in it."""
        path = ()
        for a in attributes:
            kind, value = a.get("type"), self.named(a.get("value"))
            if kind == "location":
                part = self.path(self.places[value])
                if part is None:
                    return None
                path += part
                continue
            step = value if kind == "constant" else self.field(value) if kind == "eventField" else self.query(a)
            if step is None:
                self.warnings["a value is null: %s %s of %s" % (kind, value, self.name)] += 1
                return None
            path += (text(step),)
        return path

    def query(self, element):
        path = self.path(find_all(element, "stateAttribute"))
        return None if path is None else self.ss.look(path)[0]

    def value(self, e):
        kind, value = e.get("type"), self.named(e.get("value"))
        got = self.field(value) if kind == "eventField" else self.query(e) if kind == "query" else CONSTANTS[kind](value)
        return FORCED[e.get("forcedType")](got) if e.get("forcedType") and got is not None else got

    def holds(self, c):
        if c.tag == "not":
            return not self.holds(c[0])
        if c.tag in ("and", "or"):
            return (all if c.tag == "and" else any)(self.holds(part) for part in c)
        values, field = find_all(c, "stateValue"), find(c, "field")
        left = self.value(values[0]) if len(values) == 2 else self.query(c) if field is None else self.field(field.get("name"))
        return OPERATORS[c.get("operator", "eq")](compare(left, self.value(values[-1])))

    # --- what is done

    def change(self, e):
        if find(e, "if") is not None:
            branch = find(e, "then" if self.holds(find(e, "if")[0]) else "else")
            if branch is not None:
                self.change(branch)
            return
        path, right = self.path(find_all(e, "stateAttribute")), find(e, "stateValue")
        if path is None:
            return
        value = self.value(right)
        if right.get("increment") == "true" and value is not None:
            value = type(value)(value + (self.ss.look(path)[0] or 0))
        if right.get("update") == "true":
            self.ss.update(path, value)
        else:
            self.ss.modify(self.ts, path, value)

    def segment(self, e):
        name = e.find("segType").get("segName") or text(self.value(e.find("segType/segName/stateValue")))
        if not name.isascii() or len(name) > TEXT_MAX:
            raise Ended("BufferOverflowException, segment %.99r" % name)
        begin = self.value(e.find("segTime/begin"))
        if not isinstance(begin, int):
            self.warnings["a segment without a beginning"] += 1
            return
        fields = {f.get("name"): self.value(f.find("stateValue")) for f in e.findall("segContent/segField")}
        self.segments.append([begin, self.value(e.find("segTime/end")), name, fields])

    def act(self, names):
        for name in names.split(":") if names else []:
            for e in self.actions[name]:
                {"stateChange": self.change, "segment": self.segment}[e.tag](e)

    def handle(self, ts, name, event):
        self.ts, self.name, self.event = ts, name, event
        self.ss.end = ts
        self.seen[name] |= set(event)
        for h in self.handlers:
            if h.get("eventName") == name:
                for change in h:
                    self.change(change)
        for machine in self.machines:
            for t in machine[0][machine[1]]:
                if name in t.get("event").split("|") and \
                        all(self.holds(self.tests[c]) for c in (t.get("cond") or "").split(":") if c):
                    self.act(t.get("action"))
                    machine[1] = t.get("target")
                    break

    # --- what it says

    def fields(self, element):
        """Names of the event's fields that are used below an element, also by way of a location."""
        for e in element.iter():
            if e.tag == "field":
                yield e.get("name")
            elif e.get("type") == "eventField" and e.get("value") != "timestamp":
                yield e.get("value")
            elif e.get("type") == "location":
                for part in self.places[e.get("value")]:
                    yield from self.fields(part)

    def unknown_fields(self):
        """But for those that are there only now and then: a text's length and its spelling, a time where it is not the event's."""
        uses = collections.defaultdict(set)
        for h in self.handlers:
            uses[h.get("eventName")] |= set(self.fields(h))
        for states, _ in self.machines:
            for t in (t for transitions in states.values() for t in transitions):
                parts = [self.tests[c] for c in (t.get("cond") or "").split(":") if c] + \
                        [self.actions[a] for a in (t.get("action") or "").split(":") if a]
                for name in t.get("event").split("|"):
                    uses[name] |= {f for p in parts for f in self.fields(p)}
        for name, used in sorted(uses.items()):
            for field in sorted(f for f in used - self.seen[name] if f != "ts" and not f.endswith(("_length", "_ascii"))):
                print("no such field in the trace: %s of %s" % (field, name))

    def rows(self, entry, base=()):
        """The rows of an entry: (path, and its ID if it has one; the attribute that is drawn)."""
        paths = [base]
        for part in entry.get("path").split("/"):
            paths = [p for b in paths for p in self.ss.children[b] if part == "*" or p[-1] == part]
        for path in paths:
            shown = self.below(path, entry.find("display"))
            given = [self.below(path, e) for e in (entry.find("id"), entry.find("name")) if e is not None]
            if shown:
                yield list(path) + [self.ss.intervals(g)[0][2] for g in given if g], shown
            for inner in entry.findall("entry"):
                yield from self.rows(inner, path)

    def below(self, path, e):
        """None, and a warning: there is no such attribute."""
        path += (e.get("value"),) if e.get("type") == "constant" else ()
        if path in self.ss.ongoing:
            return path
        self.warnings["a row without its %s" % e.tag] += 1
        return None


def plain(field, ctf2):
    """As Trace Compass has it."""
    if hasattr(field, "labels"):
        return int(field) if ctf2 else next(iter(field.labels), str(int(field)))
    if hasattr(field, "__len__") and not isinstance(field, (bt2._StringFieldConst, str)):
        return [int(x) for x in field]
    return str(field).encode().decode("latin-1") if isinstance(field, bt2._StringFieldConst) else int(field)


def events(trace, ctf2):
    for msg in bt2.TraceCollectionMessageIterator(trace):
        if type(msg) is bt2._EventMessageConst:
            payload = msg.event.payload_field
            yield msg.default_clock_snapshot.value, msg.event.name, {
                n: plain(f, ctf2) for n, f in (payload.items() if payload else ())}


def main():
    args = [a for a in sys.argv[1:] if a != "--ctf2"]
    root = tree.parse(args[0]).getroot()
    analyses = []
    for ts, name, event in events(args[1], "--ctf2" in sys.argv):
        if not analyses:
            analyses = [Analysis(e, ts) for e in root.iter() if e.tag in ("stateProvider", "pattern")]
        for a in analyses:
            a.handle(ts, name, event)
    by_id = {a.root.get("id"): a for a in analyses}
    for view in root.findall("timeGraphView"):
        a = by_id[view.find("head/analysis").get("id")]
        labels = {int(v.get("value")): v.get("name") for v in view.findall("definedValue")}
        for entry in view.findall("entry"):
            for path, shown in a.rows(entry):
                spans = [[b, e, labels.get(v, v) if isinstance(v, Int) else v] for b, e, v in a.ss.intervals(shown)]
                print(json.dumps([view.find("head/label").get("value"), path, spans]))
    for stack in root.findall("callstack"):
        a = by_id[stack.find("pattern").get("id")]
        for path in a.ss.children["Threads",]:
            stack = path + ("CallStack",)
            for frame in [stack] + a.ss.children[stack]:
                print(json.dumps(["call stack", list(frame), a.ss.intervals(frame)]))
    for a in analyses:
        for s in a.segments:
            print(json.dumps(["segment"] + s, sort_keys=True))
        a.unknown_fields()
        for text_, n in sorted(a.warnings.items()):
            print("warning, %d times: %s" % (n, text_))


try:
    main()
except Ended as e:
    print("the analysis ends:", e)
