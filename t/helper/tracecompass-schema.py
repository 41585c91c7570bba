# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""tracecompass-schema.py ANALYSIS.xml... - prints what Trace Compass's schemas would not take in these files.

Each element with the attributes that it must have, those that it may have, and what may be in it, in that order; `+` after
one: once or more, `*`: any number, `?`: once or not. The names are those of its user guide, of what we use.
"""
import re
import sys
import xml.etree.ElementTree as tree

VALUE = ("type", "value forcedType update increment", "stateAttribute*")
CONDITIONS = "(condition|and|or|not)"
CHANGE = "((stateAttribute+ stateValue)|(if then else?))"
ELEMENTS = {
    "tmfxml": ("", "", "timeGraphView* (stateProvider|pattern|callstack)"),
    "timeGraphView": ("id", "", "head definedValue* entry+"),
    "timeGraphView/head": ("", "", "analysis label"),
    "head": ("", "", "traceType label"),
    "analysis": ("id", "", ""), "label": ("value", "", ""), "traceType": ("id", "", ""),
    "timeGraphView/definedValue": ("name value color", "", ""),
    "definedValue": ("name value", "", ""),
    "entry": ("path", "displayText", "display? id? parent? name? entry*"),
    "display": ("type", "value", ""), "id": ("type", "value", ""), "name": ("type", "value", ""),
    "stateProvider": ("id version", "", "head definedValue* location* eventHandler+"),
    "eventHandler": ("eventName", "", "stateChange+"),
    "location": ("id", "", "stateAttribute+"),
    "stateAttribute": ("type", "value", "stateAttribute*"),
    "stateChange": ("", "", CHANGE), "then": ("", "", CHANGE), "else": ("", "", CHANGE),
    "stateValue": VALUE, "begin": VALUE, "end": VALUE,
    "if": ("", "", CONDITIONS), "not": ("", "", CONDITIONS), "and": ("", "", CONDITIONS + "+"), "or": ("", "", CONDITIONS + "+"),
    "condition": ("", "operator", "((stateAttribute+|field) stateValue)"),
    "field": ("name", "", ""),
    "pattern": ("id version", "", "head definedValue* location* patternHandler"),
    "patternHandler": ("", "initial", "(test|action)* fsm+"),
    "test": ("id", "", "if"), "action": ("id", "", "(stateChange|segment)+"),
    "fsm": ("id", "initial multiple consuming", "state+"), "state": ("id", "", "transition+"),
    "transition": ("event target", "cond action", ""),
    "segment": ("", "", "segType segTime? segContent?"), "segType": ("", "segName", "segName?"), "segName": ("", "", "stateValue"),
    "segTime": ("", "", "begin end"), "segContent": ("", "", "segField+"), "segField": ("name type", "value", "stateValue?"),
    "callstack": ("id", "", "callstackGroup+ pattern"), "callstackGroup": ("", "name", "level+"), "level": ("path", "", ""),
}
TYPES = {
    "stateAttribute": "null constant eventField eventName location query pool", "segField": "null int long string",
    "stateValue": "null int long string eventField eventName delete query script", "display": "constant location query self",
}


def pattern(rule):
    return re.sub(r"\w+", lambda m: "(?:%s,)" % m[0], rule).replace(" ", "").replace(",", " ")


def check(e, parent, path):
    rule = ELEMENTS.get("%s/%s" % (parent, e.tag)) or ELEMENTS.get(e.tag)
    if not rule:
        return print("%s: no such element: %s in %s" % (path, e.tag, parent))
    must, may = set(rule[0].split()), set(rule[1].split())
    if not must <= set(e.attrib) <= must | may:
        print("%s: attributes of %s: %s" % (path, e.tag, sorted(e.attrib)))
    kind = "stateValue" if ELEMENTS.get(e.tag) is VALUE else e.tag
    if "type" in e.attrib and e.get("type") not in TYPES.get(kind, TYPES["display"]).split():
        print("%s: type of %s: %s" % (path, e.tag, e.get("type")))
    inside = "".join(child.tag + " " for child in e)
    if not re.fullmatch(pattern(rule[2]), inside):
        print("%s: %s holds: %s" % (path, e.tag, inside))
    for child in e:
        check(child, e.tag, path)


def references(root, path):
    """What is named is there: locations, values, tests, actions, states, analyses."""
    for a in root.iter():
        if a.tag not in ("stateProvider", "pattern"):
            continue
        have = lambda tag: {e.get("id") for e in a.iter(tag)}
        values = {e.get("name") for e in a.findall("definedValue")}
        for e in a.iter():
            wrong = [e.get("value")] if e.get("type") == "location" and e.get("value") not in have("location") else []
            wrong += [v for v in e.attrib.values() if v.startswith("$") and v[1:] not in values]
            for what, tag in ("cond", "test"), ("action", "action"):
                wrong += [n for n in e.get(what, "").split(":") if n and n not in have(tag)]
            if e.tag == "transition" and e.get("target") not in have("state"):
                wrong.append(e.get("target"))
            for name in wrong:
                print("%s: there is no %s" % (path, name))
    analyses = {e.get("id") for e in root}
    for e in root.iter("analysis"):
        if e.get("id") not in analyses:
            print("%s: there is no analysis %s" % (path, e.get("id")))


for file in sys.argv[1:]:
    top = tree.parse(file).getroot()
    check(top, "", file)
    references(top, file)
