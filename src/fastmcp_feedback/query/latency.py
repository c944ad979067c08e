"""Calls and their durations over time, and how durations are spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from .filters import Filter
from .moments import FilterError
from .parts import WEIGHT, as_time
from .reader import Reader

MAX_BUCKETS: Final = 2000
_STEPS_S: Final = (10, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 86_400, 7 * 86_400, 28 * 86_400)
_EDGES_MS: Final = tuple(mantissa * 10.0**power for power in range(-1, 6) for mantissa in (1, 2, 5))


@dataclass(frozen=True, slots=True)
class TimeBucket:
    """Calls that began in `[start, end)`. Counts are weighted; percentiles are None when there were no calls."""

    start: datetime
    end: datetime
    calls: float
    failed: float
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    max_ms: float | None


@dataclass(frozen=True, slots=True)
class DurationBucket:
    """Calls (weighted) that took at least `low_ms` and less than `high_ms`; None: no limit above."""

    low_ms: float
    high_ms: float | None
    calls: float
    failed: float


async def over_time(reader: Reader, which: Filter | None = None, *, step: timedelta | None = None, buckets: int = 60) -> list[TimeBucket]:
    """Calls and latency in equal steps of time, oldest first, without gaps.

    Args:
        reader: The opened database.
        which: The calls; without `since` and `until` the range is that of the calls.
        step: Length of a bucket; None chooses one that gives about as many as `buckets`, at most that many.
        buckets: How many are wanted at most, when no step is given.

    Raises:
        FilterError: more than 2,000 buckets would be needed.
    """
    chosen = which or Filter()
    low, high = await time_range(reader, chosen)
    if low is None or high is None:
        return []
    step_s = step_of(low, high, buckets) if step is None else max(1, int(step.total_seconds()))
    first, last = int(low.timestamp()) // step_s, int((high - timedelta(microseconds=1)).timestamp()) // step_s
    if last - first >= MAX_BUCKETS:
        raise FilterError(f"that makes {last - first + 1:,} steps of {step_s} s, at most {MAX_BUCKETS:,} are allowed: take a longer step")
    where, bound = chosen.where(reader.stamp)
    rows = await reader.rows(
        f"""
        WITH chosen AS (
            SELECT {reader.epoch_s("started_at")} / {step_s} AS bucket, outcome, duration_ms, {WEIGHT} AS weight
            FROM {reader.calls} WHERE {where}
        ),
        ranked AS (
            SELECT chosen.*, ROW_NUMBER() OVER (PARTITION BY bucket ORDER BY duration_ms) AS rank,
                   COUNT(*) OVER (PARTITION BY bucket) AS n
            FROM chosen
        )
        SELECT bucket, SUM(weight) AS calls, SUM(CASE WHEN outcome <> 'ok' THEN weight ELSE 0 END) AS failed, MAX(duration_ms) AS max_ms,
               MIN(CASE WHEN rank >= 0.5 * n THEN duration_ms END) AS p50_ms,
               MIN(CASE WHEN rank >= 0.95 * n THEN duration_ms END) AS p95_ms,
               MIN(CASE WHEN rank >= 0.99 * n THEN duration_ms END) AS p99_ms
        FROM ranked GROUP BY bucket
        """,  # noqa: S608 - names of ours, values bound
        bound,
    )
    found = {int(row["bucket"]): row for row in rows}
    return [_bucket(number, step_s, found.get(number)) for number in range(first, last + 1)]


async def duration_histogram(reader: Reader, which: Filter | None = None, *, edges_ms: Sequence[float] = _EDGES_MS) -> list[DurationBucket]:
    """How durations are spread over buckets that begin at these edges (ascending; a bucket from 0 is put before them).

    Empty buckets at both ends are left out.
    """
    where, bound = (which or Filter()).where(reader.stamp)
    edges = [float(edge) for edge in edges_ms]
    cases = " ".join(f"WHEN duration_ms < {edge!r} THEN {place}" for place, edge in enumerate(edges))
    rows = await reader.rows(
        f"""
        SELECT bucket, SUM(weight) AS calls, SUM(CASE WHEN outcome <> 'ok' THEN weight ELSE 0 END) AS failed FROM (
            SELECT CASE {cases} ELSE {len(edges)} END AS bucket, outcome, {WEIGHT} AS weight FROM {reader.calls} WHERE {where}
        ) AS placed GROUP BY bucket ORDER BY bucket
        """,  # noqa: S608 - names and numbers of ours, values bound
        bound,
    )
    found = {int(row["bucket"]): row for row in rows}
    if not found:
        return []
    bounds: list[float | None] = [0.0, *edges, None]
    return [
        DurationBucket(
            bounds[place] or 0.0,
            bounds[place + 1],
            found[place]["calls"] if place in found else 0.0,
            found[place]["failed"] if place in found else 0.0,
        )
        for place in range(min(found), max(found) + 1)
    ]


async def time_range(reader: Reader, which: Filter) -> tuple[datetime | None, datetime | None]:
    """From when to when: what the filter says, else from the first to the last of its calls; None when there are none."""
    if which.since is not None and which.until is not None:
        return which.since, which.until
    where, bound = which.where(reader.stamp)
    (row,) = await reader.rows(f"SELECT MIN(started_at) AS low, MAX(started_at) AS high FROM {reader.calls} WHERE {where}", bound)  # noqa: S608 - names of ours, values bound
    if row["low"] is None:
        return None, None
    return which.since or as_time(row["low"]), which.until or as_time(row["high"]) + timedelta(microseconds=1)


def step_of(low: datetime, high: datetime, buckets: int) -> int:
    """Seconds of a step that cuts this range into at most so many."""
    wanted = (high - low).total_seconds() / max(1, buckets - 1)
    return next((step for step in _STEPS_S if step >= wanted), int(wanted) + 1)


def _bucket(number: int, step_s: int, row: dict[str, Any] | None) -> TimeBucket:
    start = datetime.fromtimestamp(number * step_s, UTC)
    values = row or {"calls": 0.0, "failed": 0.0}
    percentiles = [values.get(name) for name in ("p50_ms", "p95_ms", "p99_ms", "max_ms")]
    return TimeBucket(start, start + timedelta(seconds=step_s), values["calls"], values["failed"], *percentiles)
