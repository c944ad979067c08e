"""SQLite files that are locked, unwritable, damaged, moved or shared: what the sink does and says."""

# ruff: noqa: ASYNC240 - small local files and children that end at once

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastmcp_feedback.sink import SinkUnavailable
from fastmcp_feedback.store import DatabaseSink, sqlite_backend, sqlite_file
from support.made_up import call, link
from support.processes import start_together


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database lies."""
    return tmp_path / "calls.db"


@pytest.fixture
def locker(path: Path) -> Iterator[sqlite3.Connection]:
    """Another connection to the file."""
    con = sqlite3.connect(path, isolation_level=None)
    yield con
    con.close()


def count(path: Path) -> int:
    """How many calls the file holds."""
    con = sqlite3.connect(path)
    (number,) = con.execute("SELECT count(*) FROM ffb_tool_calls").fetchone()
    con.close()
    return int(number)


async def test_a_locked_database_is_unavailable_until_the_lock_goes(
    path: Path, locker: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is refused as a whole and taken later; readers are never locked out."""
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT_S", 0.05)
    sink = DatabaseSink(f"sqlite:///{path}")
    first, second = call(), call()
    await sink.write([first])
    locker.execute("BEGIN IMMEDIATE")

    with pytest.raises(SinkUnavailable, match="is locked by another process"):
        await sink.write([second])
    assert len(await sink.read_calls([first.id])) == 1
    locker.execute("COMMIT")
    await sink.write([second])

    assert count(path) == 2
    await sink.aclose()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom file modes bind")
async def test_a_read_only_file_says_what_to_do(path: Path) -> None:
    """The message names the file and the missing permission."""
    sink = DatabaseSink(f"sqlite:///{path}")
    await sink.write([call()])
    await sink.aclose()
    path.chmod(stat.S_IREAD)

    with pytest.raises(SinkUnavailable, match=r"read-only|permission"):
        await sink.write([call()])
    await sink.aclose()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plain.txt/calls.db", "cannot be created .*name a folder where this user may write"),
        ("text.db", "is not an SQLite database"),
        (".", "cannot be opened|cannot be created"),
    ],
)
async def test_an_impossible_file_says_what_to_do(name: str, message: str, tmp_path: Path) -> None:
    """A folder that is a file, a file of something else, a folder in the file's place."""
    (tmp_path / "plain.txt").write_text("x")
    (tmp_path / "text.db").write_text("no database at all\n" * 100)
    sink = DatabaseSink(f"sqlite:///{tmp_path}/{name}")

    with pytest.raises(SinkUnavailable, match=message):
        await sink.write([call()])
    await sink.aclose()


async def test_a_full_disk_is_told_apart(path: Path) -> None:
    """A database that may not grow says so, and what is stored stays readable."""
    sink = DatabaseSink(f"sqlite:///{path}")
    await sink.write([call()])
    con = sink.backend._write_con.get()  # type: ignore[attr-defined] # SQLite's own
    (pages,) = con.execute("PRAGMA page_count").fetchone()
    con.execute(f"PRAGMA max_page_count={pages}")

    with pytest.raises(SinkUnavailable, match="disk is full: free some space or prune"):
        await sink.write([call(extra={"text": "x" * 10_000}) for _ in range(100)])

    assert count(path) == 1
    await sink.aclose()


async def test_a_removed_file_is_noticed_and_made_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a moment the file may come back; after that a new one takes the records."""
    sink = DatabaseSink(f"sqlite:///{path}")
    await sink.write([call()])
    path.unlink()

    with pytest.raises(SinkUnavailable, match="has been removed or moved away"):
        await sink.write([call()])
    assert await sink.read_events("k") == []
    monkeypatch.setattr(sqlite_backend, "_GONE_GRACE_S", 0.0)
    await sink.write([call()])

    assert count(path) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await sink.aclose()


async def test_a_file_that_comes_back_goes_on_where_it_was(path: Path) -> None:
    """Moved away and put back: nothing is lost, nothing is twice."""
    sink = DatabaseSink(f"sqlite:///{path}")
    first, second = call(), call()
    await sink.write([first])
    path.rename(path.with_suffix(".away"))
    with pytest.raises(SinkUnavailable):
        await sink.write([second])
    path.with_suffix(".away").rename(path)

    await sink.write([second])

    assert count(path) == 2
    await sink.aclose()


async def test_a_file_that_was_replaced_is_used_at_once(path: Path) -> None:
    """Another database in its place gets tables of its own; questions see it too."""
    sink = DatabaseSink(f"sqlite:///{path}")
    old, new = call(), call()
    await sink.write([old])
    assert len(await sink.read_calls([old.id])) == 1
    path.unlink()
    path.touch()

    await sink.write([new])

    assert [row["id"] for row in await sink.read_calls([old.id, new.id])] == [new.id]
    await sink.aclose()


async def test_a_dropped_table_is_named_and_made_again(path: Path, locker: sqlite3.Connection) -> None:
    """Somebody's clean-up costs one attempt, not the recording."""
    sink = DatabaseSink(f"sqlite:///{path}")
    await sink.write([call()])
    locker.execute("DROP TABLE ffb_tool_calls")

    with pytest.raises(SinkUnavailable, match="has lost a table"):
        await sink.write([call()])
    await sink.write([call()])

    assert count(path) == 1
    await sink.aclose()


def test_eight_processes_start_at_once_on_an_empty_database(path: Path) -> None:
    """No error, one schema, every record once."""
    errors = start_together(f"sqlite:///{path}", processes=8, count=5)

    assert errors == [""] * 8
    assert count(path) == 40


async def test_many_rows_of_both_kinds_go_in_one_transaction(path: Path) -> None:
    """A batch that fails half way leaves nothing behind."""
    sink = DatabaseSink(f"sqlite:///{path}")
    await sink.write([])
    records = [call() for _ in range(700)]
    await sink.write(records[:1])
    con = sink.backend._write_con.get()  # type: ignore[attr-defined] # SQLite's own
    con.execute(
        f"CREATE TRIGGER stop BEFORE INSERT ON ffb_tool_calls WHEN new.id = '{records[650].id}' BEGIN SELECT RAISE(ABORT, 'no'); END"
    )

    await_rejected = sink.write(records)
    with pytest.raises(Exception, match="record"):
        await await_rejected

    assert count(path) == 699
    await sink.aclose()


async def test_links_survive_without_their_calls(path: Path) -> None:
    """A report may be linked to a call that is stored later."""
    sink = DatabaseSink(f"sqlite:///{path}")
    late = call()
    await sink.write_links("r", [link(late)])
    (before,) = await sink.read_context("r")

    await sink.write([late])
    (after,) = await sink.read_context("r")

    assert (before["outcome"], after["outcome"]) == (None, "ok")
    await sink.aclose()
