# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""pagegaps.py - a part of page.py: unknown time on the page is that of the trace's losses, in its sums and in its picture.

The folder has pages NAME.html of ctp-tohtml, each beside the rows NAME.jsonl that it was made of. The unknown time is computed
from the rows alone: of coroutines and threads by gaps.py; and besides, a thread whose last resume was of a coroutine that has a
gap next is unknown until its next record, or the end of the gap.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import gaps  # noqa: E402

PICTURES = 8  # of each kind and page that are looked at
SOLID = "running", "runnable", "suspended", "born", "idle"


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row for row in rows if not row["type"].startswith("@")]


def coroutine_gaps(rows):
    """Of each coroutine, its gaps as (from, to), on the stream's clock; to its next transition, its death or the end."""
    end, out = max(row["ts"] for row in rows), {}
    for row in rows:
        if row["type"] != "lost" or not row["coro"]:
            continue
        own = [r for r in rows if r.get("coro") == row["coro"]]
        over = [r["ts"] for r in own if r["type"] in ("transition", "death") and r["ts"] >= row["ts"]]
        out.setdefault(row["coro"], []).append((row["after"], min(over, default=end)))
    return out


def thread_gaps(rows, of_coroutines):
    """Of each thread: what its ring lost; and from a resume that the gap of its coroutine begins with."""
    out = {}
    for row in rows:
        if row["type"] == "missed" and row["transitions"]:
            out.setdefault(row["tid"], []).append((row["after"], row["ts"]))
    runs = [row for row in rows if row["type"] == "transition" and row["is_active"]]
    for row in runs:
        for begin, end in of_coroutines.get(row["coro"], ()):
            if begin == row["ts"]:
                later = [r["ts"] for r in runs if r["tid"] == row["tid"] and r["ts"] > begin]
                out.setdefault(row["tid"], []).append((begin, min([end] + later)))
    return out


def disjoint(spans):
    out = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        elif end > begin:
            out.append([begin, end])
    return out


SUMS = """(() => { const sums = lanes => Array.from({ length: lanes.n }, (_, row) => lanes.totals[row * STATES + UNKNOWN]);
    const { density } = ctp.app.overview;
    return { coros: sums(ctp.model.lanes), threads: sums(ctp.model.threads), band: density.part[UNKNOWN].reduce((a, b) => a + b) };
})()"""

# The colours of a stretch of time in a lane, by their names: those of the states, and "hatch".
PICTURE = """(() => { const t = ctp.app.timeline, region = t[%r], row = %d, from = %r, to = %r, names = %s;
    ctp.app.window.set(from - (to - from) / 2, to + (to - from) / 2);
    region.reveal(region.index(row));
    t.draw();
    const a = Math.ceil(t.x(from)) + 1, z = Math.floor(t.x(to)) - 1, y = region.y(region.index(row)) + 1;
    const data = t.canvas.getContext("2d").getImageData(a, y, Math.max(1, z - a), region.bar).data;
    const seen = new Set(new Uint32Array(data.buffer));
    return names.filter(name => seen.has(Colours.now().pixel(name))); })()"""


def test_sums(chrome, meta, rows, path, equal):
    t0, end = int(meta["t0_ns"]), int(meta["t0_ns"]) + meta["span_ns"]
    know, own = gaps.know(path), coroutine_gaps(rows)
    got = chrome.eval(SUMS)
    ids = chrome.eval("Array.from(ctp.model.coros.coro, String)")
    unknown = {coro: ns for coro, ns in zip(ids, got["coros"]) if ns}
    equal(unknown, know["coroutines"], f"{path.stem}: each coroutine is unknown for as long as its gaps are")
    of_threads = thread_gaps(rows, own)
    want = {str(tid): gaps.union(spans, t0, end) for tid, spans in of_threads.items()}
    unknown = {str(thread["tid"]): ns for thread, ns in zip(meta["threads"], got["threads"]) if ns}
    equal(unknown, want, f"{path.stem}: and each thread")
    equal([tid for tid, ns in know["threads"].items() if unknown.get(tid, 0) < ns], [], f"{path.stem}: no shorter than its ring lost")
    total = sum(know["coroutines"].values())
    equal(abs(got["band"] - total) <= total * 1e-6, True, f"{path.stem}: the overview has it all")


def test_picture(chrome, meta, rows, path, equal):
    t0, wrong, looked = int(meta["t0_ns"]), [], 0
    own = coroutine_gaps(rows)
    ids = chrome.eval("Array.from(ctp.model.coros.coro, String)")
    tids = [thread["tid"] for thread in meta["threads"]]
    lanes = [("coros", ids.index(str(coro)), spans) for coro, spans in own.items()]
    lanes += [("threads", tids.index(tid), spans) for tid, spans in thread_gaps(rows, own).items()]
    chrome.eval("globalThis.drawArrows = ctp.app.timeline.drawSpanTexts = () => {}")
    for region, row, spans in lanes:
        for begin, end in disjoint(spans)[:PICTURES]:
            names = chrome.eval(PICTURE % (region, row, begin - t0, end - t0, json.dumps(("hatch",) + SOLID)))
            looked += 1
            if names != ["hatch"]:
                wrong.append((region, row, begin - t0, end - t0, names))
    equal(wrong[:3], [], f"{path.stem}: {looked} gaps are hatched, and no state is in them")


def test_part(pages, rows, equal):
    """part.html is a page with --since 10ms --until 35ms."""
    chrome, since, until = pages.chrome, 10_000_000, 35_000_000
    know = gaps.know(rows, since, until)
    chrome.open(pages.folder / "part.html")
    from_t0 = know["first_ns"] - int(chrome.eval("ctp.model.meta.t0_ns"))
    asked = f"{from_t0 + since}, {from_t0 + until}"
    got = chrome.eval("Object.fromEntries(Array.from(ctp.model.coros.coro, (id, row) => "
                      f"[String(id), ctp.shares(row, {asked}).unknown]).filter(([, ns]) => ns))")
    equal(got, know["coroutines"], "a part of the time: each coroutine is unknown for as long as its gaps are in it")
    got = chrome.eval("(() => { const l = ctp.model.threads; return Object.fromEntries(ctp.model.meta.threads.map(({ tid }, row) => { "
                      f"const at = [{asked}]; l.shares(row, ...at, l.after(row, at[0]), l.after(row, at[1])); "
                      "return [tid, l.share[UNKNOWN]]; })); })()")
    equal([tid for tid, ns in know["threads"].items() if got.get(tid, 0) < ns], [], "and each thread no shorter than its ring lost")


def test_gaps(pages, read, equal):
    if (pages.folder / "part.html").exists():
        test_part(pages, pages.folder / "gaps-2.jsonl", equal)
    for path in sorted(pages.folder.glob("*.jsonl")):
        chrome, page = pages.chrome, path.with_suffix(".html")
        meta, _ = read(page.read_text(encoding="utf-8", errors="surrogatepass"))
        rows = rows_of(path)
        chrome.errors.clear()
        chrome.open(page)
        pages.order("birth")
        test_sums(chrome, meta, rows, path, equal)
        equal(chrome.errors, [], f"{path.stem}: no error on the way")
        test_picture(chrome, meta, rows, path, equal)
