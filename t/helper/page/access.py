# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""access.py FOLDER [AXE [TEST...]] - whether everybody can use the page of ctp-tohtml: by keyboard, by touch, with a screen reader,
with large text, on a phone and on paper. In chromium and, with the variable EVERY, in firefox, as far as they are here; prints TAP.
AXE is the script of axe-core, which looks for barriers (t/helper/axe).
"""
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import browser  # noqa: E402
import firefox  # noqa: E402
import htmlpage  # noqa: E402
from pytap import done, equal, ok, skip  # noqa: E402

TEXT_CONTRAST, GRAPHIC_CONTRAST, MOST_NODES = 4.5, 3, 100
TABLES = ["coroutines", "waiting", "sites", "threads", "wakes", "findings"]
# What is written on what, by the names of the style sheet's colours.
TEXT_ON = [*[(text, back) for text in ("text", "faint", "accent") for back in ("back", "panel", "gutter", "cursor", "likely-back")],
           ("text", "unknown-back"), ("text", "quiet-axis"), ("back", "accent"), ("back", "text"), ("bad", "proved-back"), ("bad", "back"),
           ("likely", "likely-back"), *[(f"on-{state}", state) for state in ("running", "runnable", "suspended", "born", "unknown")]]
DRAWN_ON = [*[(line, "back") for line in ("edge", "dot", "hatch", "tick", "wake", "await", "bad", "running", "runnable", "control")],
            ("thumb", "gutter"), ("control", "panel"), ("hatch", "unknown"), ("density", "panel")]


class Pages:
    """Made-up pages, each written once, in one browser. name is the browser's, for the names of the tests."""

    def __init__(self, folder, window, name, axe):
        self.folder, self.window, self.name = pathlib.Path(folder), window, name
        self.axe = pathlib.Path(axe).read_text(encoding="utf-8") if axe else None

    def path(self, kind):
        path = self.folder / f"access-{kind}.html"
        if not path.exists():
            numbers = {"stuck": (30000, 1000)}.get(kind, ())
            path.write_text(getattr(htmlpage, "made_" + kind)(*numbers), encoding="utf-8")
        return path

    def open(self, kind, address=""):
        self.window.blank()
        self.window.open(str(self.path(kind)) + address)
        self.window.frame()
        return self.window

    def mirrored(self):
        """Until the mirror has what the canvas shows: it follows four times a second."""
        self.window.eval("new Promise(done => setTimeout(done, 600))")

    def ok(self, true, name, *why):
        ok(true, f"{self.name}: {name}", *why)

    def equal(self, got, want, name):
        equal(got, want, f"{self.name}: {name}")


def focused(window):
    return window.eval("document.activeElement.id || document.activeElement.className || document.activeElement.tagName")


def keys(window, *pressed):
    for key in pressed:
        window.key(key)
    window.frame()


# --- what a screen reader is told

def test_mirror(pages):
    window = pages.open("states", "#/timeline?order=birth&group=none")
    pages.mirrored()
    rows = "[...document.querySelectorAll('#mirror-rows [role=treeitem]')]"
    names = window.eval(rows + ".map(node => node.textContent)")
    pages.equal([name.split("  ")[0] for name in names[:3]], ["normal", "wake while it runs", "lost"], "the rows are elements, in their order")
    pages.equal(window.eval(rows + ".map(node => node.getAttribute('aria-selected'))").count("true"), 0, "none is selected")
    window.eval("{ byId('lanes').focus(); }")
    keys(window, "ArrowDown", "ArrowDown")
    pages.mirrored()
    active = "byId(byId('lanes').getAttribute('aria-activedescendant'))"
    pages.ok(window.eval(f"{active}.textContent").startswith("wake while it runs  #2, "), "the canvas says which row is selected")
    pages.equal(window.eval(f"[{active}.getAttribute('aria-selected'), {active}.getAttribute('aria-posinset')]"), ["true", "2"],
                "and that it is the second")
    keys(window, "r")
    pages.mirrored()
    pages.ok(re.match(r"In view: .* to .* of .*\. Selected: .*, from .* to .*\.$", window.text("#mirror-view")),
             "the window and the range are text", window.text("#mirror-view"))
    tree = [node for node in window.tree() if node[0] in ("treeitem", "outlineitem")]
    pages.equal([node[1].split(" ")[0] for node in tree[:2]], ["normal", "wake"], "the accessibility tree has the rows")
    pages.equal([bool(node[2].get("selected")) for node in tree[:3]], [False, True, False], "and which is selected")


def test_groups(pages):
    window = pages.open("stuck", "#/timeline?group=spawn&rows=2&alive=no")
    pages.mirrored()
    groups = window.eval("[...document.querySelectorAll('#mirror [aria-expanded]')].map(node => node.getAttribute('aria-expanded'))")
    pages.ok(groups and set(groups) == {"false"}, "folded groups say so", groups)
    window.eval("{ byId('lanes').focus(); }")
    keys(window, "ArrowDown", "Enter")
    pages.mirrored()
    pages.equal(window.eval("document.querySelector('#mirror [aria-expanded]').getAttribute('aria-expanded')"), "true", "Enter opens one")
    window.eval("{ ctp.app.change({ group: 'none' }); }")
    window.frame()
    pages.mirrored()
    nodes = window.eval("byId('mirror').querySelectorAll('*').length")
    pages.ok(window.eval("ctp.visible().last - ctp.visible().first") > 150 and nodes <= MOST_NODES, "many small rows are few elements", nodes)
    first = window.eval("byId('mirror-rows').firstChild.textContent")
    window.eval("{ const { timeline } = ctp.app; timeline.coros.scrollTo(900); timeline.invalidate(); }")
    window.frame()
    pages.mirrored()
    pages.ok(window.eval("byId('mirror-rows').firstChild.textContent") != first, "the mirror scrolls with the canvas")


# --- the keyboard

def test_skip(pages):
    window = pages.open("stuck")
    # From the top of the page, wherever the browser believes the reader to be.
    window.eval("{ const top = document.documentElement; top.tabIndex = -1; top.focus(); top.removeAttribute('tabindex'); }")
    keys(window, "Tab")
    pages.equal(focused(window), "skip", "the first stop is the way past the head of the page")
    keys(window, "Enter")
    pages.equal(focused(window), "lanes", "it leads to the rows")


FOCUS = """(() => { const node = document.activeElement, style = getComputedStyle(node), box = node.getBoundingClientRect();
    const drawn = node.querySelector(":scope > svg > rect"), thick = drawn && parseFloat(getComputedStyle(drawn).strokeWidth) >= 2;
    const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 || thick || ["checkbox", "search"].includes(node.type);
    const inside = box.width > 0 && box.height > 0 && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
    return [node === document.body ? "BODY" : node.id || node.getAttribute("class") || node.tagName, Boolean(seen && inside)]; })()"""


def test_tab_order(pages):
    for kind, address in ("tree", ""), ("states", "#/sites"), ("states", "#/coro/1"):
        window = pages.open(kind, address)
        window.eval("{ document.activeElement.blur(); getSelection().removeAllRanges(); }")
        stops = []
        for _ in range(150):
            window.key("Tab")
            stop = window.eval(FOCUS)
            if stop[0] in ("BODY", "HTML") or stops and stop[0] == "skip":
                break
            stops.append(stop)
        pages.ok(3 < len(stops) < 150, f"{kind}{address}: Tab goes through the page and leaves it", stops[-3:])
        pages.equal([name for name, seen in stops if not seen], [], "each stop is seen")
    order = [name for name, _ in stops]
    pages.ok(order[0] == "skip", "the order is that of the page", order[:5])


def test_journeys(pages):
    window = pages.open("stuck", "#/timeline")
    window.eval("{ document.querySelector('.finding .head').focus(); }")
    keys(window, "Enter")
    pages.equal(window.eval("ctp.app.finding"), 0, "a finding is chosen with Enter")
    window.eval("{ byId('lanes').focus(); }")
    pages.ok(window.eval("ctp.app.timeline.cursor") < 0, "nothing is selected yet")
    while window.eval("ctp.app.timeline.cursor") < 0:
        keys(window, "ArrowDown")
    row = window.eval("ctp.app.timeline.cursor")
    keys(window, "j")
    at = window.eval("ctp.app.timeline.cursorTime")
    keys(window, "j")
    pages.ok(at is not None and window.eval("ctp.app.timeline.cursorTime") < at, "j goes back from event to event", at)
    keys(window, "k")
    pages.equal(window.eval("ctp.app.timeline.cursorTime"), at, "k goes forward")
    keys(window, "b")
    pages.ok(window.eval("ctp.app.timeline.cursor") != row, "b goes to the waker")
    keys(window, "Enter")
    pages.equal(window.eval("ctp.app.view.page"), "coro", "Enter opens its page")
    keys(window, "Escape")
    pages.equal(window.eval("[byId('timeline').hidden, document.activeElement.id]"), [False, "lanes"], "Esc leads back, with the focus")


def test_range(pages):
    window = pages.open("states", "#/timeline")
    window.eval("{ byId('lanes').focus(); }")
    window.modifiers = browser.SHIFT
    keys(window, "ArrowRight", "ArrowRight")
    first = window.eval("ctp.app.timeline.range")
    keys(window, "ArrowRight")
    longer = window.eval("ctp.app.timeline.range")
    window.modifiers = 0
    pages.ok(first and longer[0] == first[0] and longer[1] > first[1], "Shift and an arrow move the end of a range", first, longer)
    keys(window, "e")
    window.modifiers = browser.SHIFT
    keys(window, "ArrowLeft")
    window.modifiers = 0
    other = window.eval("ctp.app.timeline.range")
    pages.ok(other[1] == longer[1] and other[0] < longer[0], "after e it is the beginning that moves", longer, other)
    keys(window, "Enter")
    pages.ok(window.eval("ctp.app.timeline.range") is None and abs(window.eval("ctp.app.window.width") - (other[1] - other[0])) < 2, "Enter zooms to it")
    keys(window, "u")
    pages.ok(window.eval("ctp.app.window.width") > other[1] - other[0], "u takes that back")


def test_other_keys(pages):
    window = pages.open("states", "#/timeline")
    keys(window, "/")
    window.frame()
    window.type("wake")
    window.until("ctp.app.view.q === 'wake'")
    keys(window, "Enter")
    pages.equal(window.eval("[document.activeElement.id, ctp.app.timeline.cursor]"), ["lanes", 1], "a search leads to the row that it found")
    keys(window, "c")
    pages.ok(window.until("byId('live').textContent.startsWith('Copied #/')"), "c copies the link")
    keys(window, "?")
    pages.ok(window.eval("byId('help').open"), "? shows the keys")
    keys(window, "Escape")
    pages.ok(not window.eval("byId('help').open") and focused(window) == "lanes", "Esc closes them, and the focus is where it was")
    before = window.eval("document.documentElement.dataset.theme + byId('theme').textContent")
    window.eval("{ byId('theme').focus(); }")
    keys(window, "Enter")
    pages.ok(window.eval("document.documentElement.dataset.theme + byId('theme').textContent") != before, "the colours change with Enter")
    window.eval("{ document.querySelector('#tabs [data-page=sites]').focus(); }")
    keys(window, "Enter")
    window.until("!byId('view').hidden")
    window.eval("{ document.querySelector('#view th button').focus(); }")
    keys(window, "Enter")
    pages.ok(window.eval("document.querySelectorAll('#view th[aria-sort]').length") >= 1, "a table is sorted with Enter")
    pages.equal(window.errors, [], "no error")


# --- what axe finds

AXE = """axe.run(document, { resultTypes: ["violations"] }).then(found => found.violations.map(({ id, nodes }) =>
    `${id}: ${nodes.length} times, first ${nodes[0].html.slice(0, 150)} ${nodes[0].failureSummary.slice(0, 200)}`))"""


def barriers(pages, name):
    pages.window.eval("{ " + pages.axe + " }")
    found = pages.window.eval(AXE)
    pages.ok(not found, f"axe finds nothing: {name}", *found)


def test_axe(pages):
    if not pages.axe:
        return
    window, views = pages.window, [("stuck", ""), ("states", "#/coro/1"), ("states", "#/flame"), ("states", "#/sites")]
    every = [*views, ("tree", "#/finding/0"), ("empty", ""), *[("states", "#/" + table) for table in TABLES if table != "sites"]]
    for dark, width, height, tried in (False, 1440, 900, every), (True, 1440, 900, views), (False, 390, 844, every), (True, 390, 844, views[:1]):
        window.dark(dark)
        window.size(width, height)
        said = f"{'dark' if dark else 'light'}, {width} px"
        for kind, address in tried:
            pages.open(kind, address)
            window.until("byId('timeline').hidden || byId('mirror-view').textContent")
            barriers(pages, f"{kind}{address}, {said}")
        pages.open("states")
        keys(window, "ArrowDown", "?")
        barriers(pages, f"help, {said}")
    window.dark(False)
    window.size(1440, 900)


# --- colours

def light(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    less, more = sorted((light(a), light(b)))
    return (more + 0.05) / (less + 0.05)


def test_contrast(pages):
    window = pages.open("states")
    for theme in "light", "dark":
        window.eval(f"{{ document.documentElement.dataset.theme = '{theme}'; ctp.app.redraw(); }}")
        names = sorted({name for pair in TEXT_ON + DRAWN_ON for name in pair})
        colour = dict(zip(names, window.eval(f"{json.dumps(names)}.map(name => Colours.now().css(name))")))
        low = [(*pair, round(contrast(*map(colour.get, pair)), 2)) for pairs, least in ((TEXT_ON, TEXT_CONTRAST), (DRAWN_ON, GRAPHIC_CONTRAST))
               for pair in pairs if contrast(*map(colour.get, pair)) < least]
        pages.equal(low, [], f"{theme}: text has a contrast of {TEXT_CONTRAST}, lines of {GRAPHIC_CONTRAST}")
        states = [light(colour[state]) for state in ("running", "runnable", "suspended")]
        apart = min(contrast(colour[a], colour[b]) for a, b in (("running", "runnable"), ("running", "suspended")))
        pages.ok(apart > 2, f"{theme}: running has another lightness than waiting", states)


PIXELS = """(() => { const { timeline } = ctp.app, where = ctp.where(%d, %f), ratio = pixelRatio(timeline.canvas), wide = 24;
    const top = Math.round((where.y - timeline.coros.rowHeight / 2) * ratio) + 1, high = Math.round(timeline.coros.bar * ratio);
    const data = timeline.canvas.getContext("2d").getImageData(Math.round(where.x * ratio) - wide / 2, top, wide, high).data;
    const words = new Uint32Array(data.buffer), colours = Colours.now(), known = ["dot", "edge", "hatch"];
    return known.filter(name => words.includes(colours.pixel(name))); })()"""


def test_textures(pages):
    window = pages.open("states", "#/timeline?order=birth&group=none&even")
    us = 1000
    want = {"running": (0, 200 * us, []), "suspended": (0, 350 * us, ["edge"]), "runnable": (0, 550 * us, ["dot"]),
            "not started": (5, 500 * us, ["edge"]), "unknown": (6, 500 * us, ["hatch"])}
    got = {state: window.eval(PIXELS % (row, t)) for state, (row, t, _) in want.items()}
    pages.equal(got, {state: texture for state, (_, _, texture) in want.items()}, "each state has its texture")
    swatches = window.eval("[...document.querySelectorAll('#legend i')].map(node => getComputedStyle(node).backgroundImage !== 'none' "
                           "|| getComputedStyle(node).boxShadow !== 'none')")
    pages.equal(swatches, [False] + [True] * 6, "and so has the legend")
    window.dark(False, forced=True)
    window.frame()
    pages.equal(window.eval("getComputedStyle(document.querySelector('#legend i')).backgroundColor"), "rgb(11, 98, 184)",
                "with the system's own colours the legend keeps its own")
    window.dark(False)


# --- sizes

WIDER = """[...document.querySelectorAll("body *")].filter(node => { const box = node.getBoundingClientRect();
    return node.checkVisibility() && box.width > 1 && box.right > innerWidth + 1 && !node.closest("#mirror, #tabs, .table, .scroller, table, .who"); })
    .map(node => node.id || node.className || node.tagName).slice(0, 5)"""
OVERLAPS = """(() => { const out = [];
    for (const parent of document.querySelectorAll("header, #tabs, #tools, #tools .group, footer, #legend, .badges, .acts, .pager, .facts-line")) {
        const boxes = [...parent.children].filter(node => node.checkVisibility()).map(node => [node, node.getBoundingClientRect()]);
        for (const [a, p] of boxes) for (const [b, q] of boxes)
            if (a !== b && p.width && q.width && p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1)
                out.push(`${a.id || a.tagName} and ${b.id || b.tagName}`);
    }
    return out; })()"""
LOST = """[...document.querySelectorAll("button:not(#skip), select, th, td, label, h2, h3, #matches")].filter(node => node.checkVisibility() && node.clientWidth
    && node.scrollWidth > node.clientWidth + 2 && getComputedStyle(node).overflowX === "hidden").map(node => node.id || node.textContent.slice(0, 30))"""


def fits(pages, name):
    window = pages.window
    pages.ok(window.eval("document.documentElement.scrollWidth") <= window.eval("innerWidth"), f"{name}: the page is as wide as the screen")
    pages.equal(window.eval(WIDER), [], f"{name}: nothing sticks out")
    pages.equal(window.eval(OVERLAPS), [], f"{name}: nothing overlaps")
    pages.equal(window.eval(LOST), [], f"{name}: no text is lost")


def test_large_text(pages):
    window = pages.window
    window.text_size(2)
    for kind, address in ("stuck", ""), ("states", "#/coro/1"), ("tree", "#/waiting"), ("states", "#/threads"):
        pages.open(kind, address)
        fits(pages, f"text of 200 %, {kind}{address}")
    pages.open("states", "#/timeline?order=birth&group=none")
    pages.equal(window.eval("byId('lanes').currentCSSZoom"), 2, "the canvas follows the text")
    _, _, wide, _ = window.box("#lanes")
    x, y, _, _ = window.box("#lanes")
    at = window.eval("ctp.where(2, 0)")
    window.click(x + 40, y + at["y"] * 2)
    window.frame()
    pages.equal(window.eval("ctp.app.timeline.cursor"), 2, "a click on a row of large text selects it")
    pages.ok(abs(window.eval("byId('lanes').width") - wide) <= 2, "and it is as sharp as before", wide)
    window.text_size(1)


def test_phone(pages):
    window = pages.window
    window.size(390, 844)
    for kind, address in [("stuck", ""), ("hostile", ""), ("states", "#/coro/1"), ("states", "#/flame"), ("tree", "#/finding/0")] \
            + [("states", "#/" + table) for table in TABLES]:
        pages.open(kind, address)
        fits(pages, f"390 px, {kind}{address}")
    window = pages.open("stuck", "#/finding/0")
    pages.ok(not window.eval("document.querySelector('.finding .body').checkVisibility()"), "on a phone a finding is its title")
    window.press(".finding .head")
    pages.ok(window.eval("document.querySelector('.finding .body').checkVisibility()"), "a press shows its evidence")
    window = pages.open("stuck", "#/timeline")
    window.eval("{ ctp.app.window.zoom(0.3); byId('lanes').scrollIntoView({ block: 'center' }); }")
    window.frame()
    x, y, wide, high = window.box("#lanes")
    from_, width = window.eval("[ctp.app.window.from, ctp.app.window.width]")
    right, middle = x + wide * 0.8, y + high / 2
    window.touch(((right, middle), (right - 80, middle)))
    window.frame()
    pages.ok(window.eval("ctp.app.window.from") > from_ and window.eval("ctp.app.timeline.range") is None, "a finger pans")
    window.touch(((right - 60, middle), (right - 100, middle)), ((right, middle), (right + 30, middle)))
    window.frame()
    pages.ok(window.eval("ctp.app.window.width") < width * 0.8, "two fingers zoom", window.eval("ctp.app.window.width"), width)
    window.eval("{ ctp.app.select(1); }")
    window.frame()
    pages.ok(window.eval("byId('detail').checkVisibility()"), "the selected coroutine has its panel")
    fits(pages, "390 px, with the panel")
    pages.equal(window.eval("shorten('src/network/server.cpp:1234:handle_request', 24)"), "src/net…4:handle_request", "names are cut in the middle")
    window.size(1440, 900)


def test_motion(pages):
    window = pages.window
    window.dark(False, reduced=True)
    pages.open("states")
    moving = """[...document.querySelectorAll("*")].filter(node => { const style = getComputedStyle(node);
        return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0; }).length"""
    pages.equal(window.eval(moving), 0, "nothing moves by itself for those who do not want it")
    window.dark(False)


def test_print(pages):
    window = pages.window
    window.dark(True)
    pages.open("tree", "")
    ratio = window.eval("byId('lanes').width / byId('lanes').height")
    window.eval("{ dispatchEvent(new Event('beforeprint')); }")
    window.dark(True, media="print")
    window.frame()
    pages.equal(window.eval("document.documentElement.dataset.theme"), "light", "a print is light")
    pages.ok(abs(window.eval("byId('lanes').clientWidth / byId('lanes').clientHeight") - ratio) < 0.1, "the picture is as on the screen")
    pages.ok(window.eval("[...document.querySelectorAll('.finding .body')].every(node => node.checkVisibility())"), "all findings have their evidence")
    pages.ok(not window.eval("['tools', 'tabs', 'theme'].some(id => byId(id).checkVisibility())"), "what one presses is not printed")
    window.dark(False)
    window.eval("{ dispatchEvent(new Event('afterprint')); }")
    pdf = pages.folder / "access.pdf"
    window.pdf(pdf)
    pages.ok(pdf.read_bytes().startswith(b"%PDF"), "it can be printed")


TESTS = [test_mirror, test_groups, test_skip, test_tab_order, test_journeys, test_range, test_other_keys, test_contrast, test_textures,
         test_large_text, test_phone, test_motion, test_print, test_axe]


def main():
    folder, axe, *only = [*sys.argv[1:], None, None][:2] + sys.argv[3:]
    kinds = [("chromium", browser.Browser, browser.chromium()), ("firefox", firefox.Firefox, firefox.firefox())]
    for name, kind, there in kinds:
        if name == "firefox" and not os.environ.get("EVERY") and name not in only:
            continue  # journeys.py goes through the page in both
        if not there:
            skip(f"there is no {name}")
            continue
        with kind(1440, 900) as window:
            pages = Pages(folder, window, name, axe)
            for test in TESTS:
                if only and test.__name__ not in only and name not in only:
                    continue
                try:
                    test(pages)
                except browser.Failed as err:
                    ok(False, f"{name}: {test.__name__}", *str(err).splitlines()[:6])
                    window.modifiers = 0
    return done()


if __name__ == "__main__":
    sys.exit(main())
