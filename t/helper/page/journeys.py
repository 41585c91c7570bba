# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""journeys.py FOLDER [TEST...] - what people do with the page of ctp-tohtml, one journey for each thing that they should be able to
do. In chromium and in firefox, as far as they are here; prints TAP. page.py has what the picture shows, access.py who can use it.

The pages are made-up ones of htmlpage.py, most of all the one of a lock that is held for good, and those that the folder has:
real.html, of a program in which one coroutine is never woken; sections.html, with two sections; baseline.html, with a baseline;
alone.html, of its first finding alone. With the variable SHOTS, which names a folder, each journey ends with a screenshot.
"""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import browser  # noqa: E402
import firefox  # noqa: E402
import htmlpage  # noqa: E402
from pytap import done, equal, ok, skip  # noqa: E402

MS, BURST, BURST_END, SINCE = 1_000_000, 3_000_000_000, 3_020_000_000, 3_008_000_000
HOLDER, REPLICA, CLIENTS, JOB = 1, 2, range(3, 11), 11  # rows of the page of the held lock
LIST = "ctp.app.timeline.coros.list"


class Journey:
    """The pages in one browser."""

    def __init__(self, folder, window, name):
        self.folder, self.window, self.name = pathlib.Path(folder), window, name

    def path(self, kind):
        path = self.folder / f"{kind}.html"
        if not path.exists() and hasattr(htmlpage, "made_" + kind):
            numbers = {"stuck": (30000, 1000), "big": (200000, 20000)}.get(kind, ())
            path.write_text(getattr(htmlpage, "made_" + kind)(*numbers), encoding="utf-8")
        return path

    def has(self, kind):
        return self.path(kind).exists()

    def open(self, kind, address=""):
        self.window.blank()
        self.window.open(str(self.path(kind)) + address)
        self.window.frame()
        return self.window

    def ok(self, true, name, *why):
        ok(true, f"{self.name}: {name}", *why)

    def equal(self, got, want, name):
        equal(got, want, f"{self.name}: {name}")

    def keys(self, *pressed):
        for key in pressed:
            self.window.key(key)
        self.window.frame()

    def rows(self):
        """The coroutines of the list, in its order."""
        return self.window.eval(f"Array.from({{ length: {LIST}.count }}, (_, i) => {LIST}.lane(i)).flat()")

    def at(self, row, t):
        """Where a moment of a row is on the screen."""
        left, top, _, _ = self.window.box("#lanes")
        where = self.window.eval(f"ctp.where({row}, {t})")
        return left + where["x"], top + where["y"]

    def pixels(self, colour):
        """How many pixels of the timeline have the colour of this name."""
        return self.window.eval(f"""(() => {{ const {{ canvas }} = ctp.app.timeline, want = Colours.now().pixel("{colour}");
            const words = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
            return words.reduce((n, word) => n + (word === want), 0); }})()""")

    def files(self):
        """From now on files are not saved, but kept as window.saved: [name, type, text]."""
        self.window.eval("""{ window.saved = null;
            window.saveFile = (name, blob) => blob.text().then(text => window.saved = [name, blob.type, text]); }""")

    def reloaded(self, expression):
        """Whether the expression holds at last, while the page may load itself again."""
        for _ in range(20):
            try:
                return self.window.until(expression)
            except browser.Failed:  # the page that was asked is gone
                continue
        return False

    def shot(self, journey):
        if os.environ.get("SHOTS"):
            self.window.screenshot(pathlib.Path(os.environ["SHOTS"]) / f"{journey}-{self.name}.png")


def test_01_back(page):
    # The first of all: with 50 steps in its history, chromium goes back wrongly.
    window = page.open("held", "#/finding/0?group=none&alive=no")
    window.eval("{ const { pushState } = history; window.steps = 0; history.pushState = (...to) => { window.steps++; pushState.apply(history, to); }; }")
    window.eval("{ ctp.app.search('client'); }")
    page.ok(window.until("ctp.app.option('q') === 'client'"), "a search")
    heading = "ctp.app.timeline.headingText(ctp.app.timeline.coros)"
    page.equal(window.eval(heading), "8 of 411 coroutines match the search", "says how many match, and nothing of the finding")
    window.eval("{ ctp.app.search('client 3'); }")
    window.until("ctp.app.option('q') === 'client 3'")
    page.equal(window.eval(heading), "1 of 411 coroutines matches the search", "also of one")
    said = window.eval("""(() => { const { overview } = ctp.app, said = [], { fillText } = overview.ctx;
        overview.ctx.fillText = text => said.push(text);
        overview.pointed = null;
        overview.draw();
        overview.pointed = 5;
        overview.draw();
        overview.ctx.fillText = fillText;
        return said; })()""")
    page.ok(sum("of matches" in text for text in said) == 3 and any(" at 0." in text for text in said),
            "the overview says that it is of the matches; and, at the pointer, of which time", said)
    window.eval("{ ctp.app.window.zoom(0.5); ctp.app.settle(); }")
    zoomed = window.eval("ctp.app.window.width")
    window.eval("{ ctp.app.setRange([3e9, 3.01e9]); ctp.app.setRange([3e9, 3.02e9]); ctp.app.turnScale(); }")
    page.equal(window.eval("steps"), 4, "the search, the zoom, the range and the scale are a step each")
    window.eval("{ history.back(); }")
    page.ok(window.until("!ctp.app.option('even') && ctp.app.timeline.range[1] === 3.02e9"), "back goes to the scale before")
    window.eval("{ history.back(); }")
    page.ok(window.until(f"!ctp.app.timeline.range && Math.abs(ctp.app.window.width / {zoomed} - 1) < 1e-3"), "from the range to none")
    window.eval("{ history.back(); }")
    page.ok(window.until(f"ctp.app.window.width > {zoomed} * 1.5 && ctp.app.option('q') === 'client 3'"), "out of the zoom")
    window.eval("{ history.back(); }")
    page.ok(window.until("!ctp.app.option('q') && ctp.app.finding === 0"), "and out of the search")
    window.eval("{ ctp.app.window.zoom(0.1); }")
    window.press(".finding .head")
    page.equal(window.eval("[ctp.app.finding, ctp.app.window.from === ctp.app.window.low, byId('leave').hidden]"), [0, True, False],
               "the heading of a finding that is shown leads back to its moment, and does not leave it")


def test_01_opens_on_what_matters(page):
    window = page.open("held")
    page.equal(window.eval("[ctp.app.view.page, ctp.app.view.arg]"), ["finding", "0"], "the page opens on the most severe finding")
    window.frame()
    wide = window.eval("ctp.app.timeline.axis.pieces.filter(p => !p.quiet).map(p => [p.from, p.to, p.columns / ctp.app.timeline.axis.columns])")
    page.ok(len(wide) == 1 and wide[0][0] < SINCE < wide[0][1] and wide[0][1] - wide[0][0] < 100 * MS and 0.8 > wide[0][2] > 0.55,
            "whose time has most of the width", wide)
    seen = window.eval("ctp.visible()")
    page.ok(seen["from"] <= 0 and seen["to"] >= 20000 * MS, "with all of the time beside it", seen)
    said = window.eval("(() => { const t = ctp.app.timeline, [a, , b] = t.axis.pieces; return [quietTexts(t, a).at(-1), duration(a.to), "
                       "quietTexts(t, b)[0], (t.x(b.to) - t.x(b.from)) / t.plot]; })()")
    page.ok(said[0] == said[1] and said[2] == "squeezed, to 20.0 s" and said[3] > 0.15, "and the axis says what is squeezed", said)
    texts = window.eval("ctp.app.timeline.spans.map(span => ctp.app.timeline.spanText(span)).filter(text => text.endsWith('to the end'))")
    page.ok(len(texts) >= len(CLIENTS) and set(texts) <= {f"{text} for 17.0 s, to the end" for text in ("stands still",)} | {"for 17.0 s, to the end"},
            "each of its waits says how long it goes on", texts)
    page.ok(page.pixels("bad") > 2000, "and has a frame", page.pixels("bad"))
    inside = window.eval("[...ctp.app.moment.members].filter(row => { const y = ctp.where(row, 0).y; "
                         "const { top, height } = ctp.app.timeline.coros; return y > top && y < top + height; }).length")
    page.equal(inside, len(CLIENTS), "with all its coroutines in sight")
    page.keys("Home")
    page.ok(window.eval("ctp.app.window.from === ctp.app.window.low && ctp.app.window.to === ctp.app.window.high"),
            "one key shows everything")
    wide = window.eval(f"(ctp.app.timeline.x({BURST_END}) - ctp.app.timeline.x({BURST})) / ctp.app.timeline.plot")
    page.ok(wide > 0.55, "20 ms of work have most of the width, among 20 s of heartbeats", wide)
    page.ok(page.pixels("quiet-axis") > 500, "the axis shows where time is narrow", page.pixels("quiet-axis"))
    if page.has("real"):
        window = page.open("real")
        seen = window.eval("[ctp.app.view.page, ctp.app.timeline.coros.row(0), ...ctp.app.moment.members]")
        page.ok(seen[0] == "finding" and seen[1] == seen[2], "a real trace opens on its finding, with the stuck coroutine first",
                seen)


def test_02_a_finding_is_a_place(page):
    window = page.open("held")
    plain = window.eval("""[...document.querySelectorAll(".finding .lines li")].flatMap(li => [...li.querySelectorAll("bdi")]
        .filter(node => /#\\d/.test(node.textContent) && !node.closest("a")).map(node => node.textContent))""")
    page.equal(plain, [], "every coroutine in the evidence is a link")
    page.equal(window.texts(".wanted tbody td"), ["lock 'db 3'", "0", "8", "held by conn 12 #12"],
               "what is waited for, how much there is, who holds it")
    first = page.rows()[:2 + len(CLIENTS)]
    page.ok(first[0] == HOLDER and set(CLIENTS) <= set(first), "the waiters are next to the holder, and who woke them last", first)
    page.ok(page.pixels("await") > 20, "awaits are drawn")
    drawn = window.eval("ctp.app.timeline.arrows.map(({ wake }) => wake.e)")
    page.ok(len(drawn) == len(set(drawn)) and len(drawn) >= 8, "and the last wakes, once each", drawn)
    window.press(".drawn button")
    drawn = window.eval("[...document.querySelectorAll('.tree-dialog svg a')].map(node => node.textContent)")
    page.keys("Escape")
    named = [name for name in ["conn 12", "replica", "client 0", "client 7"] if any(name in text for text in drawn)]
    page.equal(named, ["conn 12", "replica", "client 0", "client 7"], "the large tree of waits has them all")
    window.eval("""{ [...document.querySelectorAll(".finding .lines a")]
        .find(node => node.textContent === "conn 12 (#12)").click(); }""")
    page.ok(window.until(f"ctp.app.timeline.cursor === {HOLDER}"), "a name in the evidence leads to its row")
    window.eval("""{ [...document.querySelectorAll(".drawn svg a")].find(node => node.textContent.includes("client 1"))
        .dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })); }""")
    page.ok(window.until(f"ctp.app.timeline.cursor === {CLIENTS[1]}"), "a node of the tree leads to its row")
    page.equal(window.eval("ctp.app.view.page"), "finding", "and the finding stays")


def test_02_since_when(page):
    window = page.open("stuck", "#/finding/3")
    said = window.eval("""(() => { const { coros, events } = ctp.model, rows = [...ctp.app.moment.members].filter(row => coros.died[row] > ctp.model.span);
        return moment(Math.min(...rows.map(row => events.time[coros.first[row + 1] - 1])), 1000); })()""")
    lines = window.texts(".finding.chosen .body > div")
    page.ok(any(line.startswith(f"the first suspended since {said} for ") for line in lines), "of leaked coroutines: since when they wait, too", said, lines)


def test_02_a_leak(page):
    window = page.open("leaked")
    lines = window.texts(".finding .lines li")
    page.equal(lines[0], "20 of the same spawn site ended; their last wait was at a.c:10:serve",
               "of a leak the panel says where those that ended waited last")
    wakes = window.eval("ctp.app.moment.wakes.map(({ waker, t }) => [waker, t / 1e6])")
    page.equal(wakes, [[-1, 500 + 10 * i] for i in range(3)], "its last wakes are the last before the wait, not those of the birth")
    page.ok(not window.eval("ctp.app.moment.wakers.size"), "so the one that woke them at birth has no part in it")
    page.ok("did not record" in window.text(".finding .wanted"), "what is waited for is not known", window.text(".finding .wanted"))


def test_02_a_suspect_too(page):
    window = page.open("hang")
    drawn = window.eval("[...document.querySelectorAll('.drawn svg a')].map(node => node.textContent)")
    named = [name for name in ("fetch 19.5", "when_all", "main") if any(name in text for text in drawn)]
    page.equal(named, ["fetch 19.5", "when_all", "main"], "what awaits a wait that stands out is drawn, and what awaits that")
    names = window.eval(f"Array.from({{ length: 10 }}, (_, i) => ctp.model.label({LIST}.lane(i)[0]))")
    page.equal(names[:3], ["fetch 19.5", "when_all", "main"], "and listed first")
    page.ok(set(names[3:]) == {f"fetch 19.{i}" for i in (0, 1, 2, 3, 4, 6, 7)}, "then what lived at that time", names)
    window.eval("""{ [...document.querySelectorAll(".finding .who.tree a")].find(node => node.textContent.includes("when_all")).click(); }""")
    page.ok(window.until("ctp.app.timeline.cursor === 1"), "its name leads to its row")
    said = page.open("stuck").text(".finding summary").translate({0x2068: None, 0x2069: None})
    page.ok(re.fullmatch(r"who: handler \d+ #\d+, handler \d+ #\d+, handler \d+ #\d+ and \d+ more", said), "many are named in part", said)


def test_03_rows_that_scale(page):
    window = page.open("held", "#/timeline")
    groups = window.eval(f"{LIST}.groups.map(({{ title, rows, open }}) => [title, rows.length, open])")
    page.equal(groups[0], ["job.cpp:7:spawn", 400, True], "many rows are in groups, the largest first, and open if they take few lanes")
    page.ok(len(groups) == 5 and window.eval(f"{LIST}.count") < 40, "411 coroutines take few lanes", groups)
    page.ok(window.until("ctp.app.timeline.strips.known.size > 0"), "a group has a summary")
    _, top, _, _ = window.box("#lanes")
    heading = "(() => { const { coros } = ctp.app.timeline; return coros.y(coros.list.groups[0].index) + coros.rowHeight / 2; })()"
    window.move(window.box("#lanes")[0] + 60, top + window.eval(heading))
    page.ok("400 coroutines, none alive at the end" in window.texts("#tip div"), "with a count", window.texts("#tip div"))
    before = window.eval(f"{LIST}.count")
    window.click(window.box("#lanes")[0] + 60, top + window.eval(heading))
    window.frame()
    page.ok(window.eval(f"{LIST}.count") < before and not window.eval(f"{LIST}.groups[0].open"), "a click folds it")
    page.ok("turned=" in window.eval("location.hash"), "the address knows that")
    window.eval(f"{{ ctp.app.select({HOLDER}); byId('lanes').focus(); }}")
    page.keys("p")
    page.equal(window.eval("[ctp.app.timeline.pins.count, ctp.app.timeline.pins.row(0)]"), [1, HOLDER], "a row can be pinned")
    window = page.open("held", f"#/timeline?group=none&t={10 * BURST_END // 3}-{11 * BURST_END // 3}")
    page.ok(JOB not in page.rows() and HOLDER in page.rows(), "coroutines without life in view are left out")
    window.press("#alive")
    page.ok(JOB in page.rows(), "unless they are asked for")
    window.eval("{ const { timeline } = ctp.app; timeline.coros.scrollTo(4000); timeline.invalidate(); }")
    window.frame()
    window.eval("{ ctp.app.window.pan(0.2); }")
    lives = window.eval("(() => { const { coros, window: w } = ctp.app.timeline; for (let i = coros.first; i < coros.last; i++) "
                        "if (coros.lives(i, w.from, w.to)) return true; return false; })()")
    page.ok(lives, "the rows in sight are never all empty")


def test_04_causes(page):
    window = page.open("held")
    t = SINCE + 2 * MS
    window.move(*page.at(CLIENTS[0], t))
    tip = window.texts("#tip div")
    page.ok(tip[-1] == "waits for lock 'db 3' at pool.cpp:40:get, held by conn 12 #12"
            and "suspended for 17.0 s, until the end" in tip[1],
            "the tip says what a coroutine waits for, where, who holds it, and how long", tip)
    arrow = "(() => { const a = ctp.app.timeline.arrows.find(({ wake }) => wake.row === %d && wake.waker === %d); " \
            "return [a.x, a.from, a.to]; })()"
    window = page.open("held", f"#/timeline?group=none&t={BURST}-{BURST_END}")
    left, top, _, _ = window.box("#lanes")
    x, a, b = window.eval(arrow % (REPLICA, HOLDER))
    window.move(left + x, top + (a + b) / 2)
    page.ok("by conn 12  #12" in window.texts("#tip div"), "an arrow says who woke whom", window.texts("#tip div"))
    window.click(left + x, top + b - (b - a) * 0.2)
    window.frame()
    page.equal(window.eval("[ctp.app.timeline.cursor, ctp.app.timeline.cursorTime]"), [REPLICA, BURST + 4 * MS],
               "a click leads to the one that was woken")
    x, a, b = window.eval(arrow % (REPLICA, HOLDER))
    window.click(left + x, top + a + (b - a) * 0.2)
    window.frame()
    page.equal(window.eval("ctp.app.timeline.cursor"), HOLDER, "at the other end to its waker")
    window = page.open("held")
    x, a, b = window.eval(f"(() => {{ const a = ctp.app.timeline.awaits.find(({{ row }}) => row === {CLIENTS[3]}); return [a.x, a.from, a.to]; }})()")
    window.move(left + x, window.box("#lanes")[1] + (a + b) / 2)
    tip = window.texts("#tip div")
    page.ok("client 3 #33 waits for conn 12 #12, since 3.011\u2009000\u2009000 s" in tip and tip[-1].startswith("a dotted line"),
            "a dotted line says what waits for what", tip)
    page.ok("a dotted line" in window.text("#help .words"), "and so does the help")
    window = page.open("stuck", "#/finding/0?group=none&alive=no")
    window.eval("{ ctp.app.timeline.coros.scrollTo(3000); }")
    arrows = "(ctp.app.timeline.hovered = %d, ctp.app.timeline.draw(), ctp.app.timeline.arrows.length)"
    few, many, after = [window.eval(arrows % row) for row in (-1, 0, -1)]
    page.ok(few < many <= few + 24 and after == few, "a row that woke many shows a few of them, while it is pointed at", few, many, after)
    window = page.open("stuck", "#/coro/1")
    last = window.eval("moment(ctp.model.events.time[ctp.model.coros.first[1] - 1])")
    times = window.texts(".events tbody tr td:first-child")
    page.ok(times[-1] == last and len(times) <= 200, "the page of a coroutine opens on its last events", times[-1:], last)
    window.press(".events tbody tr:last-child a")
    page.ok(window.until("!byId('timeline').hidden"), "a time is a link to the timeline")
    page.ok(window.eval("ctp.app.timeline.cursor === 0 && moment(ctp.app.timeline.cursorTime)") == last, "at that moment", last)
    window = page.open("stuck", "#/timeline?alive=no&group=none")
    status = window.text("#status")
    page.ok("wakes drawn: zoom in" in status and window.eval("ctp.app.timeline.arrows.length") > 20,
            "of many arrows some are drawn", status)


def test_05_measure(page):
    window = page.open("held")
    window.move(*page.at(CLIENTS[0], SINCE + 2 * MS))
    window.frame()
    said = window.eval("ctp.app.timeline.crossTexts(ctp.app.timeline.cross)")
    page.ok(len(said) == 3 and said[0].startswith("3.0") and "from the finding" in said[1] and said[2].startswith("10:53:23.0"),
            "a line at the pointer says the time since the start, since the finding and of day", said)
    window = page.open("held", f"#/timeline?group=none&t={BURST}-{BURST_END}")
    (x0, y), (x1, _) = page.at(HOLDER, BURST + 5 * MS), page.at(HOLDER, BURST + 15 * MS)
    window.drag(x0, y, x1, y)
    page.ok(window.until("document.querySelectorAll('#detail h3').length === 3"), "a drag selects a range")
    titles, text = window.texts("#detail h3"), window.text("#detail")
    page.ok(titles[1:] == ["waits, by site", "runs, by thread"] and "coroutines, 8 wakes" in titles[0],
            "with wakes, sites and threads", titles)
    long = window.eval("ctp.app.timeline.range[1] - ctp.app.timeline.range[0]")
    page.ok(abs(long - 10 * MS) < MS / 10 and " ms selected, 3.00" in window.text("#detail h2"), "and its length",
            window.text("#detail h2"))
    page.ok("suspended" in text and "pool.cpp:40:get" in text and "worker" in text, "and what happened in it", text)
    page.keys("Enter")
    page.ok(abs(window.eval("ctp.app.window.width") - 10 * MS) < MS / 2, "Enter zooms to it")
    page.keys("u")
    page.ok(abs(window.eval("ctp.app.window.width") - 20 * MS) < MS / 2, "and u takes that back")
    for ctrl, name in (0, "the wheel"), (browser.CTRL, "a pinch"):
        at = page.at(HOLDER, BURST + 5 * MS)
        window.modifiers = ctrl
        window.wheel(*at, dy=-100)
        window.modifiers = 0
        window.frame()
        there = page.at(HOLDER, BURST + 5 * MS)[0]
        page.ok(abs(there - at[0]) < 2 and window.eval("ctp.app.window.width") < 19 * MS, f"{name} zooms where the pointer is", at,
                there)
    window = page.open("held", "#/finding/0?row=12")
    window.eval("{ [...document.querySelectorAll('#detail button')].find(node => node.textContent === 'fit its life').click(); }")
    window.frame()
    seen = window.eval(f"(() => {{ const t = ctp.app.timeline, {{ born, end }} = ctp.model.coros; "
                       f"return [(t.x(born[{HOLDER}]) - t.left) / t.plot, (t.x(end[{HOLDER}]) - t.left) / t.plot, t.axis.pieces.length]; }})()")
    page.ok(0.02 < seen[0] < 0.1 and 0.9 < seen[1] < 0.995 and seen[2] == 1, "a life is fitted to scale, with both its ends", seen)
    texts = window.eval("ctp.app.window.set(3e9, 3.01e9), ctp.app.timeline.draw(), ctp.app.timeline.spans.map(span => ctp.app.timeline.spanText(span))")
    page.ok(any(text.startswith("on ") for text in texts), "a run says that it is on a thread", texts)
    window = page.open("held", "#/timeline?group=none")
    most, oldest = window.eval("[ctp.app.overview.density.mostAlive, ctp.app.overview.density.oldest]")
    page.ok(11 < most <= 25 and abs(oldest - 16.997e9) < 0.1e9, "the overview counts the living, and has the oldest wait", most,
            oldest)
    suspended = page.pixels("suspended")
    window.press("#legend [data-state=suspended]")
    page.ok(page.pixels("suspended") < suspended / 20, "a press on the legend hides a state", suspended, page.pixels("suspended"))
    page.ok("hide=suspended" in window.eval("location.hash"), "and the address says so")
    window.press("#legend [data-state=suspended]")
    page.equal(page.pixels("suspended"), suspended, "another shows it again")


def test_06_tables(page):
    window = page.open("held", "#/coroutines")
    window.eval("ctp.app.tables.ready")
    waiting = window.eval("[...document.querySelectorAll('#view thead tr:last-child th')]"
                          ".findIndex(th => /suspended|waiting/.test(th.textContent)) + 1")
    window.press(f"#view thead tr:last-child th:nth-child({waiting}) button")
    window.press("#view tbody tr:first-child .goes, #view tbody tr:first-child a")
    page.ok(window.until("!byId('timeline').hidden && ctp.app.timeline.cursor >= 0"), "a row of a table leads to the timeline")
    for address, name in (f"#/coroutines?range={10 * BURST_END // 3}-{11 * BURST_END // 3}", "a range"), ("#/coroutines?q=client",
                                                                                                          "a search"):
        page.open("held", address)
        window.eval("ctp.app.tables.ready")
        shown = window.text(".count")
        page.ok(int(shown.split(" ")[0]) in (len(CLIENTS), 3 + len(CLIENTS)) and "of 411" in shown,
                f"{name} selects the rows of a table", shown)
    page.files()
    window.press(".save")
    page.ok(window.until("saved"), "a table becomes a file")
    saved = window.eval("[saved[0].endsWith('.csv'), saved[1], saved[2].split('\\r\\n').length]")
    page.equal(saved, [True, "text/csv", len(CLIENTS) + 2], "as CSV")
    window = page.open("held", "#/finding/0")
    page.files()
    window.press("#save-picture")
    page.ok(window.until("saved && saved[1] === 'image/png'"), "a view becomes a picture")
    window.eval("{ window.copied = null; window.copyText = async text => { window.copied = text; }; }")
    window.eval("{ [...document.querySelectorAll('.finding.chosen button')]"
                ".find(node => node.textContent === 'copy as Markdown').click(); }")
    page.ok(window.until("copied") and window.eval("copied").startswith("### 8 coroutines wait for the lock"),
            "a finding becomes Markdown")
    page.open("held", "#/finding/0")
    window.press(".wanted td:first-child a")
    page.equal(page.window.text("#matches"), f"{len(CLIENTS)} matches", "a lock leads to those that waited for it")
    window = page.open("held", "#/timeline")
    page.keys("/")
    window.until("document.activeElement.id === 'search'")
    window.type("client")
    page.ok(window.until("byId('matches').textContent === '8 matches'"), "a search says how many it finds")
    found = []
    for _ in range(2):
        window.press("#next-match")
        found.append([window.text("#matches"), window.eval("ctp.app.timeline.cursor")])
    window.press("#previous-match")
    page.equal([*found, window.text("#matches")], [["1 of 8 matches", CLIENTS[0]], ["2 of 8 matches", CLIENTS[1]],
                                                   "1 of 8 matches"],
               "and leads to the next and the previous")
    if page.has("sections"):
        window = page.open("sections")
        page.equal(window.eval("[byId('section-label').hidden, byId('section').options.length]"), [False, 2],
                   "two sections can be chosen from")
        before = window.eval("ctp.model.meta.section")
        window.eval("{ window.old = true; const node = byId('section'); node.value = String(%d); "
                    "setTimeout(() => node.dispatchEvent(new Event('change')), 50); }" % (2 - before))  # after the answer
        page.ok(page.reloaded("!window.old && window.ctp && ctp.model.meta.section !== %d" % before),
                "another one is shown in the same page")


def test_07_flame(page):
    window = page.open("held", "#/flame")
    page.ok(window.until("ctp.app.flame && ctp.app.flame.tree"), "the flame view adds up")
    texts = window.texts(".flame-list li")
    page.ok(any("pool.cpp:40:get" in text for text in texts), "by spawn and suspend site", texts[:3])
    x, y, wide, _ = window.box("#flame")
    window.click(x + wide / 2, y + 30)
    page.ok(window.until("ctp.app.view.frame !== undefined"), "a click zooms to a frame")
    page.ok(window.until("document.querySelectorAll('.flame-chosen a').length > 0"), "which has links to its coroutines")
    page.keys("Escape")
    page.ok(window.until("ctp.app.view.frame === undefined"), "Esc zooms out")
    for i, state in enumerate(("suspended", "runnable", "running")):
        window.press(f".flame-tools [role=group] button:nth-child({i + 1})")
        page.ok(window.eval("ctp.app.flame.heading.textContent") == f"Time {state}, by stack", f"{state} time has one of its own")
    window.eval("{ [...document.querySelectorAll('.flame-chosen a')][0]?.click(); }")
    if page.has("baseline"):
        window = page.open("baseline", "#/flame")
        window.until("ctp.app.flame && ctp.app.flame.tree")
        page.ok("Compared with " in window.text(".flame") and not window.eval("ctp.app.flame.compare.hidden"),
                "a baseline makes it differential")


VIEW = "[ctp.app.view.page, ctp.app.view.arg, ...['q', 'order', 'group', 'rows', 'row', 'turned', 'pins', 'hide']" \
       ".map(key => ctp.app.option(key)), " \
       "ctp.app.window.from, ctp.app.window.to, ctp.app.timeline.cursor].map(String)"


def test_08_the_address(page):
    window = page.open("held")
    window.eval("{ window.copied = null; window.copyText = async text => { window.copied = text; }; }")
    window.eval("{ ctp.app.change({ order: 'running', group: 'name', rows: 12, hide: ['wake'] }); ctp.app.turnPin(%d); }" % HOLDER)
    window.eval(f"{{ ctp.app.turnGroup({LIST}.groups.at(-1)); ctp.app.window.set({BURST}, {BURST_END}); "
                f"ctp.app.select({CLIENTS[2]}); }}")
    window.until("ctp.app.view.t")
    page.keys("c")
    window.until("copied")
    link, view = window.eval("copied"), window.eval(VIEW)
    page.ok(link.startswith("#/finding/0?") and "file:" not in link, "a link is the fragment alone", link)
    window = page.open("held", "#/sites")
    page.open("held", "#/timeline")
    page.keys("/")
    window.until("document.activeElement.id === 'search'")
    window.type(link)
    page.keys("Enter")
    window.until("ctp.app.view.page === 'finding'")
    page.equal(window.eval(VIEW), view, "pasted into the search, it shows the same")
    page.equal(window.eval("writeAddress(ctp.app.view)"), link, "with the same address")
    titles = [window.eval("document.title")]
    for address in "#/sites", "#/coro/12", "#/coro/99999":
        window.eval(f"{{ location.hash = '{address}'; }}")
        window.until(f"location.hash === '{address}' && !byId('view').hidden")
        window.frame()
        titles.append(window.eval("document.title"))
    page.equal([title.split(" – ")[0] for title in titles],
               ["8 coroutines wait for the lock 'db 3', held by conn 12", "Sites", "conn 12", "Not found"],
               "the title says what is shown")
    page.ok("This page has nothing at #/coro/99999" in window.text("#view"), "an unknown link says so", window.text("#view"))
    window.eval("{ history.back(); }")
    page.ok(window.until("document.querySelector('.coro h1 bdi')?.textContent === 'conn 12'"), "back goes back")
    window.eval("{ history.go(-2); }")
    page.ok(window.until("ctp.app.view.page === 'finding' && !byId('timeline').hidden"), "twice more, to the finding")
    page.equal(window.eval(VIEW), view, "which is as it was")
    window.eval("{ history.forward(); }")
    page.ok(window.until("ctp.app.view.page === 'sites' && !byId('view').hidden"), "forward goes forward")
    page.equal(window.errors, [], "no error on the way")


def test_09_everybody(page):
    window = page.window
    window.size(390, 844)
    page.open("held")
    window.dark(True)  # firefox forgets it when it opens a page
    window.eval("{ document.querySelector('.finding .head').focus(); }")
    page.keys("Enter")
    page.ok(window.eval("document.querySelector('.finding .body').checkVisibility()"),
            "on a phone, in the dark, a key unfolds a finding")
    for _ in range(12):
        page.keys("Tab")
        if window.eval("document.activeElement.textContent") == "conn 12 #12":
            break
    page.equal(window.eval("document.activeElement.textContent"), "conn 12 #12", "Tab goes on to who holds the lock")
    page.keys("Enter")
    page.ok(window.until(f"ctp.app.timeline.cursor === {HOLDER} && byId('detail').checkVisibility()"), "Enter selects its row")
    page.ok("waits for replica" in window.text("#detail").replace("\u2068", ""), "and what it waits for is said",
            window.text("#detail"))
    page.shot("09-everybody-phone")
    window.size(1440, 900)
    window.dark(False)
    page.open("held", "#/coro/12")
    meaning = window.eval("""(() => { const words = [...document.querySelectorAll("details.word")];
        const word = words.find(node => /suspended/.test(node.textContent));
        word.querySelector("summary").focus(); return word.querySelector("span").textContent; })()""")
    page.keys("Enter")
    page.ok("waits, and has not been woken" in meaning
            and window.eval("[...document.querySelectorAll('details.word')].some(node => node.open)"),
            "a key explains the word for a state", meaning)


def test_09_only_its_own_scripts(page):
    foreign = "<script>window.ranForeign = true</script><style>body { opacity: 0.5 }</style><p style=\"opacity: 0.5\" class=\"foreign\"></p>"
    path, text = page.folder / "foreign.html", page.path("held").read_text(encoding="utf-8")
    path.write_text(text.replace("<body class=\"loading\">", "<body class=\"loading\">" + foreign), encoding="utf-8")
    page.window.blank()
    page.window.open(path)
    seen = page.window.eval("[typeof ctp, typeof window.ranForeign, ...['body', '.foreign'].map(node => getComputedStyle(document.querySelector(node)).opacity)]")
    page.equal(seen, ["object", "undefined", "1", "1"],
               "a script and styles that are not the page's own do nothing, and the page works")
    page.window.errors.clear()  # the browser has said that it refused them


def test_10_large_stays_light(page):
    window = page.open("big")
    page.ok(window.eval("ctp.model.n") == 20000 and window.eval("performance.now()") < 20000, "20,000 coroutines open soon",
            window.eval("performance.now()"))
    page.ok(window.eval(f"{LIST}.groups.length") <= 41, "in groups")
    counted = "ctp.app.overview.turn"
    before = window.eval(counted)
    for order in "running", "birth", "stuck":
        window.eval(f"{{ ctp.app.change({{ order: '{order}' }}); }}")
        window.frame()
    page.equal(window.eval(counted), before, "another order counts nothing again")
    window = page.open("big", "#/timeline")
    window.eval("""{ ctp.app.slow = 1000; window.said = new Set(); Breath.prototype.take = async function(share) {
        this.progress(share); window.said.add(byId("status").textContent.replace(/\\d+ %/, "…"));
        await new Promise(done => setTimeout(done)); }; }""")
    for option, value in ("order", "running"), ("group", "name"):
        window.eval(f"{{ window.said.clear(); byId('{option}').value = '{value}'; byId('{option}').dispatchEvent(new Event('change')); }}")
        page.ok(window.until(f"ctp.app.option('{option}') === '{value}'"), f"many rows: another {option}")
        page.ok("arranging 20,000 rows: …" in window.eval("[...said]"), "is made in parts, and says how far it is", window.eval("[...said]"))
    page.equal(window.eval("(() => { const m = ctp.model; return String(ctp.app.ordered()) === String(m.sorted(ctp.app.everyRow(), 'running')); })()"),
               True, "as it would be at once")
    window.eval("{ window.said.clear(); ctp.app.search('job 1'); }")
    page.ok(window.until("ctp.app.view.q === 'job 1' && byId('matches').textContent"), "a search too", window.eval("[...said]"))
    # What is drawn is text on a canvas.
    window.eval("""{ const { ctx } = ctp.app.overview, fill = ctx.fillText; window.drawn = new Set();
        ctx.fillText = function(text, ...rest) { window.drawn.add(text); return fill.call(this, text, ...rest); }; }""")
    window.eval("""{ window.said.clear(); window.shares = []; Breath.prototype.take = async function(share) {
        this.progress(share); window.shares.push(ctp.app.overview.share); window.said.add((document.querySelector(".counting, #detail .sums") || {}).textContent);
        await new Promise(done => setTimeout(done)); }; ctp.app.overview.count(null); }""")
    page.ok(window.until("shares.length > 1 && ctp.app.overview.share === null") and window.eval("Math.max(...shares)") > 0, "the overview knows how far it has counted")
    page.ok(window.until("[...drawn].some(text => /^counting: \\d/.test(text))"), "and says so", window.eval("[...drawn]"))
    window.eval("{ ctp.app.setRange([1e6, 5e8]); }")
    page.ok(window.until("[...said].some(text => /^counting: \\d/.test(text)) && byId('detail').textContent.includes('waits, by site')"),
            "so do the sums of a range", window.eval("[...said]"))
    for view in "wakes", "coroutines":
        window.eval(f"{{ ctp.app.setRange(null); window.said.clear(); location.hash = '#/{view}'; }}")
        page.ok(window.until("document.querySelectorAll('#view tbody tr').length > 0 && [...said].some(text => /^counting: \\d/.test(text))"),
                f"and the table of {view}", window.eval("[...said]"))
    window.eval("{ location.hash = '#/timeline'; }")
    window.until("!byId('timeline').hidden")
    page.equal(window.errors, [], "without an error")
    page.ok(window.eval("document.querySelectorAll('*').length") < 1500, "and the page has few elements",
            window.eval("document.querySelectorAll('*').length"))
    page.shot("10-large-stays-light-whole")
    text = page.path("held").read_text(encoding="utf-8")
    for share, said in (0.9995, "not complete"), (0, "damaged"):
        path, data = page.folder / "broken.html", text.index('<script type="application/octet-stream"')
        path.write_text(text[:int(len(text) * share)] if share else text[:data + 80] + "AAAAAAAA" + text[data + 88:],
                        encoding="utf-8")
        window.blank()
        try:
            window.open(path)
            page.ok(False, f"a page that is {said} is an error")
        except browser.Failed:
            page.ok(said in window.text("#loading"), f"a page that is {said} says so", window.text("#loading"))
    if page.has("alone"):
        window = page.open("alone")
        page.ok("only the coroutines of finding 1" in window.text("#notice"), "a page of one finding says so",
                window.text("#notice"))


TESTS = [test for name, test in sorted(globals().items()) if name.startswith("test_")]


def main():
    folder, *only = sys.argv[1:]
    kinds = [("chromium", browser.Browser, browser.chromium()), ("firefox", firefox.Firefox, firefox.firefox())]
    for name, kind, there in kinds:
        if not there:
            skip(f"there is no {name}")
            continue
        with kind(1440, 900) as window:
            page = Journey(folder, window, name)
            for test in TESTS:
                if only and test.__name__ not in only and name not in only:
                    continue
                try:
                    test(page)
                    page.shot(test.__name__[5:].replace("_", "-"))
                except (browser.Failed, TypeError) as err:
                    ok(False, f"{name}: {test.__name__}", *str(err).splitlines()[:6])
                    window.modifiers = 0
                    window.size(1440, 900)
                    window.dark(False)
    return done()


if __name__ == "__main__":
    sys.exit(main())
