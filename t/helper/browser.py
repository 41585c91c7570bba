#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""browser.py [-f] [-s PNG] [-p PDF] [-d] [-t SHARE] [-w W] [-h H] PAGE [EXPRESSION...] - open a page in a headless chromium, and inspect it.

Waits for the page's window.ctpReady, prints the value of each expression as JSON, a line each, and the console's errors on
stderr; -s takes a screenshot, -p prints, -d asks for dark colours, -t 2 for text of twice the size, -f takes firefox instead. The
status is 1 where there were errors. As a module it is what t/helper/page.py drives the page with: the DevTools protocol over a pipe,
so that nothing but Python's own library is needed. Firefox is in firefox.py.
"""
import argparse
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

FLAGS = ["--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--mute-audio",
         "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--disable-dev-shm-usage"]
KEYS = {" ": ("Space", 32), "Tab": ("Tab", 9), "PageUp": ("PageUp", 33), "PageDown": ("PageDown", 34), "Enter": ("Enter", 13), "Escape": ("Escape", 27), "Home": ("Home", 36), "End": ("End", 35),
        "ArrowLeft": ("ArrowLeft", 37), "ArrowUp": ("ArrowUp", 38), "ArrowRight": ("ArrowRight", 39),
        "ArrowDown": ("ArrowDown", 40)}
SHIFT, CTRL = 8, 2


def chromium():
    """Where the browser is, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Failed(Exception):
    """The browser went away, did not answer, or an expression threw."""


class Driver:
    """What the browsers have in common. modifiers are those of the next keys and clicks: SHIFT, CTRL."""
    modifiers = 0

    def eval(self, expression):
        """Its value; of a promise, what it is resolved with. What begins with { is a statement."""
        raise NotImplementedError

    def click(self, x, y, count=1):
        raise NotImplementedError

    def close(self):
        raise NotImplementedError

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def address(path):
        """The address of a file, which may have a fragment."""
        if "://" in str(path):
            return str(path)
        file, _, fragment = str(path).partition("#")
        return pathlib.Path(file).resolve().as_uri() + ("#" + fragment if fragment else "")

    def frame(self):
        """Until what was asked for has been painted."""
        self.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def until(self, expression, seconds=20):
        """Until the expression holds; whether it came to that in time."""
        return self.eval(f"""new Promise(done => {{
            const end = performance.now() + {seconds * 1000}, late = () => performance.now() > end;
            const look = () => ({expression}) ? done(true) : late() ? done(false) : requestAnimationFrame(look);
            look(); }})""")

    def text(self, selector):
        return self.eval(f"document.querySelector({json.dumps(selector)}).textContent")

    def texts(self, selector):
        return self.eval(f"[...document.querySelectorAll({json.dumps(selector)})].map(node => node.textContent)")

    def box(self, selector):
        """An element's x, y, width and height, scrolled into view."""
        return self.eval(f"""(() => {{ const node = document.querySelector({json.dumps(selector)});
            node.scrollIntoView({{block: "nearest"}});
            const box = node.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; }})()""")

    def press(self, selector):
        x, y, width, height = self.box(selector)
        self.click(x + width / 2, y + height / 2)
        self.frame()

    def frames(self, step, count=60):
        """Calls the expression `step` before each of some frames; returns their lengths in milliseconds, sorted."""
        return self.eval(f"""new Promise(done => {{ const out = []; let last = 0, i = 0;
            const next = now => {{ if (i > 1) out.push(now - last); last = now;
                if (i++ > {count}) return done(out.sort((a, b) => a - b));
                {step}; requestAnimationFrame(next); }}; requestAnimationFrame(next); }})""")


class Browser(Driver):
    """One browser with one page. errors has what the page complained of; requests every address it asked for."""

    def __init__(self, width=1400, height=900, dark=False):
        self.profile = tempfile.mkdtemp(prefix="ctp-browser-")
        to_read, self.to = os.pipe()
        self.from_, from_write = os.pipe()

        def fds():
            # High first: either end may itself be 3 or 4.
            a, b = os.dup2(to_read, 100), os.dup2(from_write, 101)
            os.dup2(a, 3)
            os.dup2(b, 4)
        args = [chromium(), *FLAGS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"]
        null = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(args, preexec_fn=fds, close_fds=False, **null)
        os.close(to_read)
        os.close(from_write)
        self.buffer, self.number, self.session, self.answers = b"", 0, None, {}
        self.errors, self.requests, self.loaded = [], [], set()
        self.modifiers = 0
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in "Page", "Runtime", "Log", "Network":
                self.call(domain + ".enable")
            self.call("Page.setLifecycleEventsEnabled", enabled=True)
            self.size(width, height)
            self.dark(dark)
        except Failed:
            self.close()
            raise

    def close(self):
        try:
            self.session = None
            self.call("Browser.close", seconds=10)
        except Failed:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    # --- the protocol: JSON, each message ended by a zero byte

    def call(self, method, seconds=120, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self.to, data):]
        except OSError as err:
            raise Failed(f"{method}: {err}") from None
        answer = self.wait(lambda: self.answers.pop(self.number, None), seconds, method)
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait(self, done, seconds, what):
        end = time.monotonic() + seconds
        while True:
            got = done()
            if got:
                return got
            if not select.select([self.from_], [], [], max(0, end - time.monotonic()))[0]:
                raise Failed(f"{what}: no answer in {seconds} s")
            data = os.read(self.from_, 1 << 20)
            if not data:
                raise Failed(f"{what}: the browser ended")
            *messages, self.buffer = (self.buffer + data).split(b"\0")
            for message in messages:
                self.take(json.loads(message))

    def take(self, message):
        method, params = message.get("method"), message.get("params")
        if "id" in message:
            self.answers[message["id"]] = message
        elif method == "Runtime.exceptionThrown":
            detail = params["exceptionDetails"]
            self.errors.append(detail.get("exception", {}).get("description", detail["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(arg.get("value", arg.get("description"))) for arg in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append("a dialog: " + params["message"])
        elif method == "Page.lifecycleEvent" and params["name"] == "load":
            self.loaded.add(params["loaderId"])

    # --- what a test does

    def open(self, path, ready="window.ctpReady"):
        """Opens a file or address; returns the milliseconds until it was ready, as the page's own clock has them."""
        loader = self.call("Page.navigate", url=self.address(path)).get("loaderId")
        self.wait(lambda: loader is None or loader in self.loaded, 120, "load")  # None: only the fragment is another
        return self.eval(f"(async () => {{ await {ready}; return performance.now(); }})()")

    def blank(self):
        """Another page, so that the next open() loads its page anew; errors and requests are forgotten."""
        self.call("Page.navigate", url="about:blank")
        self.errors.clear()
        self.requests.clear()

    def eval(self, expression):
        got = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            detail = got["exceptionDetails"]
            raise Failed(expression + ": " + detail.get("exception", {}).get("description", detail["text"]))
        return got["result"].get("value")

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def dark(self, on, media="", reduced=False, forced=False):
        """What the system prefers: dark colours, less motion, its own colours."""
        features = {"prefers-color-scheme": "dark" if on else "light",
                    "prefers-reduced-motion": "reduce" if reduced else "no-preference",
                    "forced-colors": "active" if forced else "none"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": n, "value": v} for n, v in features.items()])

    def text_size(self, share):
        """Text of so many times the usual size, as in the browser's settings."""
        self.call("Page.setFontSizes", fontSizes={"standard": round(16 * share), "fixed": round(13 * share)})

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, modifiers=self.modifiers, **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)

    def click(self, x, y, count=1):
        self.move(x, y)
        for n in range(1, count + 1):
            self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=n)
            self.mouse("mouseReleased", x, y, button="left", clickCount=n)

    def drag(self, x0, y0, x1, y1, steps=8):
        self.move(x0, y0)
        self.mouse("mousePressed", x0, y0, button="left", buttons=1, clickCount=1)
        for i in range(1, steps + 1):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)

    def touch(self, *fingers, steps=8):
        """Each finger goes from (x, y) to (x, y), all at once."""
        def at(share):
            return [{"x": x0 + (x1 - x0) * share, "y": y0 + (y1 - y0) * share, "id": i}
                    for i, ((x0, y0), (x1, y1)) in enumerate(fingers)]
        for i in range(steps + 1):
            kind = "touchMove" if i else "touchStart"
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=at(i / steps))
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def wheel(self, x, y, dx=0, dy=0):
        self.mouse("mouseWheel", x, y, deltaX=dx, deltaY=dy)

    def key(self, key):
        code, number = KEYS.get(key) or ("Key" + key.upper(), ord(key.upper()))
        press = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": self.modifiers}
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **press, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **press)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def tree(self):
        """The accessibility tree: [role, name, {property: value}] of each node that is not ignored, in order of the document."""
        nodes = {node["nodeId"]: node for node in self.call("Accessibility.getFullAXTree")["nodes"]}
        out = []

        def walk(node):
            if not node["ignored"]:
                states = {p["name"]: p["value"].get("value") for p in node.get("properties", ())}
                out.append([node["role"]["value"], node.get("name", {}).get("value", ""), states])
            for child in node.get("childIds", ()):
                if child in nodes:
                    walk(nodes[child])
        walk(next(node for node in nodes.values() if "parentId" not in node))
        return out

    def screenshot(self, path):
        self.frame()
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("-f", dest="firefox", action="store_true")
    parser.add_argument("-s", dest="png")
    parser.add_argument("-p", dest="pdf")
    parser.add_argument("-d", dest="dark", action="store_true")
    parser.add_argument("-t", dest="text", type=float, default=1)
    parser.add_argument("-w", dest="width", type=int, default=1400)
    parser.add_argument("-h", dest="height", type=int, default=900)
    parser.add_argument("page")
    parser.add_argument("expressions", nargs="*")
    args = parser.parse_args()
    kind, there = Browser, chromium()
    if args.firefox:
        import firefox  # it imports this file
        kind, there = firefox.Firefox, firefox.firefox()
    if not there:
        sys.exit(f"browser.py: there is no {'firefox' if args.firefox else 'chromium'}")
    with kind(args.width, args.height, args.dark) as browser:
        if args.text != 1:
            browser.text_size(args.text)
        browser.open(args.page)
        for expression in args.expressions:
            print(json.dumps(browser.eval(expression)))
        if args.png:
            browser.screenshot(args.png)
        if args.pdf:
            browser.pdf(args.pdf)
        for error in browser.errors:
            print(error, file=sys.stderr)
        return 1 if browser.errors else 0


if __name__ == "__main__":
    sys.exit(main())
