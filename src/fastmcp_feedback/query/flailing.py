"""Flailing: callers that try the same thing again and again and get nowhere.

Calls are looked at in the order of a conversation (of a user, where there is no conversation), each tool's alone. What
counts, and what does not:

- A failure answered by another call of the same tool, soon and after the failure was known, is a *try again*. Calls that
  ran at the same time are a batch, not tries.
- `identical_retry`: at least one failure was answered by the identical call. A failure of something upstream that one or
  two retries mend is what retries are for, and is left out.
- `near_retry`: three or more tries, each with nearly the same arguments as the one before.
- `retry_chain`: four or more failures in a row, whatever the arguments.
- `repetition`: five or more identical calls in a row that worked and gave answers of the same size: nothing new was learnt.
- `ends_in_failure`: the conversation's last call failed and nothing came for ten minutes. A finding of its own only when none of the above
  holds that call.

Arguments are compared by value where they were recorded (mode `full`). In mode `meta` there are only sizes: `basis` says
`sizes` then, and two failures count as identical when size and fingerprint are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from typing import Any, Final, Literal

from .filters import Filter
from .likeness import LIKENESS_COLUMNS, Likeness, knows_arguments, likeness
from .parts import rows_by_id
from .reader import Reader

FlailKind = Literal["identical_retry", "near_retry", "retry_chain", "repetition", "ends_in_failure"]

MAX_CALLS: Final = 300_000
MAX_GAP: Final = timedelta(minutes=10)
_MAX_BETWEEN: Final = 3  # calls of other tools between two tries
_IDLE: Final = timedelta(minutes=10)
_MIN_NEAR, _MIN_CHAIN, _MIN_REPETITION, _MIN_MENDED = 3, 4, 5, 4
_COLUMNS: Final = f"{LIKENESS_COLUMNS}, id, tool, started_at, duration_ms, error_type, error_message, fault, conversation_key, user_sub"


@dataclass(frozen=True, slots=True)
class FlailCall:
    """One call of a finding; `likeness` compares its arguments with the call before (None for the first)."""

    id: str
    tool: str
    started_at: datetime
    duration_ms: float
    outcome: str
    error_type: str | None
    error_message: str | None
    likeness: Likeness | None


@dataclass(frozen=True, slots=True)
class Flail:
    """One finding. `score` counts calls that got nowhere, the unmended ones more; findings are ranked by it.

    `resolved` says that the last of its calls worked; `wasted_ms` is the time that its failed and repeated calls took.
    """

    kind: FlailKind
    conversation_key: str | None
    user_sub: str | None
    tool: str
    score: float
    resolved: bool
    ended_conversation: bool
    basis: Literal["arguments", "sizes"]
    started_at: datetime
    ended_at: datetime
    wasted_ms: float
    calls: tuple[FlailCall, ...]


@dataclass(frozen=True, slots=True)
class FlailReport:
    """Findings, the worst first. `truncated`: there were more calls than were looked at, the oldest were left out."""

    findings: tuple[Flail, ...]
    calls_read: int
    truncated: bool


async def find_flailing(
    reader: Reader, which: Filter | None = None, *, limit: int = 50, max_calls: int = MAX_CALLS, now: datetime | None = None
) -> FlailReport:
    """Look for flailing among the calls that the filter leaves.

    Filter by time, user, conversation, client or version; a filter by outcome would hide what came between.
    """
    rows = await _candidates(reader, which or Filter(), max_calls)
    truncated = len(rows) > max_calls
    rows = rows[:max_calls]
    rows.sort(key=lambda row: (_who(row), row["started_at"], row["id"]))
    runs = [run for _, calls in groupby(rows, key=_who) for run in _runs(list(calls))]
    wanted = [row["id"] for run in runs for row in run.rows if len(run.rows) > 1]
    payloads = await rows_by_id(reader, "id, args", wanted)
    moment = now or datetime.now(UTC)
    found: list[Flail] = []
    for _, of_one in groupby(runs, key=lambda run: _who(run.rows[0])):
        found += _findings(list(of_one), payloads, moment)
    found.sort(key=lambda flail: (-flail.score, -flail.ended_at.timestamp(), flail.calls[0].id))
    return FlailReport(tuple(found[:limit]), len(rows), truncated)


async def _candidates(reader: Reader, which: Filter, max_calls: int) -> list[dict[str, Any]]:
    """Calls of conversations in which something failed, or a tool was called often; the newest so many."""
    where, bound = which.where(reader.stamp)
    who = "COALESCE('c' || conversation_key, 'u' || user_sub)"
    sql = f"""
        WITH chosen AS (SELECT {_COLUMNS}, {who} AS who FROM {reader.calls} WHERE {where} AND {who} IS NOT NULL),
        worth AS (
            SELECT DISTINCT who FROM chosen GROUP BY who, tool
            HAVING SUM(CASE WHEN outcome <> 'ok' THEN 1 ELSE 0 END) > 0 OR COUNT(*) >= {_MIN_REPETITION}
        )
        SELECT {_COLUMNS} FROM chosen WHERE who IN (SELECT who FROM worth) ORDER BY started_at DESC, id DESC LIMIT :limit
    """  # noqa: S608 - names of ours, values bound
    return await reader.rows(sql, {**bound, "limit": max_calls + 1})


@dataclass(slots=True)
class _Run:
    """Calls of one tool that follow each other; `last` says that its last call is the last of the conversation."""

    rows: list[dict[str, Any]]
    repeated: bool
    last: bool


def _who(row: dict[str, Any]) -> str:
    key, user = row["conversation_key"], row["user_sub"]
    return f"c{key}" if key is not None else f"u{user}"


def _failed(row: dict[str, Any]) -> bool:
    return bool(row["outcome"] != "ok" and row["fault"] != "cancelled")


def _end(row: dict[str, Any]) -> datetime:
    began: datetime = row["started_at"]
    return began + timedelta(milliseconds=row["duration_ms"] or 0.0)


def _runs(calls: list[dict[str, Any]]) -> Iterator[_Run]:
    """Tries and repetitions of one conversation; and its last call, when it failed."""
    places = {row["id"]: place for place, row in enumerate(calls)}
    final = calls[-1]
    covered = False
    for _, of_tool in groupby(sorted(calls, key=lambda row: row["tool"]), key=lambda row: row["tool"]):
        rows = list(of_tool)
        for run in [*_chains(rows, places, _answers), *_chains(rows, places, _repeats)]:
            last = run[-1] is final and _failed(final)
            covered |= last
            yield _Run(run, repeated=not _failed(run[0]), last=last)
    if _failed(final) and not covered:
        yield _Run([final], repeated=False, last=True)


def _chains(rows: Sequence[dict[str, Any]], places: dict[str, int], joined: Any) -> Iterator[list[dict[str, Any]]]:
    """Maximal stretches of two calls or more in which each pair is joined and near in time and place."""
    run = [rows[0]]
    for before, after in pairwise(rows):
        near = places[after["id"]] - places[before["id"]] <= _MAX_BETWEEN + 1 and after["started_at"] - _end(before) <= MAX_GAP
        if near and joined(before, after):
            run.append(after)
            continue
        if len(run) > 1:
            yield run
        run = [after]
    if len(run) > 1:
        yield run


def _answers(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Did the second call come after the first one's failure was known?"""
    return _failed(before) and bool(after["started_at"] >= _end(before))


def _repeats(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Might the second call be the first one again, with nothing new in its answer?"""
    return bool(
        before["outcome"] == after["outcome"] == "ok"
        and after["started_at"] >= _end(before)
        and before["args_size"] == after["args_size"]
        and before["result_size"] == after["result_size"]
        and before["args_size"] is not None
    )


def _findings(runs: list[_Run], payloads: dict[str, dict[str, Any]], now: datetime) -> Iterator[Flail]:
    """What the runs of one conversation amount to; its failed last call once."""
    ended_in: dict[str, Any] | None = None
    shown = False
    for run in runs:
        rows = [{**row, "args": payloads.get(row["id"], {}).get("args")} for row in run.rows]
        ended = run.last and now - _end(rows[-1]) >= _IDLE
        if ended:
            ended_in = rows[-1]
        for kind, part, alike in _kinds(rows, repeated=run.repeated):
            shown |= ended and part[-1] is rows[-1]
            yield _flail(kind, part, alike, ended=ended and part[-1] is rows[-1])
    if ended_in is not None and not shown:
        yield _flail("ends_in_failure", [ended_in], [], ended=True)


def _kinds(rows: list[dict[str, Any]], *, repeated: bool) -> Iterator[tuple[FlailKind, list[dict[str, Any]], list[Likeness]]]:
    alike = [likeness(before, after) for before, after in pairwise(rows)]
    if repeated:
        yield from _repetitions(rows, alike)
        return
    if len(rows) < 2:
        return
    failures = sum(map(_failed, rows))
    mended = not _failed(rows[-1])
    if mended and failures < _MIN_MENDED and all(row["fault"] == "upstream" for row in rows[:-1]):
        return
    if "identical" in alike:
        yield "identical_retry", rows, alike
    elif failures >= _MIN_CHAIN and "different" in alike:
        yield "retry_chain", rows, alike
    else:
        yield from _near(rows, alike)


def _near(rows: list[dict[str, Any]], alike: list[Likeness]) -> Iterator[tuple[FlailKind, list[dict[str, Any]], list[Likeness]]]:
    """Stretches of tries that are near each other. Where only sizes are known, each of three has to have failed: they tell little."""
    start = 0
    for place in range(len(rows)):
        if place == len(alike) or alike[place] == "different":
            part = rows[start : place + 1]
            counted = part if all(map(knows_arguments, part)) else list(filter(_failed, part))
            if len(counted) >= _MIN_NEAR:
                yield "near_retry", part, alike[start:place]
            start = place + 1


def _repetitions(rows: list[dict[str, Any]], alike: list[Likeness]) -> Iterator[tuple[FlailKind, list[dict[str, Any]], list[Likeness]]]:
    start = 0
    for place in range(len(rows)):
        if place == len(alike) or alike[place] != "identical":
            if place - start + 1 >= _MIN_REPETITION:
                yield "repetition", rows[start : place + 1], alike[start:place]
            start = place + 1


def _flail(kind: FlailKind, rows: list[dict[str, Any]], alike: Iterable[Likeness], *, ended: bool) -> Flail:
    likenesses: list[Likeness] = list(alike)
    resolved = not _failed(rows[-1])
    vain = [row for row in rows if _failed(row)] or rows[1:]
    score = len(vain) + 0.5 * likenesses.count("identical") + (0.0 if resolved else 1.0) + (1.0 if ended and len(rows) > 1 else 0.0)
    return Flail(
        kind=kind,
        conversation_key=rows[0]["conversation_key"],
        user_sub=rows[0]["user_sub"],
        tool=rows[0]["tool"],
        score=score if kind != "ends_in_failure" else 1.0,
        resolved=resolved,
        ended_conversation=ended,
        basis="arguments" if all(map(knows_arguments, rows)) else "sizes",
        started_at=rows[0]["started_at"],
        ended_at=_end(rows[-1]),
        wasted_ms=sum(row["duration_ms"] or 0.0 for row in vain),
        calls=tuple(_call(row, found) for row, found in zip(rows, [None, *likenesses], strict=True)),
    )


def _call(row: dict[str, Any], found: Likeness | None) -> FlailCall:
    names = ("id", "tool", "started_at", "duration_ms", "outcome", "error_type", "error_message")
    return FlailCall(**{name: row[name] for name in names}, likeness=found)
