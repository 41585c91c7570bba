# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""page.py PAGE - how long a page of ctp-tohtml takes to open and to draw, in a headless chromium, as lines of a name and a number

open_s until all was drawn, open_cpu_s how much CPU of the browser's renderer that was, memory_mb what the renderer has then. Then,
while panning with rows of each height and the whole trace in sight, a half, a tenth and so on, the frames in a second at the median
of these, frames_s, and at the worst, worst_frames_s. small_ms is the renderer's CPU for a frame with small rows of the whole trace,
each painted anew, and copy_ms that for a frame that only copies a picture of the same size. On a busy machine the CPU time is the
reliable number.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "helper"))
import browser  # noqa: E402

PAN = "ctp.app.window.pan((i % 20 < 10 ? 1 : -1) / 100); ctp.app.timeline.invalidate()"
ROWS = "ctp.app.change({ group: 'none', alive: false, order: 'birth', rows: %d })"
ANEW = "ctp.app.timeline.painted = null; ctp.app.timeline.invalidate()"
COPY = "ctp.app.timeline.ctx.putImageData(ctp.app.timeline.pixels.image, 0, 0)"


def renderers(profile):
    """The folders in /proc of the browser's processes that run pages."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        folder = pathlib.Path("/proc") / pid
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue  # it ended meanwhile
        if profile in command and "type=renderer" in command:
            yield folder


def renderer_cpu_ms(profile):
    fields = [(folder / "stat").read_text().rsplit(")", 1)[1].split() for folder in renderers(profile)]
    return sum(int(f[11]) + int(f[12]) for f in fields) * 1000 / os.sysconf("SC_CLK_TCK")


def renderer_mb(profile):
    words = [(folder / "status").read_text().split() for folder in renderers(profile)]
    return max(int(w[w.index("VmRSS:") + 1]) for w in words) / 1000


def frame_cpu_ms(chrome, step, count=60):
    before = renderer_cpu_ms(chrome.profile)
    chrome.frames(step, count)
    return (renderer_cpu_ms(chrome.profile) - before) / count


def main():
    with browser.Browser() as chrome:
        before = renderer_cpu_ms(chrome.profile)
        print(f"open_s {chrome.open(pathlib.Path(sys.argv[1])) / 1000:.3f}")
        print(f"open_cpu_s {(renderer_cpu_ms(chrome.profile) - before) / 1000:.3f}", flush=True)
        print(f"memory_mb {renderer_mb(chrome.profile):.0f}", flush=True)
        levels = []
        for height in 20, 12, 6, 2:
            chrome.eval(ROWS % height + "; ctp.app.window.all()")
            for zoom in 1, 0.5, 0.2, 0.1, 0.1, 0.1, 0.1:
                chrome.eval(f"ctp.app.window.zoom({zoom})")
                frames = chrome.frames(PAN, 30)
                levels.append(frames[len(frames) // 2])
        levels.sort()
        print(f"frames_s {1000 / levels[len(levels) // 2]:.1f}")
        print(f"worst_frames_s {1000 / levels[-1]:.1f}", flush=True)
        chrome.eval(ROWS % 6 + "; ctp.app.window.all()")
        chrome.frame()
        print(f"small_ms {frame_cpu_ms(chrome, ANEW):.2f}")
        print(f"copy_ms {frame_cpu_ms(chrome, COPY):.2f}")


if __name__ == "__main__":
    main()
