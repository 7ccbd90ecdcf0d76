"""A headless Chromium, driven over its pipe: what a person does to a page, and what comes of it.

The browser reads commands of the DevTools protocol from descriptor 3 and answers on 4, as JSON texts that end in a zero
byte. That is all there is to it, so no package stands in between.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.programs import system_program

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 30.0
"""Seconds until an answer that does not come is an error."""

KEYS = {
    "Enter": 13,
    "Escape": 27,
    "PageUp": 33,
    "PageDown": 34,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Tab": 9,
}


_AT_3_AND_4 = """
import os, sys
for number, end in enumerate(sys.argv[1:3], 3):
    os.dup2(int(end), number)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Becomes the browser, with its pipes where it looks for them: without a fork of a process that has threads."""


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own that is thrown away."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for_us, from_browser = os.pipe()
        for_browser, from_us = os.pipe()
        arguments = [
            system_program(*PROGRAMS),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        ]
        # Two high numbers first, so that neither is in the way of the other.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in (for_browser, from_browser)]
        process = subprocess.Popen(
            [sys.executable, "-c", _AT_3_AND_4, *map(str, ends), *arguments],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in ends:
            os.close(end)
        os.close(for_browser)
        os.close(from_browser)
        session = Browser(for_us, from_us)
        try:
            yield session
        finally:
            with suppress(RuntimeError, OSError):
                session.send("Browser.close")
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(for_us)
            os.close(from_us)


class Browser:
    """The connection: commands go out, answers and events come back."""

    def __init__(self, for_us: int, from_us: int) -> None:
        self._for_us, self._from_us = for_us, from_us
        self._rest = b""
        self._count = 0
        self._pages: dict[str, Page] = {}

    def send(self, method: str, session: str | None = None, /, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; events that come before it go to their pages."""
        self._count += 1
        number = self._count
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._from_us, data) :]
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._next(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])
            self._deliver(answer)

    def _next(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._for_us], [], [], max(0.0, until - time.monotonic()))
            data = os.read(self._for_us, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError("the browser has gone" if ready else f"the browser gave no answer in {PATIENCE} s")
            self._rest += data
        text, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(text))

    def _deliver(self, event: dict[str, Any]) -> None:
        page = self._pages.get(event.get("sessionId", ""))
        if page is not None:
            page.events.append((event["method"], event["params"]))

    def page(self, file: Path | str, *, width: int = 1280, height: int = 800, **media: str) -> Page:
        """A page of its own with *file* in it, loaded.

        Args:
            file: a file, or an address.
            media: features of the screen, such as ``prefers_color_scheme="dark"``.
        """
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.prefer(**media)
        page.go(file if isinstance(file, str) else file.as_uri())
        return page


class Page:
    """A page that is open.

    Attributes:
        events: what the browser told about it, oldest first.
    """

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.events: list[tuple[str, dict[str, Any]]] = []

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.send(method, self._session, **params)

    def go(self, address: str) -> None:
        """Load what is at an address."""
        self.run("globalThis.left = true")  # the next document has no such name
        self.send("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && !globalThis.left")

    def prefer(self, **media: str) -> None:
        """Say what the screen is like, or what its reader prefers: ``prefers_color_scheme="dark"``."""
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        self.send("Emulation.setEmulatedMedia", features=features)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition: str) -> Any:
        """Wait until an expression is true."""
        until = time.monotonic() + PATIENCE
        while not (answer := self.run(condition)):
            if time.monotonic() > until:
                raise RuntimeError(f"did not become true: {condition}")
        return answer

    def settle(self) -> None:
        """Wait until what was asked for is drawn and nothing glides any more.

        The page says itself whether it glides: how long a frame takes depends on what else the machine does.
        """
        self.run(
            "new Promise((done) => { let still = 0; const look = () => { still = document.querySelector("
            "'[data-gliding]') ? 0 : still + 1; if (still > 2) done(); else requestAnimationFrame(look); }; look(); })"
        )

    def problems(self) -> list[str]:
        """Errors and warnings of the console, exceptions, violations of the content security policy."""
        messages = []
        for method, params in self.events:
            if method == "Runtime.exceptionThrown":
                messages.append(str(params["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                messages.append(str(params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                messages.append(params["entry"]["text"])
        return messages

    def requests(self) -> list[str]:
        """The addresses of everything that the page asked for."""
        return [p["request"]["url"] for m, p in self.events if m == "Network.requestWillBeSent"]

    def refused(self) -> list[str]:
        """The addresses that the content security policy kept the page from asking for."""
        failed = {
            p["requestId"] for m, p in self.events if m == "Network.loadingFailed" and p.get("blockedReason") == "csp"
        }
        sent = ((p["requestId"], p["request"]["url"]) for m, p in self.events if m == "Network.requestWillBeSent")
        return [url for number, url in sent if number in failed]

    def key(self, key: str) -> None:
        """Press and release a key."""
        text = {} if key in KEYS else {"text": key}
        code = KEYS.get(key, ord(key.upper()) if len(key) == 1 else 0)
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
        self.settle()

    def type(self, text: str) -> None:
        self.send("Input.insertText", text=text)
        self.settle()

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.settle()

    def place(self, element: str) -> tuple[float, float]:
        """The middle, on the screen, of what a JavaScript expression gives."""
        x, y = self.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])(({element}).getBoundingClientRect())")
        return x, y

    def press(self, selector: str) -> None:
        """Click on the element that a CSS selector finds."""
        self.click(*self.place(f"document.querySelector({json.dumps(selector)})"))

    def screenshot(self) -> bytes:
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def printed(self) -> bytes:
        """The page as a PDF file."""
        return base64.b64decode(self.send("Page.printToPDF", preferCSSPageSize=True)["data"])
