#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""perfetto-page.py UI TRACE [PNG] - opens a trace in Perfetto's own timeline, in chromium, and prints what it has of it.

UI is where t/helper/perfetto-ui has put it. It is served from this machine, because a page on disk may start no worker. Printed are
the length of the time axis, how many tracks are lanes, threads and counters, errors of the trace, and errors of the page. PNG is a
picture of 6 ms in the middle of the first half second.
"""
import functools
import http.server
import pathlib
import sys
import threading
import time

from browser import Browser

PAGE = """<!doctype html><meta charset="utf-8"><style>body { margin: 0 } main { position: relative; width: 100vw; height: 100vh }</style>
<div id="timeline_data_source" hidden>%s</div><main id="timeline_main"></main><script src="frontend_bundle.js"></script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    trace = pathlib.Path(sys.argv[2])

    def answer(self, kind, data):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/trace":
            self.answer("application/octet-stream", self.trace.read_bytes())
        elif self.path == "/":
            self.answer("text/html", (PAGE % f"http://127.0.0.1:{self.server.server_port}/trace").encode())
        else:
            super().do_GET()

    def log_message(self, format, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1]))
threading.Thread(target=server.serve_forever, daemon=True).start()
with Browser(1600, 1100) as page:
    page.open(f"http://127.0.0.1:{server.server_port}/", ready="window.globals")
    if not page.until("Object.keys(globals.state.tracks).length && globals.state.status.msg.includes('100%')", 60):
        sys.exit("it did not load: " + page.eval("globals.state.status.msg"))
    time.sleep(1)
    print("length", page.eval("(globals.state.traceTime.endSec - globals.state.traceTime.startSec).toFixed(3)"))
    names = page.eval("Object.values(globals.state.tracks).map(t => t.kind + ' ' + t.name)")
    print("lanes", sum(" lane " in name for name in names), "threads", sum(name.startswith("ChromeSliceTrack") for name in names),
          "counters", sum(name.startswith("CounterTrack") for name in names))
    print("trace errors", page.eval("globals.traceErrors"))
    if len(sys.argv) > 3:
        page.eval("""{ const f = globals.frontendLocalState, t0 = globals.state.traceTime.startSec + 0.1;
            f.updateVisibleTime({start: t0, end: t0 + 0.006, duration: 0.006, __proto__: Object.getPrototypeOf(f.visibleWindowTime)}); }""")
        time.sleep(3)
        page.screenshot(sys.argv[3])
    known = ("ERR_CONNECTION_REFUSED", "404", "Loading trace") # it looks for an engine outside of the page, and an icon
    print("errors", [e for e in page.errors if not any(k in e for k in known)])
