"""A real server process over a database file and a spool, to be killed, cut off from its disk, and started again."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

SERVER: Final = """
import asyncio, os, sys
from pathlib import Path
from fastmcp import FastMCP
from fastmcp_feedback.instrumentation import DatabaseSink, instrument

app = FastMCP("studio")

@app.tool
async def ping(n: int) -> dict:
    return {"n": n}

@app.tool
async def paint(marker: str, password: str) -> str:
    Path(marker).touch()
    await asyncio.sleep(600)
    return "painted"

Path(sys.argv[2] + ".pid").write_text(str(os.getpid()))
instrument(app, [DatabaseSink("sqlite:///" + sys.argv[1])], spool=sys.argv[2], mode="full", shutdown_timeout=20)
app.run(show_banner=False)
"""


class SpooledStudio:
    """A server script, its database, its spool."""

    def __init__(self, folder: Path, database: Path | None = None) -> None:
        self.script = folder / "server.py"
        self.script.write_text(SERVER, encoding="utf-8")
        self.database = database or folder / "calls.db"
        self.spool = folder / "spool"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Client[StdioTransport]]:
        """A client of a fresh server process."""
        transport = StdioTransport(
            sys.executable, [str(self.script), str(self.database), str(self.spool)], env=dict(os.environ), keep_alive=False
        )
        async with Client(transport) as client:
            yield client

    def kill(self) -> None:
        """End the server as the kernel would when memory is short."""
        os.kill(int(Path(f"{self.spool}.pid").read_text(encoding="ascii")), signal.SIGKILL)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The answer of the database."""
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)  # never makes the file that it looks for
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def counted(self) -> tuple[int, int]:
        """Rows, and different ids among them."""
        [(rows, different)] = self.rows("select count(*), count(distinct id) from ffb_tool_calls")
        return rows, different

    def owed(self) -> list[Path]:
        """Segment files that are left."""
        return list(self.spool.glob("*.spool"))

    def files(self, folder: Path | None = None) -> list[Path]:
        """The database and what SQLite keeps beside it."""
        return list((folder or self.database.parent).glob(f"{self.database.name}*"))

    def numbers(self) -> list[int]:
        """The arguments of the stored calls of `ping`, in order."""
        return [n for (n,) in self.rows("select json_extract(args, '$.n') as n from ffb_tool_calls where tool = 'ping' order by n")]

    def has_stored(self, numbers: range) -> bool:
        """Are these the stored calls of `ping`? Not while the file or its tables are being made."""
        try:
            return self.numbers() == list(numbers)
        except sqlite3.OperationalError:
            return False


async def ping(client: Client[StdioTransport], numbers: range) -> None:
    """One call for each number, one after the other."""
    for n in numbers:
        await client.call_tool("ping", {"n": n})
