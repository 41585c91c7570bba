"""page.py PAGE - how long a page of ctp-tohtml takes to open and to draw, in a headless chromium, as lines of a name and a number

open_s until all was drawn, open_cpu_s how much CPU of the browser's renderer that was; then, while panning with rows of each
height and the whole trace in sight, a half, a tenth and so on, the frames in a second at the median of these, frames_s, and at
the worst, worst_frames_s. On a busy machine the CPU time is the reliable number.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "helper"))
import browser  # noqa: E402

PAN = "ctp.app.window.pan(ctp.app.window.width * (i % 20 < 10 ? 1 : -1) / 100); ctp.app.timeline.invalidate()"


def renderer_cpu_ms(profile):
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            if profile in command and "type=renderer" in command:
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                total += (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")
        except OSError:
            pass  # it ended meanwhile
    return total


def main():
    with browser.Browser() as chrome:
        before = renderer_cpu_ms(chrome.profile)
        print(f"open_s {chrome.open(pathlib.Path(sys.argv[1])) / 1000:.3f}")
        print(f"open_cpu_s {(renderer_cpu_ms(chrome.profile) - before) / 1000:.3f}", flush=True)
        levels = []
        for height in 20, 12, 6, 2:
            chrome.eval(f"ctp.app.setRowHeight({height}); ctp.app.window.all()")
            for zoom in 1, 0.5, 0.2, 0.1, 0.1, 0.1, 0.1:
                chrome.eval(f"ctp.app.window.zoom({zoom})")
                frames = chrome.frames(PAN, 30)
                levels.append(frames[len(frames) // 2])
        levels.sort()
        print(f"frames_s {1000 / levels[len(levels) // 2]:.1f}")
        print(f"worst_frames_s {1000 / levels[-1]:.1f}")


if __name__ == "__main__":
    main()
