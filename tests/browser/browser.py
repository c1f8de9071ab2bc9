"""A real browser, driven over W3C WebDriver with nothing but the standard library.

chromedriver speaks HTTP and JSON; one browser serves many tests, each in a window of its own.
"""

import base64
import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from patience import LIMIT_S, until

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Tab": "\ue004"}


class Refused(Exception):
    """What the driver says of a command that failed."""


def missing() -> str:
    """Why there can be no browser here; empty when there can."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return f"{program} is not installed (scripts/setup --browser)"
    return ""


class Browser:
    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="trainward-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "HOME": self.home}, start_new_session=True)
        self.port = 0
        for line in self.driver.stdout:
            if "on port" in line and "successfully" in line:
                self.port = int(line.rstrip(" .\n").rsplit(" ", 1)[1])
                break
        if not self.port:
            raise Refused("chromedriver did not start")
        options = ["--headless=new", "--window-size=1440,900", "--force-device-scale-factor=1", "--disable-gpu",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
                   "--force-prefers-reduced-motion", "--enable-precise-memory-info", "--disable-dev-shm-usage"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        self.session = ""
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": {"args": options, "binary": shutil.which("chromium")}}}})
        self.session = f"/session/{answer['sessionId']}"

    def close(self):
        with contextlib.suppress(Exception):
            self.call("DELETE", self.session)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.driver.pid, signal.SIGKILL)
        self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S + 30)
        try:
            text = json.dumps(body if body is not None else {}) if method == "POST" else None
            connection.request(method, path, text, {"Content-Type": "application/json"} if text else {})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise Refused(f"{path}: {value['error']}: {value['message'].splitlines()[0]}")
        return value

    def ask(self, method, path, body=None):
        return self.call(method, self.session + path, body)

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    # ---- pages

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def new_window(self):
        handle = self.ask("POST", "/window/new", {"type": "tab"})["handle"]
        self.switch(handle)
        return handle

    def switch(self, handle):
        self.ask("POST", "/window", {"handle": handle})

    def window(self):
        return self.ask("GET", "/window")

    def close_window(self):
        return self.ask("DELETE", "/window")

    def look(self, width, height, dark=False, script=True):
        """The size of the screen, its scheme, and whether scripts run."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=width < 600)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.devtools("Emulation.setScriptExecutionDisabled", value=not script)

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        """`script` is the body of an async function."""
        wrapped = ("const done = arguments[arguments.length - 1];"
                   f"(async (...given) => {{ {script} }})(...arguments).then(done, e => done({{problem: String(e)}}));")
        return self.ask("POST", "/execute/async", {"script": wrapped, "args": list(arguments)})

    def wait(self, condition, what="", *arguments, limit=LIMIT_S):
        """Until the expression is true in the page; its value."""
        return until(lambda: self.run(f"return ({condition});", *arguments), what or condition, limit,
                     lambda: self.text()[:3000])

    def text(self, selector="body"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? '';", selector)

    def find(self, selector):
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'});", selector)
        self.ask("POST", f"/element/{self.find(selector)}/click")

    def type(self, selector, text):
        self.ask("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def press(self, *keys):
        """Keys one after the other, to whatever has the focus."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def screenshot(self, path, whole=True):
        """The whole page, or what is seen of it."""
        picture = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(base64.b64decode(picture))

    # ---- what the browser noticed

    def console(self):
        """Errors and warnings since the last time, the browser's own of refused or failed loads among them."""
        entries = self.ask("POST", "/se/log", {"type": "browser"})
        return [f"{e['source']}: {e['message']}" for e in entries if e["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """The address of every request since the last time."""
        found = []
        for entry in self.ask("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def heap(self):
        """Bytes of JavaScript, nodes and listeners that are left after everything unused is collected."""
        self.devtools("Performance.enable")
        for _ in range(3):
            self.devtools("HeapProfiler.collectGarbage")
        metrics = {m["name"]: m["value"] for m in self.devtools("Performance.getMetrics")["metrics"]}
        return {name: int(metrics[name]) for name in ("JSHeapUsedSize", "Nodes", "JSEventListeners")}
