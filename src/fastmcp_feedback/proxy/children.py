"""A proxied command: its process, and how it ended."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastmcp.client.transports import StdioTransport

from .telling import tell
from .upstream import Upstream

CHILD_SCRIPT = Path(__file__).with_name("child.py")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended: its exit code (negative: the signal), or why it could not be started."""

    code: int
    error: str | None = None

    def describe(self, command: Sequence[str]) -> str:
        """One line for a person.

        >>> Ending(-15).describe(["server"]), Ending(3).describe(["server"])
        ('server was ended by SIGTERM', 'server ended with exit code 3')
        """
        name = command[0]
        if self.error is not None:
            return f"{name} could not be started: {self.error}"
        if self.code < 0:
            return f"{name} was ended by {signal.Signals(-self.code).name}"
        return f"{name} ended with exit code {self.code}"


class _Pipes(StdioTransport):
    """The process stays when a single request is given up: only `disconnect` ends it."""

    async def close(self) -> None:
        """Nothing: FastMCP closes the transport of a client that is cancelled while it connects."""


class Child(Upstream):
    """One process, started when its first request comes."""

    def __init__(self, command: Sequence[str], folder: Path, *, over_http: bool, shared: bool) -> None:
        handle, name = tempfile.mkstemp(dir=folder, suffix=".json")
        os.close(handle)
        self.command = list(command)
        self.folder = folder
        self.signalled = False
        self._told = False
        self._status = Path(name)
        self._transport = _Pipes(
            sys.executable,
            ["-P", "-S", "-E", str(CHILD_SCRIPT), name, *command],
            env=dict(os.environ),  # FastMCP's own default would pass next to nothing
            cwd=str(Path.cwd()),
            keep_alive=True,
        )
        super().__init__(self._transport, over_http=over_http, shared=shared)

    def _read(self) -> dict[str, Any]:
        try:
            text = self._status.read_text(encoding="utf-8")
        except OSError:
            return {}
        return dict(json.loads(text)) if text else {}

    @property
    def ending(self) -> Ending | None:
        """How it ended; None while it runs or has not begun."""
        status = self._read()
        if "error" in status:
            return Ending(127, str(status["error"]))
        return Ending(int(status["code"])) if "code" in status else None

    @property
    def ended(self) -> bool:
        """Has the process ended?"""
        return self.ending is not None

    @property
    def started(self) -> bool:
        """Has the process been started?"""
        return bool(self._read())

    def tell_end(self, ending: Ending | None = None) -> None:
        """Say how it ended, once, however many parts of the proxy notice."""
        ending = ending or self.ending
        if ending is not None and not self._told:
            self._told = True
            tell(ending.describe(self.command))

    async def close(self) -> None:
        """Close its stdin and end it if it stays."""
        await self._transport.disconnect()  # type: ignore[no-untyped-call]  # FastMCP's has no annotations

    def send_signal(self, signum: int) -> bool:
        """Hand a signal on; False when there is no process."""
        self.signalled = True
        pid = self._read().get("pid")
        if pid is None:
            return False
        try:
            os.kill(int(pid), signum)
        except ProcessLookupError:
            return False
        return True
