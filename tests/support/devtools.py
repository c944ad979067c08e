"""Chromium and its DevTools protocol over a pipe: no driver, no other process, and nothing that waits for ever.

The browser ends with the pipe, so it goes even when a test process is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any, Final

ANSWER_S: Final = 30.0
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_FLAGS: Final = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-dev-shm-usage", "--disable-gpu",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--disable-sync",
    "--disable-breakpad", "--mute-audio", "--force-color-profile=srgb", "--hide-scrollbars", "--password-store=basic",
    # Containers have no user namespaces, and only pages of this repository are opened.
    "--no-sandbox",
    # Nothing but this machine has a name.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)  # fmt: skip
# Chromium reads commands from descriptor 3 and answers at 4.
_START: Final = (
    "import fcntl, os, sys\n"
    "commands, answers = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 20) for number in sys.argv[1:3])\n"
    "os.dup2(commands, 3)\nos.dup2(answers, 4)\nos.close(commands)\nos.close(answers)\n"
    "os.execv(sys.argv[3], sys.argv[3:])\n"
)


def find_chromium() -> str | None:
    """Where Chromium is, or None."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


class BrowserFailed(AssertionError):
    """The browser refused a command, did not answer in time, or is gone."""


class DevTools:
    """A running browser. `listeners`: session id -> what is told of this session's events."""

    def __init__(self, path: str) -> None:
        self.listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the browser
        commands_end, self._commands = os.pipe()
        self._answers, answers_end = os.pipe()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _START,
                str(commands_end),
                str(answers_end),
                path,
                *_FLAGS,
                f"--user-data-dir={self._profile}",
                "about:blank",
            ],
            pass_fds=(commands_end, answers_end),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            env={**os.environ, "HOME": self._profile, "TZ": "UTC", "LANG": "C.UTF-8"},
        )
        os.close(commands_end)
        os.close(answers_end)
        self._inbox: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._number = 0
        self._reading = threading.Thread(target=self._read, name="devtools", daemon=True)
        self._reading.start()

    def send(self, method: str, session: str | None = None, /, **params: Any) -> dict[str, Any]:
        """Give a command and wait for its answer; events that come before it are told to their listeners."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        try:
            self._write(json.dumps(message).encode() + b"\0")
        except OSError as exc:
            raise BrowserFailed(f"the browser is gone: {self._said()}") from exc
        end = time.monotonic() + ANSWER_S
        while True:
            got = self._next(end, method)
            if got.get("id") == number:
                if "error" in got:
                    raise BrowserFailed(f"{method}: {got['error']}")
                answer: dict[str, Any] = got["result"]
                return answer

    def listen(self, until: Callable[[], Any], what: str, timeout_s: float = ANSWER_S) -> None:
        """Take events until this is true."""
        end = time.monotonic() + timeout_s
        while not until():
            self._next(end, what)

    def close(self) -> None:
        """End the browser and everything that it started."""
        os.close(self._commands)
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(5)
            self._reading.join(5)
            os.close(self._answers)
            self._log.close()
            shutil.rmtree(self._profile, ignore_errors=True)

    def _next(self, end: float, what: str) -> dict[str, Any]:
        try:
            got = self._inbox.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            raise BrowserFailed(f"nothing came of {what}: {self._said()}") from None
        if got is None:
            raise BrowserFailed(f"the browser ended during {what}: {self._said()}")
        if "method" in got and (listener := self.listeners.get(got.get("sessionId", ""))):
            listener(got["method"], got["params"])
        return got

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._commands, data) :]

    def _read(self) -> None:
        held = b""
        while True:
            try:
                piece = os.read(self._answers, 1 << 16)
            except OSError:
                piece = b""
            if not piece:
                self._inbox.put(None)
                return
            *whole, held = (held + piece).split(b"\0")
            for message in whole:
                self._inbox.put(json.loads(message))

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-2000:]
