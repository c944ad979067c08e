"""DatabaseSink on one SQLite file: what is stored, once, privately."""

from __future__ import annotations

import sqlite3
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fastmcp_feedback.records import CallLink, Derived, EventRecord, Failure, ToolCallRecord
from fastmcp_feedback.sink import RecordsRejected
from fastmcp_feedback.store import DatabaseSink

NOON = datetime(2026, 10, 2, 12, tzinfo=UTC)


def call(**fields: Any) -> ToolCallRecord:
    """A made-up call."""
    given: dict[str, Any] = {"tool": "render", "started_at": NOON, "duration_ms": 1.5, "ok": True, "mode": "full"}
    return ToolCallRecord(**(given | fields))


async def test_a_call_with_everything_derived_comes_back_as_it_went_in(tmp_path: Path) -> None:
    """Fields and derived facts stand in columns of their names, times are aware, JSON is decoded."""
    sink = DatabaseSink(f"sqlite:///{tmp_path}/calls.db")
    derived = Derived(
        failure=Failure("caller", "bad_arguments", "f" * 16, ("scene",)), conversation_key="session:1", conversation_basis="session",
        parent_call_id="p", trace_id="t" * 32, span_id="s" * 16,
    )  # fmt: skip
    record = call(
        ok=False, outcome="error", args={"scene": "big"}, identity={"team": "x"}, extra={"n": 2**70}, sample_rate=0.5, _derived=derived
    )

    await sink.write([record])
    (row,) = await sink.read_calls([record.id])
    await sink.aclose()

    assert {name: row[name] for name in record.to_row()} == record.to_row()
    assert (row["fault"], row["bad_arguments"], row["conversation_key"], row["internal"]) == ("caller", ["scene"], "session:1", False)


async def test_writing_twice_stores_each_record_once(tmp_path: Path) -> None:
    """A batch that is tried again adds only what was not there."""
    sink = DatabaseSink(f"sqlite:///{tmp_path}/calls.db")
    records = [call() for _ in range(600)]

    await sink.write(records)
    await sink.write([*records, call()])
    await sink.aclose()

    with sqlite3.connect(tmp_path / "calls.db") as con:
        assert con.execute("select count(*), count(distinct id) from ffb_tool_calls").fetchone() == (601, 601)
    con.close()


async def test_the_file_and_its_companions_are_private(tmp_path: Path) -> None:
    """Database, log and index of the log are readable by their owner alone, and so is the folder made for them."""
    path = tmp_path / "new" / "calls.db"
    sink = DatabaseSink(f"sqlite:///{path}")

    await sink.write([call()])

    assert {name.name: stat.S_IMODE(name.stat().st_mode) for name in path.parent.iterdir()} == {
        "calls.db": 0o600, "calls.db-wal": 0o600, "calls.db-shm": 0o600,
    }  # fmt: skip
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    await sink.aclose()


async def test_a_record_without_a_time_is_rejected_and_the_others_are_stored(tmp_path: Path) -> None:
    """One poisonous record costs only itself."""
    sink = DatabaseSink(f"sqlite:///{tmp_path}/calls.db")
    good, bad = call(), call(started_at="yesterday")

    with pytest.raises(RecordsRejected) as caught:
        await sink.write([bad, good])

    assert [record.id for record, _ in caught.value.rejected] == [bad.id]
    assert [row["id"] for row in await sink.read_calls([good.id, bad.id])] == [good.id]
    await sink.aclose()


async def test_links_are_replaced_and_read_back_with_their_calls() -> None:
    """The context of a report holds the newest links in order, with what is known of each call."""
    sink = DatabaseSink("sqlite://")
    stored = call(extra={"job": 1})
    await sink.write([stored, EventRecord(kind="step", occurred_at=NOON, key="k", attrs={"a": 1})])
    running = CallLink("running", "session", "slow", NOON, ok=False, position=1)

    await sink.write_links("r1", [running])
    await sink.write_links("r1", [CallLink(stored.id, "session", "render", NOON, ok=True, position=0), running])
    context = await sink.read_context("r1")
    events = await sink.read_events("k")
    await sink.aclose()

    assert [(row["call_id"], row["tool"], row["outcome"], row["extra"]) for row in context] == [
        (stored.id, "render", "ok", {"job": 1}), ("running", "slow", None, None),
    ]  # fmt: skip
    assert [(event["kind"], event["attrs"], event["occurred_at"]) for event in events] == [("step", {"a": 1}, NOON.isoformat())]
