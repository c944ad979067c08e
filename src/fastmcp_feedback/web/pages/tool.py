"""One tool: how it does over time, how long it takes, how large its answers are, and why it fails."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from ...query.calls import list_calls
from ...query.failures import FailureGroup, list_failures
from ...query.health import ToolHealth, tool_health
from ...query.latency import DurationBucket, TimeBucket, duration_histogram, over_time
from ...query.outcomes import ToolCounts, outcomes_over_time
from ...query.sequences import Transition, transitions
from ...query.versions import changes
from ..charts import Bar
from ..figures import milliseconds, share, short
from ..json_view import visible
from ..views import NotThere, View, Visit
from .overview import health_before
from .rows import CallLine, call_line

_STEPS: Final = 60
_CALLS: Final = 20


@dataclass(frozen=True, slots=True)
class ToolView(View):
    """One tool in the chosen window. `health` is None when it was not called then; `before` is the window before."""

    template: ClassVar[str] = "tool.html"
    here: ClassVar[str] = "/"

    tool: str
    health: ToolHealth | None
    before: ToolHealth | None
    verdict: str | None
    times: tuple[TimeBucket, ...]
    starts: tuple[datetime, ...]
    step_s: int
    outcomes: ToolCounts
    durations: tuple[DurationBucket, ...]
    failures: tuple[FailureGroup, ...]
    followed_by: tuple[Transition, ...]
    calls: tuple[CallLine, ...]
    cursor: str | None

    @property
    def duration_bars(self) -> list[Bar]:
        """The spread of durations as a chart takes it."""
        return [Bar(_span(one), one.calls, note=f"{short(one.failed)} failed" if one.failed else "") for one in self.durations]

    @property
    def next_bars(self) -> list[Bar]:
        """What comes next as a chart takes it."""
        return [Bar(visible(one.next_tool or "nothing more"), one.count, note=share(one.share)) for one in self.followed_by]


async def tool(visit: Visit) -> ToolView:
    """The tool that the filter names."""
    which, reader = visit.asked.which, visit.source.reader
    if which.tool is None:
        raise NotThere("no tool was named", "choose one on the overview")
    (now, earlier, outcomes, times), (page, durations, failures, followed) = await asyncio.gather(
        asyncio.gather(
            tool_health(await reader(), which),
            health_before(await reader(), which, visit.now),
            outcomes_over_time(await reader(), which, buckets=_STEPS),
            over_time(await reader(), which, buckets=_STEPS),
        ),
        asyncio.gather(
            list_calls(await reader(), which, limit=_CALLS, cursor=visit.asked.own.get("cursor")),
            duration_histogram(await reader(), which),
            list_failures(await reader(), which, limit=20),
            transitions(await reader(), which, limit=8),
        ),
    )
    health, before = next(iter(now), None), next(iter(earlier or ()), None)
    change = next(iter(changes([before] if before else [], [health] if health else [])), None)
    return ToolView(
        tool=which.tool,
        health=health,
        before=before,
        verdict=change.verdict if change is not None and before is not None and health is not None else None,
        times=tuple(times),
        starts=outcomes.starts,
        step_s=outcomes.step_s,
        outcomes=outcomes.total,
        durations=tuple(durations),
        failures=tuple(failures),
        followed_by=tuple(followed),
        calls=tuple(map(call_line, page.calls)),
        cursor=page.cursor,
    )


def _span(bucket: DurationBucket) -> str:
    if bucket.high_ms is None:
        return f"{milliseconds(bucket.low_ms)} and more"
    return (
        f"below {milliseconds(bucket.high_ms)}"
        if bucket.low_ms == 0
        else f"{milliseconds(bucket.low_ms)} to {milliseconds(bucket.high_ms)}"
    )
