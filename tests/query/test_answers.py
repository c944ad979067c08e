"""Failures, stories, sequences, models, latency and versions, on SQLite and PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fastmcp_feedback.query.failures import find_failure, list_failures
from fastmcp_feedback.query.filters import Filter
from fastmcp_feedback.query.health import tool_health
from fastmcp_feedback.query.latency import duration_histogram, over_time
from fastmcp_feedback.query.llm import Price, model_use
from fastmcp_feedback.query.moments import FilterError
from fastmcp_feedback.query.reader import Reader
from fastmcp_feedback.query.sequences import transitions
from fastmcp_feedback.query.story import list_conversations, tell_story
from fastmcp_feedback.query.trends import health_report
from fastmcp_feedback.query.versions import compare_versions, server_versions
from fastmcp_feedback.records import CallLink, Derived, EventRecord
from fastmcp_feedback.sink import Record
from fastmcp_feedback.store import DatabaseSink
from support.recorded import NOON, a_call

Recorded = Callable[[Sequence[Record]], Awaitable[Reader]]


def failed(number: int, **changes: Any) -> Record:
    """A failed call."""
    given = {"outcome": "error", "error_type": "ValueError", "error_message": f"no scene {number}", "fingerprint": "f1-scene"}
    return a_call(number, **(given | changes))


def event(number: int, kind: str = "step", conversation: str | None = "c1", **fields: Any) -> EventRecord:
    """An event, `number` seconds after noon."""
    derived = Derived(conversation_key=conversation, conversation_basis="session") if conversation else None
    return EventRecord(kind, NOON + timedelta(seconds=number), id=f"event-{number:04d}", **fields, _derived=derived)


async def test_equal_failures_are_one_group(recorded: Recorded) -> None:
    """Counted, with first and last time, users and the newest call as its example; the most frequent group first."""
    reader = await recorded(
        [
            a_call(0), a_call(8, internal=True, outcome="error"),
            *(failed(n, user_sub=f"u{n % 2}", conversation="c") for n in range(1, 5)),
            failed(6, tool="ping", outcome="soft_error", fingerprint="f1-other", fault="upstream"),
        ]
    )  # fmt: skip
    first, second = await list_failures(reader)

    assert (first.fingerprint, first.tool, first.calls, first.users, first.conversations) == ("f1-scene", "render", 4, 2, 1)
    assert (first.first_seen, first.last_seen) == (NOON + timedelta(seconds=1), NOON + timedelta(seconds=4))
    assert (first.message, first.error_type, first.example_id[:8]) == ("no scene 4", "ValueError", "00000004")
    assert (second.tool, second.fault) == ("ping", "upstream")
    assert [group.tool for group in await list_failures(reader, Filter(fault="upstream"))] == ["ping"]
    assert len(await list_failures(reader, limit=1)) == 1


async def test_a_failure_is_shown_with_an_example_and_who_met_it(recorded: Recorded) -> None:
    """The example has its payloads; users come with their counts; an unknown fingerprint gives nothing."""
    reader = await recorded(
        [
            failed(1, user_sub="ann", server_version="1"),
            failed(2, user_sub="ann", server_version="2", args={"scene": "big"}, mode="full"),
            failed(3, user_sub="bob", server_version="2", started_at=NOON),
        ]
    )
    found = await find_failure(reader, "f1-scene")

    assert found is not None
    assert (found.group.calls, found.example["args"], found.example["id"]) == (3, {"scene": "big"}, found.group.example_id)
    assert found.top_users == (("ann", 2), ("bob", 1))
    assert found.versions == ("2", "1")  # by their first failure
    assert await find_failure(reader, "f1-none") is None


async def test_a_story_tells_everything_in_order(recorded: Recorded, url: str) -> None:
    """Calls, events, model calls and reports of one conversation, found by its key or by a call's id; nothing of another's."""
    llm = event(3, "llm.call", attrs={"model": "small-1", "ok": False, "duration_ms": 12, "error": "overloaded"})
    told = event(6, "feedback.submitted", key="report-1", attrs={"title": "wrong colours", "description": "all red"})
    orphan = event(4, "step", None, key="k", call_id=a_call(1).id)
    reader = await recorded(
        [a_call(1, conversation="c1", user_sub="ann"), event(2), llm, orphan, failed(5, conversation="c1"), told,
         a_call(7, conversation="c2"),
         event(8, conversation="c2")]
    )  # fmt: skip
    story = await tell_story(reader, "c1")

    assert story is not None
    assert [(entry.kind, entry.title) for entry in story.entries] == [
        ("call", "render"), ("event", "step"), ("llm_call", "small-1"), ("event", "step"), ("call", "render"), ("report", "wrong colours"),
    ]  # fmt: skip
    assert (story.calls, story.failed, story.users, story.truncated) == (2, 1, ("ann",), False)
    model = story.entries[2]
    assert (model.outcome, model.duration_ms, model.text) == ("error", 12.0, "overloaded")
    assert await tell_story(reader, a_call(1).id[:12]) == story
    assert await tell_story(reader, "no such conversation") is None
    assert len((await tell_story(reader, "c1", limit=3) or story).entries) == 3


async def test_a_linked_report_is_told_once(recorded: Recorded, url: str) -> None:
    """A row of the reports' table takes the place of the event that announced it, also when only a link leads to it."""
    call = a_call(1, conversation="c1")
    reader = await recorded([call, event(2, "feedback.submitted", key="report-1", attrs={"title": "old words"})])
    sink = DatabaseSink(url)
    await sink.write_links("report-1", [CallLink(call.id, "session", call.tool, call.started_at, ok=True, position=0)])
    moment = reader.stamp(NOON + timedelta(seconds=9))
    columns = "id, type, title, description, status, verified, created_at, updated_at, report_count"
    values = "'report-1', 'bug', 'wrong colours', 'all red', 'open', :no, :at, :at, 1"
    await sink.backend.execute([(f"INSERT INTO {reader.feedback} ({columns}) VALUES ({values})", {"no": False, "at": moment})])
    await sink.aclose()
    story = await tell_story(reader, "c1")

    assert story is not None
    assert [(entry.kind, entry.title, entry.outcome) for entry in story.entries] == [
        ("call", "render", "ok"),
        ("report", "wrong colours", "open"),
    ]


async def test_conversations_are_listed_newest_first(recorded: Recorded) -> None:
    """With how many calls they had, how many failed, and how they ended."""
    reader = await recorded([a_call(1, conversation="a"), failed(2, conversation="a"), a_call(3, conversation="b", tool="ping"), a_call(4)])
    found = await list_conversations(reader)

    assert [(one.key, one.calls, one.failed, one.tools, one.last_outcome) for one in found] == [
        ("b", 1, 0, 1, "ok"),
        ("a", 2, 1, 1, "error"),
    ]


async def test_what_follows_what_is_counted_within_conversations(recorded: Recorded) -> None:
    """Pairs in order of time, the end of a conversation included; the filter chooses the first of a pair."""
    tools = ("open", "read", "read", "close")
    calls = [a_call(10 * c + n, tool=tool, conversation=f"c{c}") for c in range(3) for n, tool in enumerate(tools)]
    reader = await recorded(
        [*calls, failed(40, tool="open", conversation="c3"), a_call(41, tool="open", conversation="c3"), a_call(50, tool="x")]
    )
    found = {(pair.tool, pair.next_tool): pair for pair in await transitions(reader)}

    assert found["open", "read"].count == 3
    assert found["open", "read"].share == 3 / 5
    assert found["open", "open"].after_failure == 1
    assert found["close", None].count == 3
    assert ("x", None) not in found
    assert {pair.next_tool for pair in await transitions(reader, Filter(tool="open", outcome="failed"))} == {"open"}
    for tool in tools:  # asked for alone, a tool's next ones are looked up one by one
        assert await transitions(reader, Filter(tool=tool)) == [pair for pair in await transitions(reader) if pair.tool == tool]


async def test_what_follows_at_the_same_moment_is_the_next_id(recorded: Recorded) -> None:
    """Both ways to look agree, also on the window's edge and on the recorder's own tools."""
    same = [a_call(n, tool=f"t{n % 2}", conversation="c", started_at=NOON) for n in range(5)]
    own = a_call(7, tool="t0", conversation="c", internal=True)
    reader = await recorded([*same, own, a_call(9, tool="t1", conversation="c")])
    for which in (Filter(), Filter(internal=True), Filter(until=NOON + timedelta(seconds=8)), Filter(since=NOON + timedelta(seconds=1))):
        found = [pair for pair in await transitions(reader, which) if pair.tool == "t0"]
        assert await transitions(reader, replace(which, tool="t0")) == found


async def test_models_are_summed_with_cost_and_latency(recorded: Recorded) -> None:
    """Tokens, failures and percentiles a model; cost from the events, else from the prices given."""

    def used(number: int, **attrs: Any) -> EventRecord:
        return event(number, "llm.call", attrs={"model": "small-1", "ok": True, "input_tokens": 1000, "output_tokens": 10} | attrs)

    reader = await recorded(
        [
            *(used(n, duration_ms=n) for n in range(1, 11)),
            event(11, "llm.call", call_id=a_call(1).id, attrs={"model": "small-1", "ok": False, "input_tokens": 1000, "output_tokens": 10}),
            used(20, model="big-1", cost=0.25, provider="p", duration_ms=900.5),
            a_call(1, tool="ask"),
            event(30, "step", attrs={"model": "none"}),
        ]
    )
    small, big = await model_use(reader, prices={"small-1": Price(2.0, 10.0)})

    assert (small.calls, small.failed, small.input_tokens, small.output_tokens) == (11, 1, 11_000, 110)
    assert (small.p50_ms, small.p95_ms, small.max_ms) == (5, 10, 10)
    assert small.cost == pytest.approx(11_000 * 2 / 1e6 + 110 * 10 / 1e6)
    assert (big.provider, big.cost, big.p50_ms) == ("p", 0.25, 900.5)
    assert [(use.model, use.calls, use.cost) for use in await model_use(reader, Filter(tool="ask"))] == [("small-1", 1, None)]


async def test_latency_over_time_has_no_gaps(recorded: Recorded) -> None:
    """Equal steps, empty ones too, weighted counts and nearest-rank percentiles."""
    reader = await recorded([*(a_call(n) for n in range(10)), failed(130), a_call(131, sample_rate=0.25)])
    buckets = await over_time(reader, step=timedelta(minutes=1))

    assert [(bucket.start, bucket.calls, bucket.failed) for bucket in buckets] == [
        (NOON, 10, 0), (NOON + timedelta(minutes=1), 0, 0), (NOON + timedelta(minutes=2), 5, 1),
    ]  # fmt: skip
    assert (buckets[0].p50_ms, buckets[0].p95_ms, buckets[0].max_ms) == (5, 10, 10)
    assert buckets[1].p50_ms is None
    assert len(await over_time(reader, buckets=20)) <= 20
    assert len(await over_time(reader, Filter(since=NOON, until=NOON + timedelta(hours=1)), step=timedelta(minutes=1))) == 60
    assert await over_time(reader, Filter(tool="none")) == []
    with pytest.raises(FilterError, match="take a longer step"):
        await over_time(reader, Filter(since=NOON - timedelta(days=365), until=NOON), step=timedelta(seconds=1))


async def test_durations_are_spread_over_buckets(recorded: Recorded) -> None:
    """Each call in exactly one; a bucket includes its lower edge."""
    reader = await recorded([a_call(n, duration_ms=ms) for n, ms in enumerate((0.0, 0.9, 1.0, 7.0, 7e6))])
    buckets = await duration_histogram(reader, edges_ms=(1, 5, 10, 100))

    assert [(bucket.low_ms, bucket.high_ms, bucket.calls) for bucket in buckets] == [
        (0, 1, 2), (1, 5, 1), (5, 10, 1), (10, 100, 0), (100, None, 1),
    ]  # fmt: skip
    assert sum(bucket.calls for bucket in await duration_histogram(reader)) == 5


async def test_two_versions_are_compared(recorded: Recorded) -> None:
    """A tool that fails more than chance explains is worse; failures are new, gone or kept."""
    old = [a_call(n, server_version="1") for n in range(40)] + [failed(50, server_version="1", fingerprint="f1-gone")]
    new = [failed(100 + n, server_version="2", fingerprint="f1-new") for n in range(20)]
    new += [a_call(130 + n, server_version="2") for n in range(20)] + [a_call(160, server_version="2", tool="ping")]
    reader = await recorded([*old, *new])
    found = await compare_versions(reader, "1", "2")

    assert [(change.tool, change.verdict) for change in found.tools] == [("render", "worse"), ("ping", "too few calls")]
    assert found.tools[0].failed_change == pytest.approx(20 / 40 - 1 / 41)
    assert [group.fingerprint for group in found.new_failures] == ["f1-new"]
    assert [group.fingerprint for group in found.gone_failures] == ["f1-gone"]
    assert found.kept_failures == ()
    assert (found.calls_before, found.calls_after) == (41, 41)
    assert {change.verdict for change in (await compare_versions(reader, "2", "1")).tools} == {"better", "too few calls"}
    assert [version.version for version in await server_versions(reader)] == ["2", "1"]


async def test_health_is_compared_with_the_window_and_the_version_before(recorded: Recorded) -> None:
    """Change against an equal window before, and against the previous version; tools of the server's list without calls are named."""
    before = [a_call(n, server_version="1") for n in range(100)]
    now = [failed(1000 + n, server_version="2") for n in range(50)]
    reader = await recorded([*before, *now])
    since, until = NOON + timedelta(seconds=1000), NOON + timedelta(seconds=2000)
    report = await health_report(reader, Filter(since=since, until=until), known_tools=["render", "export", "import"])

    assert (report.calls, report.failed, report.current_version, report.previous_version) == (50, 50, "2", "1")
    assert [(change.tool, change.verdict) for change in report.window] == [("render", "worse")]
    assert [(change.tool, change.verdict) for change in report.version] == [("render", "worse")]
    assert report.never_called == ("export", "import")
    everything = await health_report(reader)
    assert (everything.window, everything.never_called) == ((), None)


async def test_health_tells_sizes_and_the_slowest_hundredth(recorded: Recorded) -> None:
    """Mean sizes, None where none was recorded, and p99 by nearest rank."""
    reader = await recorded([*(a_call(n, args_size=n, result_size=2 * n) for n in range(101)), a_call(200, tool="ping")])
    render, ping = await tool_health(reader)

    assert (render.args_bytes, render.result_bytes, render.max_result_bytes, render.p99_ms) == (50, 100, 200, 100)
    assert (ping.args_bytes, ping.result_bytes, ping.max_result_bytes) == (None, None, None)


async def test_an_empty_database_answers_every_question(recorded: Recorded) -> None:
    """With nothing, and without an error."""
    reader = await recorded([a_call(1, internal=True)])

    assert await list_failures(reader) == []
    assert await list_conversations(reader) == []
    assert await transitions(reader) == []
    assert await model_use(reader) == []
    assert await over_time(reader) == []
    assert await duration_histogram(reader) == []
    assert await server_versions(reader) == []
    assert (await health_report(reader)).tools == ()
    assert (await compare_versions(reader, "1", "2")).tools == ()
