"""A headless Chromium over its DevTools pipe: enough to open a page from disk, press keys, look and listen. Standard library only."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip
# The browser reads commands at descriptor 3 and answers at 4.
CHILD = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execvp(sys.argv[3], sys.argv[3:])"
KEY_CODES = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40}


def find_browser() -> str | None:
    """The program; None where there is none, and on Windows, where no pipe can be handed over by its number."""
    return None if os.name == "nt" else next((found for name in NAMES if (found := shutil.which(name))), None)


def above_four(descriptor: int) -> int:
    """The descriptor under a number above the two that the browser wants."""
    low = []
    while descriptor <= 4:
        low.append(descriptor)
        descriptor = os.dup(descriptor)
    for number in low:
        os.close(number)
    return descriptor


class Browser:
    """One browser with one page. events: what the page did (messages, exceptions, requests, dialogs), oldest first."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (their_in, out), (self._in, their_out) = os.pipe(), os.pipe()
        their_in, their_out = above_four(their_in), above_four(their_out)
        command = [program, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(their_in), str(their_out), *command], pass_fds=(their_in, their_out),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(their_in)
        os.close(their_out)
        self._out = os.fdopen(out, "wb")
        self._buffer, self._number, self._session = b"", 0, None
        self.events: list[dict] = []
        target = next(target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)
        self._out.close()
        os.close(self._in)
        self._profile.cleanup()

    def call(self, method: str, **parameters):
        """One command; returns its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._out.write(json.dumps(message | ({"sessionId": self._session} if self._session else {})).encode() + b"\0")
        self._out.flush()
        while (answer := self._read()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _read(self) -> dict:
        while b"\0" not in self._buffer:
            piece = os.read(self._in, 1 << 16)
            assert piece, "the browser has gone"
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(line)

    def open(self, page: Path, width: int = 1280, height: int = 900, theme: str = "light", anchor: str = "") -> None:
        """Open a file in a window of this size; returns when it has loaded. events begin anew."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        for url in ("about:blank", page.as_uri() + anchor):  # the first, so that another anchor of the same page loads it anew
            self.events.clear()
            self.call("Page.navigate", url=url)
            while not self.events_named("Page.loadEventFired"):
                self.events.append(self._read())

    def events_named(self, method: str) -> list[dict]:
        return [event["params"] for event in self.events if event.get("method") == method]

    def value(self, expression: str):
        """What a JavaScript expression is worth in the page, as JSON."""
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in got, got["exceptionDetails"]
        return got["result"].get("value")

    def press(self, *keys: str) -> None:
        for key in keys:
            more = {"text": key} if len(key) == 1 else {"windowsVirtualKeyCode": KEY_CODES[key]}
            more |= {"text": "\r"} if key == "Enter" else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, file: Path, whole: bool = False) -> bytes:
        """A screenshot as PNG, of the window or of the whole page."""
        data = base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])
        file.write_bytes(data)
        return data

    def print(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
