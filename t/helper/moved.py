#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""moved.py - finds pointers into an array that are used after a call that may have moved it.

    moved.py FLAGS FILE.c...    FLAGS: a file with the flags of the compiler; -I and -D count

    c->items[add(c)].count++;   add() may move c->items, after the compiler has read c->items
    item = &c->items[i]; add(c); item->count++;

It reads clang's syntax trees. An array is a member of a structure, or a variable of a function;
arrays of two structures of one type count as one, unless one of the two is on the stack. A call
moves an array if the function, or a function that it calls, directly or through a member like
ops->take, hands the array to ctp_array_grow() or realloc(), or frees it and sets it anew. What a
callback does that is a parameter is not known.

A line of C that has `/* stays: WHY */` is not reported. Exit status: 0 nothing was found, 1
something was, 2 it cannot read a file.
"""
import json
import multiprocessing
import os
import subprocess
import sys

CASTS = {"ParenExpr", "ImplicitCastExpr", "CStyleCastExpr", "ConstantExpr"}
GROW = {"ctp_array_grow": 0, "realloc": 0, "reallocarray": 0}
LOOPS = {"ForStmt", "WhileStmt", "DoStmt"}
LEAVES = {"ReturnStmt", "BreakStmt", "ContinueStmt", "GotoStmt"}


class Node:
    """A node of the tree, with what matters of it. key: of a member, a variable or a function."""

    __slots__ = ("kind", "line", "what", "key", "is_pointer", "kids")

    def __init__(self, kind, line, what, key, is_pointer, kids):
        self.kind, self.line, self.what, self.key, self.is_pointer, self.kids = kind, line, what, key, is_pointer, kids

    def each(self):
        yield self
        for kid in self.kids:
            yield from kid.each()


# --- reading: clang's JSON ----------------------------------------------------------------------------------------------------


class Unit:
    """Functions of one file, and of the headers that it includes."""

    def __init__(self, tree):
        self.file, self.line, self.keys, self.members, self.functions, self.targets = "", 0, {}, {}, {}, []
        self.declare(tree, "")
        for top in tree["inner"]:
            self.top(top)

    def declare(self, node, record):
        """Gives each member and function a key that is the same in every file."""
        for kid in node.get("inner", []):
            kind = kid.get("kind")
            if kind == "RecordDecl":
                self.declare(kid, kid.get("name") or record + "/")
            elif kind == "FieldDecl":
                self.keys[kid["id"]] = record + "." + kid.get("name", "")
                self.members.setdefault(record, []).append(self.keys[kid["id"]])
            elif kind == "FunctionDecl":
                self.keys[kid["id"]] = kid["name"]

    def place(self, loc):
        """clang says file and line only where they change."""
        if "spellingLoc" in loc:
            self.place(loc["spellingLoc"])
            self.place(loc["expansionLoc"])
        else:
            if "file" in loc:
                self.file = loc["file"]
            if "line" in loc:
                self.line = loc["line"]
        return self.line

    def skip(self, node):
        """Only follows the places."""
        if "loc" in node:
            self.place(node["loc"])
        if "range" in node:
            self.place(node["range"]["begin"])
            self.place(node["range"]["end"])
        for kid in node.get("inner", ()):
            self.skip(kid)

    def top(self, node):
        if node.get("kind") not in ("FunctionDecl", "VarDecl") or "inner" not in node:
            self.skip(node)
            return
        self.place(node.get("loc", {}))
        file, static = self.file, node.get("storageClass") == "static"
        parsed = self.node(node, False)
        body = parsed.kids[-1] if parsed.kids else None
        if parsed.kind == "FunctionDecl":
            if static:
                parsed.key = self.keys[node["id"]] = file + ":" + node["name"]
                self.static(node, parsed.key)
            if body and body.kind == "CompoundStmt":
                self.functions[parsed.key] = (file, parsed)

    def static(self, node, key):
        for other, name in list(self.keys.items()):
            if name == node["name"]:
                self.keys[other] = key

    def node(self, node, placed=True):
        kind = node.get("kind", "")
        if placed:
            self.place(node.get("loc", {}))
        line = self.place(node.get("range", {}).get("begin", {}))
        self.place(node.get("range", {}).get("end", {}))
        kids = [self.node(kid) for kid in node.get("inner", [])]
        quals = node.get("type", {}).get("desugaredQualType") or node.get("type", {}).get("qualType", "")
        what, key = node.get("opcode") or node.get("castKind"), None
        if kind == "MemberExpr":
            what, key = "->" if node["isArrow"] else ".", self.keys.get(node["referencedMemberDecl"])
        elif kind == "DeclRefExpr":
            ref = node["referencedDecl"]
            what, key = ref["kind"], self.keys.get(ref["id"], "%s@%s" % (ref.get("name"), ref["id"]))
        elif kind in ("VarDecl", "ParmVarDecl"):
            what, key = node.get("init"), "%s@%s" % (node.get("name"), node["id"])
        elif kind == "FunctionDecl":
            key = self.keys[node["id"]]
        elif kind == "InitListExpr":
            members = self.members.get(quals.rpartition("struct ")[2], [])
            values = [bare(kid) for kid in kids]
            self.targets += [(m, v.key) for m, v in zip(members, values) if v.kind == "DeclRefExpr" and v.what == "FunctionDecl"]
        elif kind == "BinaryOperator" and what == "=" and bare(kids[0]).kind == "MemberExpr":
            value = bare(kids[1])
            if value.kind == "DeclRefExpr" and value.what == "FunctionDecl":
                self.targets.append((bare(kids[0]).key, value.key))
        return Node(kind, line, what, key, quals.endswith("*"), kids)


def read(job):
    flags, path = job
    command = ["clang", "-std=c11", "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json"] + flags + [path]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode:
        return path, run.stderr.decode(errors="replace"), None
    sys.setrecursionlimit(20000)
    unit = Unit(json.loads(run.stdout))
    return path, "", (unit.functions, unit.targets)


# --- what a function does ------------------------------------------------------------------------------------------------------


def bare(node):
    while node.kind in CASTS and node.kids:
        node = node.kids[-1]
    return node


def local_of(node):
    """The structure on the stack of which a place is a part, or whose address it is; null: it is reached by a pointer."""
    node = bare(node)
    while (node.kind == "MemberExpr" and node.what == ".") or (node.kind == "UnaryOperator" and node.what == "&"):
        node = bare(node.kids[0])
    return node.key if node.kind == "DeclRefExpr" and node.what == "VarDecl" and not node.is_pointer else None


def array_of(node):
    """The member or variable that is read, or whose address is taken."""
    node = bare(node)
    for operator in "&*":
        if node.kind == "UnaryOperator" and node.what == operator:
            node = bare(node.kids[0])
    return node.key if node.kind in ("MemberExpr", "DeclRefExpr") else None


class Tree:
    """All functions. moves: the arrays that each may move; gives: those into which it returns a
    pointer; targets: of a member, to which functions it may point."""

    def __init__(self, functions, targets):
        self.functions, self.moves, self.gives, self.targets = functions, {}, {}, targets
        self.params = {key: [kid.key for kid in f.kids if kid.kind == "ParmVarDecl"] for key, (_, f) in functions.items()}
        for key, (_, f) in functions.items():
            self.moves[key] = self.own_moves(f)
            self.gives[key] = set()
        self.close()

    def own_moves(self, f):
        moves, freed, fresh = set(), set(), set()
        for node in f.each():
            if node.kind == "CallExpr":
                callee = bare(node.kids[0]).key
                if callee in GROW:
                    moves.add(array_of(node.kids[1 + GROW[callee]]))
                elif callee == "free":
                    freed.add(array_of(node.kids[1]))
            elif node.kind == "BinaryOperator" and node.what == "=" and bare(node.kids[0]).kind == "MemberExpr":
                if not any(cast.what == "NullToPointer" for cast in node.kids[1].each()):
                    fresh.add(bare(node.kids[0]).key)
        return (moves | freed & fresh) - {None}

    def called(self, call):
        callee = bare(call.kids[0])
        if callee.kind == "UnaryOperator":
            callee = bare(callee.kids[0])
        if callee.kind == "MemberExpr":
            return self.targets.get(callee.key, set())
        return {callee.key}

    def moved_by(self, call):
        """The arrays of the caller: those that are the callee's parameters are its arguments."""
        moved = set()
        for key in self.called(call):
            if key in GROW:
                moved.add(array_of(call.kids[1 + GROW[key]]))
            params = self.params.get(key, [])
            for array in self.moves.get(key, ()):
                if array in params:
                    at = params.index(array) + 1
                    moved.add(array_of(call.kids[at]) if at < len(call.kids) else None)
                elif "@" not in array or array.startswith("*"):
                    moved.add(array)
        return moved - {None}

    def close(self):
        changed = True
        while changed:
            changed = False
            for key, (_, f) in self.functions.items():
                flow = None
                for node in f.each():
                    if node.kind == "CallExpr" and not self.moved_by(node) <= self.moves[key]:
                        self.moves[key] |= self.moved_by(node)
                        changed = True
                    elif node.kind == "ReturnStmt" and node.kids and node.kids[0].is_pointer:
                        flow = flow or Flow(self, None)
                        gives = {a for a in flow.into(node.kids[0]) if "@" not in a or a in self.params[key]}
                        changed |= not gives <= self.gives[key]
                        self.gives[key] |= gives


# --- the order of events in a function ---------------------------------------------------------------------------------------


class Flow:
    """held: of each variable the arrays into which it points, and the line of the call that has moved it since, or 0."""

    def __init__(self, tree, report):
        self.tree, self.report, self.held, self.outs = tree, report, {}, []

    def into(self, node):
        """Into which arrays an address or a place points."""
        if node.kind in CASTS:
            kid = node.kids[-1] if node.kids else None
            if not kid:
                return set()
            if node.what != "LValueToRValue":
                return self.into(kid)
            kid = bare(kid)
            if kid.kind == "MemberExpr" and kid.is_pointer:
                return self.within(kid.key, local_of(kid))
            if kid.kind == "DeclRefExpr" and kid.is_pointer:
                return {kid.key} | set(self.held.get(kid.key, ()))
            return set()
        if node.kind == "ArraySubscriptExpr" or node.kind == "MemberExpr":
            return self.into(node.kids[0])
        if node.kind == "UnaryOperator" and node.what in "&*":
            return self.into(node.kids[0])
        if node.kind == "BinaryOperator":
            return set().union(*(self.into(kid) for kid in node.kids if kid.is_pointer)) if node.what in "+-" else set()
        if node.kind == "ConditionalOperator":
            return self.into(node.kids[1]) | self.into(node.kids[2])
        if node.kind == "CallExpr":
            return self.given(node)
        return set()

    def given(self, call):
        given, locals_ = set(), {local_of(kid) for kid in call.kids[1:]} - {None}
        local = locals_.pop() if len(locals_) == 1 else None
        for key in self.tree.called(call):
            params = self.tree.params.get(key, [])
            for array in self.tree.gives.get(key, ()):
                if array not in params:
                    given |= self.within(array, local)
                elif params.index(array) + 1 < len(call.kids):
                    given |= self.into(call.kids[params.index(array) + 1])
        return given

    @staticmethod
    def within(array, local):
        """An array of a structure on the stack has the name of both."""
        return {array + "|" + local if local else array}

    def hit(self, points, call, but=None):
        """Those of some arrays that a call moves. Without the structure on the stack, it cannot move that one's."""
        moved, kids = self.tree.moved_by(call), [kid for kid in call.kids if kid is not but]
        names = {node.key for kid in kids for node in kid.each()} if moved else ()
        return {p for p in points if p.split("|")[0] in moved and (p.split("|") + [None])[1] in (None, *names)}

    def is_address(self, node):
        is_place = node.kind in ("ArraySubscriptExpr", "MemberExpr")
        return node.is_pointer or is_place or (node.kind == "UnaryOperator" and node.what == "*")

    def hit_in(self, points, node):
        return set().union(*(self.hit(points, n) for n in node.each() if n.kind == "CallExpr"))

    def together(self, node):
        """The parts of an expression whose order is the compiler's."""
        for one in node.kids:
            points = self.into(one) if self.is_address(one) else set()
            for other in node.kids if points else ():
                moved = self.hit_in(points, other) if other is not one else set()
                if moved:
                    self.report(node.line, moved, "in the same expression")

    def call(self, node):
        for kid in node.kids[1:]:
            if self.is_address(kid) and bare(node.kids[0]).key not in GROW and bare(node.kids[0]).key != "free":
                points = self.hit(self.into(kid), node, kid)
                simple = bare(kid).kind in ("MemberExpr", "DeclRefExpr") and any(p.split("|")[0] == bare(kid).key for p in points)
                if points and not simple:
                    self.report(node.line, points, "by the call that gets the pointer")
        for arrays in self.held.values():
            for array in self.hit(arrays, node):
                arrays[array] = node.line

    def take(self, key, value):
        """A variable gets an address."""
        arrays = {}
        root = bare(value)
        if root.kind == "DeclRefExpr" and root.key in self.held:
            arrays = dict(self.held[root.key])
        else:
            arrays = {array: 0 for array in self.into(value)}
        arrays.pop(key, None)
        self.held[key] = arrays

    def expr(self, node):
        kind, kids = node.kind, node.kids
        if kind == "BinaryOperator" and node.what == "=" and bare(kids[0]).kind == "DeclRefExpr":
            self.expr(kids[1])
            if kids[0].is_pointer:
                self.take(bare(kids[0]).key, kids[1])
            return
        if kind in ("BinaryOperator", "ConditionalOperator") and (kind[0] == "C" or node.what in ("&&", "||")):
            self.expr(kids[0])
            ends = []
            for kid in kids[1:]:
                before = self.copy()
                self.expr(kid)
                ends.append(self.held)
                self.held = before
            self.held = merge(ends if kind[0] == "C" else ends + [self.held])
            return
        if kind == "StmtExpr":
            self.run(kids[0])
            return
        for kid in kids:
            self.expr(kid)
        if kind in ("BinaryOperator", "CompoundAssignOperator", "ArraySubscriptExpr", "CallExpr") and node.what != ",":
            self.together(node)
        if kind == "CallExpr":
            self.call(node)
        elif kind == "DeclRefExpr" and node.is_pointer:
            for array, line in self.held.get(node.key, {}).items():
                if line:
                    self.report(node.line, {array}, "in line %d, and %s points into it" % (line, node.key.split("@")[0]))
                    self.held[node.key][array] = 0

    def copy(self):
        return {key: dict(arrays) for key, arrays in self.held.items()}

    def run(self, node):
        """A statement. Returns whether the next one is reached from its end."""
        kind, kids = node.kind, node.kids
        if kind in ("CompoundStmt", "LabelStmt"):
            on = True
            for kid in kids:
                if not on and kid.kind in ("CaseStmt", "DefaultStmt", "LabelStmt"):
                    on, self.held = True, {}
                on = on and self.run(kid)
            return on
        if kind == "IfStmt":
            self.expr(kids[0])
            return self.either(kids[1:], len(kids) < 3)
        if kind in LOOPS:
            return self.loop(node)
        if kind == "SwitchStmt":
            return self.switch(node)
        if kind in ("CaseStmt", "DefaultStmt"):
            self.held = merge([self.held, {k: dict(a) for k, a in self.outs[-1][2].items()}]) if self.outs else self.held
            return self.run(kids[-1])
        if kind == "DeclStmt":
            for kid in kids:
                if kid.kind == "VarDecl" and kid.what and kid.kids:
                    self.expr(kid.kids[-1])
                    if kid.is_pointer:
                        self.take(kid.key, kid.kids[-1])
            return True
        if kind in LEAVES:
            for kid in kids:
                self.expr(kid)
            if kind in ("BreakStmt", "ContinueStmt") and self.outs:
                self.outs[-1][kind == "ContinueStmt" and self.outs[-1][3]].append(self.copy())
            return False
        if kind:
            self.expr(node)
        return True

    def either(self, branches, skipped):
        ends, before = [self.copy()] if skipped else [], self.held
        for branch in branches:
            self.held = {key: dict(arrays) for key, arrays in before.items()}
            if self.run(branch):
                ends.append(self.held)
        self.held = merge(ends)
        return bool(ends)

    def loop(self, node):
        """Twice, because what the body moves is old when it begins again."""
        parts = node.kids if node.kind == "DoStmt" else node.kids[:-1]
        body = node.kids[0] if node.kind == "DoStmt" else node.kids[-1]
        self.outs.append(([], [], {}, True))
        if node.kind == "ForStmt":
            self.run(node.kids[0])
            parts = node.kids[1:-1]
        ends = []
        for _ in range(2):
            for part in parts if node.kind == "WhileStmt" else parts[:2] if node.kind == "ForStmt" else ():
                self.run(part)
            ends.append(self.copy())
            on = self.run(body)
            self.held = merge(self.outs[-1][1] + ([self.held] if on else []))
            for part in parts[2:] if node.kind == "ForStmt" else parts[1:] if node.kind == "DoStmt" else ():
                self.run(part)
            ends.append(self.copy())
        self.held = merge(ends + self.outs.pop()[0])
        return True

    def switch(self, node):
        self.expr(node.kids[0])
        self.outs.append(([], self.outs[-1][1] if self.outs else [], self.copy(), True))
        before = self.copy()
        self.run(node.kids[-1])
        self.held = merge([self.held, before] + self.outs.pop()[0])
        return True


def merge(ends):
    held = {}
    for end in ends:
        for key, arrays in end.items():
            for array, line in arrays.items():
                known = held.setdefault(key, {})
                known[array] = max(known.get(array, 0), line)
    return held


# --- all of it ---------------------------------------------------------------------------------------------------------------


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        words = file.read().split()
    flags = [word.replace("'", "").replace('"CTP', '"CTP') for word in words if word[:2] in ("-I", "-D")]
    flags += ["-D_GNU_SOURCE", '-DCTP_VERSION="0"', '-DCTP_HTML_PAGE="x"', "-DSQLITE_CORE", "-It/helper", "-It/fuzz"]
    functions, targets, failed = {}, {}, False
    with multiprocessing.Pool(os.cpu_count() or 1) as pool:
        for path, error, unit in pool.imap_unordered(read, [(flags, path) for path in sys.argv[2:]], 1):
            if error:
                print(f"{path}: {error}", file=sys.stderr)
                failed = True
            else:
                functions.update(unit[0])
                for member, target in unit[1]:
                    targets.setdefault(member, set()).add(target)
    sys.setrecursionlimit(20000)
    tree, found = Tree(functions, targets), set()
    for key, (path, f) in sorted(functions.items()):
        def report(line, arrays, how, path=path, key=key):
            names = ", ".join(sorted(a.split("|")[0].split("@")[0] for a in arrays))
            found.add((os.path.relpath(path), line, names, how, key.split(":")[-1]))
        Flow(tree, report).run(f.kids[-1])
    reported = 0
    for path, line, arrays, how, key in sorted(found):
        with open(path, encoding="utf-8") as file:
            text = file.readlines()[line - 1].rstrip()
        if "/* stays: " not in text:
            print(f"{path}:{line}: {key}(): {arrays} may have moved {how}")
            reported += 1
    print(f"{len(functions)} functions, {sum(map(bool, tree.moves.values()))} of them move an array, {reported} findings")
    return 2 if failed else reported > 0


if __name__ == "__main__":
    sys.exit(main())
