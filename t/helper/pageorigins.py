# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""pageorigins.py - the page of two origins on one time axis, in a browser: headings, the picture, and links between the origins.

As a script it writes the rows of both, as FOLDER/alpha.jsonl and FOLDER/beta.jsonl: beta begins 5 ms after alpha, and ends after it.
"""
import json
import sys

MS = 1000 * 1000
START, LATER = 1000 * MS, 5 * MS
ROWS = {"alpha": (3, 0), "beta": (2, LATER)}  # coroutines, and how much later
TIMES = (0, 2, 3, 6, 7, 9)  # in ms: of a resume and a suspend in turn; the last wait goes on


def write(folder):
    for name, (coros, later) in ROWS.items():
        rows = [{"type": "@section", "attrs": {"clock": "monotonic", "boot_id": "b", "pid": "7", "host": name, "wall_offset_ns": "0"}}]
        rows += [{"probe_id": c, "tid": c, "addr": f"0x{16 + i:016x}", "seq": i + 1, "is_active": i % 2 == 0,
                  "ts": START + later + t * MS + c} for i, t in enumerate(TIMES) for c in range(1, coros + 1)]
        rows.append({"type": "@end", "complete": True})
        with open(f"{folder}/{name}.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


def test_origins(pages, ok, equal):
    path = pages.folder / "origins.html"
    if not path.exists():
        return
    chrome = pages.chrome
    chrome.blank()
    chrome.open(path)
    equal(chrome.errors, [], "a page of two origins: no error and no warning")
    lists = "ctp.app.timeline.coros.list"
    equal(chrome.eval(f"[byId('group').value, {lists}.groups.map(({{ title, rows, open }}) => [title, rows.length, open])]"),
          ["origin", [["alpha", 3, True], ["beta", 2, True]]], "opens on both: each has a heading, and its rows below")
    equal(chrome.eval("[ctp.model.span, byId('section').value, byId('section').options.length]"), [14 * MS + 1, "3", 3], "on one time axis")
    for row, ms, state in (0, 1, "running"), (0, 8, "running"), (3, 6, "running"), (3, 9, "running"), (3, 7.5, "suspended"), (0, 6.5, "suspended"):
        t = ms * MS + 2
        ok(chrome.eval(f"ctp.state({row}, {t})") == state and pages.colour(state, row, t), f"row {row} is {state} at {ms} ms, and drawn so")
    ok(pages.colour("back", 3, 4 * MS), "nothing is drawn of an origin before it began")
    chrome.size(260, 800)
    chrome.frame()
    ok(chrome.eval("byId('section').getBoundingClientRect().right <= innerWidth"), "the menu of sections fits a narrow screen")
    chrome.size(1400, 900)
    chrome.frame()
    equal(chrome.texts("#findings details li"), ["alpha: 0.00 ms to 9.00 ms", "beta: 5.00 ms to 14.00 ms"], "the panel says when each began and ended")

    def follow(act, section):
        """The page is loaded again."""
        loaded = len(chrome.loaded)
        act()
        chrome.wait(lambda: len(chrome.loaded) > loaded, 60, "another section")
        chrome.eval("window.ctpReady.then(() => 1)")
        return chrome.eval(f"[ctp.model.meta.section === {section}, ctp.model.n, Math.round(ctp.visible().from), Math.round(ctp.visible().to)]")

    def press(selector):
        x, y, width, height = chrome.box(selector)
        chrome.click(x + width / 2, y + height / 2)
    chrome.eval(f"ctp.app.change({{ t: [{6 * MS}, {8 * MS}] }})")
    equal(follow(lambda: press("#findings details li:last-child a"), 1), [True, 2, MS, 3 * MS], "a link shows one origin alone, at the same time")
    chrome.eval(f"ctp.app.select(1, {2 * MS})")
    equal(follow(lambda: press("#findings details p a"), 2), [True, 5, 6 * MS, 8 * MS], "and another one all of them")
    equal(chrome.eval("[ctp.app.timeline.cursor, ctp.app.timeline.cursorTime]"), [4, 7 * MS], "with what was selected")
    choose = "(() => { byId('section').value = '1'; byId('section').dispatchEvent(new Event('change')); return 1; })()"
    equal(follow(lambda: chrome.eval(choose), 0), [True, 3, 6 * MS, 8 * MS], "and so does the menu")
    pages.open("one")
    equal(chrome.eval("[byId('group').querySelectorAll('[value=origin]').length, document.querySelectorAll('#findings > details').length]"),
          [0, 0], "a trace that was not merged has nothing of this")


if __name__ == "__main__":
    write(sys.argv[1])
