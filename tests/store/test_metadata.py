"""build_metadata for a host's own Alembic and queries."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from fastmcp_feedback.store import DatabaseSink, build_metadata
from fastmcp_feedback.store.schema import TABLES
from support.databases import POSTGRES, on_server
from support.made_up import call

RELEASES: Final = Path(__file__).parent / "releases"
KINDS: Final = pytest.mark.parametrize("kind", ["sqlite", POSTGRES])


@pytest.fixture
def url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """An empty database."""
    if kind == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path}/host.db"
    found: str = request.getfixturevalue("postgres_database")
    return found.replace("postgresql://", "postgresql+asyncpg://")


@pytest_asyncio.fixture
async def connection(url: str) -> AsyncIterator[AsyncConnection]:
    """The host's own connection."""
    engine = create_async_engine(url, poolclass=NullPool)
    async with engine.connect() as con:
        yield con
    await engine.dispose()


async def differences(connection: AsyncConnection, metadata: sa.MetaData) -> list[Any]:
    """What Alembic's autogenerate would change."""
    pytest.importorskip("alembic")
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    options = {"compare_type": True, "compare_server_default": True}

    def compare(con: sa.Connection) -> list[Any]:
        return list(compare_metadata(MigrationContext.configure(con, opts=options), metadata))

    return await connection.run_sync(compare)


@KINDS
async def test_alembic_finds_nothing_to_do_on_a_fresh_database(url: str, connection: AsyncConnection) -> None:
    """The tables that the sink makes are those of the metadata, types and indexes included."""
    sink = DatabaseSink(url, create_tables=True)
    await sink.backend.prepare()
    await sink.aclose()

    assert await differences(connection, build_metadata()) == []
    await connection.execute(sa.text("DROP INDEX ix_ffb_events_call_id"))
    assert len(await differences(connection, build_metadata())) == 1


@KINDS
@pytest.mark.parametrize("release", ["2026.9.27.4", "2026.10.5"])
async def test_alembic_finds_nothing_to_do_on_an_upgraded_database(kind: str, release: str, url: str, connection: AsyncConnection) -> None:
    """An upgrade leads to the same tables as a fresh start."""
    script = (RELEASES / f"{release}.{'sqlite' if kind == 'sqlite' else 'postgresql'}.sql").read_text()
    if kind == "sqlite":
        old = sqlite3.connect(url.partition("///")[2])
        old.executescript(script)
        old.close()
    else:
        on_server(url.replace("+asyncpg", ""), script)
    sink = DatabaseSink(url, create_tables=True)
    await sink.backend.prepare()
    await sink.aclose()

    assert await differences(connection, build_metadata(embedding_dim=4 if release == "2026.10.5" else 1024)) == []


@KINDS
async def test_a_sink_writes_into_tables_that_the_host_has_made(url: str, connection: AsyncConnection) -> None:
    """With the host's migrations the sink needs no right to create anything."""
    metadata = build_metadata("host_", embedding_dim=None)
    await connection.run_sync(metadata.create_all)
    await connection.commit()
    sink = DatabaseSink(url, create_tables=False, prefix="host_")
    record = call(args={"a": [1, None]}, extra={"x": 2**70}, user_sub="ann")

    await sink.write([record])
    table = metadata.tables["host_tool_calls"]
    row = (await connection.execute(sa.select(table).where(table.c.started_at <= record.started_at))).mappings().one()

    assert {name: row[name] for name in record.to_row()} == record.to_row()
    assert await differences(connection, metadata) == []
    await sink.aclose()


@KINDS
async def test_rows_written_through_the_metadata_are_read_by_the_sink(url: str, connection: AsyncConnection) -> None:
    """Times, JSON and NULL mean the same on both roads."""
    metadata = build_metadata()
    sink = DatabaseSink(url, create_tables=True)
    await sink.backend.prepare()
    record = call(args={"deep": [{"n": 1.5}]})
    await connection.execute(metadata.tables["ffb_tool_calls"].insert(), {**record.to_row(), "internal": False})
    await connection.commit()

    (row,) = await sink.read_calls([record.id])

    assert {name: row[name] for name in record.to_row()} == record.to_row()
    await sink.aclose()


def test_tables_join_the_host_s_own_metadata() -> None:
    """Passed metadata is filled and returned; without a dimension there is no table of vectors."""
    mine = sa.MetaData()
    sa.Table("mine", mine, sa.Column("id", sa.Integer))

    assert build_metadata("p_", mine, embedding_dim=None) is mine
    assert set(mine.tables) == {"mine", *("p_" + table.name for table in TABLES if table.name != "embeddings")}


@pytest.mark.parametrize("prefix", ["a-b", "1x", 'x"; DROP TABLE y; --', "x" * 32])
def test_a_prefix_that_is_no_name_is_refused(prefix: str) -> None:
    """It becomes part of SQL, so it has to be a plain name."""
    with pytest.raises(ValueError, match="prefix must be letters"):
        build_metadata(prefix)
    with pytest.raises(ValueError, match="prefix must be letters"):
        DatabaseSink("sqlite:///:memory:", prefix=prefix)
