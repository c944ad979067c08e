"""Real servers that are killed: with a spool, every call that was answered a moment ago is stored, once."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from support.spooled_studio import SpooledStudio, ping
from support.waiting import until

if TYPE_CHECKING:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

# Waited after the last answer before the kill: what the promise allows.
PROMISED_S: Final = 0.25


@pytest.fixture
def studio(tmp_path: Path) -> SpooledStudio:
    """A server to start, kill and start again."""
    return SpooledStudio(tmp_path)


@pytest.fixture
def outcome() -> list[BaseException]:
    """Errors of clients whose server was killed."""
    return []


@asynccontextmanager
async def doomed(studio: SpooledStudio, errors: list[BaseException]) -> AsyncIterator[Client[StdioTransport]]:
    """Like `running`, for a server that is killed inside."""
    try:
        async with studio.running() as client:
            yield client
            studio.kill()
    except Exception as exc:  # noqa: BLE001 - the connection breaks; how is the client's business
        errors.append(exc)


@pytest.mark.slow
async def test_calls_made_while_the_database_is_locked_survive_kill_9(studio: SpooledStudio, outcome: list[BaseException]) -> None:
    """The next process stores each of them once, and the spool is empty then."""
    async with studio.running() as client:
        await ping(client, range(1))
    lock = sqlite3.connect(studio.database, isolation_level=None)
    lock.execute("begin immediate")
    async with doomed(studio, outcome) as client:
        await ping(client, range(50))
        await asyncio.sleep(PROMISED_S)
    assert studio.owed()
    lock.execute("commit")
    lock.close()
    async with studio.running():
        await until(lambda: studio.counted() == (51, 51))
        await until(lambda: not studio.owed())


@pytest.mark.slow
async def test_kill_9_in_the_midst_of_a_burst_loses_no_answered_call(studio: SpooledStudio, outcome: list[BaseException]) -> None:
    """Every call answered 250 ms before the kill is there once; later ones may be."""
    answered: list[int] = []

    async def call(client: Client[StdioTransport], n: int) -> None:
        await client.call_tool("ping", {"n": n})
        answered.append(n)

    async with doomed(studio, outcome) as client:
        await ping(client, range(1))
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
    studio: SpooledStudio, tmp_path: Path, outcome: list[BaseException]
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
