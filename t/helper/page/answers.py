# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""answers.py FOLDER [TEST...] - what the page of ctp-tohtml answers at first sight, on made-up pages, in chromium; prints TAP.

Most tests use the page of a leaked pool of permits: more coroutines wait than the report lists.
"""
import sys

from journeys import Journey, browser, done, ok, skip

ACCEPTOR, TICKER, HOLDERS, STUCK = 0, 1, range(2, 5), range(5, 135)  # rows of the page of the permits
HEADING = "ctp.app.timeline.headingText(ctp.app.timeline.coros)"


def test_all_members(page):
    window = page.open("permits")
    seen = window.eval("[[...ctp.app.moment.members].sort((a, b) => a - b), [...ctp.app.moment.holders], ctp.app.moment.stuck.size]")
    page.equal(seen, [list(STUCK), list(HOLDERS), 130], "members that the report does not list, and all holders, are known")
    page.ok(window.eval(HEADING).startswith("135 coroutines: first 130 of the finding with 3 that hold what they wait for"),
            "the heading counts them", window.eval(HEADING))
    page.equal(page.rows()[:3], list(HOLDERS), "the holders stand first")
    ends = window.eval("[...ctp.app.moment.stuck.values()].map(([from, to]) => [from, to])")
    page.ok(all(to == 2_000_000_000 and from_ % 1_000_000 == 300 for from_, to in ends), "each has a frame, from its wait to the end")
    page.equal(window.text(".waits .left"), "and 126 more", "the tree counts all of them")
    page.ok("and 127 more" in window.text(".finding summary"), "and so does the list", window.text(".finding summary"))
    page.equal(window.eval("document.querySelectorAll('.finding .who li').length"), 130, "which has them all")
    page.ok("where and when" not in window.text(".finding .wanted"), "nothing is said to be missing that is not")
    # A number of members that nothing explains.
    said = window.eval("""(() => { const { model } = ctp, [finding] = model.leads; finding.members = 140; findOthers(model);
        ctp.app.moment = ctp.app.timeline.moment = findingMoment(model, finding);
        return [finding.others.length, ctp.app.timeline.headingText(ctp.app.timeline.coros), drawnNode(ctp.app, 0, finding).textContent]; })()""")
    page.ok(said[0] == 0 and "first 100 of the 140 of the finding" in said[1] and "100 of the 140 coroutines" in said[2],
            "if they cannot be told, it says how many are shown", said)


def test_order(page):
    window = page.open("held")
    kinds = window.eval("""[...document.querySelectorAll(".finding.chosen .body > *")].map(node => node.querySelector("h3")?.textContent
        .replace(" enlarge", "") || node.className).filter(text => /^(evidence|next|wanted|which)/.test(text))""")
    page.equal(kinds, ["evidence", "next", "wanted", "which waits for which"], "the evidence and what to do next stand above what is waited for and the tree")
    page.equal(window.eval("knownMembers(ctp.model, ctp.model.leads[0]).length > 5 && NODES_IN_PANEL"), 5, "which has five rows at first")
    window.eval("{ document.querySelector('.drawn button').click(); }")
    page.ok(window.eval("document.querySelectorAll('.tree-dialog svg a, .tree-dialog svg g.who').length") > 10, "and can be enlarged")
    window.key("Escape")


def test_one_line(page):
    window = page.window
    for kind, address in ("permits", ""), ("held", "#/finding/0?q=client"), ("queues", ""):
        page.open(kind, address)
        high = window.eval("['header', '#tools'].map(node => document.querySelector(node).offsetHeight)")
        page.ok(all(px <= 44 for px in high), f"{kind}: at 1440 pixels the header is one line, and so is what is above the rows", high)
        seen = window.eval("""(() => { const [first, ...others] = document.querySelectorAll("#about p span"), inSight = node => node.offsetTop === first.offsetTop;
            return others.filter(node => !inSight(node)).map(node => node.textContent); })()""")
        page.ok(len(seen) <= 1 and all("UTC" in text for text in seen), f"{kind}: there is room for what ran, but perhaps not for when", seen)
        cut = window.eval("""[...document.querySelectorAll("#tools > *, #tabs a, #theme, #show-help, #matches")].filter(node => node.checkVisibility()
            && (node.scrollWidth > node.clientWidth + 1 && node.tagName !== "SPAN" || node.getBoundingClientRect().right > innerWidth)).map(node => node.textContent)""")
        page.equal(cut, [], f"{kind}: nothing is cut there")


def test_alike(page):
    window = page.open("queues")
    page.equal(window.texts(".wanted tbody tr:first-child td")[1:], ["4 of 4", "3"], "how much there is, in the words of the text")
    page.ok("held by no coroutine" in window.text(".wanted"), "and that no coroutine holds it", window.text(".wanted"))
    high = window.eval("[...document.querySelectorAll('.wanted tbody tr')].map(node => node.offsetHeight)")
    page.ok(len(high) == 12 and max(high) < 26, "a table with a line for each of many queues", high)
    tree = window.eval("[...document.querySelectorAll('.drawn svg text')].map(node => node.textContent.replace(/[\\u2068\\u2069]/g, ''))")
    page.equal(sum(text.startswith("session") for text in tree), 1, "of ten equal chains the tree shows one")
    page.ok("and 9 more like it" in tree, "and how many are like it", tree)
    window = page.open("queues", "#/waiting")
    window.until("document.querySelectorAll('#view tbody tr').length > 5")
    things = window.eval("""[...[...document.querySelectorAll("#view table")].find(table => /What coroutines wait for/.test(table.caption.textContent))
        .querySelectorAll("tbody tr")].map(row => [row.cells[0].textContent, row.cells[3].textContent, row.cells[5].textContent])""")
    page.equal(things[0] + things[-1], ["queue 'write queue'", "7", "5", "queue 'write queue' × 32", "0", "0"],
               "of 33 queues with one name, 32 are a row, and the one that differs is the first")


def test_sites(page):
    window = page.open("queues")
    page.equal(window.eval("functionOf(ctp.model.placeAt(0, ctp.model.coros.first[1] - 1))"), "PollFn", "a label of Rust's types is not a part of them")
    said = window.eval("(ctp.app.timeline.spans || []).map(span => ctp.app.timeline.spanText(span))")
    page.ok(said and not any("String>>" in text and "PollFn" not in text for text in said) and not any("/home" in text for text in said), "on the rows", said[:9])
    page.ok("/home" not in window.text("#findings ol"), "the folder that all files are in is left out", window.text("#findings ol")[:600])
    page.ok("Files are in /home/somebody/work/projects/messages/server-of-messages/crates/network/" in window.text("#findings"), "and named once")
    page.equal(window.eval("document.querySelector('.finding.chosen .site bdi').title.startsWith('/home/')"), True, "a title has all of it")
    page.equal(window.eval("[ctp.model.label(10), ctp.model.label(0)]"), ["serve", "session 0"], "a coroutine without a name has that of its function")


def test_holders(page):
    window = page.open("permits", "#/coro/10")
    facts = window.texts(".facts dd")
    page.ok(any(fact.startswith("still holds pool 'db pool', since its wait for it ended at 0.010") and "; 130 wait for it: request 3 #13, "
                in fact and fact.endswith(" and 124 more") for fact in facts), "a holder's page says what it holds, since when, who waits", facts)
    window = page.open("permits", "#/finding/0?row=11")
    page.ok("still holds pool 'db pool'; 130 wait for it" in window.text("#detail"), "and so does the panel", window.text("#detail"))
    window = page.open("held", "#/coro/12")
    page.ok(any(fact == "holds lock 'db 3'; 8 wait for it" for fact in window.texts(".facts dd")), "also of one that is alive",
            window.texts(".facts dd"))


def test_outside(page):
    window = page.open("permits", "#/coro/2")
    page.ok(any("something outside any coroutine (" in fact for fact in window.texts(".facts dd")), "what no coroutine woke says so",
            window.texts(".facts dd"))
    page.ok("by something outside any coroutine" in window.text(".events"), "in its events, too")
    text = window.eval("ctp.model.section.lost = 3, ctp.model.outside")
    page.equal(text, "something outside any coroutine, or one that is not known", "unless events were lost")
    window = page.open("permits", "#/wakes")
    window.until("document.querySelectorAll('#view tbody tr').length > 10")
    page.ok("something outside any coroutine" in window.text("#view tbody"), "and so does the table of wakes")
    window = page.open("queues", "#/wakes")
    window.until("document.querySelectorAll('#view tbody tr').length > 0")
    page.equal(window.eval("[...document.querySelectorAll('#view tbody tr')].map(row => [...row.cells].slice(0, 3).map(cell => cell.textContent))"),
               [["something outside any coroutine", "20 coroutines", "20"]], "in which wakes from outside are one row")


def test_inferred(page):
    window = page.open("tree")
    edges = window.eval("[...document.querySelectorAll('.drawn .edge')].map(node => [node.classList.contains('inferred'), "
                        "getComputedStyle(node.querySelector('.line')).strokeDasharray !== 'none'])")
    page.equal(sorted(edges), [[False, False]] * 3 + [[True, True]], "an inferred edge is dashed, and no other")
    page.ok("Dashed arrows are inferred" in window.text(".drawn"), "the panel says what that is")
    page.equal([text for text in window.texts(".drawn a, .drawn g") if "inferred" in text][:1] != [], True, "and the node says it")
    window.eval("{ [...document.querySelectorAll('.drawn button')][0].click(); }")
    page.ok("Dashed arrows are inferred" in window.text(".tree-dialog p"), "and so does the large tree")
    window.key("Escape")
    window = page.open("tree", "#/finding/0?row=4")
    page.ok("waits for a #3 (inferred)" in window.text("#detail"), "the panel of the coroutine says it", window.text("#detail"))
    window = page.open("held")
    page.ok("nferred" not in window.text(".drawn") and not window.eval("document.querySelectorAll('.edge.inferred').length"),
            "nothing is said where nothing is inferred")


def test_overview(page):
    window = page.open("permits")
    rates = window.eval("(() => { const { rates, axis, density } = ctp.app.overview, c = t => Math.floor(axis.x(t) - axis.left);"
                        "return [rates.at(c(60e6)) + rates.at(c(61e6)), rates.at(density.columns - 20), rates.cut]; })()")
    page.ok(rates[0] > 4 * rates[1], "squeezed time has as many events as its time, not as its pixels", rates)
    said = window.eval("""(() => { const { overview } = ctp.app, said = [], { fillText } = overview.ctx;
        overview.ctx.fillText = (text, x, y) => said.push([text, y]);
        overview.draw();
        overview.ctx.fillText = fillText;
        return said; })()""")
    page.ok(any(text.endswith(" s") and y < 14 for text, y in said) and any("/s" in text for text, _ in said), "it has an axis, and events per time", said)


def test_arrows(page):
    window = page.open("permits", "#/finding/0?rows=6")
    got = window.eval("(() => { const { timeline } = ctp.app, of = timeline.arrows.filter(({ wake }) => wake.waker === 0); "
                      "return [of.length, of.filter(({ from, to }) => Math.abs(from - to) > 30).length]; })()")
    page.ok(got[0] > 24 and got[1] == 0, "many arrows by one coroutine are heads, not lines", got)
    got = window.eval("(() => { const { timeline } = ctp.app, said = [], { fillText } = timeline.ctx;"
                      "timeline.ctx.fillText = text => said.push(text); timeline.draw(); timeline.ctx.fillText = fillText;"
                      "return said.filter(text => text.includes('wakes by')); })()")
    page.ok(len(got) == 1 and "wakes by acceptor #1" in got[0], "one line says how many, and whose", got)
    texts = window.eval("[wakesText({ drawn: 3, all: true, others: 9 }), wakesText({ drawn: 3, all: true, others: 0 })]")
    page.equal(texts, ["3 wakes of the finding only", "3 wakes"], "the line below says that those of others are left out")


def test_rows(page):
    window = page.open("permits")
    window.eval("{ const list = byId('group'); list.value = 'name'; list.dispatchEvent(new Event('change', { bubbles: true })); }")
    window.frame()
    page.equal(window.eval("[ctp.app.timeline.coros.scroll, ctp.app.timeline.coros.list.group(0).title]"), [0, "of the finding"],
               "grouping shows the first heading")
    window = page.open("permits", "#/finding/0?even")
    texts = window.eval("ctp.app.timeline.spans.map(span => ctp.app.timeline.spanText(span))")
    page.ok("a permit of db pool at pool.cpp:82:take, for 1.99 s, to the end" in texts, "to scale a frame still says how long it is", texts[:5])
    window = page.open("permits", "#/timeline?order=birth&group=none&alive=no")
    window.until("document.querySelectorAll('#mirror-rows .row').length > 20")
    page.ok(not any("born yet" in text for text in window.texts("#mirror-rows .row")), "a row is described within its life",
            window.texts("#mirror-rows .row")[:4])
    page.ok("ended at 0.0110" in window.text("#mirror-rows").replace("\u2009", "") or "running" in window.text("#mirror-rows .row:nth-child(3)"),
            "also one that has ended", window.text("#mirror-rows .row:nth-child(3)"))
    window.eval("{ ctp.app.search('main.cpp'); }")
    page.ok(window.until("byId('matches').textContent === 'all 135 match'"), "a search that finds every row says so")


def test_links(page):
    window = page.open("permits")
    window.eval("{ window.copied = ''; window.copyText = async text => { window.copied = text; }; }")
    link = window.eval("ctp.app.copyLink().then(() => window.copied)")
    page.ok("trace=" in link, "a copied link names its trace", link)
    window = page.open("permits", link)
    page.ok(not window.eval("byId('timeline').hidden"), "the same page opens it")
    window = page.open("permits", link.replace("trace=", "trace=z"))
    page.ok(window.eval("byId('timeline').hidden") and "of another trace" in window.text("#view"), "the page of another trace does not",
            window.text("#view"))


def test_phone(page):
    window = page.window
    window.size(390, 844)
    window.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
    try:
        page.open("leaked")
        page.equal(window.eval("byId('lanes').style.touchAction"), "none", "a swipe scrolls the rows if not all are seen")
        window.eval("{ ctp.app.timeline.coros.scrollTo(1e9); scrollTo(0, 0); byId('lanes').scrollIntoView({ block: 'end' }); scrollBy(0, -150); }")
        before = window.eval("[scrollY, ctp.app.timeline.coros.scroll]")
        x = window.eval("(() => { const { x } = byId('lanes').getBoundingClientRect(); return x; })()")
        window.touch(((x + 200, 800), (x + 200, 700)))
        after = window.eval("[scrollY, ctp.app.timeline.coros.scroll]")
        page.ok(after[0] - before[0] > 80 and after[1] == before[1], "until the last row is seen: then it scrolls the page", before, after)
        page.open("hang", "#/timeline?q=main")
        window.frame()
        page.equal(window.eval("byId('lanes').style.touchAction"), "pan-y", "and the page if they are")
        x, y, _, _ = window.box("#lanes")
        row = window.eval("ctp.app.timeline.coros.y(0) + 8")
        window.touch(((x + 200, y + row), (x + 200, y + row)), steps=1)
        page.ok(window.until("ctp.app.timeline.cursor >= 0 && byId('detail').getBoundingClientRect().bottom <= innerHeight + 2"),
                "a tap shows what is selected", window.eval("[ctp.app.timeline.cursor, byId('detail').getBoundingClientRect().bottom]"))
        page.open("permits", "#/waiting")
        window.until("document.querySelectorAll('#view tbody tr').length > 0")
        page.ok(window.until("!document.querySelector('.beside').hidden"), "a table says that it has more columns")
        window.eval("{ const box = document.querySelector('.box'); box.scrollLeft = box.scrollWidth; }")
        page.ok(window.until("document.querySelector('.beside').hidden"), "until the last one is seen")
    finally:
        window.call("Emulation.setTouchEmulationEnabled", enabled=False)
        window.size(1440, 900)


TESTS = [test for name, test in sorted(globals().items()) if name.startswith("test_")]


def main():
    folder, *only = sys.argv[1:]
    if not browser.chromium():
        skip("there is no chromium")
        return done()
    with browser.Browser(1440, 900) as window:
        page = Journey(folder, window, "chromium")
        for test in TESTS:
            if only and test.__name__ not in only:
                continue
            try:
                test(page)
                page.shot("answers-" + test.__name__[5:])
            except (browser.Failed, TypeError) as err:
                ok(False, f"{test.__name__}", *str(err).splitlines()[:6])
        ok(not window.errors, "no error on the way", window.errors)
    return done()


if __name__ == "__main__":
    sys.exit(main())
