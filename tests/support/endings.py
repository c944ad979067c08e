"""Server processes that a test ends, and what they stored."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any, Final

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from support import ending_server
from support.paths import ROOT
from support.servers import wait_for_port
from support.waiting import DEADLINE_S, wait_until

SCRIPT: Final = Path(ending_server.__file__)
ENVIRONMENT: Final = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}


class Ending:
    """One server script with one sink, in one folder."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        self.kind = kind
        self.target = folder / "calls"

    def command(self, way: str, *more: str) -> list[str]:
        """What starts it."""
        return [sys.executable, str(SCRIPT), self.kind, str(self.target), way, *more]

    def transport(self) -> StdioTransport:
        """For a client that starts the server over stdio."""
        command, *args = self.command("stdio")
        return StdioTransport(command, args, env=dict(ENVIRONMENT), keep_alive=False)

    @property
    def pid(self) -> int:
        """The server's process id."""
        return int(Path(f"{self.target}.pid").read_text(encoding="ascii"))

    def alive(self) -> bool:
        """Does the server's process run?"""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return not Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].startswith(" Z")

    @contextmanager
    def process(self, way: str, *more: str, **popen: Any) -> Iterator[subprocess.Popen[bytes]]:
        """The script as a process of ours; dead afterwards."""
        with subprocess.Popen(self.command(way, *more), env=ENVIRONMENT, **popen) as process:
            try:
                yield process
            finally:
                process.kill()

    @asynccontextmanager
    async def serving(self, way: str, port: int) -> AsyncIterator[tuple[subprocess.Popen[bytes], Client[Any]]]:
        """The script serving HTTP, and a client of it."""
        with self.process(way, str(port)) as process:
            await asyncio.to_thread(wait_for_port, port, process)
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                yield process, client

    def rows(self) -> list[dict[str, Any]]:
        """What is stored: tool, outcome, error_type and id of every call."""
        if self.kind != "database":
            text = self.target.read_text(encoding="utf-8") if self.target.exists() else ""
            return [json.loads(line) for line in text.splitlines()]
        if not self.target.exists():
            return []
        with closing(sqlite3.connect(self.target)) as connection:
            connection.row_factory = sqlite3.Row
            if not connection.execute("select 1 from sqlite_master where name = 'ffb_tool_calls'").fetchone():
                return []
            return [dict(row) for row in connection.execute("select * from ffb_tool_calls")]

    def stored(self, tool: str = "ping") -> int:
        """How many calls of the tool are stored; every one of them once."""
        ids = [row["id"] for row in self.rows() if row["tool"] == tool]
        assert len(ids) == len(set(ids))
        return len(ids)


class ByHand:
    """JSON-RPC over the pipes of a stdio server, for tests that need its exit status."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.answered = 0
        self.say({"id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"},
        }})  # fmt: skip
        self.read(1)
        self.say({"method": "notifications/initialized"})

    def say(self, *messages: dict[str, Any]) -> None:
        """Send messages."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages))
        self.process.stdin.flush()

    def call(self, tool: str, first: int, count: int, **args: Any) -> None:
        """Send so many calls at once."""
        self.say(
            *(
                {"id": n, "method": "tools/call", "params": {"name": tool, "arguments": args or {"n": n}}}
                for n in range(first, first + count)
            )
        )

    def read(self, count: int) -> list[dict[str, Any]]:
        """So many answers."""
        assert self.process.stdout is not None
        answers = [json.loads(self.process.stdout.readline()) for _ in range(count)]
        self.answered += count
        return answers

    def end(self, number: signal.Signals) -> tuple[int, int]:
        """Send the signal; the exit status, and how many more answers had been written before the end."""
        self.process.send_signal(number)
        assert self.process.stdout is not None
        rest = self.process.stdout.read()
        return self.process.wait(DEADLINE_S), rest.count(b"\n")


def wait_for_end(ending: Ending) -> None:
    """Block until the server's process is gone."""
    wait_until(lambda: not ending.alive())
