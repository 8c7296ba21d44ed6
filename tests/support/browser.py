"""A browser for tests: headless Chromium, driven by its own protocol over a pipe.

Needs the program and nothing else. Debian's package is `chromium`.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

PROGRAM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
_OPTIONS: Final = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio", "--disable-extensions",
    "--renderer-process-limit=1", "--remote-debugging-pipe",
]  # fmt: skip
# Chromium reads commands from descriptor 3 and answers on 4.
_LAUNCH: Final = """
import os, sys
from fcntl import F_DUPFD, fcntl
commands, answers = (fcntl(int(number), F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_PATIENCE_S: Final = 40


class Browser:
    """A running browser."""

    def __init__(self, profile: Path) -> None:
        assert PROGRAM is not None
        read_commands, self._commands = os.pipe()
        self._answers, write_answers = os.pipe()
        launch = [sys.executable, "-c", _LAUNCH, str(read_commands), str(write_answers), PROGRAM]
        self._process = subprocess.Popen(
            [*launch, *_OPTIONS, f"--user-data-dir={profile}"],
            pass_fds=[read_commands, write_answers],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        self._received = bytearray()
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command, and return its answer; events that come first are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        left = json.dumps(message).encode() + b"\0"
        while left:
            left = left[os.write(self._commands, left) :]
        while True:
            answer = self._receive()
            if answer.get("id") != self._number:
                self.events.append(answer)
                continue
            assert "error" not in answer, f"{method}: {answer['error']}"
            return dict(answer["result"])

    def wait_for(self, method: str, session: str) -> dict[str, Any]:
        """Return the first event of this name that a page has sent or sends."""
        while True:
            for at, event in enumerate(self.events):
                if event["method"] == method and event.get("sessionId") == session:
                    return self.events.pop(at)
            self.events.append(self._receive())

    def close(self) -> None:
        try:
            self.send("Browser.close")
            self._process.wait(10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._commands)
        os.close(self._answers)

    def _receive(self) -> dict[str, Any]:
        while (end := self._received.find(b"\0")) < 0:
            ready, _, _ = select.select([self._answers], [], [], _PATIENCE_S)
            assert ready, "Chromium does not answer"
            data = os.read(self._answers, 1 << 20)
            assert data, "Chromium has ended"
            self._received += data
        message: dict[str, Any] = json.loads(self._received[:end])
        del self._received[: end + 1]
        return message


class Tab:
    """An open page, and what it has asked for."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self._seen: list[dict[str, Any]] = []

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.send(method, self._session, **parameters)

    def run(self, script: str) -> Any:
        """Run an expression, which may be a promise, and return its value as JSON."""
        answer = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press a key: `Tab` is 9, `Enter` 13, `Escape` 27."""
        shared = {"key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}
        self.send("Input.dispatchKeyEvent", type="keyDown", **shared)
        self.send("Input.dispatchKeyEvent", type="keyUp", **shared)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    @property
    def requests(self) -> list[str]:
        """The URLs that the page has asked for, its own included.

        Left out are content that is in the page, and what its policy refused.
        """
        refused = {
            event["requestId"] for event in self._of("Network.loadingFailed")
            if event.get("blockedReason") == "csp"
        }  # fmt: skip
        asked = {
            event["requestId"]: str(event["request"]["url"])
            for event in self._of("Network.requestWillBeSent")
        }
        return [
            url for number, url in asked.items()
            if number not in refused and not url.startswith("data:")
        ]  # fmt: skip

    @property
    def complaints(self) -> list[str]:
        """What the browser has said about the page: errors, warnings, refused content."""
        errors = [
            event["exceptionDetails"]["text"] for event in self._of("Runtime.exceptionThrown")
        ]
        said = [str(event["args"]) for event in self._of("Runtime.consoleAPICalled")]
        return errors + said + [event["entry"]["text"] for event in self._of("Log.entryAdded")]

    def _of(self, method: str) -> Iterator[dict[str, Any]]:
        for event in self._browser.events:
            if event["method"] == method and event.get("sessionId") == self._session:
                yield event["params"]


@contextmanager
def opened(
    browser: Browser,
    page: Path | str,
    *,
    width: int = 1280,
    height: int = 800,
    dark: bool = False,
    scripts: bool = True,
    ignores_policy: bool = False,
) -> Iterator[Tab]:
    """Open a page in a tab of its own.

    Args:
        browser: The browser.
        page: The file, or a URL.
        width: The width of the window, in CSS pixels; below 600 it is a phone.
        height: Its height.
        dark: Whether the person prefers dark colours.
        scripts: Whether scripts of the page run.
        ignores_policy: Whether the test may bring scripts of its own that the page forbids.
    """
    target = browser.send("Target.createTarget", url="about:blank")["targetId"]
    session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    tab = Tab(browser, session)
    try:
        for domain in ("Page", "Network", "Runtime", "Log"):
            tab.send(f"{domain}.enable")
        tab.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        tab.send("Emulation.setEmulatedMedia", media="", features=[scheme])
        tab.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        tab.send("Page.setBypassCSP", enabled=ignores_policy)
        tab.send("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        browser.wait_for("Page.loadEventFired", session)
        yield tab
    finally:
        browser.send("Target.closeTarget", targetId=target)
        browser.events = [event for event in browser.events if event.get("sessionId") != session]
