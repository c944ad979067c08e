"""Databases of older versions become current ones in place, with every row; a failed step changes nothing."""

from __future__ import annotations

import asyncio
import sqlite3
import struct
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from fastmcp_feedback.sink import SinkUnavailable
from fastmcp_feedback.store import DatabaseSink, admin, ddl, migrations
from fastmcp_feedback.store.migrations import Found, Target
from fastmcp_feedback.store.schema import TABLES, VERSION, Dialect
from fastmcp_feedback.store.statements import Statement
from support.databases import POSTGRES, new_postgres_database, on_server
from support.made_up import call, event, link
from support.processes import start_together

RELEASES: Final = Path(__file__).parent / "releases"
SCRIPTS: Final = [
    pytest.param(path, marks=pytest.mark.postgres if "postgresql" in path.name else (), id=path.stem)
    for path in sorted(RELEASES.glob("2026*.sql"))
]
OK_ID, BAD_ID = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def old_url(script: Path, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database as an older release left it."""
    if "postgresql" in script.name:
        url: str = request.getfixturevalue("postgres_database")
        on_server(url, script.read_text())
        return url
    make_sqlite(tmp_path / "old.db", script)
    return f"sqlite:///{tmp_path}/old.db"


def make_sqlite(path: Path, script: Path) -> None:
    """Run a script into a new file."""
    con = sqlite3.connect(path)
    con.executescript(script.read_text())
    con.close()


async def rows_of(sink: DatabaseSink, table: str) -> list[dict[str, Any]]:
    """All rows of a table."""
    return await sink.backend.query([(f"SELECT * FROM ffb_{table}", {})])


@pytest.mark.parametrize("script", SCRIPTS)
async def test_a_published_release_s_database_is_upgraded_with_its_rows(old_url: str, script: Path) -> None:
    """Calls, links, events and vectors are kept; new records go beside them; a second sink finds nothing to do."""
    sink = DatabaseSink(old_url, create_tables=True)
    fresh = call()

    await sink.write([fresh, event(key="k")])
    old, bad, new = await sink.read_calls([fresh.id, BAD_ID, OK_ID])
    context = await sink.read_context("7")
    found = await sink.backend.inspect()

    assert (old["started_at"], old["args"], old["user_sub"]) == (datetime(2026, 9, 30, 8, 15, 0, 123456, UTC), {"i": 0}, "ann")
    assert (bad["outcome"], bad["ok"], bad["args"], bad["extra"], bad["internal"]) == ("error", False, None, {"job": 1}, False)
    assert bad["started_at"] == datetime(2026, 9, 30, 8, 16, tzinfo=UTC)
    assert new["id"] == fresh.id
    assert [(row["call_id"], row["error_type"]) for row in context] == [(BAD_ID, "ValueError")]
    assert found.version == VERSION
    assert migrations.missing(found) == []
    events = await sink.read_events("k")
    assert len(events) == (2 if "10.5" in script.name else 1)
    if "10.5" in script.name:
        assert events[0]["attrs"] == {"i": 0}
        (vector,) = await rows_of(sink, "embeddings")
        values = vector["embedding"]
        assert (struct.unpack("<4f", values) if isinstance(values, bytes) else tuple(map(float, values[1:-1].split(",")))) == (
            0.5,
            -1,
            2,
            0.25,
        )
    await sink.aclose()


@pytest.mark.parametrize("script", SCRIPTS)
async def test_an_upgraded_database_has_the_tables_of_a_fresh_one(
    old_url: str, script: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Same columns of the same types, same indexes."""
    upgraded = DatabaseSink(old_url, create_tables=True)
    postgres = "postgresql" in script.name
    url = new_postgres_database(request.getfixturevalue("postgres_url")) if postgres else f"sqlite:///{tmp_path}/new.db"
    fresh = DatabaseSink(url, create_tables=True, embedding_dim=4)
    indexes = (
        "SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE tablename LIKE 'ffb%' ORDER BY 1"
        if postgres
        else "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1"
    )
    for sink in (upgraded, fresh):
        await sink.backend.prepare()

    tables = [(await sink.backend.inspect()).tables for sink in (upgraded, fresh)]
    found = [await sink.backend.query([(indexes, {})]) for sink in (upgraded, fresh)]

    if "9.27" in script.name and postgres:  # that release knew no vectors: they get the default dimension
        tables[0] = {**tables[0], "embeddings": {**tables[0]["embeddings"], "embedding": "vector(4)"}}
    assert tables[0] == tables[1]
    assert found[0] == found[1]
    for sink in (upgraded, fresh):
        await sink.aclose()


@pytest.mark.parametrize("script", SCRIPTS)
async def test_a_failed_step_leaves_the_old_tables_as_they_were(old_url: str, script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole upgrade is one transaction, so the older package goes on working."""
    steps = migrations.plan

    def failing(found: Found, target: Target) -> list[Statement]:
        return [*steps(found, target), ("INSERT INTO no_such_table VALUES (1)", {})]

    monkeypatch.setattr(migrations, "plan", failing)
    sink = DatabaseSink(old_url, create_tables=True)

    with pytest.raises(SinkUnavailable, match=r"no_such_table|lacks|lost"):
        await sink.write([call()])
    monkeypatch.undo()
    found = await sink.backend.inspect()

    assert found.version is None
    assert found.release == (2 if "10.5" in script.name else 1)
    await sink.aclose()


@pytest.mark.parametrize("script", SCRIPTS)
async def test_several_sinks_upgrade_at_once(old_url: str, script: Path) -> None:
    """One of them does it, the others find it done."""
    sinks = [DatabaseSink(old_url, create_tables=True) for _ in range(6)]

    await asyncio.gather(*(sink.write([call()]) for sink in sinks))

    assert len(await rows_of(sinks[0], "tool_calls")) == 8
    assert len(await rows_of(sinks[0], "schema")) == 1
    await asyncio.gather(*(sink.aclose() for sink in sinks))


@pytest.mark.parametrize("script", SCRIPTS)
def test_eight_processes_upgrade_at_once(old_url: str, script: Path) -> None:
    """No error and every row: the two old ones and forty new ones."""
    errors = start_together(old_url, processes=8, count=5)

    status = admin.status(old_url)
    assert errors == [""] * 8
    assert (status.rows["tool_calls"], status.rows["schema"], status.up_to_date) == (42, 1, True)


@pytest.mark.parametrize("kind", ["sqlite", POSTGRES])
async def test_somebody_else_s_table_of_our_name_is_left_alone(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The warning names the table and what to do; nothing is changed."""
    statement = "CREATE TABLE ffb_tool_calls (id INTEGER PRIMARY KEY, price TEXT)"
    if kind == "sqlite":
        url = f"sqlite:///{tmp_path}/shop.db"
        con = sqlite3.connect(tmp_path / "shop.db")
        con.execute(statement)
        con.close()
    else:
        url = request.getfixturevalue("postgres_database")
        on_server(url, statement)
    sink = DatabaseSink(url, create_tables=True)

    with pytest.raises(SinkUnavailable, match="ffb_tool_calls exists and is not of this package: choose another prefix"):
        await sink.write([call()])

    assert dict((await sink.backend.inspect()).tables) == {
        "tool_calls": {"id": "INTEGER" if kind == "sqlite" else "integer", "price": "TEXT" if kind == "sqlite" else "text"}
    }
    await sink.aclose()


@pytest.mark.parametrize("kind", ["sqlite", POSTGRES])
async def test_without_create_tables_a_missing_table_is_named(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The message says which table and the two ways to get it."""
    url = f"sqlite:///{tmp_path}/empty.db" if kind == "sqlite" else request.getfixturevalue("postgres_database")
    sink = DatabaseSink(url, create_tables=False)

    with pytest.raises(SinkUnavailable, match=r"lacks ffb_tool_calls.*create_tables=True, or run `fastmcp-feedback db upgrade`"):
        await sink.write([call()])
    with pytest.raises(SinkUnavailable, match=r"ffb_|table"):
        await sink.write_links("r", [link(call())])
    await sink.aclose()


async def test_a_newer_version_s_database_is_used_as_it_is(tmp_path: Path) -> None:
    """An older worker beside newer ones goes on writing what it knows."""
    url = f"sqlite:///{tmp_path}/new.db"
    first = DatabaseSink(url)
    await first.write([call()])
    await first.backend.execute([(f"UPDATE ffb_schema SET version = {VERSION + 5}", {})])
    second = DatabaseSink(url)

    await second.write([call()])

    assert len(await rows_of(second, "tool_calls")) == 2
    await first.aclose()
    await second.aclose()


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_the_tables_of_this_version_are_the_recorded_ones(dialect: Dialect) -> None:
    """Changing a table needs a step in migrations and a new recorded file: databases of this version exist."""
    recorded = (RELEASES / f"version-{VERSION}.{dialect}.sql").read_text()

    assert ";\n".join(ddl.create_all(dialect, "ffb_")) + ";\n" == recorded


@pytest.mark.parametrize("prefix", ["", "x_", "Abc9_"])
async def test_any_prefix_names_all_tables(prefix: str, tmp_path: Path) -> None:
    """Two prefixes in one database do not know of each other."""
    sink = DatabaseSink(f"sqlite:///{tmp_path}/p.db", prefix=prefix)
    other = DatabaseSink(f"sqlite:///{tmp_path}/p.db", prefix="other_")
    record = call()

    await sink.write([record])
    await other.write([record])

    con = sqlite3.connect(tmp_path / "p.db")
    names = {name for (name,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    con.close()
    assert names == {p + table.name for p in (prefix, "other_") for table in TABLES}
    await sink.aclose()
    await other.aclose()
