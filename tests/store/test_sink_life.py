"""Loops, threads, forks and closing: where a DatabaseSink may be used, and what it leaves behind."""

from __future__ import annotations

import asyncio
import gc
import os
import threading

import pytest

from support.databases import POSTGRES, Database
from support.made_up import call, link


async def test_a_sink_that_owns_its_database_works_on_any_loop(database: Database) -> None:
    """The writer's loop writes, the server's loop asks, and a third thread's loop links."""
    sink = database.sink()
    if not sink.owns_resource:
        pytest.skip("a host's engine belongs to the host's loop")
    record = call()
    errors: list[BaseException] = []

    def elsewhere() -> None:
        try:
            asyncio.run(sink.write([record]))
            asyncio.run(sink.write_links("r", [link(record)]))
        except BaseException as exc:  # noqa: BLE001 - looked at below
            errors.append(exc)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    await asyncio.to_thread(thread.join)

    assert errors == []
    assert [row["call_id"] for row in await sink.read_context("r")] == [record.id]


async def test_a_closed_sink_opens_again_when_it_is_used(database: Database) -> None:
    """Closing may come twice, and a late record is still stored."""
    sink = database.sink()
    await sink.write([call()])
    await sink.aclose()
    await sink.aclose()
    record = call()

    await sink.write([record])

    assert len(await sink.read_calls([record.id])) == 1


@pytest.mark.parametrize("database", ["sqlite", POSTGRES], indirect=True)
async def test_a_forked_child_uses_connections_of_its_own(database: Database) -> None:
    """Parent and child both go on writing."""
    sink = database.sink()
    await sink.write([call()])
    child = os.fork()
    if child == 0:
        try:
            asyncio._set_running_loop(None)
            asyncio.new_event_loop().run_until_complete(sink.write([call()]))
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the child must end here
            os._exit(1)

    _, status = os.waitpid(child, 0)  # noqa: ASYNC222 - the child ends at once
    await sink.write([call()])
    (counted,) = await sink.backend.query([("SELECT count(*) AS n FROM ffb_tool_calls", {})])

    assert status == 0
    assert counted == {"n": 3}


@pytest.mark.parametrize("database", ["sqlite", POSTGRES], indirect=True)
async def test_a_forgotten_sink_leaves_no_thread_behind(database: Database) -> None:
    """Without aclose() its threads end when it is collected."""
    before = set(threading.enumerate())
    sink = database.sink()
    await sink.write([call()])
    await sink.read_events("k")
    mine = set(threading.enumerate()) - before
    if database.kind == "postgres":
        await sink.backend._run(sink.backend._connections.close)  # type: ignore[attr-defined] # asyncpg warns of open ones
    database.sinks.clear()
    del sink
    gc.collect()

    for thread in mine:
        await asyncio.to_thread(thread.join, 10)
    assert [thread for thread in mine if thread.is_alive()] == []
