"""How calls ended over time, tool by tool: one pass for all the small charts of a page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from .filters import Filter
from .latency import step_of, time_range
from .parts import WEIGHT
from .reader import Reader

_OUTCOMES: Final = ("ok", "soft_error", "error")


@dataclass(frozen=True, slots=True)
class ToolCounts:
    """Calls of one tool in each step, weighted."""

    ok: tuple[float, ...]
    soft_errors: tuple[float, ...]
    errors: tuple[float, ...]

    @property
    def calls(self) -> tuple[float, ...]:
        """All calls in each step."""
        return tuple(map(sum, zip(self.ok, self.soft_errors, self.errors, strict=True)))

    @property
    def failed(self) -> tuple[float, ...]:
        """Soft errors and errors in each step."""
        return tuple(map(sum, zip(self.soft_errors, self.errors, strict=True)))


@dataclass(frozen=True, slots=True)
class OutcomeTimes:
    """Equal steps of time, oldest first, without gaps; the counts of each tool, and of all."""

    starts: tuple[datetime, ...]
    step_s: int
    total: ToolCounts
    tools: dict[str, ToolCounts]


async def outcomes_over_time(reader: Reader, which: Filter | None = None, *, buckets: int = 48) -> OutcomeTimes:
    """Count the calls that the filter leaves, in at most about so many steps."""
    chosen = which or Filter()
    low, high = await time_range(reader, chosen)
    if low is None or high is None or low >= high:
        return OutcomeTimes((), 0, ToolCounts((), (), ()), {})
    step_s = step_of(low, high, buckets)
    first, last = int(low.timestamp()) // step_s, int((high - timedelta(microseconds=1)).timestamp()) // step_s
    where, bound = chosen.where(reader.stamp)
    rows = await reader.rows(
        f"SELECT tool, outcome, {reader.epoch_s('started_at')} / {step_s} AS bucket, SUM({WEIGHT}) AS calls "  # noqa: S608 - names and numbers of ours, values bound
        f"FROM {reader.calls} WHERE {where} GROUP BY 1, 2, 3",
        bound,
    )
    counted: dict[str, dict[str, list[float]]] = {}
    total = {outcome: [0.0] * (last - first + 1) for outcome in _OUTCOMES}
    for row in rows:
        place = int(row["bucket"]) - first
        if not 0 <= place <= last - first or row["outcome"] not in total:
            continue
        of_tool = counted.setdefault(row["tool"], {outcome: [0.0] * (last - first + 1) for outcome in _OUTCOMES})
        of_tool[row["outcome"]][place] += float(row["calls"])
        total[row["outcome"]][place] += float(row["calls"])
    starts = tuple(datetime.fromtimestamp(number * step_s, UTC) for number in range(first, last + 1))
    return OutcomeTimes(starts, step_s, _counts(total), {tool: _counts(found) for tool, found in counted.items()})


def _counts(found: dict[str, list[float]]) -> ToolCounts:
    return ToolCounts(*(tuple(found[outcome]) for outcome in _OUTCOMES))
