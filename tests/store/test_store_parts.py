"""The small parts of the store: URLs, durations, times, messages, administration."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.sink import SinkUnavailable
from fastmcp_feedback.store import DatabaseSink, admin
from fastmcp_feedback.store.codec import stamp_text
from fastmcp_feedback.store.durations import seconds
from fastmcp_feedback.store.location import hide_password, locate
from fastmcp_feedback.store.loop_thread import LoopThread
from fastmcp_feedback.store.pg_errors import explain
from fastmcp_feedback.store.pg_schema import numbered
from fastmcp_feedback.store.retention import cutoff_for
from fastmcp_feedback.store.schema import TABLES, VERSION
from support.databases import POSTGRES
from support.made_up import NOON, call, link
from support.paths import ROOT


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///calls.db", Path("calls.db")), ("sqlite+aiosqlite:////data/calls.db", Path("/data/calls.db")),
        ("SQLite:///a b.db?timeout=5", Path("a b.db")), ("sqlite://", None), ("sqlite:///:memory:", None),
    ],
)  # fmt: skip
def test_sqlite_urls_name_a_file_or_memory(url: str, path: Path | None) -> None:
    """Any driver part is accepted, three slashes are relative and four absolute."""
    assert (locate(url).path, locate(url).in_memory) == (path, path is None)


@pytest.mark.parametrize(
    "url", ["postgresql://u:p@h/x", "postgres://u:p@h/x", "postgresql+asyncpg://u:p@h/x", "postgresql+psycopg://u:p@h/x"]
)
def test_postgres_urls_become_the_driver_s(url: str) -> None:
    """Whatever driver the URL names, the store brings its own; what is shown holds no password."""
    found = locate(url)

    assert (found.dsn, found.shown) == ("postgresql://u:p@h/x", "postgresql://u:***@h/x")
    assert "p@" not in repr(found)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("calls.db", "not a database URL"), ("mysql://h/x", "'mysql' is not supported"), ("sqlite://calls.db", "three slashes"),
        ("sqlite:///file:x.db?mode=ro", "file: URIs"), ("", "not a database URL"),
    ],
)  # fmt: skip
def test_a_url_that_cannot_work_is_refused_at_construction(wrong: str, message: str) -> None:
    """The message says what is wrong and shows one that works."""
    with pytest.raises(ValueError, match=message):
        DatabaseSink(wrong)


@pytest.mark.parametrize("wrong", [None, 5, Path("calls.db"), object()])
def test_what_is_no_url_and_no_engine_is_refused(wrong: Any) -> None:
    """A path or a number is a TypeError that names the two ways."""
    with pytest.raises(TypeError, match="takes a database URL or an AsyncEngine"):
        DatabaseSink(wrong)


def test_an_engine_for_another_database_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only SQLite and PostgreSQL engines can be used."""
    from sqlalchemy.ext.asyncio import create_async_engine

    engine = create_async_engine("sqlite+aiosqlite://")
    monkeypatch.setattr(engine.sync_engine.dialect, "name", "oracle")

    with pytest.raises(ValueError, match="the engine is for 'oracle'"):
        DatabaseSink(engine)


@given(st.text(min_size=1, alphabet=st.characters(exclude_characters="@/?#&:", exclude_categories=["Cs"])).map(lambda text: "9" + text))
def test_no_password_is_ever_shown(password: str) -> None:
    """Neither in the authority nor as a parameter."""
    shown = hide_password(f"postgresql://someone:{password}@host/name?password={password}")

    assert shown == "postgresql://someone:***@host/name?password=***"


@pytest.mark.parametrize(("value", "expected"), [("30 d", 2592000), ("1h", 3600), ("1.5 min", 90), (timedelta(days=1), 86400), (12, 12)])
def test_durations_are_read_with_their_units(value: Any, expected: float) -> None:
    """Text with a unit, a timedelta, or seconds where a bare number is unmistakable."""
    assert seconds("x", value) == expected


@pytest.mark.parametrize("option", ["retention", "prune_interval"])
@pytest.mark.parametrize("wrong", ["soon", "", "5", "5 parsecs", 0, -1, float("nan"), float("inf"), True, timedelta(0), [1]])
def test_a_wrong_duration_is_refused_at_construction(option: str, wrong: Any) -> None:
    """The message names the option and shows how to write it."""
    with pytest.raises(ValueError, match=f"{option}.*pass a timedelta or text such as"):
        DatabaseSink("sqlite://", **{option: wrong})


def test_a_retention_without_unit_is_refused() -> None:
    """30 could be seconds or days, and the wrong guess would delete data."""
    with pytest.raises(ValueError, match="retention has no unit"):
        DatabaseSink("sqlite://", retention=30)  # type: ignore[arg-type] # wrong on purpose


@pytest.mark.parametrize("wrong", [0, -5, 2.5, "many", True])
def test_a_wrong_prune_batch_is_refused(wrong: Any) -> None:
    """A number of rows above zero."""
    with pytest.raises(ValueError, match="prune_batch must be a number of rows above 0"):
        DatabaseSink("sqlite://", prune_batch=wrong)


def test_a_cutoff_may_be_a_moment_or_an_age() -> None:
    """Naive moments count as UTC."""
    assert cutoff_for(datetime(2026, 1, 1), None) == datetime(2026, 1, 1, tzinfo=UTC)  # noqa: DTZ001 - the case
    assert datetime.now(UTC) - cutoff_for("2 h", None) < timedelta(hours=2, minutes=1)


@given(st.lists(st.datetimes(timezones=st.just(UTC)), min_size=2, max_size=6))
def test_times_as_text_sort_like_times(moments: list[datetime]) -> None:
    """Fixed width, so that text order is time order."""
    assert sorted(map(stamp_text, moments)) == [stamp_text(moment) for moment in sorted(moments)]
    assert [datetime.fromisoformat(stamp_text(moment)) for moment in moments] == moments


def test_named_parameters_become_numbered_once_each() -> None:
    """Casts are no parameters, and a name that returns keeps its number."""
    assert numbered("SELECT :b, x::text, :a WHERE y = :b") == ("SELECT $1, x::text, $2 WHERE y = $1", ("b", "a"))


@pytest.mark.parametrize(
    ("exc", "words"),
    [
        (TimeoutError(), "did not answer in time"), (ConnectionResetError(104, "Connection reset by peer"), "cannot be reached"),
        (RuntimeError("odd"), r"refused a statement \(RuntimeError: odd\)"),
    ],
)  # fmt: skip
def test_errors_without_a_server_s_code_are_explained_too(exc: BaseException, words: str) -> None:
    """Silence, a broken line, something unforeseen."""
    with pytest.raises(SinkUnavailable, match=words):
        raise explain(exc, "postgresql://h/x")


@pytest.mark.parametrize("kind", ["sqlite", POSTGRES])
def test_status_upgrade_and_sql_tell_the_same_story(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Empty, then upgraded; a look creates nothing, and no SQL is left to run."""
    file = tmp_path / "calls.db"
    url = f"sqlite:///{file}" if kind == "sqlite" else request.getfixturevalue("postgres_database")

    before, script = admin.status(url), admin.sql(url)
    assert (before.version, before.rows, before.up_to_date) == (None, {}, False)
    assert script.startswith("BEGIN;\nCREATE TABLE")
    assert not file.exists()
    assert admin.upgrade(url) == (None, VERSION)
    after = admin.status(url)

    assert (after.version, after.up_to_date, after.missing) == (VERSION, True, ())
    assert after.rows == {table.name: int(table.name == "schema") for table in TABLES}
    assert admin.sql(url) == ""
    assert admin.upgrade(url) == (VERSION, VERSION)


def test_the_printed_script_makes_the_tables(tmp_path: Path) -> None:
    """Run by hand, it leaves nothing to upgrade."""
    con = sqlite3.connect(tmp_path / "calls.db")
    con.executescript(admin.sql("sqlite", "p_"))
    con.close()

    assert admin.status(f"sqlite:///{tmp_path}/calls.db", "p_").up_to_date


async def test_pruning_from_the_command_line_tells_its_progress(tmp_path: Path) -> None:
    """The count grows with every batch and ends at the result."""
    url = f"sqlite:///{tmp_path}/calls.db"
    sink = DatabaseSink(url)
    linked = call(1)
    await sink.write([*(call(n) for n in range(10)), linked])
    await sink.write_links("r", [link(linked)])
    await sink.aclose()
    seen: list[int] = []

    deleted = await asyncio.to_thread(admin.prune, url, NOON + timedelta(days=1), on_progress=seen.append)

    assert (deleted, seen[-1]) == (10, 10)


def test_the_store_loads_its_parts_when_they_are_asked_for() -> None:
    """An unknown name is an AttributeError as in any module."""
    from fastmcp_feedback import store

    with pytest.raises(AttributeError, match="no attribute 'NoSuchSink'"):
        store.NoSuchSink  # noqa: B018 - the access is the test
    assert "fastmcp_feedback.store" in sys.modules


AT_EXIT = """
import asyncio, atexit
from fastmcp_feedback.store.loop_thread import LoopThread

thread = LoopThread("t")

async def look_up():
    return await asyncio.get_running_loop().getaddrinfo("localhost", 80)

def late():
    print(len(asyncio.run(thread.run(look_up()))) > 0)

atexit.register(late)
"""


def test_host_names_are_looked_up_even_while_the_interpreter_ends() -> None:
    """The last records may be the first that need a connection."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    answer = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, check=True, timeout=30, env=environment)

    assert (answer.stdout, answer.stderr) == ("True\n", "")


def test_a_loop_thread_starts_anew_after_it_was_stopped() -> None:
    """Another loop, and what ran before has ended."""
    thread = LoopThread("t")

    async def here() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    first = asyncio.run(thread.run(here()))
    thread.stop()
    second = asyncio.run(thread.run(here()))
    thread.stop()

    assert first is not second
