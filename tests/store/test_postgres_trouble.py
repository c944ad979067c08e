"""PostgreSQL that is away, refuses, restarts, or is shared by many: what the sink does and says."""

# ruff: noqa: ASYNC240 - small local files

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from fastmcp_feedback.ids import utc_now
from fastmcp_feedback.sink import RecordsRejected, SinkUnavailable
from fastmcp_feedback.store import DatabaseSink
from support.databases import on_server
from support.made_up import call, event, link
from support.processes import start_together

asyncpg = pytest.importorskip("asyncpg")
pytestmark = pytest.mark.postgres


@pytest_asyncio.fixture
async def sink(postgres_database: str) -> AsyncIterator[DatabaseSink]:
    """A sink on a fresh database."""
    made = DatabaseSink(postgres_database, create_tables=True)
    yield made
    await made.aclose()


async def fetch(url: str, sql: str) -> list[Any]:
    """Ask the server on a connection of the test's own."""
    con = await asyncpg.connect(url)
    rows: list[Any] = await con.fetch(sql)
    await con.close()
    return rows


def as_role(url: str, role: str, password: str = "") -> str:
    """The same database as another user."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{role}:{password}@").geturl()


async def test_a_server_that_restarted_is_connected_again(postgres_database: str, sink: DatabaseSink) -> None:
    """Lost connections cost nothing: the same batch goes over a new one."""
    await sink.write([call()])
    await sink.read_events("k")
    await fetch(postgres_database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fastmcp-feedback'")
    record = call()

    await sink.write([record])

    assert len(await sink.read_calls([record.id])) == 1


async def test_a_record_that_the_server_refuses_costs_only_itself(postgres_database: str, sink: DatabaseSink) -> None:
    """The batch is halved until the guilty rows are alone, however many there are."""
    await sink.write([call()])
    on_server(postgres_database, "ALTER TABLE ffb_tool_calls ADD CHECK (tool <> 'poison')")
    good, bad = [call() for _ in range(50)], [call(tool="poison") for _ in range(3)]

    with pytest.raises(RecordsRejected) as caught:
        await sink.write([*good[:20], bad[0], *good[20:], *bad[1:], event(key="k")])

    assert {record.id for record, _ in caught.value.rejected} == {record.id for record in bad}
    assert {reason for _, reason in caught.value.rejected} == {"PostgreSQL refuses it: CheckViolationError"}
    assert len(await sink.read_calls([record.id for record in good])) == 50
    assert len(await sink.read_events("k")) == 1


async def test_a_dropped_table_is_named_and_made_again(postgres_database: str, sink: DatabaseSink) -> None:
    """Somebody's clean-up costs one attempt, not the recording."""
    await sink.write([call()])
    on_server(postgres_database, "DROP TABLE ffb_tool_calls")
    record = call()

    with pytest.raises(SinkUnavailable, match="lacks a table"):
        await sink.write([record])
    await sink.write([record])

    assert len(await sink.read_calls([record.id])) == 1


async def test_a_statement_that_waits_too_long_is_given_up(postgres_database: str) -> None:
    """A lock held elsewhere makes the batch wait no longer than the statement timeout."""
    sink = DatabaseSink(postgres_database, create_tables=True, statement_timeout=0.2)
    await sink.write([call()])
    holder = await asyncpg.connect(postgres_database)
    async with holder.transaction():
        await holder.execute("LOCK TABLE ffb_tool_calls")
        with pytest.raises(SinkUnavailable, match=r"took longer than the statement timeout|did not answer in time"):
            await sink.write([call()])
    await holder.close()

    await sink.write([call()])
    await sink.aclose()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('ALTER DATABASE "{name}" SET default_transaction_read_only = on', "is read-only"),
        ("REVOKE CREATE ON SCHEMA public FROM PUBLIC", "does not allow this: grant the user what it needs"),
    ],
)
async def test_a_database_that_refuses_says_what_to_do(change: str, message: str, postgres_database: str) -> None:
    """Read-only, or a user without rights: one line names the remedy."""
    name = urlsplit(postgres_database).path[1:]
    on_server(postgres_database, f'CREATE ROLE "poor_{name}" LOGIN', change.format(name=name))
    sink = DatabaseSink(as_role(postgres_database, f"poor_{name}"), create_tables=True)

    with pytest.raises(SinkUnavailable, match=message):
        await sink.write([call()])

    await sink.aclose()
    on_server(postgres_database, "SET default_transaction_read_only = off", f'DROP ROLE "poor_{name}"')


async def test_a_wrong_password_is_told_apart_and_never_shown(postgres_database: str) -> None:
    """The message speaks of the password and does not hold it."""
    name = urlsplit(postgres_database).path[1:]
    role = f"guarded_{name}"
    (row,) = await fetch(postgres_database, "SHOW hba_file")
    hba = Path(row["hba_file"])
    before = hba.read_text()
    hba.write_text(f"local all {role} scram-sha-256\n{before}")
    on_server(postgres_database, f"CREATE ROLE {role} LOGIN PASSWORD 'right'", "SELECT pg_reload_conf()")
    sink = DatabaseSink(as_role(postgres_database, role, "wr0ng"), create_tables=True)

    with pytest.raises(SinkUnavailable, match="refused the password: correct it in the URL") as caught:
        await sink.write([call()])

    assert "wr0ng" not in str(caught.value) + repr(sink) + sink.url
    await sink.aclose()
    hba.write_text(before)
    on_server(postgres_database, f"DROP ROLE {role}", "SELECT pg_reload_conf()")


async def test_an_unknown_database_and_an_unknown_host_are_told_apart(postgres_database: str) -> None:
    """Each names what to correct."""
    name = urlsplit(postgres_database).path
    nowhere = DatabaseSink(postgres_database.replace(name, "/no_such_database"), create_tables=True)
    deaf = DatabaseSink("postgresql://me:secret@127.0.0.1:9/x", create_tables=True)

    with pytest.raises(SinkUnavailable, match="has no database of that name"):
        await nowhere.write([call()])
    with pytest.raises(SinkUnavailable, match=r"cannot be reached .*check host and port") as caught:
        await deaf.write([call()])

    assert "secret" not in str(caught.value)
    await nowhere.aclose()
    await deaf.aclose()


def test_a_missing_driver_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """At construction, not with the first record."""
    monkeypatch.setitem(sys.modules, "asyncpg", None)

    with pytest.raises(ImportError, match=r"asyncpg: pip install 'fastmcp-feedback\[postgres\]'"):
        DatabaseSink("postgresql://me@host/x")


@pytest.mark.parametrize("pgbouncer", [True, False])
async def test_nothing_outlives_a_transaction_behind_pgbouncer(*, pgbouncer: bool, postgres_database: str) -> None:
    """With the option, or SQLAlchemy's own parameter in the URL, no prepared statement is kept."""
    query = "" if pgbouncer else "&prepared_statement_cache_size=0"
    sink = DatabaseSink(postgres_database + query, create_tables=True, pgbouncer=pgbouncer)
    records = [call(), call()]

    await sink.write(records)
    await sink.write([*records, call()])
    await sink.write_links("r", [link(records[0])])
    prepared = await sink.backend.query([("SELECT count(*) AS n FROM pg_prepared_statements WHERE name <> ''", {})])

    assert [row["n"] for row in prepared] == [0]
    assert len(await sink.read_context("r")) == 1
    await sink.aclose()


async def test_a_write_that_was_given_up_can_be_repeated(sink: DatabaseSink) -> None:
    """A cancelled attempt leaves neither half a batch nor a broken connection."""
    records = [call() for _ in range(500)]
    await sink.write([call()])
    attempt = asyncio.ensure_future(sink.write(records))
    await asyncio.sleep(0)
    attempt.cancel()
    await asyncio.gather(attempt, return_exceptions=True)

    await sink.write(records)

    assert len(await sink.read_calls([record.id for record in records])) == 500


async def test_partitions_are_made_as_needed_and_dropped_as_a_whole(postgres_database: str) -> None:
    """Retention drops old tables, keeps those that hold a linked call, and never loses a far-off row."""
    sink = DatabaseSink(postgres_database, create_tables=True, partitions="day")
    now = utc_now()
    days = [call(started_at=now - timedelta(days=n)) for n in range(5)]
    odd = call(started_at=now.replace(year=1990))
    linked = days[3]

    await sink.write([*days, odd, event(occurred_at=now - timedelta(days=4))])
    await sink.write(days)
    await sink.write_links("r", [link(linked)])
    midnight = (now - timedelta(days=2)).replace(hour=0, minute=0, second=0, microsecond=0)
    deleted = await sink.prune(midnight)

    left = {row["id"] for row in await sink.read_calls([record.id for record in (*days, odd)])}
    partitions = "SELECT relname AS name FROM pg_class WHERE relispartition AND relkind = 'r'"
    names = {row["name"] for row in await sink.backend.query([(partitions, {})])}
    assert left == {record.id for record in days[:4]}
    assert deleted == 3
    assert f"ffb_tool_calls_{now - timedelta(days=4):%Y%m%d}" not in names
    assert f"ffb_tool_calls_{now - timedelta(days=3):%Y%m%d}" in names
    await sink.aclose()


@pytest.mark.parametrize("size", ["hour", "", 7])
def test_an_unknown_size_of_partitions_is_refused(size: object) -> None:
    """At construction, with the sizes that there are."""
    with pytest.raises(ValueError, match="partitions must be one of day, week, month"):
        DatabaseSink("postgresql://me@host/x", partitions=size)  # type: ignore[arg-type] # wrong on purpose


def test_eight_processes_start_at_once_on_an_empty_database(postgres_database: str) -> None:
    """No error, one schema, every record once."""
    errors = start_together(postgres_database, processes=8, count=5)
    rows = asyncio.run(
        fetch(postgres_database, "SELECT (SELECT count(*) FROM ffb_tool_calls) AS calls, (SELECT count(*) FROM ffb_schema) AS versions")
    )

    assert errors == [""] * 8
    assert dict(rows[0]) == {"calls": 40, "versions": 1}
