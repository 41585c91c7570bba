"""tracecompass.py ANALYSIS.xml TRACE - does what Trace Compass does with our analysis, for a trace that ctp-toctf has written.

Each event goes through the state provider; names that the analysis uses and the trace lacks are said. Prints, for the test to
judge, the rows of each view and the state in which each row is at the end, one kind of row to a line, and those that have a name.
"""
import collections
import sys
import xml.etree.ElementTree as tree

import bt2


class Provider:
    def __init__(self, root):
        self.values = {v.get("name"): v.get("value") for v in root.iter("definedValue")}
        self.places = {p.get("id"): list(p) for p in root.iter("location")}
        self.handlers = {h.get("eventName"): list(h) for h in root.iter("eventHandler")}
        self.state = {}

    def fields(self, element):
        """Names of the event's fields that are used below an element, also by way of a location."""
        for e in element.iter():
            if e.tag == "field":
                yield e.get("name")
            elif e.get("type") == "eventField":
                yield e.get("value")
            elif e.get("type") == "location":
                for part in self.places[e.get("value")]:
                    yield from self.fields(part)

    def path(self, attributes, event):
        for a in attributes:
            kind, value = a.get("type"), a.get("value")
            if kind == "location":
                yield from self.path(self.places[value], event)
            elif kind == "query":
                yield self.state.get(tuple(self.path(a, event)))
            else:
                yield {"constant": lambda: value, "eventField": lambda: event[value]}[kind]()

    def value(self, element, event):
        kind, text = element.get("type"), element.get("value")
        if text and text.startswith("$"):
            text = self.values[text[1:]]
        return {"null": lambda: None, "int": lambda: text, "string": lambda: text, "eventField": lambda: event[text],
                "query": lambda: self.state.get(tuple(self.path(element, event)))}[kind]()

    def holds(self, condition, event):
        field = condition.find("field")
        left = event[field.get("name")] if field is not None else self.state.get(
            tuple(self.path(condition.findall("stateAttribute"), event)))
        return left == self.value(condition.find("stateValue"), event)

    def change(self, element, event):
        if element.find("if") is None:
            path = tuple(self.path(element.findall("stateAttribute"), event))
            self.state[path] = self.value(element.find("stateValue"), event)
        elif self.holds(element.find("if/condition"), event):
            self.change(element.find("then"), event)
        elif element.find("else") is not None:
            self.change(element.find("else"), event)

    def handle(self, name, event):
        for change in self.handlers.get(name, []):
            self.change(change, event)


def plain(field):
    """As Trace Compass has it: a label for an enumeration, else a number or a text."""
    return next(iter(field.labels), "?") if hasattr(field, "labels") else str(field)


def main():
    root = tree.parse(sys.argv[1]).getroot()
    provider = Provider(root.find("stateProvider"))
    seen = collections.defaultdict(set)
    for msg in bt2.TraceCollectionMessageIterator(sys.argv[2]):
        if type(msg) is bt2._EventMessageConst:
            event = {name: plain(field) for name, field in msg.event.payload_field.items()}
            seen[msg.event.name] |= set(event)
            provider.handle(msg.event.name, event)
    for name, changes in provider.handlers.items():
        for field in sorted({f for c in changes for f in provider.fields(c)} - seen[name]):
            print("no such field in the trace: %s of %s" % (field, name))
    for view in root.iter("timeGraphView"):
        labels = {v.get("value"): v.get("name") for v in view.iter("definedValue")}
        entry = view.find("entry")
        top, shown = entry.get("path").removesuffix("/*"), entry.find("display").get("value")
        rows = {path[1]: v for path, v in provider.state.items() if path[0] == top and path[2] == shown}
        if entry.find("name") is not None:
            called = {row: provider.state.get((top, row, entry.find("name").get("value"))) for row in rows}
            print(top, "named", sorted((row, name) for row, name in called.items() if name))
        print(top, len(rows), sorted(collections.Counter(labels.get(v, v) for v in rows.values()).items(), key=str))


main()
