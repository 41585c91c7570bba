# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""firefox.py - a headless firefox with one page, driven as browser.Browser drives chromium.

The protocol is Marionette over a socket: a message is its length, a colon and JSON. What the page may not do (the size of what it sees,
the errors that it caused, what the system prefers) is asked of the browser itself, in the context "chrome".
"""
import base64
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

import browser

PREFS = {
    "marionette.port": 0,  # a free one: the profile's MarionetteActivePort says which
    "browser.shell.checkDefaultBrowser": False, "browser.startup.page": 0, "browser.startup.homepage": "about:blank",
    "browser.aboutwelcome.enabled": False, "datareporting.policy.dataSubmissionEnabled": False, "app.update.enabled": False,
    "toolkit.telemetry.enabled": False, "browser.tabs.remote.autostart": True, "ui.prefersReducedMotion": 0,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False, "extensions.update.enabled": False,
    "dom.disable_open_during_load": False, "browser.sessionstore.resume_from_crash": False, "accessibility.force_disabled": 0,
    "ui.useOverlayScrollbars": 1, "browser.dom.window.dump.enabled": False, "app.normandy.enabled": False,
    "browser.safebrowsing.malware.enabled": False, "browser.safebrowsing.phishing.enabled": False,
}
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Home": "\ue011", "End": "\ue010", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Tab": "\ue004", "PageUp": "\ue00e", "PageDown": "\ue00f", " ": " "}
SHIFT_KEY, CTRL_KEY = "\ue008", "\ue009"
START_SECONDS = 90

# As the console of the developer tools does it: the page's policy does not hold for it, and the classes and constants of the page are in
# reach.
IN_PAGE = """
const [code, done] = arguments;
ChromeUtils.importESModule("resource://gre/modules/jsdebugger.sys.mjs").addDebuggerToGlobal(globalThis);
const page = window.wrappedJSObject || window, debuggee = new Debugger().makeGlobalObjectReference(page);
page.ctpAnswer = undefined;
debuggee.executeInGlobal(code);
if (!page.ctpAnswer)
    done(JSON.stringify({ error: "not understood" }));
else
    page.ctpAnswer.then(done);
"""
AS_VALUE = """window.ctpAnswer = (async () => {{ try {{ {code} }} catch (error) {{
    return JSON.stringify({{ error: String(error) + "\\n" + (error && error.stack) }}); }} }})();"""
MESSAGES = """return Services.console.getMessageArray().filter(m => m instanceof Ci.nsIScriptError && !(m.flags & 4)
    && /^(file|data|about:blank|https?):/.test(m.sourceName)).map(m => m.errorMessage);"""
TREE = """const done = arguments[0], service = Cc["@mozilla.org/accessibilityService;1"].getService(Ci.nsIAccessibilityService);
const { setTimeout } = ChromeUtils.importESModule("resource://gre/modules/Timer.sys.mjs");
const walk = (node, out) => {
    const bits = {}, extra = {}, states = {};
    node.getState(bits, extra);
    const said = service.getStringStates(bits.value, extra.value);
    for (let i = 0; i < said.length; i++)
        states[said.item(i)] = true;
    out.push([service.getStringRole(node.role), node.name || "", states]);
    for (let child = node.firstChild; child; child = child.nextSibling)
        walk(child, out);
    return out;
};
// The tree comes from the page's process some time after the first who asked for it: it is there when it grows no more.
const look = (before, left) => {
    try {
        const page = service.getAccessibleFor(gBrowser.selectedBrowser), out = page ? walk(page, []) : [];
        if (out.length > 2 && out.length === before || !left)
            return done(JSON.stringify(out));
        setTimeout(look, 200, out.length, left - 1);
    } catch (error) {
        done(JSON.stringify([["error", String(error), {}]]));
    }
};
look(0, 50);"""


def firefox():
    """Where the browser is, or None."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


def pref(value):
    return json.dumps(value)


class Firefox(browser.Driver):
    """One browser with one page; errors as in browser.Browser. Which addresses it asks for is not known."""

    def __init__(self, width=1400, height=900, dark=False):
        self.media = None
        self.profile = pathlib.Path(tempfile.mkdtemp(prefix="ctp-firefox-"))
        (self.profile / "user.js").write_text("".join(f'user_pref("{k}", {pref(v)});\n' for k, v in PREFS.items()))
        args = [firefox(), "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", str(self.profile)]
        null = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(args, **null)
        self.socket, self.buffer, self.number, self.modifiers, self.cleared = None, b"", 0, 0, 0
        self.requests = []
        try:
            self.connect()
            self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"unhandledPromptBehavior": "dismiss"}})
            self.call("WebDriver:SetTimeouts", script=120000, pageLoad=120000)
            self.size(width, height)
            self.dark(dark)
        except browser.Failed:
            self.close()
            raise

    def connect(self):
        end, port = time.monotonic() + START_SECONDS, self.profile / "MarionetteActivePort"
        while not (port.exists() and port.read_text().strip()):
            if self.process.poll() is not None or time.monotonic() > end:
                raise browser.Failed("firefox did not start")
            time.sleep(0.05)  # there is nothing to wait on: the file comes from a process that is not our child
        self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())), START_SECONDS)
        self.receive(START_SECONDS)  # who it is

    def close(self):
        try:
            self.call("Marionette:Quit", seconds=20, flags=["eForceQuit"])
        except browser.Failed:
            pass
        if self.socket:
            self.socket.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    # --- the protocol

    def receive(self, seconds):
        self.socket.settimeout(seconds)
        try:
            while True:
                length, colon, rest = self.buffer.partition(b":")
                if colon and len(rest) >= int(length):
                    self.buffer = rest[int(length):]
                    return json.loads(rest[:int(length)])
                data = self.socket.recv(1 << 20)
                if not data:
                    raise browser.Failed("the browser ended")
                self.buffer += data
        except OSError as err:
            raise browser.Failed(str(err)) from None

    def call(self, command, seconds=150, **params):
        if not self.socket:
            raise browser.Failed("no connection")
        self.number += 1
        data = json.dumps([0, self.number, command, params]).encode()
        try:
            self.socket.sendall(b"%d:%s" % (len(data), data))
        except OSError as err:
            raise browser.Failed(f"{command}: {err}") from None
        while True:
            _, number, error, result = self.receive(seconds)
            if number == self.number:
                break
        if error:
            raise browser.Failed(f"{command}: {error['message']}")
        return result.get("value", result) if isinstance(result, dict) else result

    def chrome(self, script, *args, later=False):
        """Runs a script in the browser itself; later: it calls its last argument with the answer."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            return self.call("WebDriver:ExecuteAsyncScript" if later else "WebDriver:ExecuteScript", script=script, args=list(args))
        finally:
            self.call("Marionette:SetContext", value="content")

    # --- what a test does

    @property
    def errors(self):
        """What the page complained of: a list that one may clear."""
        return Errors(self, self.chrome(MESSAGES))

    def open(self, path, ready="window.ctpReady"):
        self.call("WebDriver:Navigate", url=self.address(path))
        if self.media:
            self.dark(*self.media) # a navigation may have put the page into another process, which does not know of it
        return self.eval(f"(async () => {{ await {ready}; return performance.now(); }})()")

    def blank(self):
        self.call("WebDriver:Navigate", url="about:blank")
        self.errors.clear()

    def eval(self, expression):
        code = f"{expression}; return '{{}}';" if expression.lstrip().startswith("{") else \
            f"return JSON.stringify({{ value: await (\n{expression}\n) }});"
        said = None
        for _ in range(20):
            said = self.call("WebDriver:ExecuteAsyncScript", script=IN_PAGE, sandbox="system",
                             args=[AS_VALUE.format(code=code)])
            if said is not None:
                break
            time.sleep(0.1)  # the page was being loaded anew, and its old script was dropped
        got = json.loads(said or '{"error": "no answer"}')
        if "error" in got:
            raise browser.Failed(expression[:300] + ": " + got["error"])
        return got.get("value")

    def size(self, width, height, scale=1):
        """What the page sees, not the window; a window has a least width, but what it shows has not."""
        self.call("WebDriver:SetWindowRect", width=max(width, 600) + 40, height=height + 200)
        self.chrome("""const [width, height, scale] = arguments, { selectedBrowser: seen } = gBrowser;
            for (const [side, px] of [["width", width], ["height", height]])
                for (const limit of ["", "min-", "max-"])
                    seen.style.setProperty(limit + side, px + "px");
            seen.browsingContext.overrideDPPX = scale;""", width, height, scale)
        if not self.until(f"innerWidth === {width} && innerHeight === {height}", 10):
            raise browser.Failed(f"the page is not {width} x {height}")

    def dark(self, on, media="", reduced=False, forced=False):
        self.media = (on, media, reduced, forced)
        self.chrome("""const [dark, media, reduced, forced] = arguments, top = gBrowser.selectedBrowser.browsingContext;
            top.prefersColorSchemeOverride = dark ? "dark" : "light";
            top.mediumOverride = media;
            Services.prefs.setIntPref("ui.prefersReducedMotion", reduced ? 1 : 0);
            Services.prefs.setIntPref("browser.display.document_color_use", forced ? 2 : 0);""", on, media, reduced, forced)

    def text_size(self, share):
        for kind, px in ("variable", 16), ("monospace", 13):
            self.chrome("Services.prefs.setIntPref(...arguments);", f"font.size.{kind}.x-western", round(px * share))

    def perform(self, *actions):
        self.call("WebDriver:PerformActions", actions=list(actions))

    def held(self):
        return [key for bit, key in ((browser.SHIFT, SHIFT_KEY), (browser.CTRL, CTRL_KEY)) if self.modifiers & bit]

    def pointer(self, steps, kind="mouse", name="mouse"):
        return {"type": "pointer", "id": name, "parameters": {"pointerType": kind}, "actions": steps}

    def with_modifiers(self, action):
        """The action while the modifiers are held: an empty step before it, and one after it."""
        held, pause = self.held(), {"type": "pause"}
        if not held:
            return self.perform(action)
        action["actions"] = [*[pause] * len(held), *action["actions"], *[pause] * len(held)]
        keys = [{"type": "keyDown", "value": key} for key in held]
        keys += [pause] * (len(action["actions"]) - 2 * len(held)) + [{"type": "keyUp", "value": key} for key in held]
        return self.perform({"type": "key", "id": "keys", "actions": keys}, action)

    @staticmethod
    def to(x, y, ms=0):
        return {"type": "pointerMove", "x": round(x), "y": round(y), "duration": ms, "origin": "viewport"}

    def move(self, x, y):
        self.perform(self.pointer([self.to(x, y)]))

    def click(self, x, y, count=1):
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.with_modifiers(self.pointer([self.to(x, y), *press * count]))

    def drag(self, x0, y0, x1, y1, steps=8):
        way = [self.to(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps) for i in range(1, steps + 1)]
        self.with_modifiers(self.pointer([self.to(x0, y0), {"type": "pointerDown", "button": 0}, *way, {"type": "pointerUp", "button": 0}]))

    def touch(self, *fingers, steps=8):
        actions = []
        for i, ((x0, y0), (x1, y1)) in enumerate(fingers):
            way = [self.to(x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps) for k in range(1, steps + 1)]
            steps_of = [self.to(x0, y0), {"type": "pointerDown", "button": 0}, *way, {"type": "pointerUp", "button": 0}]
            actions.append(self.pointer(steps_of, "touch", f"finger{i}"))
        self.perform(*actions)

    def wheel(self, x, y, dx=0, dy=0):
        step = {"type": "scroll", "x": round(x), "y": round(y), "deltaX": round(dx), "deltaY": round(dy), "origin": "viewport"}
        self.with_modifiers({"type": "wheel", "id": "wheel", "actions": [step]})

    def key(self, key):
        value, held = KEYS.get(key, key), self.held()
        steps = [{"type": "keyDown", "value": k} for k in [*held, value]] + [{"type": "keyUp", "value": k} for k in [value, *held[::-1]]]
        self.perform({"type": "key", "id": "keys", "actions": steps})

    def type(self, text):
        steps = [{"type": kind, "value": c} for c in text for kind in ("keyDown", "keyUp")]
        self.perform({"type": "key", "id": "keys", "actions": steps})

    def tree(self):
        """As browser.Browser's, with the roles and states that firefox has."""
        return json.loads(self.chrome(TREE, later=True))

    def screenshot(self, path):
        self.frame()
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=False)))

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("WebDriver:Print", background=True)))


class Errors(list):
    """The messages of a page so far."""

    def __init__(self, page, messages):
        super().__init__(messages)
        self.page = page

    def clear(self):
        super().clear()
        self.page.chrome("Services.console.reset();")
