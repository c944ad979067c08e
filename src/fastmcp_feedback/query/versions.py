"""Server versions, and what changed between two of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from .failures import FailureGroup, list_failures
from .filters import Filter
from .health import ToolHealth, tool_health
from .parts import as_time
from .reader import Reader

Verdict = Literal["worse", "better", "same", "too few calls"]
_SURE_Z: Final = 2.576  # 1 in 100 by chance
_MIN_CALLS: Final = 10
_MAX_GROUPS: Final = 500


@dataclass(frozen=True, slots=True)
class ServerVersion:
    """A version that calls were recorded under."""

    version: str
    first_seen: datetime
    last_seen: datetime
    calls: int


@dataclass(frozen=True, slots=True)
class ToolChange:
    """One tool before and after; None on a side where it was not called.

    `verdict` is about the share of failures: `worse` or `better` only when chance alone would do that once in a hundred times.
    """

    tool: str
    before: ToolHealth | None
    after: ToolHealth | None
    verdict: Verdict

    @property
    def failed_change(self) -> float | None:
        """Share of failures after, less that before; None when one side is missing."""
        return None if self.before is None or self.after is None else self.after.failed_share - self.before.failed_share

    @property
    def p95_ratio(self) -> float | None:
        """p95 after as a multiple of p95 before."""
        if self.before is None or self.after is None or not self.before.p95_ms:
            return None
        return self.after.p95_ms / self.before.p95_ms


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions: what each tool does, which failures came, which went, which stayed. `tools`: the worst change first."""

    before: str
    after: str
    calls_before: float
    calls_after: float
    tools: tuple[ToolChange, ...]
    new_failures: tuple[FailureGroup, ...]
    gone_failures: tuple[FailureGroup, ...]
    kept_failures: tuple[FailureGroup, ...]


async def server_versions(reader: Reader, which: Filter | None = None) -> list[ServerVersion]:
    """Versions that calls were recorded under, the newest (by its first call) first."""
    where, bound = (which or Filter()).where(reader.stamp)
    rows = await reader.rows(
        f"SELECT server_version, MIN(started_at) AS first_seen, MAX(started_at) AS last_seen, COUNT(*) AS n FROM {reader.calls} "  # noqa: S608 - names of ours, values bound
        f"WHERE {where} AND server_version IS NOT NULL GROUP BY server_version ORDER BY first_seen DESC",
        bound,
    )
    return [ServerVersion(row["server_version"], as_time(row["first_seen"]), as_time(row["last_seen"]), int(row["n"])) for row in rows]


async def compare_versions(reader: Reader, before: str, after: str, which: Filter | None = None) -> Comparison:
    """What is different in the calls of version `after`; the filter narrows both sides alike."""
    first, second = (replace(which or Filter(), server_version=version) for version in (before, after))
    old, new = await tool_health(reader, first), await tool_health(reader, second)
    were, are = await list_failures(reader, first, limit=_MAX_GROUPS), await list_failures(reader, second, limit=_MAX_GROUPS)
    known, now = {_identity(group) for group in were}, {_identity(group) for group in are}
    return Comparison(
        before=before,
        after=after,
        calls_before=sum(tool.calls for tool in old),
        calls_after=sum(tool.calls for tool in new),
        tools=tuple(changes(old, new)),
        new_failures=tuple(group for group in are if _identity(group) not in known),
        gone_failures=tuple(group for group in were if _identity(group) not in now),
        kept_failures=tuple(group for group in are if _identity(group) in known),
    )


def changes(old: list[ToolHealth], new: list[ToolHealth]) -> list[ToolChange]:
    """Each tool of either side, worse ones first, then by the change of their failures."""
    before, after = {tool.tool: tool for tool in old}, {tool.tool: tool for tool in new}
    found = [
        ToolChange(name, before.get(name), after.get(name), verdict(before.get(name), after.get(name)))
        for name in sorted({*before, *after})
    ]
    order = {"worse": 0, "better": 1, "same": 2, "too few calls": 3}
    return sorted(found, key=lambda change: (order[change.verdict], -abs(change.failed_change or 0.0), change.tool))


def verdict(before: ToolHealth | None, after: ToolHealth | None) -> Verdict:
    """Is the share of failures different beyond chance? Two proportions, pooled."""
    if before is None or after is None or min(before.calls, after.calls) < _MIN_CALLS:
        return "too few calls"
    failed = before.failed_share * before.calls + after.failed_share * after.calls
    pooled = failed / (before.calls + after.calls)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / before.calls + 1 / after.calls))
    if spread == 0:
        return "same"
    z = (after.failed_share - before.failed_share) / spread
    return "worse" if z > _SURE_Z else "better" if z < -_SURE_Z else "same"


def _identity(group: FailureGroup) -> tuple[str | None, str, str | None]:
    return group.fingerprint, group.tool, group.error_type
