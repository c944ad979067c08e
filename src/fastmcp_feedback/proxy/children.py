"""The proxied commands: one child process for each client session, and how each ended."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
from fastmcp.server.dependencies import get_http_headers

CHILD_SCRIPT = Path(__file__).with_name("child.py")
ONLY_SESSION = ""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended: its exit code (negative: the signal), or why it could not be started."""

    code: int
    error: str | None = None

    def describe(self, command: Sequence[str]) -> str:
        """One line for a person."""
        name = command[0]
        if self.error is not None:
            return f"{name} could not be started: {self.error}"
        if self.code < 0:
            return f"{name} was ended by {signal.Signals(-self.code).name}"
        return f"{name} ended with exit code {self.code}"


class Child:
    """One process, started when its first request comes."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        handle, name = tempfile.mkstemp(dir=folder, suffix=".json")
        os.close(handle)
        self._status = Path(name)
        self.transport = StdioTransport(
            sys.executable,
            ["-S", "-E", str(CHILD_SCRIPT), name, *command],
            env=dict(os.environ),  # FastMCP's own default would pass next to nothing
            cwd=str(Path.cwd()),
            keep_alive=True,
        )
        self.client_factory: Callable[[], Any] = create_proxy(self.transport).client_factory

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
    def started(self) -> bool:
        """Has the process been started?"""
        return bool(self._read())

    async def close(self) -> None:
        """Close its stdin and end it if it stays."""
        await self.transport.disconnect()  # type: ignore[no-untyped-call]  # FastMCP's has no annotations

    def send_signal(self, signum: int) -> bool:
        """Hand a signal on; False when there is no process."""
        pid = self._read().get("pid")
        if pid is None:
            return False
        try:
            os.kill(int(pid), signum)
        except ProcessLookupError:
            return False
        return True


class Children:
    """A child for each MCP session; clients without sessions (stdio, protocol 2026-07-28) share one."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = list(command)
        self._folder = tempfile.TemporaryDirectory(prefix="fastmcp-feedback-")
        self._by_session: dict[str, Child] = {}

    def child(self, session: str = ONLY_SESSION) -> Child:
        """The child of a session, made when it is new or its process has ended."""
        found = self._by_session.get(session)
        if found is None or (session != ONLY_SESSION and found.ending is not None):
            found = self._by_session[session] = Child(self.command, Path(self._folder.name))
        return found

    def client(self) -> Any:
        """A FastMCP client for the request that is being served."""
        session = get_http_headers(include={"mcp-session-id"}).get("mcp-session-id", ONLY_SESSION)
        return self.child(session).client_factory()

    async def close(self) -> None:
        """Close every child's stdin and end those that stay."""
        for child in self._by_session.values():
            await child.close()
        self._folder.cleanup()
