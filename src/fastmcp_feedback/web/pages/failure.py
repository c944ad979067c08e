"""Failures by fingerprint, and one of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final

from ...query.calls import list_calls
from ...query.failures import FailureGroup, find_failure, list_failures
from ...query.outcomes import ToolCounts, outcomes_over_time
from ..charts import Bar
from ..json_view import visible
from ..views import NotThere, View, Visit
from .rows import CallLine, call_line

MAX_FAILURES: Final = 100
_CALLS: Final = 20


@dataclass(frozen=True, slots=True)
class FailuresView(View):
    """Equal failures together, the most frequent first. `truncated`: there are more than these."""

    template: ClassVar[str] = "failures.html"
    here: ClassVar[str] = "/failures"

    failures: tuple[FailureGroup, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class FailureView(View):
    """One failure. `arguments` and `result` are those of its newest call; None where they were not recorded or are not shown."""

    template: ClassVar[str] = "failure.html"
    here: ClassVar[str] = "/failures"

    failure: FailureGroup
    top_users: tuple[tuple[str, int], ...]
    versions: tuple[str, ...]
    starts: tuple[datetime, ...]
    outcomes: ToolCounts
    mode: str | None
    payloads_shown: bool
    arguments: Any
    result: Any
    calls: tuple[CallLine, ...]
    cursor: str | None

    @property
    def user_bars(self) -> list[Bar]:
        """Those who meet it most, as a chart takes it."""
        return [Bar(visible(user), count, tone="error") for user, count in self.top_users]


async def failures(visit: Visit) -> FailuresView:
    """What fails, whatever its tool."""
    found = await list_failures(visit.reader, visit.asked.which, limit=MAX_FAILURES + 1)
    return FailuresView(tuple(found[:MAX_FAILURES]), truncated=len(found) > MAX_FAILURES)


async def failure(visit: Visit) -> FailureView:
    """The failure whose fingerprint the filter names."""
    reader, which = visit.reader, visit.asked.which
    if which.fingerprint is None:
        raise NotThere("no failure was named", "choose one in the list of failures")
    detail = await find_failure(reader, which.fingerprint, which)
    if detail is None:
        raise NotThere("no call failed like that in this time", "take a longer time, or all time")
    page = await list_calls(reader, which, limit=_CALLS, cursor=visit.asked.own.get("cursor"))
    times = await outcomes_over_time(reader, which, buckets=_CALLS * 2)
    shown = visit.grant.payloads
    return FailureView(
        failure=detail.group,
        top_users=detail.top_users,
        versions=detail.versions,
        starts=times.starts,
        outcomes=times.total,
        mode=detail.example.get("mode"),
        payloads_shown=shown,
        arguments=detail.example.get("args") if shown else None,
        result=detail.example.get("result") if shown else None,
        calls=tuple(map(call_line, page.calls)),
        cursor=page.cursor,
    )
