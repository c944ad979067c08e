"""The overview: which tools fail, since when, and whether the recorder itself is well."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Final

from ...query.failures import FailureGroup, list_failures
from ...query.filters import Filter
from ...query.health import ToolHealth, tool_health
from ...query.outcomes import OutcomeTimes, ToolCounts, outcomes_over_time
from ...query.reader import Reader
from ...query.versions import ToolChange, changes
from ...store.feedback_store import FeedbackStore
from ..views import View, Visit

MAX_TOOLS: Final = 100
_STEPS: Final = 36
_BEHIND_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class ToolLine:
    """One tool. Counts are weighted; `verdict`, `failed_change` and `p95_ratio` compare with the window before (None: no such)."""

    tool: str
    calls: float
    soft_errors: float
    errors: float
    failed_share: float
    p50_ms: float
    p95_ms: float
    users: int
    verdict: str | None
    failed_change: float | None
    p95_ratio: float | None
    calls_over_time: tuple[float, ...]
    failed_over_time: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Books:
    """What became of the records meant for one sink. `behind`: its oldest one has waited for half a minute or more."""

    name: str
    accepted: int
    written: int
    waiting: int
    spooled: int
    quarantined: int
    lost: int
    lost_by_reason: Mapping[str, int]
    quarantine_reasons: Mapping[str, int]
    last_error: str | None
    oldest_waiting_s: float | None
    behind: bool


@dataclass(frozen=True, slots=True)
class RecorderState:
    """The recorder that runs beside the dashboard.

    `healthy`: nothing was lost or set aside, no sink is behind, the spool is sound, no error was kept from the server.
    """

    mode: str
    running_calls: int
    sinks: tuple[Books, ...]
    contained_errors: Mapping[str, int]
    spool: Mapping[str, Any] | None
    healthy: bool


@dataclass(frozen=True, slots=True)
class OverviewView(View):
    """Everything on the overview. `tools` are the busiest; `more_tools` counts those left out."""

    template: ClassVar[str] = "overview.html"
    here: ClassVar[str] = "/"

    calls: float
    failed: float
    failed_share: float
    calls_before: float | None
    failed_share_before: float | None
    slowest: str | None
    slowest_p95_ms: float | None
    open_reports: int
    tools: tuple[ToolLine, ...]
    more_tools: int
    starts: tuple[datetime, ...]
    step_s: int
    over_time: ToolCounts
    failures: tuple[FailureGroup, ...]
    recorder: RecorderState | None


async def overview(visit: Visit) -> OverviewView:
    """Ask for all of it."""
    which, reader = visit.asked.which, visit.source.reader
    tools, before, times, failures, statuses = await asyncio.gather(
        tool_health(await reader(), which),
        health_before(await reader(), which, visit.now),
        outcomes_over_time(await reader(), which, buckets=_STEPS),
        list_failures(await reader(), which, limit=8),
        FeedbackStore(visit.reader.sink).counts("status"),
    )
    changed = {} if before is None else {change.tool: change for change in changes(before, tools)}
    calls, failed = _sums(tools)
    calls_before, failed_before = (None, 0.0) if before is None else _sums(before)
    slowest = max(tools, key=lambda tool: tool.p95_ms, default=None)
    return OverviewView(
        calls=calls,
        failed=failed,
        failed_share=failed / calls if calls else 0.0,
        calls_before=calls_before,
        failed_share_before=failed_before / calls_before if calls_before else None,
        slowest=slowest.tool if slowest else None,
        slowest_p95_ms=slowest.p95_ms if slowest else None,
        open_reports=sum(statuses.get(status, (0, 0))[0] for status in ("open", "in_progress")),
        tools=tuple(_line(tool, changed.get(tool.tool), times) for tool in tools[:MAX_TOOLS]),
        more_tools=max(0, len(tools) - MAX_TOOLS),
        starts=times.starts,
        step_s=times.step_s,
        over_time=times.total,
        failures=tuple(failures),
        recorder=recorder_state(visit.source.recorder),
    )


async def health_before(reader: Reader, which: Filter, now: datetime) -> list[ToolHealth] | None:
    """Health in the window of equal length before; None without a beginning."""
    earlier = window_before(which, now)
    return None if earlier is None else await tool_health(reader, earlier)


def window_before(which: Filter, now: datetime) -> Filter | None:
    """The same calls in the window of equal length before; None without a beginning."""
    if which.since is None:
        return None
    length = (which.until or now) - which.since
    return replace(which, since=which.since - length, until=which.since)


def recorder_state(recorder: Any) -> RecorderState | None:
    """The recorder's books as they are now; None without one."""
    if recorder is None:
        return None
    stats = recorder.stats()
    sinks = tuple(_books(name, report) for name, report in stats["sinks"].items())
    spool = stats["spool"] or {}
    trouble = any(sink.lost or sink.quarantined or sink.behind for sink in sinks) or any(stats["contained_errors"].values())
    trouble = trouble or bool(spool.get("problem") or spool.get("damaged"))
    return RecorderState(stats["mode"], stats["running_calls"], sinks, stats["contained_errors"], stats["spool"], healthy=not trouble)


def _books(name: str, report: Mapping[str, Any]) -> Books:
    oldest_s = report["oldest_waiting_s"]
    return Books(
        name, report["accepted"], report["written"], report["waiting"], report["spooled"], report["quarantined"], report["lost"],
        report["lost_by_reason"], report["quarantine_reasons"], report["last_error"], oldest_s, (oldest_s or 0) >= _BEHIND_S,
    )  # fmt: skip


def _sums(tools: list[ToolHealth]) -> tuple[float, float]:
    return sum(tool.calls for tool in tools), sum(tool.soft_errors + tool.errors for tool in tools)


def _line(tool: ToolHealth, change: ToolChange | None, times: OutcomeTimes) -> ToolLine:
    counts = times.tools.get(tool.tool) or ToolCounts((), (), ())
    compared = change is not None and change.before is not None
    return ToolLine(
        tool=tool.tool,
        calls=tool.calls,
        soft_errors=tool.soft_errors,
        errors=tool.errors,
        failed_share=tool.failed_share,
        p50_ms=tool.p50_ms,
        p95_ms=tool.p95_ms,
        users=tool.users,
        verdict=change.verdict if change is not None and compared else None,
        failed_change=change.failed_change if change is not None and compared else None,
        p95_ratio=change.p95_ratio if change is not None and compared else None,
        calls_over_time=counts.calls,
        failed_over_time=counts.failed,
    )
