# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium driven over its DevTools pipe: real widths, real colour schemes, real errors.

Only the standard library is needed; the browser is found by name.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find():
    """The path of a browser, or None: beside this Python (a virtual environment), then on PATH."""
    folders = str(Path(sys.executable).parent) + os.pathsep + os.environ.get("PATH", "")
    return next((path for name in NAMES if (path := shutil.which(name, path=folders))), None)


def _pipe():
    """A pipe with numbers above 9, so that moving an end to 3 or 4 overwrites no other."""
    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return moved


class BrowserError(Exception):
    """The browser did not start, went away or refused a command."""


class Browser:
    """One browser process with one page; a context manager. Not thread-safe."""

    def __init__(self, path, deadline_s=60.0):
        self._deadline_s = deadline_s
        self._profile = tempfile.TemporaryDirectory(prefix="mergewise-browser-")
        to_browser, self._write = _pipe()
        self._read, from_browser = _pipe()
        self._process = self._start(path, to_browser, from_browser)
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._sent = 0
        self._session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _start(self, path, to_browser, from_browser):
        """DevTools' pipe is file descriptors 3 and 4; a shell moves ours there."""
        arguments = [
            "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", f"--user-data-dir={self._profile.name}", "about:blank",
        ]  # fmt: skip
        script = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        return subprocess.Popen(
            ["bash", "-c", script, path, *arguments],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._write)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        try:
            self._profile.cleanup()
        except OSError:
            pass  # a late child of the browser may still write there

    def call(self, method, **parameters):
        """Sends a DevTools command and gives its result; events meanwhile go to `events`."""
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error'].get('message')}")
                return answer.get("result", {})
            self.events.append(answer)

    def _receive(self):
        end = time.monotonic() + self._deadline_s
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            chunk = os.read(self._read, 1 << 20) if ready else b""
            if not chunk:
                state = "said nothing in time" if not ready else "went away"
                raise BrowserError(f"the browser {state}")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, file, width, height=900, scheme="light", media=""):
        """Loads a file in a window of `width` CSS pixels under a colour scheme; waits for it."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.call("Page.navigate", url=Path(file).resolve().as_uri())
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._receive())
        self.evaluate("document.fonts.ready.then(() => true)")

    def evaluate(self, expression):
        """The value of a JavaScript expression (awaited if it is a promise)."""
        result = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise BrowserError(f"{expression}: {result['exceptionDetails'].get('text')}")
        return result["result"].get("value")

    def screenshot(self, file, height=None):
        """The page from its top, all of it or the first `height` CSS pixels, as PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {
            "x": 0, "y": 0, "scale": 1, "width": size["width"],
            "height": min(size["height"], height or size["height"]),
        }  # fmt: skip
        data = self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip
        )
        Path(file).write_bytes(base64.b64decode(data["data"]))

    def complaints(self):
        """Console messages, exceptions and log entries since the page was opened."""
        found = []
        for event in self.events:
            method, details = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(details["exceptionDetails"].get("text")))
            elif method == "Runtime.consoleAPICalled":
                found.append(f"console.{details['type']}")
            elif method == "Log.entryAdded":
                found.append(details["entry"]["text"])
        return found

    def requests(self):
        """What the page asked for since it was opened, itself included."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]
