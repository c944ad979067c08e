"""Flailing: what counts as trying in vain, and what does not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from fastmcp_feedback.query.filters import Filter
from fastmcp_feedback.query.flailing import Flail, find_flailing
from fastmcp_feedback.query.reader import Reader
from fastmcp_feedback.sink import Record
from support.recorded import NOON, a_call

Recorded = Callable[[Sequence[Record]], Awaitable[Reader]]
SOON = NOON + timedelta(minutes=5)
LATER = NOON + timedelta(hours=1)


def tried(number: int, sql: str | None = "select a", *, ok: bool = False, **changes: Any) -> Record:
    """A call of one conversation; failed unless `ok`. Without `sql` its arguments were not recorded."""
    given: dict[str, Any] = {
        "tool": "query", "conversation": "c1", "outcome": "ok" if ok else "error", "duration_ms": 100.0, "args_size": 20, "result_size": 5,
        "args": None if sql is None else {"sql": sql}, "error_message": None if ok else "no such column", "fingerprint": "f1-column",
    }  # fmt: skip
    return a_call(number, **(given | changes))


def kinds(found: Sequence[Flail]) -> list[str]:
    """The kinds of findings, in their order."""
    return [flail.kind for flail in found]


async def test_an_error_answered_by_the_identical_call_is_found(recorded: Recorded) -> None:
    """With its calls, what they have in common, the time they took, and how it ended."""
    reader = await recorded([a_call(0, conversation="c1"), tried(1), tried(2), tried(3), tried(4, "select b", ok=True)])
    report = await find_flailing(reader, now=LATER)
    (found,) = report.findings

    assert (found.kind, found.tool, found.conversation_key, found.basis) == ("identical_retry", "query", "c1", "arguments")
    assert [call.likeness for call in found.calls] == [None, "identical", "identical", "near"]
    assert (found.resolved, found.ended_conversation, found.wasted_ms) == (True, False, 300)
    assert (report.truncated, report.calls_read) == (False, 5)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([tried(1, "select nme"), tried(2, "select name"), tried(3, "select names")], ["near_retry"]),
        ([tried(n, word * 9) for n, word in enumerate("axbyc")], ["retry_chain"]),
        ([tried(n, ok=True) for n in range(5)], ["repetition"]),
        ([tried(n, ok=True) for n in range(4)], []),
        ([tried(n, f"select {n}", ok=True) for n in range(9)], []),
        ([tried(n, ok=True, result_size=n) for n in range(9)], []),
        ([tried(1), a_call(2, tool="help", conversation="c1"), tried(3), tried(4, ok=True)], ["identical_retry"]),
        ([tried(1), tried(2, fault="cancelled")], ["identical_retry"]),
        ([tried(1, fault="cancelled"), tried(2, fault="cancelled")], []),
        ([tried(1, fault="upstream"), tried(2, ok=True)], []),
        ([tried(1, fault="upstream"), tried(2, fault="upstream"), tried(3, fault="upstream")], ["identical_retry"]),
        ([tried(1, duration_ms=5000.0), tried(2, duration_ms=5000.0), tried(9, "x", ok=True)], []),
        ([tried(1), tried(2000, ok=True)], []),
        ([tried(1), tried(2, conversation="c2"), tried(3, ok=True, tool="other"), tried(4, ok=True, conversation="c2", tool="other")], []),
        ([tried(1, ok=True), tried(2)], ["ends_in_failure"]),
    ],
)  # fmt: skip
async def test_what_counts_as_flailing(recorded: Recorded, calls: list[Record], expected: list[str]) -> None:
    """Tries in vain do; pages, fan-out, polling with new answers, mended hiccups, batches and cancelled calls do not."""
    reader = await recorded(calls)

    assert kinds((await find_flailing(reader, now=LATER)).findings) == expected


async def test_without_arguments_sizes_and_fingerprints_are_compared(recorded: Recorded) -> None:
    """The finding says so: `basis` is `sizes`. The same size with another failure is only near."""
    reader = await recorded(
        [tried(1, None), tried(2, None), tried(10, None, conversation="c2"), tried(11, None, fingerprint="f1-b", conversation="c2")]
    )
    report = await find_flailing(reader, now=SOON)

    assert [(flail.kind, flail.basis, flail.conversation_key) for flail in report.findings] == [("identical_retry", "sizes", "c1")]


async def test_the_worst_comes_first(recorded: Recorded) -> None:
    """More tries in vain rank higher, and unmended ones above mended ones."""
    long = [tried(n) for n in range(8)]
    mended = [tried(100, conversation="c2"), tried(101, conversation="c2"), tried(102, ok=True, conversation="c2")]
    unmended = [tried(200, conversation="c3"), tried(201, conversation="c3")]
    reader = await recorded([*mended, *unmended, *long])
    report = await find_flailing(reader, now=LATER)

    assert [flail.conversation_key for flail in report.findings] == ["c1", "c3", "c2"]
    assert len((await find_flailing(reader, limit=1, now=LATER)).findings) == 1


async def test_a_conversation_that_may_go_on_has_not_ended(recorded: Recorded) -> None:
    """Its failed last call counts only after ten minutes without another one."""
    reader = await recorded([tried(1, ok=True), tried(2)])

    assert kinds((await find_flailing(reader, now=SOON)).findings) == []
    assert [flail.ended_conversation for flail in (await find_flailing(reader, now=LATER)).findings] == [True]


async def test_a_finding_that_ends_the_conversation_is_one_finding(recorded: Recorded) -> None:
    """It is not listed as a failed end, too."""
    reader = await recorded([tried(1), tried(2), tried(3)])

    assert [(flail.kind, flail.ended_conversation) for flail in (await find_flailing(reader, now=LATER)).findings] == [
        ("identical_retry", True)
    ]


async def test_users_stand_in_for_conversations_that_are_not_known(recorded: Recorded) -> None:
    """Calls of nobody in no conversation are not looked at: nothing tells which belong together."""
    by_user = [tried(n, conversation=None, user_sub="ann") for n in range(3)]
    reader = await recorded([*by_user, *(tried(n, conversation=None) for n in range(10, 13))])
    report = await find_flailing(reader, now=SOON)

    assert [(flail.conversation_key, flail.user_sub) for flail in report.findings] == [(None, "ann")]


async def test_what_was_left_out_is_said(recorded: Recorded) -> None:
    """More calls than may be looked at: the newest are, and the report says so. The filter narrows."""
    reader = await recorded([*(tried(n) for n in range(5)), *(tried(n, conversation="c2") for n in range(10, 15))])
    report = await find_flailing(reader, max_calls=5, now=SOON)

    assert (report.truncated, report.calls_read, [flail.conversation_key for flail in report.findings]) == (True, 5, ["c2"])
    assert [flail.conversation_key for flail in (await find_flailing(reader, Filter(conversation="c1"), now=SOON)).findings] == ["c1"]
