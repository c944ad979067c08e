"""Every report carries the calls before it: in memory, over stdio, over HTTP with and without sessions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fastmcp_feedback.instrumentation import DatabaseSink, MemorySink
from support import reporting
from support.databases import Database
from support.reporting import BUG, FIVE, Workshop, call, client_of, five_calls, in_memory, over_http
from support.servers import stdio_client


async def reported(client: Any, rule: str, expected: Any = FIVE) -> str:
    """Make the five calls, report, and check the evidence before and after the running call ends."""
    slow = await five_calls(client)
    answer = await call(client, "submit_feedback", **BUG)
    assert (answer["success"], answer["linked_calls"]) == (True, 5)
    report_id: str = answer["feedback_id"]
    found = (await call(client, "context", ref=report_id))["result"]
    assert [(row["tool"], row["outcome"]) for row in found] == list(expected)
    assert {row["rule"] for row in found} == {rule}
    assert [row["position"] for row in found] == [0, 1, 2, 3, 4]
    await call(client, "let_go")
    await slow
    shown = (await call(client, "get_feedback", feedback_id=report_id))["calls"]
    assert [(row["tool"], row["outcome"]) for row in shown] == [*expected[:4], ("slow", "ok")]
    return report_id


@pytest.mark.parametrize("kind", ["memory", "database"])
async def test_a_report_in_memory_carries_exactly_the_five_calls(kind: str, tmp_path: Path) -> None:
    """In order, with their outcomes and the rule, the running one included; calls of our own tools are never among them."""
    sinks = [MemorySink()] if kind == "memory" else [DatabaseSink(f"sqlite:///{tmp_path}/calls.db")]
    workshop = Workshop(sinks, f"sqlite:///{tmp_path}/reports.db")
    async with in_memory(workshop) as client:
        await reported(client, "session")


async def test_a_report_on_every_database_carries_its_calls(database: Database) -> None:
    """SQLite, PostgreSQL, and engines of the host."""
    async with in_memory(Workshop([database.sink()])) as client:
        await reported(client, "session")


async def test_a_report_over_stdio_carries_its_calls(tmp_path: Path) -> None:
    """The process is the conversation."""
    async with stdio_client(reporting.__file__, env={"REPORTS": str(tmp_path / "calls.db")}) as client:
        await reported(client, "session")


async def test_a_report_over_http_with_sessions_carries_its_calls(tmp_path: Path) -> None:
    """The session is the conversation; another session's calls are not linked."""
    workshop = Workshop([DatabaseSink(f"sqlite:///{tmp_path}/calls.db")])
    async with over_http(workshop) as url, client_of(url, legacy=True) as other, client_of(url, legacy=True) as client:
        await call(other, "ping")
        await reported(client, "session")


@pytest.mark.parametrize("legacy", [True, False])
async def test_a_report_over_http_without_sessions_carries_its_users_calls(tmp_path: Path, *, legacy: bool) -> None:
    """The verified user is what calls have in common."""
    workshop = Workshop([DatabaseSink(f"sqlite:///{tmp_path}/calls.db")], tokens=True)
    async with over_http(workshop, stateless=True) as url, client_of(url, "alice", legacy=legacy) as client:
        await reported(client, "session")


@pytest.mark.parametrize("stateless", [True, False])
async def test_interleaved_users_never_see_each_others_calls_linked(tmp_path: Path, *, stateless: bool) -> None:
    """However their calls are mixed, each report carries the calls of its own user only."""
    workshop = Workshop([DatabaseSink(f"sqlite:///{tmp_path}/calls.db")], tokens=True)
    async with over_http(workshop, stateless=stateless) as url, client_of(url, "alice") as alice, client_of(url, "bob") as bob:
        slow = await asyncio.gather(five_calls(alice), five_calls(bob))
        answers = await asyncio.gather(*(call(client, "submit_feedback", **BUG) for client in (alice, bob)))
        for who, client, answer in zip(("alice", "bob"), (alice, bob), answers, strict=True):
            found = (await call(client, "context", ref=answer["feedback_id"]))["result"]
            assert [(row["tool"], row["outcome"]) for row in found] == list(FIVE)
            assert {row["user_sub"] for row in found} == {who}
        await call(alice, "let_go")
        await asyncio.gather(*slow)


async def test_nobody_knows_the_calls_of_a_stranger_without_session(tmp_path: Path) -> None:
    """Without session, token and baggage there is nothing to link by; the report is stored all the same."""
    workshop = Workshop([DatabaseSink(f"sqlite:///{tmp_path}/calls.db")])
    async with over_http(workshop, stateless=True) as url, client_of(url) as client:
        await call(client, "ping")
        answer = await call(client, "submit_feedback", **BUG)
        assert (answer["success"], answer["linked_calls"]) == (True, 0)


async def test_quoted_calls_are_linked_first(tmp_path: Path) -> None:
    """A client passes on the references that it found in results; one that leads nowhere is mentioned, not an error."""
    workshop = Workshop([DatabaseSink(f"sqlite:///{tmp_path}/calls.db")])
    async with in_memory(workshop) as client:
        meta: Any = (await client.call_tool("ping", {})).meta
        reference = meta["fastmcp_feedback"]["call"]
        for _ in range(25):
            await client.call_tool("ping", {})
        answer = await call(client, "submit_feedback", **BUG, calls=[reference, "00000000-dead"])
        found = (await call(client, "get_feedback", feedback_id=answer["feedback_id"]))["calls"]
        assert (found[0]["rule"], found[0]["call_id"].startswith(reference)) == ("reference", True)
        assert "1 of the references in calls were not found" in answer["message"]


async def test_calls_of_our_own_tools_are_marked_and_not_counted() -> None:
    """They are recorded with the internal flag; the event carries the report's words."""
    sink = MemorySink()
    async with in_memory(Workshop([sink], "sqlite:///:memory:", prefix="studio")) as client:
        answer = await call(client, "studio_submit_feedback", **BUG, submitter="Ada")
        await call(client, "ping")
        await call(client, "studio_list_feedback")
    assert [(record.tool, record.internal) for record in sink.calls] == [
        ("studio_submit_feedback", True),
        ("ping", False),
        ("studio_list_feedback", True),
    ]
    (event,) = sink.events
    assert (event.kind, event.key, event.call_id) == ("feedback.submitted", answer["feedback_id"], sink.calls[0].id)
    assert event.attrs == {**BUG, "submitter": "Ada"}


async def test_a_report_without_instrumentation_is_stored_alone(tmp_path: Path) -> None:
    """Feedback works on a server that is not recorded."""
    async with in_memory(Workshop(None, f"sqlite:///{tmp_path}/reports.db")) as client:
        answer = await call(client, "submit_feedback", **BUG)
        found = await call(client, "get_feedback", feedback_id=answer["feedback_id"])
        assert (found["report"]["title"], found["calls"], answer["linked_calls"]) == (BUG["title"], [], 0)
