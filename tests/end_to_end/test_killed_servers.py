"""Real servers that are killed: with a spool, every call that was answered a moment ago is stored, once."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from support.waiting import until

# Waited after the last answer before the kill: what the promise allows.
PROMISED_S: Final = 0.25

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

Path(sys.argv[1] + ".pid").write_text(str(os.getpid()))
instrument(app, [DatabaseSink("sqlite:///" + sys.argv[1])], spool=sys.argv[1] + ".spool", mode="full", shutdown_timeout=20)
app.run(show_banner=False)
"""


class Studio:
    """A server script, its database, its spool."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "server.py"
        self.script.write_text(SERVER, encoding="utf-8")
        self.database = folder / "calls.db"
        self.spool = folder / "calls.db.spool"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Client[StdioTransport]]:
        """A client of a fresh server process."""
        transport = StdioTransport(sys.executable, [str(self.script), str(self.database)], env=dict(os.environ), keep_alive=False)
        async with Client(transport) as client:
            yield client

    def kill(self) -> None:
        """End the server as the kernel would when memory is short."""
        os.kill(int(Path(f"{self.database}.pid").read_text(encoding="ascii")), signal.SIGKILL)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The answer of the database."""
        connection = sqlite3.connect(self.database)
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


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    """A server to start, kill and start again."""
    return Studio(tmp_path)


@pytest.fixture
def outcome() -> list[BaseException]:
    """Errors of clients whose server was killed."""
    return []


@asynccontextmanager
async def doomed(studio: Studio, errors: list[BaseException]) -> AsyncIterator[Client[StdioTransport]]:
    """Like `running`, for a server that is killed inside."""
    try:
        async with studio.running() as client:
            yield client
            studio.kill()
    except Exception as exc:  # noqa: BLE001 - the connection breaks; how is the client's business
        errors.append(exc)


async def ping(client: Client[StdioTransport], count: int) -> None:
    """So many calls, one after the other."""
    for n in range(count):
        await client.call_tool("ping", {"n": n})


@pytest.mark.slow
async def test_calls_made_while_the_database_is_locked_survive_kill_9(studio: Studio, outcome: list[BaseException]) -> None:
    """The next process stores each of them once, and the spool is empty then."""
    async with studio.running() as client:
        await ping(client, 1)
    lock = sqlite3.connect(studio.database, isolation_level=None)
    lock.execute("begin immediate")
    async with doomed(studio, outcome) as client:
        await ping(client, 50)
        await asyncio.sleep(PROMISED_S)
    assert studio.owed()
    lock.execute("commit")
    lock.close()
    async with studio.running():
        await until(lambda: studio.counted() == (51, 51))
        await until(lambda: not studio.owed())


@pytest.mark.slow
async def test_kill_9_in_the_midst_of_a_burst_loses_no_answered_call(studio: Studio, outcome: list[BaseException]) -> None:
    """Every call answered 250 ms before the kill is there once; later ones may be."""
    answered: list[int] = []

    async def call(client: Client[StdioTransport], n: int) -> None:
        await client.call_tool("ping", {"n": n})
        answered.append(n)

    async with doomed(studio, outcome) as client:
        await ping(client, 1)
        calls = [asyncio.ensure_future(call(client, n)) for n in range(1, 2000)]
        await until(lambda: len(answered) >= 300)
        safe = list(answered)
        await asyncio.sleep(PROMISED_S)
        studio.kill()
        for left in calls:  # older clients wait for their answers for ever
            left.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    async with studio.running():
        await until(lambda: not studio.owed())
        stored = {n for (n,) in studio.rows("select json_extract(args, '$.n') from ffb_tool_calls")}
    assert set(safe) <= stored
    rows, different = studio.counted()
    assert rows == different


@pytest.mark.slow
async def test_a_call_that_runs_when_the_server_is_killed_is_stored_as_interrupted(
    studio: Studio, tmp_path: Path, outcome: list[BaseException]
) -> None:
    """It has run for more than a second, so it was marked on disk; secrets of its arguments were not."""
    async with doomed(studio, outcome) as client:
        running = asyncio.ensure_future(client.call_tool("paint", {"marker": str(tmp_path / "began"), "password": "open-sesame-42"}))
        await until((tmp_path / "began").exists)
        await until(lambda: any(path.stat().st_size > 100 for path in studio.owed()))
        assert not any(b"open-sesame-42" in path.read_bytes() for path in studio.owed())
        studio.kill()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    async with studio.running():
        await until(lambda: not studio.owed())
    [row] = studio.rows("select outcome, error_type, ok, duration_ms, args from ffb_tool_calls where tool = 'paint'")
    assert row[:3] == ("error", "Interrupted", 0)
    assert 900 <= row[3] < 600_000
    assert "[REDACTED]" in row[4]
