# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""page.py FOLDER - the page of ctp-tohtml in a browser, on made-up traces of which every answer is known; prints TAP.

The expected answers are computed here again, from the rules in doc/ctp-tohtml.1. If the folder has a real.html,
it is the page of a program in which one coroutine is never woken, as ctp-tohtml made it; what else it may have is for pagegaps.py.
"""
import json
import pathlib
import random
import sys

import browser
import htmlpage
import pagegaps
import pageorigins
from pytap import done, equal, ok

US = 1000
DAMAGED = '<script type="application/octet-stream" id="ctp-data-0-0">'


def spans(row, end):
    """A row's life as [from, to, state], by the rules of the format."""
    died = row["died"] if row["died"] is not None else end
    state, woken, at = "unknown" if row["flags"] & htmlpage.OMITTED else "not started", False, row["born"]
    out, known = [], 0  # known: of out, what is before the last transition

    def become(new, ns):
        nonlocal state, at
        out.append([at, min(ns, died), state])
        state, at = new, min(ns, died)

    def forget():
        nonlocal state
        state = "unknown"
        for span in out[known:]:
            span[2] = "unknown"
    for ns, what, *arg in row["events"]:
        if what == "suspend":
            become("runnable" if woken else "suspended", ns)
            woken, known = False, len(out)
        elif what == "resume":
            become("running", ns)
            known = len(out)
        elif what == "wake" and state == "running":
            woken = True
            become("running", ns)
        elif what == "wake" and state != "unknown":
            become("runnable", ns)
        elif what == "lost":
            forget()
            woken = False
            become("unknown", ns)
        else:
            become(state, ns)
    if row["flags"] & htmlpage.TAIL:
        forget()
    become("dead", died)
    return out


def shares(row, end, begin, stop):
    out = dict.fromkeys(("not started", "suspended", "runnable", "running", "unknown"), 0)
    for a, b, state in spans(row, end):
        out[state] += max(0, min(b, stop) - max(a, begin))
    return out


class Pages:
    """The made-up pages, each made once, and what is in them as Python reads it."""

    def __init__(self, folder, chrome):
        self.folder, self.chrome, self.data = pathlib.Path(folder), chrome, {}

    def path(self, kind):
        path = self.folder / (kind + ".html")
        if not path.exists():
            numbers = {"stuck": (30000, 1000)}.get(kind, ())
            path.write_text(getattr(htmlpage, "made_" + kind)(*numbers), encoding="utf-8")
            self.data[kind] = htmlpage.read(path.read_text(encoding="utf-8"))
        return path

    def open(self, kind, address="#/timeline"):
        """Opens a page at an address; None: as a user would, who has none."""
        self.chrome.call("Page.navigate", url="about:blank")
        self.chrome.errors.clear()
        self.chrome.requests.clear()
        self.chrome.open(str(self.path(kind)) + (address or ""))
        if address is not None:
            self.order("birth") # so that tests know which row is where
        return self.chrome

    def order(self, by):
        """Every row in a lane of its own, in this order, and all of the time unless the address has a window."""
        self.chrome.eval(f"ctp.app.change({{ order: '{by}', group: 'none', alive: false }})")
        self.chrome.frame()

    def colour(self, kind_of_state, row, t, below=0):
        """Whether the picture has the colour of a state in the row's column of that moment, or in so many pixels below it."""
        return self.chrome.eval(f"""(() => {{ const {{ timeline }} = ctp.app, c = timeline.canvas;
            const where = ctp.where({row}, {t}), ratio = devicePixelRatio, want = Colours.now().pixel("{kind_of_state}");
            const top = (where.y - timeline.coros.rowHeight / 2 + 1) * ratio;
            const high = timeline.coros.bar * ratio, x = Math.floor(where.x * ratio), below = {below};
            const data = c.getContext("2d").getImageData(x, below ? top + high : top, 1, below || high).data;
            return new Uint32Array(data.buffer).includes(want); }})()""")


def test_loading(pages):
    for kind in "empty", "one", "states", "stuck", "hostile":
        chrome = pages.open(kind)
        equal(chrome.errors, [], f"{kind}: no error and no warning")
        asked = [request for request in chrome.requests if request != "about:blank"]
        equal(asked, [pages.path(kind).resolve().as_uri()], f"{kind}: asks for nothing but itself")
    ok("0 coroutines" in pages.open("empty").text("#about p").split(" · "), "an empty trace says so")


def test_states(pages):
    chrome = pages.open("states")
    meta, rows = pages.data["states"]
    wrong = []
    for i, row in enumerate(rows):
        for a, b, state in spans(row, meta["span_ns"]):
            if b > a and chrome.eval(f"ctp.state({i}, {(a + b) / 2})") != state:
                wrong.append((row["name"], a, b, state))
    equal(wrong, [], "each row is in the state that the events say, all the time")
    equal(chrome.eval("[ctp.state(0, 950000), ctp.state(3, 1e6), ctp.state(4, 5)]"), ["dead", "unknown", "dead"],
          "dead after its death, unknown after a tail, dead before its birth")
    ids = ["#9007199254740993", "#0x20000000000001", "18446744073709551615", "0xffffffffffffffff", "#11", "11"]
    equal(chrome.eval(f"{ids}.map(ctp.search)"), [[2], [2], [1], [1], [9], [0, 9]], "ids find their rows, exactly")
    lane = "[250, 400, 600, 950].map(us => { const l = ctp.model.threads; return l.arg[l.after(3, us * 1000) - 1]; })"
    equal(chrome.eval(lane), [8, 9, 8, -1], "of coroutines inside of others the innermost is what a thread runs")
    ok("3 coroutines and 17 events are left out" in chrome.text("#notice"), "it says what is left out")


def test_shares(pages):
    chrome = pages.open("stuck")
    meta, rows = pages.data["stuck"]
    check_shares(chrome, meta, rows)
    counted = chrome.eval("ctp.app.overview.density.events.reduce((a, b) => a + b)")
    equal(counted, meta["events"], "the overview counts every event")
    total = chrome.eval("ctp.app.overview.density.part.map(p => p.reduce((a, b) => a + b))")
    want = [0] * 5
    for row in rows:
        for i, ns in enumerate(shares(row, meta["span_ns"], 0, meta["span_ns"]).values()):
            want[i] += ns
    ok(all(abs(g - w) <= w * 1e-9 for g, w in zip(total, want)), "and all the time spent in each state", total, want)


def check_shares(chrome, meta, rows):
    rnd, end, cases = random.Random(1), meta["span_ns"], []
    for _ in range(200):
        row = 0 if rnd.random() < 0.3 else rnd.randrange(len(rows))  # the first of the made-up ones has most events
        cases.append([row, *sorted(rnd.randrange(end) for _ in range(2))])
    got = chrome.eval(f"{json.dumps(cases)}.map(c => ctp.shares(...c))")
    wrong = [(case, g) for case, g in zip(cases, got) if g != shares(rows[case[0]], end, *case[1:])]
    equal(wrong[:2], [], "the shares of any stretch are exact, in 200 of them")


def test_search(pages):
    chrome = pages.open("stuck")
    _, rows = pages.data["stuck"]
    stuck = [i for i, row in enumerate(rows) if any(e[2] == "server.c:212:AsyncRead" for e in row["events"])]
    equal(chrome.eval("ctp.search('server.c:212')"), stuck, "a site finds the 50 that are stuck there")
    named = [i for i, row in enumerate(rows) if "handler 17" in row["name"]]
    equal(chrome.eval("ctp.search('HANDLER 17')"), named, "a name, in any case")
    chrome.key("/")
    chrome.until("document.activeElement.id === 'search'")
    chrome.type("c:212:async")
    ok(chrome.until("document.querySelector('#matches').textContent === '50 matches'"), "/ and typing find them")
    equal(chrome.eval("ctp.visible().rows"), 50, "and show those alone")
    chrome.key("Escape")
    equal(chrome.eval("ctp.visible().rows"), 1000, "Escape shows all again")


def test_order(pages):
    chrome = pages.open("stuck")
    meta, rows = pages.data["stuck"]
    pages.order("running")
    ran = [-shares(row, meta["span_ns"], 0, meta["span_ns"])["running"] for row in rows]
    equal(chrome.eval("Array.from(ctp.app.timeline.coros.list.rows)"), sorted(range(len(rows)), key=lambda i: ran[i]),
          "rows by how long they ran")
    pages.order("stuck")
    first = chrome.eval("Array.from(ctp.app.timeline.coros.list.rows.slice(0, 50))")
    ok(all(rows[i]["events"][-1][2] == "server.c:212:AsyncRead" for i in first), "those that wait at the end first", first)


def test_finding(pages):
    chrome = pages.open("stuck")
    _, rows = pages.data["stuck"]
    shown = "Array.from(ctp.app.timeline.coros.list.rows || [])"
    chrome.eval("ctp.app.window.set(1e8, 9e8)")
    chrome.press(".finding .head")
    seen, first = chrome.eval("ctp.visible()"), chrome.eval(shown)
    stuck = [i for i, row in enumerate(rows) if row["events"][-1][2] == "server.c:212:AsyncRead"]
    equal(sorted(first[:51]), [0] + stuck, "a click on a finding puts its members first, and who woke them last with them")
    equal(sorted(first), list(range(1000)), "and hides nobody")
    moments = [t for i in stuck for t in (rows[i]["events"][-1][0], [e for e in rows[i]["events"] if e[1] == "wake"][-1][0])]
    ok(seen["from"] < min(moments) and max(moments) < seen["to"] < 2.02e9, "at the time when that was", seen)
    row, since = first[0], rows[first[0]]["events"][-1][0]
    wake = [e for e in rows[row]["events"] if e[1] == "wake"][-1][0]
    chrome.eval(f"ctp.app.window.set({wake} - 5e5, {since} + 5e5)")
    chrome.frame()
    arrows = chrome.eval("wakesOf(ctp.app.timeline, %d, 10).map(w => [w.waker, w.t])" % row)
    equal(arrows[-1:], [[0, wake]], "with an arrow")
    ok(chrome.eval("location.hash").startswith("#/finding/0?"), "and is in the address")
    equal(chrome.eval("document.querySelector('.head').getAttribute('aria-pressed')"), "true", "and pressed")
    ok(pages.colour("suspended", row, since + 4e5), "they are drawn suspended from then on")
    equal(chrome.texts(".finding .badge"), ["proved", "likely", "likely", "unknown"], "by gravity, with their certainty")
    chrome.eval("history.back()")
    ok(chrome.until("byId('leave').hidden"), "back shows all")
    equal(chrome.eval("[ctp.visible().from, ctp.visible().to]"), [1e8, 9e8], "where the timeline was")
    for how, leave in (("a button", lambda: chrome.press("#leave")), ("Escape", lambda: chrome.key("Escape"))):
        chrome.press(".finding .head")
        ok(chrome.eval("!byId('leave').hidden && byId('leave').checkVisibility()"), "the way back is to be seen")
        leave()
        ok(chrome.until("location.hash.startsWith('#/timeline') && ctp.visible().from === 1e8"), how + " is the way back")
    equal(pages.open("states").texts("#findings h2"), ["2 findings", "Section 1, not in the timeline"],
          "other sections' findings are apart")


def test_drawing(pages):
    chrome = pages.open("states")
    for state, row, us in (("running", 0, 200), ("suspended", 0, 400), ("runnable", 0, 550), ("runnable", 1, 400),
                           ("hatch", 2, 250), ("hatch", 3, 900), ("hatch", 6, 500), ("born", 5, 500), ("back", 0, 950)):
        ok(pages.colour(state, row, us * US), f"row {row} at {us} us is drawn {state}")
    ok(pages.colour("tick", 7, 500 * US, 2), "a run of no length at all is seen among a millisecond of waiting, as a tick")
    ok(pages.colour("suspended", 7, 500 * US) and not pages.colour("running", 7, 500 * US), "which has no share of the time")
    chrome.eval("ctp.app.window.set(499990, 500010)")
    chrome.frame()
    ok(pages.colour("tick", 7, 500 * US, 2) and not pages.colour("tick", 7, 500 * US - 5, 2), "a zoom shows when it was")
    chrome.eval("ctp.app.window.all()")
    chrome.frame()
    arrow = "(() => { const t = ctp.app.timeline; return wakesInSight(t).wakes.map(w => [w.waker, w.row, w.t / 1000]); })()"
    equal(chrome.eval(arrow), [[1, 0, 500], [0, 1, 200], [1, 4, 50]], "an arrow for each wake by someone known")


def test_moving(pages):
    chrome = pages.open("stuck")
    def seen():
        return chrome.eval("ctp.visible()")

    def middle(window):
        return (window["from"] + window["to"]) / 2

    def wide(window):
        return window["to"] - window["from"]
    box = chrome.box("#lanes")
    x, y = box[0] + 230 + (box[2] - 240) / 2, box[1] + box[3] * 0.7
    whole = seen()
    for _ in range(4):
        chrome.wheel(x, y, dy=-100)
    chrome.frame()
    zoomed = seen()
    ok(wide(zoomed) < wide(whole) / 5 and abs(middle(zoomed) - middle(whole)) < 1e7, "the wheel zooms", zoomed)
    chrome.modifiers = browser.SHIFT
    chrome.drag(x, y, x - 200, y - 100)
    chrome.modifiers = 0
    chrome.frame()
    dragged = seen()
    moved = (dragged["from"] - zoomed["from"]) / wide(zoomed) * (box[2] - 240)
    ok(abs(moved - 200) < 2 and dragged["first"] == 5, "shift and drag pan both ways", moved, dragged)
    equal(chrome.eval("[ctp.app.timeline.range, ctp.app.timeline.cursor]"), [None, -1], "that selects nothing")
    chrome.wheel(x, y, dx=50)
    chrome.frame()
    ok(seen()["from"] > dragged["from"] and seen()["first"] == 5, "two fingers pan", seen())
    chrome.wheel(box[0] + 100, y, dy=200)
    chrome.frame()
    equal(seen()["first"], 15, "over the names the wheel scrolls")
    chrome.modifiers = browser.SHIFT
    chrome.wheel(x, y, dy=-200)
    chrome.modifiers = 0
    chrome.frame()
    equal(seen()["first"], 5, "with shift it scrolls everywhere")
    chrome.key("Home")
    chrome.frame()
    ok(seen()["from"] == whole["from"] and seen()["to"] == whole["to"], "Home shows the whole trace")
    chrome.drag(x - 100, y, x + 100, y)
    chrome.frame()
    per = wide(whole) / (box[2] - 240)
    range_ = chrome.eval("ctp.app.timeline.range")
    ok(abs(range_[1] - range_[0] - 200 * per) < 3 * per, "a drag selects a range", range_)
    ok(chrome.eval("!byId('detail').hidden") and "selected" in chrome.text("#detail h2"), "what happened in it is shown")
    chrome.key("Enter")
    chrome.frame()
    ok(abs(wide(seen()) - 200 * per) < 3 * per and chrome.eval("ctp.app.timeline.range") is None, "Enter zooms to it", seen())
    chrome.key("u")
    ok(wide(seen()) == wide(whole), "u takes a zoom back")
    chrome.drag(x - 100, y, x + 100, y)
    chrome.key("Escape")
    equal(chrome.eval("[ctp.app.timeline.range, byId('detail').hidden]"), [None, True], "Escape leaves a range")
    chrome.drag(x - 100, y, x + 100, y)
    chrome.key("Enter")
    for key, sign in (("w", -1), ("s", 1), ("+", -1), ("-", 1)):
        before = wide(seen())
        chrome.key(key)
        ok((wide(seen()) - before) * sign > 0, f"{key} zooms")
    for key, sign in (("a", -1), ("d", 1), ("ArrowLeft", -1), ("ArrowRight", 1)):
        before = seen()["from"]
        chrome.key(key)
        ok((seen()["from"] - before) * sign > 0, f"{key} pans")
    chrome.key("?")
    ok(chrome.eval("document.querySelector('#help').open"), "? helps")
    chrome.key("Escape")
    ok(not chrome.eval("document.querySelector('#help').open"), "Escape closes it")
    test_brush(chrome, seen)


def test_brush(chrome, seen):
    chrome.key("Home")
    left, top, width, _ = chrome.box("#overview")
    left, top, width = left + 230, top + 30, width - 240
    chrome.drag(left + width * 0.25, top, left + width * 0.5, top)
    chrome.frame()
    low, high = chrome.eval("[ctp.app.window.low, ctp.app.window.high]")
    at = [(seen()[key] - low) / (high - low) for key in ("from", "to")]
    ok(abs(at[0] - 0.25) < 0.01 and abs(at[1] - 0.5) < 0.01, "a drag on the overview chooses the window", at)
    chrome.drag(left + width * 0.4, top, left + width * 0.5, top)
    chrome.frame()
    at = [(seen()[key] - low) / (high - low) for key in ("from", "to")]
    ok(abs(at[0] - 0.35) < 0.01 and abs(at[1] - 0.6) < 0.01, "and inside of it moves it", at)


def test_coroutine(pages):
    chrome = pages.open("states")
    left, top, _, _ = chrome.box("#lanes")

    def at(row, us):
        point = chrome.eval(f"ctp.where({row}, {us * US})")
        return left + point["x"], top + point["y"]

    chrome.move(*at(1, 250))
    equal(chrome.texts("#tip div"), ["wake while it runs  #2", "running for 200 µs, since 0.000\u2009100\u2009000 s",
                                     "on worker 1 (2)"], "the tip says what is under the pointer, from its begin to its end")
    chrome.move(*at(0, 550))
    equal(chrome.texts("#tip div")[1:], ["runnable for 100 µs, since 0.000\u2009500\u2009000 s", "at s.c:2:b",
                                         "woken by wake while it runs #2"], "and who woke it")
    chrome.click(*at(1, 700))
    chrome.frame()
    equal(chrome.eval("[ctp.app.timeline.cursor, Math.round(ctp.app.timeline.cursorTime / 1e4)]"), [1, 70], "a click selects the coroutine and the moment")
    ok("running for 500 µs" in chrome.text("#detail"), "what it does is shown below", chrome.text("#detail"))
    chrome.key("b")
    equal(chrome.eval("[ctp.app.timeline.cursor, ctp.app.timeline.cursorTime]"), [0, 200000], "b goes to the one that woke it last")
    chrome.key("n")
    equal(chrome.eval("[ctp.app.timeline.cursor, ctp.app.timeline.cursorTime]"), [1, 200000], "n goes to the one that it woke")
    chrome.click(*at(1, 700), 2)
    chrome.frame()
    ok(chrome.eval("location.hash").startswith("#/coro/2"), "a double click opens its own page")
    equal([text.split(")")[0] + ")" for text in chrome.texts(".totals li")], ["running 700 µs (70 %)", "runnable 200 µs (20 %)", "not started 100 µs (10 %)"],
          "with where its time went")
    equal(chrome.texts(".events tbody td:not(:first-child)"), [
        "resumed", "on worker 1 (2)", "running", "100 µs", "woken", "by normal #1", "running", "100 µs",
        "suspended", "s.c:2:b", "runnable", "200 µs", "resumed", "on worker 1 (2)", "running", "500 µs",
        "suspended", "s.c:2:b", "suspended", "0 ns"], "and each event")
    ends = chrome.open(str(pages.path("states")) + "#/coro/5") and chrome.texts(".events tbody tr:last-child td")
    equal(ends[1:], ["destroyed", "", "", ""], "and the end of one that was destroyed")
    chrome.open(str(pages.path("states")) + "#/coro/2")
    facts = dict(zip(chrome.texts(".facts dt"), chrome.texts(".facts dd")))
    equal(facts["woken by"], "normal #1 (1 ×)", "and who woke it")
    equal(facts["woke"], "normal #1 (1 ×), destroyed #5 (1 ×)", "and whom it woke")
    chrome.press(".facts a:not(.site)")
    equal([chrome.eval("location.hash").split("?")[0], chrome.text(".coro h1 bdi")], ["#/coro/1", "normal"], "its parent is a link")
    equal(chrome.texts(".children a"), ["wake while it runs #2", "lost #0x20000000000001"], "and so are its children")
    chrome.eval("history.back()")
    ok(chrome.until("document.querySelector('.coro h1 bdi').textContent === 'wake while it runs'"), "back goes back")
    chrome.key("Escape")
    ok(chrome.until("!document.querySelector('#timeline').hidden"), "Escape goes to the timeline")
    chrome.eval("document.querySelector('#lanes').focus()")
    for key in "ArrowUp", "ArrowDown":
        chrome.key(key)
    ok(chrome.until("(document.querySelector('#mirror [aria-selected=true]') || {}).textContent?.startsWith('wake while it runs')"), "the cursor is where it was left, and spoken")
    chrome.key("Enter")
    ok(chrome.until("location.hash.startsWith('#/coro/2')"), "Enter opens its row")
    chrome.eval("ctp.app.open(10)")
    ok(chrome.until("document.querySelector('.coro h1 bdi').textContent === 'first life'"), "an id that came back has two pages")
    equal(chrome.eval("[ctp.model.id(10), ctp.model.id(11), ctp.model.rowAt('12'), ctp.model.rowAt('12@9')]"),
          ["12@10", "12", 11, -1], "with an address each")
    equal(chrome.errors, [], "no error on the way")


def open_table(pages, kind, address):
    chrome = pages.open(kind, address)
    chrome.eval("ctp.app.tables.ready")
    return chrome


def cells(chrome, column):
    """The texts of a column, from 1 on."""
    return chrome.texts(f"#view tbody tr > :nth-child({column})")


def test_tables(pages):
    chrome = open_table(pages, "stuck", "#/sites")
    chrome.size(1440, 900)
    chrome.press("thead tr:last-child th:nth-child(3) button")
    down = [int(cell) for cell in cells(chrome, 3)]
    chrome.press("thead tr:last-child th:nth-child(3) button")
    up = [int(cell) for cell in cells(chrome, 3)]
    ok(len(down) == 6 and down == sorted(down, reverse=True), "a click on a column sorts", down)
    equal(up, down[::-1], "another the other way")
    equal(chrome.eval("[document.querySelector('th[aria-sort]').ariaSort, ctp.app.view.sort]"), ["ascending", 3], "and both are told")
    for view, rows in (("threads", 4), ("waiting", 4 + 2 + 1), ("coroutines", 200), ("wakes", 200), ("findings", 4), ("sites", 6)):
        open_table(pages, "stuck", "#/" + view)
        equal(chrome.eval("document.querySelectorAll('#view tbody tr').length"), rows, f"the table of {view}")
        ok(chrome.eval("[...document.querySelectorAll('#view, .box')].every(node => node.scrollWidth <= node.clientWidth)"),
           "it is no wider than a page of 1440 pixels", chrome.eval("document.querySelector('.box').scrollWidth"))
    open_table(pages, "stuck", "#/waiting")
    things = chrome.eval("[...[...document.querySelectorAll('#view table')].find(t => t.caption.textContent === 'What coroutines wait for')"
                         ".tBodies[0].rows].map(r => [...r.cells].slice(-2).map(c => c.textContent))")
    equal([texts[0] for texts in things], ["0 of 4", "not known, room for 5, closed"], "how much there is of what they wait for")
    ok(things[0][1].endswith(", ended and 2 more") and things[1][1] == "not known", "and who holds it", things)
    equal(chrome.errors, [], "no error on the way")


def test_coroutine_table(pages):
    chrome = open_table(pages, "stuck", "#/coroutines?sort=2&filter=handler+1&state=suspended")
    meta, rows = pages.data["stuck"]
    names = sorted((row["name"] for row in rows if "handler 1" in row["name"] and row["died"] is None), key=lambda name: int(name.split()[1]))
    equal(cells(chrome, 2), names, "the address has the order, the filter and the state")
    equal(chrome.text(".count"), f"{len(names)} of 1,000 coroutines", "and the count says how many they are")
    chrome.press(".filter")
    chrome.type("0")
    ok(chrome.until("ctp.app.view.filter === 'handler 10'"), "typing filters, and the address follows")
    chrome.key("Escape")
    ok(chrome.until("ctp.app.view.filter === undefined && ctp.app.view.page === 'coroutines'"), "Esc empties the filter")
    open_table(pages, "stuck", "#/coroutines?sort=-7")
    ran = {row["name"]: shares(row, meta["span_ns"], 0, meta["span_ns"])["running"] for row in rows}
    seen = [ran[name] for name in cells(chrome, 2)]
    equal(seen, sorted(ran.values(), reverse=True)[:200], "the 200 that ran for the longest time come first")
    chrome.press(".more")
    equal(len(cells(chrome, 2)), 1000, "and the others on demand")
    name = cells(chrome, 2)[1]
    chrome.press("#view tbody tr:nth-child(2) td:nth-child(6)")
    equal(chrome.eval("[ctp.app.view.page, ctp.model.label(ctp.app.timeline.cursor)]"), ["timeline", name], "a click on a row leads to the timeline")
    chrome.eval("history.back()")
    ok(chrome.until("ctp.app.view.page === 'coroutines' && ctp.app.view.sort === -7"), "and Back to the same table")
    open_table(pages, "stuck", "#/sites")
    chrome.press("#view tbody tr:nth-child(2) td:nth-child(3)")
    ok(chrome.eval("!document.querySelector('#timeline').hidden && ctp.app.option('q').length > 0"), "a site leads to its coroutines")
    open_table(pages, "stuck", "#/findings")
    chrome.press("#view tbody tr:nth-child(3) td:nth-child(4)")
    equal(chrome.eval("[ctp.app.view.page, ctp.app.view.arg]"), ["finding", "2"], "a finding leads to itself")
    chrome.eval("void (window.saved = new Promise(done => saveFile = (name, blob) => blob.text().then(text => done([name, text]))))")
    chrome.eval("location.hash = '#/coroutines?q=handler+77'")
    chrome.until("ctp.app.tables.name === 'coroutines'")
    chrome.eval("ctp.app.tables.ready")
    chrome.press(".save")
    name, text = chrome.eval("saved")
    equal(name, "server--v---port-8080.coroutines.csv", "a table becomes a file")
    lines = text.split("\r\n")
    ok(lines[0].startswith("state,name,id,suspended at,waits since (ns),alive (ns),running (ns),") and lines[-1] == "", "with its titles", lines[0])
    equal(sorted(line.split(",")[1] for line in lines[1:-1]), sorted(row["name"] for row in rows if "handler 77" in row["name"]),
          "and the rows that the search has found")
    equal(chrome.errors, [], "no error on the way")


def test_quiet(pages):
    """Quiet times are narrow, and the axis says how long they are."""
    chrome = pages.open("one")

    def pieces():
        chrome.frame()
        return chrome.eval("ctp.app.timeline.axis.pieces.map(p => [p.quiet, p.from, p.to, p.columns])")
    got = pieces()
    equal([p[0] for p in got], [True, False, True], "silence before the first event and after the last is quiet")
    ok(got[0][1] == 0 and got[0][2] <= 100 and got[2][1] >= 1000 and got[2][2] == 2000, "no event is in a quiet piece", got)
    wide = sum(p[3] for p in got)
    ok(got[1][3] / wide >= 0.79, "the busy piece has four fifths of the width", got)
    chrome.key("f")
    equal([p[0] for p in pieces()], [False], "f makes all of the time even")
    ok(pieces()[0][1] < 0 and pieces()[0][2] > 2000, "all of it is in view")
    equal(chrome.eval("[location.hash.includes('even'), byId('even').getAttribute('aria-pressed')]"), [True, "true"], "the address and the button say so")
    counted = chrome.eval("(() => { const d = ctp.app.overview.density; return [d.events.reduce((a, b) => a + b), "
                          "Math.round(d.part.flatMap(p => Array.from(p)).reduce((a, b) => a + b))]; })()")
    equal(counted, [5, 2000], "the overview counts all events and all of the time")
    chrome.key("f")
    equal(pieces(), got, "f makes quiet times narrow again")
    chrome.eval("ctp.app.go({ page: 'coro', arg: '7' })")
    chrome.frame()
    equal(chrome.eval("ctp.app.alone.axis.pieces.map(p => p.quiet)"), [True, False, True], "a coroutine's own page does the same")
    chrome.key("f")
    chrome.frame()
    equal(chrome.eval("ctp.app.alone.axis.pieces.length"), 1, "f works there, too")
    equal(chrome.errors, [], "no error on the way")
    chrome = pages.open("stuck")
    equal(chrome.eval("[ctp.app.timeline.axis.pieces.length, byId('even').hidden]"), [1, True], "without quiet times nothing is narrow")


def test_panel(pages):
    chrome = pages.open("one")
    equal(chrome.text("#findings h2"), "No findings, and no verdict: see below", "what the report says is what the page says")
    for kind in "empty", "one", "stuck", "states":
        text = pages.open(kind).text("#findings")
        ok("null" not in text and "undefined" not in text, f"{kind}: no word of JavaScript's in the panel", text)
    chrome = pages.open("tree")
    equal(chrome.texts(".tree > li"), ["lock 2 #2a #3, in consumer 5 at q.c:41:pop for 9.00 µsa #4 for 8.00 µs (inferred)a #5 for 2.00 µs",
                                       "#77a #6 ready to run for 1.00 µs"], "who waits because of a finding is a tree, the longest first")
    equal(chrome.eval("[...document.querySelectorAll('.tree li')].map(li => li.closest('.tree') && li.parentElement.querySelectorAll(':scope > li').length)"),
          [2, 1, 2, 2, 2, 1], "each below whom it waits for")
    equal(chrome.texts(".finding summary"), ["who", "waiting because of them: 98"], "and how many these are")
    ok("The report lists 4 of them." in chrome.texts(".finding p"), "if not all are listed")
    equal(chrome.texts(".who:not(.tree) .site"), ["s.c:2:b", "s.c:3:c"], "members at several places are each shown with theirs")
    equal(chrome.texts(".finding .others, .finding .members"), ["2 coroutines + 98 waiting", "and 98 others wait because of them"],
          "the heading counts those that wait because of it")
    ok("leaked *" in chrome.text(".closing"), "a pattern to ignore that nothing is like is named", chrome.text(".closing"))
    chrome.eval("document.querySelectorAll('.finding details').forEach(node => node.open = true)")
    chrome.press(".tree a[href*='row=4']")
    equal(chrome.eval("[location.hash.split('?')[0], ctp.app.timeline.cursor]"), ["#/finding/0", 3], "a waiter can be gone to, in the timeline")
    equal(chrome.errors, [], "no error on the way")
    chrome = pages.open("still")
    equal(chrome.texts("#findings .lines h3"), ["still waiting at the end, but no finding", "still running at the end, but no finding"],
          "who waits or runs at the end and is in no finding is named")
    equal(chrome.texts("#findings .lines li"), [
        "3 coroutines at s.c:2:b for 700 µs at most; 1,200 earlier waits there ended within 5.00 µs, the longest first #1", "1 coroutine for 100 µs, second #2 (not certain)"],
          "and no other")
    chrome.press("#findings .lines li .site")
    ok(chrome.eval("ctp.app.option('q') === 's.c:2:b'"), "its site finds them")


def test_painted(pages):
    """The colours' shares of the picture are the states' shares of the time."""
    chrome = pages.open("stuck")
    meta, rows = pages.data["stuck"]
    chrome.eval("globalThis.drawArrows = ctp.app.timeline.drawSpanTexts = () => {}; ctp.app.timeline.draw()")  # which hide some of it
    painted = chrome.eval("""(() => { const { timeline } = ctp.app, { coros } = timeline, colours = Colours.now(), out = [];
        const names = ["not started", "suspended", "runnable", "running"], ctx = timeline.canvas.getContext("2d");
        const want = ["born", "suspended", "runnable", "running"].map(name => colours.pixel(name));
        for (let row = 1; row < 25; row++) {
            const a = Math.ceil(timeline.x(ctp.model.coros.born[row])) + 1, z = Math.floor(timeline.x(ctp.model.coros.end[row])) - 1;
            const data = ctx.getImageData(a, coros.y(row) + 1, z - a, coros.bar).data, seen = {};
            new Uint32Array(data.buffer).forEach(word => seen[word] = (seen[word] || 0) + 1);
            const all = want.reduce((sum, word) => sum + (seen[word] || 0), 0);
            out.push([row, timeline.time(a), timeline.time(z), Object.fromEntries(names.map((n, i) => [n, (seen[want[i]] || 0) / all]))]);
        }
        return out; })()""")
    wrong = []
    for row, begin, stop, got in painted:
        true = shares(rows[row], meta["span_ns"], begin, stop)
        wrong += [(row, s, got[s], true[s] / (stop - begin)) for s in got if abs(got[s] - true[s] / (stop - begin)) > 0.01]
    equal(wrong[:3], [], "each state has as much of the picture as of the time, within a hundredth")


def test_narrow(pages):
    chrome = pages.open("stuck")
    try:
        for width, height in ((380, 740), (800, 600), (1400, 500), (600, 360), (901, 641)):
            chrome.size(width, height)
            chrome.frame()
            chrome.eval("byId('lanes').scrollIntoView({ block: 'end' })")
            chrome.eval("ctp.app.timeline.draw(); ctp.app.timeline.coros.scrollTo(1e9); ctp.app.timeline.draw()")
            got = chrome.eval("""(() => { const box = byId("lanes").getBoundingClientRect(), { coros, plot } = ctp.app.timeline;
                const bottom = box.top + coros.y(coros.count - 1) + coros.rowHeight, { scrollWidth } = document.scrollingElement;
                return [bottom <= innerHeight + 1, coros.height >= 4 * coros.rowHeight, plot > innerWidth / 3 - 10,
                    scrollWidth <= innerWidth]; })()""")
            equal(got, [True] * 4, f"{width} x {height}: the last rows can be reached, and nothing is wider than the screen")
    finally:
        chrome.size(1400, 900)


def test_focus(pages):
    chrome = pages.open("states")
    chrome.eval("byId('lanes').focus()")
    chrome.key("ArrowDown")
    chrome.key("Enter")
    ok(chrome.until("document.activeElement.id === 'view'"), "a coroutine's page has the focus once it is opened")
    chrome.key("Escape")
    ok(chrome.until("document.activeElement.id === 'lanes'"), "and the timeline once it is back")
    equal(chrome.eval("ctp.app.timeline.cursor"), 0, "with the cursor where it was")
    chrome.eval("ctp.app.go({ page: 'coro', arg: '1' })")
    chrome.frame()
    chrome.eval("document.querySelector('.children a').focus()")
    chrome.key("Enter")
    ok(chrome.until("location.hash.startsWith('#/coro/2') && document.activeElement.id === 'view'"), "a link's target has it too")
    chrome.eval("document.querySelector('#tabs a').focus()")
    chrome.key("Enter")
    ok(chrome.until("location.hash.startsWith('#/timeline') && document.activeElement.dataset.page === 'timeline'"), "a tab keeps it")


def test_print(pages):
    chrome = pages.open("stuck")
    chrome.pdf(pages.folder / "page.pdf")
    ok((pages.folder / "page.pdf").stat().st_size > 20000, "it prints")
    equal(chrome.errors, [], "no error on the way")


def test_hostile(pages):
    chrome = pages.open("hostile")
    _, rows = pages.data["hostile"]
    for i in range(len(rows)):
        chrome.eval(f"ctp.app.go({{ page: 'finding', arg: '{i}' }})")
        chrome.eval(f"ctp.app.go({{ page: 'coro', arg: '{rows[i]['coro']}' }})")
        chrome.frame()
    equal(chrome.errors, [], "no name runs as a script")
    chrome.eval("ctp.app.go({ page: 'timeline' })")
    chrome.frame()
    titles = chrome.texts(".finding .title")
    equal(titles[0], "</script><script>alert(1)</script>", "markup is text")
    equal(titles[2], "⟨U+202E⟩evil⟨U+202C⟩ ⟨U+2066⟩x", "marks of direction are shown, not obeyed")
    equal(titles[3], "new⟨U+000A⟩line⟨U+0009⟩tab⟨U+0000⟩nul⟨U+001B⟩[31m", "and so are controls")
    ok(len(titles[4]) == 300 and "…" in titles[4], "what is too long is cut")
    equal(len(chrome.texts(".finding .title bdi")), len(titles), "each name is isolated")
    equal(chrome.eval("[document.querySelectorAll('b, script:not([id])').length, document.title]"),
          [2, "</script><script>alert(1)</script> – coroutine trace"], "nothing of it became an element")


def test_colours(pages):
    chrome = pages.open("one")
    back = "getComputedStyle(document.body).backgroundColor"
    light = chrome.eval(back)
    chrome.dark(True)
    chrome.frame()
    dark = chrome.eval(back)
    ok(light != dark, "dark where the system is", light, dark)
    ok(pages.colour("running", 0, 150), "the picture too")
    chrome.press("#theme")
    equal(chrome.eval(back), light, "unless the switch says light")
    ok(pages.colour("running", 0, 150), "the picture too")
    chrome.dark(False)
    chrome.press("#theme")
    equal(chrome.eval(back), dark, "or dark")
    chrome.press("#theme")
    equal(chrome.eval(back), light, "and back to what the system has")


def test_pieces(pages):
    piece, htmlpage.PIECE = htmlpage.PIECE, 400
    try:
        text = htmlpage.made_stuck(3000, 100)
    finally:
        htmlpage.PIECE = piece
    path = pages.folder / "pieces.html"
    path.write_text(text)
    pages.chrome.errors.clear()
    pages.chrome.open(path)
    meta, rows = htmlpage.read(text)
    ok(text.count("ctp-data-") > 20, "a page of many pieces")
    equal(pages.chrome.eval("[ctp.model.n, ctp.model.events.time.length, Array.from(ctp.model.events.time).at(-1)]"),
          [len(rows), meta["events"], rows[-1]["events"][-1][0]], "is read as one")
    at = text.index(DAMAGED) + len(DAMAGED)
    path.write_text(text[:at + 100] + text[at + 140:])
    try:
        pages.chrome.open(path)
        ok(False, "damage is an error")
    except browser.Failed:
        ok(True, "damage is an error")
    ok("This page cannot be read: " in pages.chrome.text("#loading"), "and the page says so")


def test_real(pages):
    path = pages.folder / "real.html"
    if not path.exists():
        return
    meta, rows = htmlpage.read(path.read_text(encoding="utf-8", errors="surrogatepass"))
    chrome = pages.chrome
    chrome.errors.clear()
    chrome.open(path)
    equal(chrome.errors, [], "a real page: no error and no warning")
    check_shares(chrome, meta, rows)
    finding = meta["report"]["sections"][0]["findings"][0]
    stuck = [i for i, row in enumerate(rows) if row["died"] is None]
    equal([str(rows[i]["coro"]) for i in stuck], [c["coro"] for c in finding["coroutines"]], "its finding is of who lives")
    equal(chrome.eval("ctp.app.timeline.coros.row(0)"), stuck[0], "which stands first")
    first = chrome.eval("Array.from(ctp.app.timeline.coros.list.rows.slice(0, 2))")
    waker = [e for e in rows[stuck[0]]["events"] if e[1] == "wake" and e[0] <= rows[stuck[0]]["events"][-1][0]][-1]
    equal(first, [stuck[0], waker[2]], "the page opens on it, and on who woke it last")
    wide = chrome.eval("ctp.app.timeline.axis.pieces.filter(p => !p.quiet).map(p => [p.from, p.to])")
    ok(len(wide) == 1 and wide[0][0] < waker[0] < wide[0][1] < meta["span_ns"] / 2, "that moment has most of the width", wide)
    equal(chrome.eval(f"ctp.state({stuck[0]}, {meta['span_ns']})"), "suspended", "waiting until the end")
    ok(pages.colour("suspended", stuck[0], wide[0][1] - (wide[0][1] - wide[0][0]) / 50), "and drawn so")
    name = rows[stuck[0]]["name"]
    equal(chrome.eval(f"ctp.search({json.dumps(name)})"), stuck, "its name finds it")
    ok(stuck[0] in chrome.eval(f"ctp.search({json.dumps(finding['suspend_site'])})"), "and so does its site")


def main():
    if not browser.chromium():
        print("1..0 # SKIP there is no chromium")
        return 0
    try:
        chrome = browser.Browser()
    except browser.Failed as err:
        print("1..0 # SKIP chromium does not start:", err)
        return 0
    with chrome:
        pages = Pages(sys.argv[1], chrome)
        for test in (test_loading, test_states, test_shares, test_search, test_order, test_finding, test_drawing, test_moving,
                     test_coroutine, test_tables, test_coroutine_table, test_quiet, test_panel, test_painted, test_narrow, test_focus,
                     test_print, test_hostile, test_colours, test_pieces, test_real):
            test(pages)
        pageorigins.test_origins(pages, ok, equal)
        pagegaps.test_gaps(pages, htmlpage.read, equal)
    return done()


if __name__ == "__main__":
    sys.exit(main())
