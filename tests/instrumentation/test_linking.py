"""Linking calls to reports, on real servers: with and without a database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, Context, FastMCP

from fastmcp_feedback.instrumentation import CallLink, DatabaseSink, InstrumentationMiddleware, MemorySink, instrument
from support.studio import call

CONTEXT_KEYS = [
    "call_id", "position", "rule", "tool", "started_at", "duration_ms", "ok", "outcome", "error_type", "error_message", "session_id",
    "user_sub", "caller_kind", "server_version", "extra",
]  # fmt: skip


class Studio:
    """A server whose tools report and run for as long as the test likes."""

    def __init__(self, sinks: list[Any], **options: Any) -> None:
        self.user: str | None = None
        self.began, self.go_on = asyncio.Event(), asyncio.Event()
        self.linked: list[CallLink] = []
        self.app: FastMCP[Any] = FastMCP("studio")
        self._add_tools()
        self.mw: InstrumentationMiddleware = instrument(self.app, sinks, identity_resolver=self.who, **options)

    def who(self, _context: Any) -> dict[str, Any]:
        """Whoever the test says."""
        return {"user_sub": self.user} if self.user else {}

    def _add_tools(self) -> None:
        @self.app.tool
        async def ping() -> str:
            return "pong"

        @self.app.tool
        async def boom() -> str:
            raise ValueError("disk full")

        @self.app.tool
        async def slow() -> str:
            self.began.set()
            await self.go_on.wait()
            return "done"

        @self.app.tool
        async def report(ref: str = "r1", n: int = 20, user: str | None = None) -> int:
            self.linked = await self.mw.capture_recent_calls(n=n, user_sub=user)
            assert await self.mw.link_feedback(ref, self.linked)
            return len(self.linked)

        @self.app.tool
        async def report_with(ctx: Context) -> int:
            self.linked = await self.mw.capture_recent_calls(ctx, user_sub=self.user)
            return len(self.linked)

    async def ids(self) -> list[str]:
        """The ids of the calls that have ended, the last one first."""
        await self.mw.recorder.shaped(10)
        return [call.id for call in self.mw.call_log.newest_first()]

    def seen(self) -> list[tuple[str, str, bool]]:
        """What the last report linked: tool, rule, ok."""
        return [(link.tool, link.rule, link.ok) for link in self.linked]


@pytest.fixture(params=["memory", "database"])
def sinks(request: pytest.FixtureRequest, tmp_path: Path) -> list[Any]:
    """With and without a database."""
    return [MemorySink()] if request.param == "memory" else [DatabaseSink(f"sqlite:///{tmp_path}/calls.db")]


@asynccontextmanager
async def connected(sinks: list[Any], **options: Any) -> AsyncIterator[tuple[Studio, Client[Any]]]:
    """A client of a fresh studio."""
    studio = Studio(sinks, **options)
    try:
        async with Client(studio.app) as client:
            yield studio, client
    finally:
        studio.go_on.set()
        await studio.mw.aclose()


async def test_a_report_is_linked_to_the_calls_before_it(sinks: list[Any]) -> None:
    """In order, with their outcomes, and never to itself; the context tells what became of each."""
    async with connected(sinks, server_version="2.1") as (studio, client):
        for tool in ("ping", "boom", "report", "report"):
            await call(client, tool)
        assert studio.seen() == [("ping", "session", True), ("boom", "session", False), ("report", "session", True)]
        assert [link.position for link in studio.linked] == [0, 1, 2]
        await studio.mw.flush()
        context = await studio.mw.feedback_context("r1")
        assert [list(row) for row in context] == [CONTEXT_KEYS] * 3
        assert [(row["tool"], row["outcome"], row["ok"], row["error_type"], row["error_message"], row["position"]) for row in context] == [
            ("ping", "ok", True, None, None, 0),
            ("boom", "error", False, "ValueError", "disk full", 1),
            ("report", "ok", True, None, None, 2),
        ]
        assert {(row["server_version"], row["rule"], str(row["extra"])) for row in context} == {("2.1", "session", "{}")}
        assert [row["started_at"] for row in context] == [link.started_at for link in studio.linked]
        assert all(isinstance(row["duration_ms"], float) for row in context)


async def test_a_running_call_is_linked_as_not_ok_and_its_outcome_follows(sinks: list[Any]) -> None:
    """`running` until it ends, then what became of it, whether it is stored already or not."""
    async with connected(sinks) as (studio, client):
        running = asyncio.ensure_future(call(client, "slow"))
        await studio.began.wait()
        assert [row["tool"] for row in studio.mw.running_calls()] == ["slow"]
        await call(client, "report")
        assert studio.seen() == [("slow", "session", False)]
        [row] = await studio.mw.feedback_context("r1")
        assert (row["outcome"], row["ok"], row["duration_ms"], row["extra"]) == ("running", False, None, {})
        studio.go_on.set()
        await running
        assert studio.mw.running_calls() == []
        for _ in range(2):  # before and after it is stored
            [row] = await studio.mw.feedback_context("r1")
            assert (row["outcome"], row["ok"]) == ("ok", True)
            assert row["duration_ms"] > 0
            await studio.mw.flush()


async def test_calls_whose_enricher_has_not_run_are_linked_with_their_outcome(sinks: list[Any]) -> None:
    """Linking waits for the hooks of calls that have ended."""

    async def enrich(tool: str, _args: Any, _result: Any, _context: Any) -> dict[str, Any]:
        await asyncio.sleep(0.05)
        return {"job": tool}

    async with connected(sinks, enricher=enrich) as (studio, client):
        await call(client, "ping")
        await call(client, "boom")
        await call(client, "report")
        assert studio.seen() == [("ping", "session", True), ("boom", "session", False)]
        assert [(row["outcome"], row["extra"]) for row in await studio.mw.feedback_context("r1")] == [
            ("ok", {"job": "ping"}),
            ("error", {"job": "boom"}),
        ]


async def test_linking_again_replaces_what_was_linked(sinks: list[Any]) -> None:
    """Also by nothing; other reports stay as they are."""
    async with connected(sinks) as (studio, client):
        await call(client, "ping")
        await call(client, "report", ref="other")
        await call(client, "report", ref="r1")
        assert len(await studio.mw.feedback_context("r1")) == 2
        assert await studio.mw.link_feedback("r1", studio.linked[:1])
        assert [row["tool"] for row in await studio.mw.feedback_context("r1")] == ["ping"]
        assert await studio.mw.link_feedback("r1", [])
        assert await studio.mw.feedback_context("r1") == []
        assert [row["tool"] for row in await studio.mw.feedback_context("other")] == ["ping"]
        assert await studio.mw.feedback_context("unheard of") == []


async def test_two_users_whose_calls_interleave_never_see_each_other_s(sinks: list[Any]) -> None:
    """In one process and one conversation, by rule and by quoting."""
    async with connected(sinks) as (studio, client):
        for studio.user in ("ann", "bob", "ann", None, "bob"):
            await call(client, "boom" if studio.user == "ann" else "ping")
        ids = await studio.ids()
        for studio.user, expected in (("ann", ["boom", "boom"]), ("bob", ["ping", "ping"]), (None, ["ping"]), ("eve", [])):
            await call(client, "report")
            assert [link.tool for link in studio.linked if link.tool != "report"] == expected
        assert await studio.mw.capture_recent_calls(user_sub="mallory", calls=ids) == []


async def test_excluded_tools_are_never_linked_while_they_run() -> None:
    """Nor listed among the running calls; from inside one the conversation's other calls are found all the same."""
    async with connected([MemorySink()], exclude_tools=("slow", "report")) as (studio, client):
        await call(client, "ping")
        running = asyncio.ensure_future(call(client, "slow"))
        await studio.began.wait()
        assert studio.mw.running_calls() == []
        await call(client, "report")
        assert studio.seen() == [("ping", "session", True)]
        studio.go_on.set()
        await running


async def test_references_find_a_call_by_its_id_or_the_beginning_of_it(sinks: list[Any]) -> None:
    """Eight characters at least; from outside any call, too, when the user is the same."""
    async with connected(sinks) as (studio, client):
        await call(client, "ping")
        await call(client, "boom")
        boom, ping = await studio.ids()
        for reference in (ping, ping[:13], ping[:8], f" {ping} "):
            links = await studio.mw.capture_recent_calls(calls=[reference], n=1)
            assert [(link.call_id, link.rule) for link in links] == [(ping, "reference")]
        assert await studio.mw.capture_recent_calls(calls=[ping[:7], "no such call"]) == []
        assert [link.tool for link in await studio.mw.capture_recent_calls(calls=boom)] == ["boom"]  # a single one as text


async def test_the_window_bounds_what_is_found_and_odd_windows_do_no_harm(sinks: list[Any], contained: list[Any]) -> None:
    """Seconds or a timedelta; zero finds nothing, and nonsense gives nothing and is reported."""
    async with connected(sinks) as (studio, client):
        await call(client, "ping")
        [known] = await studio.ids()
        for window, found in ((60, 1), (timedelta(hours=1), 1), (float("inf"), 1), (timedelta.max, 1), (0, 0), (-5, 0)):
            links = await studio.mw.capture_recent_calls(window=window, calls=[known])
            assert len(links) == found
        assert await studio.mw.capture_recent_calls(window="soon", calls=[known]) == []  # type: ignore[arg-type] # that is the point
        assert await studio.mw.link_feedback("r1", [object()]) is False  # type: ignore[list-item] # that is the point
        assert {where for where, _ in contained} == {"capture_recent_calls", "link_feedback"}


async def test_a_context_says_who_reports_when_no_call_of_ours_runs() -> None:
    """The tool of another server, or one that is excluded, hands its own context over."""
    async with connected([MemorySink()], exclude_tools=("report_with",)) as (studio, client):
        studio.user = "ann"
        await call(client, "ping")
        await call(client, "report_with")
        assert studio.seen() == [("ping", "session", True)]


async def test_without_a_database_an_outcome_outlives_the_list_of_recent_calls() -> None:
    """Many calls later the report still knows what became of its own."""
    async with connected([MemorySink()], recent_calls=2) as (studio, client):
        await call(client, "boom")
        await call(client, "report")
        for _ in range(5):
            await call(client, "ping")
        await studio.mw.flush()
        assert [(row["tool"], row["outcome"]) for row in await studio.mw.feedback_context("r1")] == [("boom", "error")]


async def test_other_workers_calls_are_found_through_the_database(tmp_path: Path) -> None:
    """Two recorders on one file: one reports what the other recorded, runs or not, and pruning leaves it."""
    async with connected([DatabaseSink(f"sqlite:///{tmp_path}/calls.db")]) as (one, first):
        sink = DatabaseSink(f"sqlite:///{tmp_path}/calls.db")
        async with connected([sink]) as (two, second):
            one.user = two.user = "ann"
            await call(first, "ping")
            await call(first, "boom")
            await one.mw.flush()
            await call(second, "report")
            assert two.seen() == [("ping", "session", True), ("boom", "session", False)]
            await two.mw.flush()
            for recorder in (one.mw, two.mw):
                rows = await recorder.feedback_context("r1")
                assert [(row["tool"], row["outcome"], row["user_sub"]) for row in rows] == [("ping", "ok", "ann"), ("boom", "error", "ann")]
            assert await sink.prune(datetime.now(UTC) + timedelta(days=1)) == 1  # the report's own call, which nothing links
            assert len(await sink.read_calls([link.call_id for link in two.linked])) == 2


async def test_a_database_that_does_not_answer_costs_its_part_and_no_more(tmp_path: Path, contained: list[Any]) -> None:
    """Calls in memory are linked, the links stay in memory, and nothing waits for long."""
    sink = DatabaseSink(f"sqlite:///{tmp_path}/no/such/place/calls.db")
    (tmp_path / "no").write_text("a file where a folder should be", encoding="utf-8")
    async with connected([sink], correlation_timeout=0.5, retry_for=0, shutdown_timeout=1) as (studio, client):
        await call(client, "ping")
        links = await studio.mw.capture_recent_calls(calls=await studio.ids())
        assert [link.tool for link in links] == ["ping"]
        assert await studio.mw.link_feedback("r1", links) is False
        assert [(row["tool"], row["outcome"]) for row in await studio.mw.feedback_context("r1")] == [("ping", "ok")]
        assert contained


async def test_stats_keep_the_books_of_both_and_the_running_calls(sinks: list[Any]) -> None:
    """What was accepted is written or waits, and a call that runs is not accepted yet."""
    async with connected(sinks) as (studio, client):
        running = asyncio.ensure_future(call(client, "slow"))
        await studio.began.wait()
        await call(client, "ping")
        studio.mw.record_event("step")
        await studio.mw.flush()
        stats = studio.mw.stats()
        (books,) = stats["sinks"].values()
        assert (books["accepted"], books["written"], books["waiting"], books["lost"]) == (2, 2, 0, 0)
        assert (stats["running_calls"], stats["mode"]) == (1, "meta")
        studio.go_on.set()
        await running
