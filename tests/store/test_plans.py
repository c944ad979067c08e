"""The product's questions are answered by an index, never by reading the whole table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import pytest

from fastmcp_feedback.records import Derived, Failure
from fastmcp_feedback.sink import Record
from fastmcp_feedback.store import DatabaseSink, statements
from fastmcp_feedback.store.codec import STAMPS
from fastmcp_feedback.store.statements import Statement
from support.databases import Database
from support.made_up import NOON, call, event, link

ROWS: Final = 4000


def some_call(number: int) -> Record:
    """One of many calls: 40 tools, 200 conversations, 100 users, every tenth fails."""
    failed = number % 10 == 0
    failure = Failure("caller", "bad_arguments", f"{number % 50:016x}") if failed else None
    return call(
        number / 60, tool=f"tool_{number % 40}", ok=not failed, outcome="error" if failed else "ok", user_sub=f"u-{number % 100}",
        _derived=Derived(failure, f"session:{number // 20}", "session"),
    )  # fmt: skip


def questions(sink: DatabaseSink, quoted: str) -> list[Statement]:
    """What linking, stories and listings ask."""
    since = STAMPS[sink.dialect](NOON + timedelta(minutes=60))
    linking = statements.recent_calls("ffb_", conversation_key="session:7", user_sub="u-7", ids=[quoted], since=since, limit=20)
    calls = "SELECT id FROM ffb_tool_calls WHERE"
    return [
        *linking,
        statements.read_context("ffb_", "r"),
        statements.read_events("ffb_", "key-7", None, 100),
        (f"{calls} tool = :tool AND started_at >= :since", {"tool": "tool_3", "since": since}),
        (f"{calls} outcome = :outcome AND outcome <> 'ok' ORDER BY started_at DESC LIMIT 20", {"outcome": "error"}),
        (f"{calls} fingerprint = :print ORDER BY started_at DESC LIMIT 5", {"print": f"{10:016x}"}),
        (f"{calls} started_at >= :since ORDER BY started_at DESC LIMIT 20", {"since": since}),
        ("SELECT id FROM ffb_events WHERE call_id = :call", {"call": quoted}),
    ]


@pytest.mark.parametrize("database", [*("sqlite",), pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
async def test_every_question_is_answered_by_an_index(database: Database) -> None:
    """No plan reads a whole table of calls or events."""
    sink = database.sink()
    calls = [some_call(number) for number in range(ROWS)]
    await sink.write(calls)
    await sink.write([event(number, key=f"key-{number % 300}", call_id=calls[number].id) for number in range(ROWS)])
    await sink.write_links("r", [link(calls[0])])  # type: ignore[arg-type] # these are calls
    await sink.backend.execute([("ANALYZE", {})])

    plans: list[Any] = []
    for sql, values in questions(sink, calls[5].id[:8]):
        explain = "EXPLAIN QUERY PLAN" if sink.dialect == "sqlite" else "EXPLAIN"
        rows = await sink.backend.query([(f"{explain} {sql}", values)])
        plans.append((sql, " ".join(str(row.get("detail", row.get("QUERY PLAN"))) for row in rows)))

    slow = [
        (sql, plan)
        for sql, plan in plans
        if "Seq Scan on ffb_tool_calls" in plan or "Seq Scan on ffb_events" in plan or "SCAN ffb_" in plan
    ]
    assert slow == []
    assert all("INDEX" in plan.upper() for _, plan in plans)
