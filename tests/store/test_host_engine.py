"""A host's own AsyncEngine: upgraded, refused, and never disposed."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from fastmcp_feedback.sink import RecordsRejected, SinkUnavailable
from fastmcp_feedback.store import DatabaseSink
from fastmcp_feedback.store.schema import VERSION
from support.databases import POSTGRES, on_server
from support.made_up import call, event

RELEASES: Final = Path(__file__).parent / "releases"
KINDS: Final = pytest.mark.parametrize("kind", ["sqlite", POSTGRES])


@pytest.fixture
def url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """An empty database."""
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/host.db"
    found: str = request.getfixturevalue("postgres_database")
    return found


@pytest_asyncio.fixture
async def engine(url: str) -> AsyncIterator[AsyncEngine]:
    """The host's engine, with its usual pool."""
    made = create_async_engine(url.replace("sqlite:", "sqlite+aiosqlite:").replace("postgresql:", "postgresql+asyncpg:"))
    yield made
    await made.dispose()


def run(url: str, script: str) -> None:
    """Run SQL apart from the engine."""
    if url.startswith("sqlite"):
        con = sqlite3.connect(url.partition("///")[2])
        con.executescript(script)
        con.close()
    else:
        on_server(url, script)


@KINDS
async def test_an_engine_is_not_disposed_and_belongs_to_the_host_s_loop(engine: AsyncEngine, url: str) -> None:
    """After aclose the host goes on with its own connections, and passwords are not shown."""
    sink = DatabaseSink(engine, create_tables=True)
    await sink.write([call()])
    pool = engine.pool
    await sink.aclose()

    async with engine.connect() as con:
        assert (await con.execute(sa.text("SELECT count(*) FROM ffb_tool_calls"))).scalar() == 1
    assert engine.pool is pool
    assert sink.owns_resource is False
    assert sink.dialect in url


@KINDS
@pytest.mark.parametrize("release", ["2026.9.27.4", "2026.10.5"])
async def test_a_published_release_s_database_is_upgraded_through_an_engine(engine: AsyncEngine, url: str, kind: str, release: str) -> None:
    """The same steps and the same rows as by URL."""
    run(url, (RELEASES / f"{release}.{'sqlite' if kind == 'sqlite' else 'postgresql'}.sql").read_text())
    sink = DatabaseSink(engine, create_tables=True)

    await sink.write([call(), event()])
    found = await sink.backend.inspect()
    (counted,) = await sink.ask(("SELECT count(*) AS n FROM ffb_tool_calls", {}))
    context = await sink.read_context("7")

    assert (found.version, counted["n"]) == (VERSION, 3)
    assert [row["outcome"] for row in context] == ["error"]


@KINDS
async def test_without_create_tables_the_missing_tables_are_named(engine: AsyncEngine) -> None:
    """For an engine that is the default: the host's migrations make the tables."""
    sink = DatabaseSink(engine)

    with pytest.raises(SinkUnavailable, match=r"lacks ffb_tool_calls.*create the tables of build_metadata"):
        await sink.write([call()])
    with pytest.raises(SinkUnavailable, match=r"ffb_tool_calls|lacks a table"):
        await sink.recent_calls(conversation_key="c", user_sub=None)


@KINDS
async def test_somebody_else_s_table_is_left_alone(engine: AsyncEngine, url: str) -> None:
    """A table or view of our name is named in the warning."""
    run(url, "CREATE TABLE ffb_tool_calls (price TEXT)")
    sink = DatabaseSink(engine, create_tables=True)

    with pytest.raises(SinkUnavailable, match="ffb_tool_calls exists and is not of this package"):
        await sink.write([call()])


@KINDS
async def test_a_record_that_the_database_refuses_costs_only_itself(engine: AsyncEngine, url: str, kind: str) -> None:
    """The batch is stored without it."""
    sink = DatabaseSink(engine, create_tables=True)
    await sink.write([call()])
    if kind == "sqlite":
        run(url, "CREATE TRIGGER stop BEFORE INSERT ON ffb_tool_calls WHEN new.tool = 'poison' BEGIN SELECT RAISE(ABORT, 'no'); END")
    else:
        run(url, "ALTER TABLE ffb_tool_calls ADD CHECK (tool <> 'poison')")
    good, bad = [call() for _ in range(5)], call(tool="poison")

    with pytest.raises(RecordsRejected) as caught:
        await sink.write([*good[:2], bad, *good[2:], event()])

    assert [record for record, _ in caught.value.rejected] == [bad]
    assert len(await sink.read_calls([record.id for record in good])) == 5


@KINDS
async def test_a_dropped_table_is_named_and_made_again(engine: AsyncEngine, url: str) -> None:
    """Somebody's clean-up costs one attempt."""
    sink = DatabaseSink(engine, create_tables=True)
    await sink.write([call()])
    run(url, "DROP TABLE ffb_tool_calls")

    with pytest.raises(SinkUnavailable):
        await sink.write([call()])
    await sink.write([call()])

    (counted,) = await sink.ask(("SELECT count(*) AS n FROM ffb_tool_calls", {}))
    assert counted["n"] == 1
