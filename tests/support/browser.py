"""A headless Chromium that opens pages from the disk, by its debugging protocol over a pipe."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
MISSING = (
    "no headless Chromium here; install chromium-headless-shell or chromium from the "
    "distribution's packages"
)
_PATIENCE_S = 120.0


def browser_here() -> str | None:
    """Path of a Chromium; None: there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Browser:
    """One page of a running browser."""

    to: int
    back: int
    session: str = ""
    loaded: list[str] = field(default_factory=list)
    """Addresses that the page asked for, its own among them."""
    complaints: list[str] = field(default_factory=list)
    """Errors and warnings of the console, and uncaught exceptions."""
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _rest: bytes = b""

    def ask(self, method: str, **parameters: Any) -> Any:
        """The result of a command. Raises AssertionError for an error, or none in time."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == number:
                assert "error" not in told, (method, told["error"])
                return told["result"]
            self._note(told)

    def open(self, path: Path, width: int = 1280, height: int = 900, *, dark: bool = False) -> None:
        """Open a file, and wait until it is shown."""
        self.loaded.clear()
        self.complaints.clear()
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + _PATIENCE_S
        while self.value("document.readyState") != "complete":
            assert time.monotonic() < end, "the page was not loaded in time"
            time.sleep(0.05)
        # Two frames, so that plots have their size.
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def value(self, expression: str) -> Any:
        """Value of an expression of JavaScript in the page, once a promise is kept."""
        told = self.ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in told, (expression, told["exceptionDetails"])
        return told["result"].get("value")

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the page, or (not `whole`) of what a screen shows of it."""
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def printed(self, path: Path) -> None:
        """A PDF of the page as it is printed."""
        told = self.ask("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        path.write_bytes(base64.b64decode(told["data"]))

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self.back], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            more = os.read(self.back, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def _note(self, told: dict[str, Any]) -> None:
        about = told.get("params", {})
        match told.get("method"):
            case "Network.requestWillBeSent":
                self.loaded.append(about["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(about["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if about["type"] in ("error", "warning", "assert"):
                self.complaints.append(str(about["args"]))
            case "Log.entryAdded" if about["entry"]["level"] in ("error", "warning"):
                self.complaints.append(str(about["entry"]))


@contextmanager
def browsing(program: str) -> Iterator[Browser]:
    """A browser with one empty page, which ends with the block and leaves nothing behind."""
    read, to = os.pipe()
    back, write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [
            program,
            "--headless",
            "--no-sandbox",  # which needs rights that a container may lack; only our pages open
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            f"--user-data-dir={folder}",
            "--remote-debugging-pipe",
        ]
        pid = _started(command, read, write)
        browser = Browser(to, back)
        try:
            target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
            attached = browser.ask("Target.attachToTarget", targetId=target, flatten=True)
            browser.session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                browser.ask(f"{domain}.enable")
            yield browser
        finally:
            browser.session = ""
            with suppress(AssertionError, OSError):
                browser.ask("Browser.close")
            _ended(pid)
            os.close(to)
            os.close(back)


def _started(command: list[str], read: int, write: int) -> int:
    """Pid of a browser that listens on its file descriptor 3, here `read`, and answers on 4."""
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (read, write)]
    nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    ends = [(os.POSIX_SPAWN_DUP2, end, fd) for end, fd in zip(high, (3, 4), strict=True)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[*nothing, *ends])
    for end in (read, write, *high):
        os.close(end)
    return pid


def _ended(pid: int) -> None:
    """Wait for the end of the browser, and see to it after a while."""
    end = time.monotonic() + 20
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return
        time.sleep(0.02)
