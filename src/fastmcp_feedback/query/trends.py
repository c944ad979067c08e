"""Tool health with what it was before: in the window before this one, and under the version before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from .filters import Filter
from .health import ToolHealth, tool_health
from .reader import Reader
from .versions import ToolChange, changes, server_versions


@dataclass(frozen=True, slots=True)
class HealthReport:
    """Health now and before.

    `window` holds each tool against the window of equal length before `since` (empty without `since`), `version` the newest
    version against the one before in its last such window (empty when there is only one);
    `never_called` names tools of the server that no call was recorded of in the
    window, None when the server's list is not known.
    """

    tools: tuple[ToolHealth, ...]
    window: tuple[ToolChange, ...]
    version: tuple[ToolChange, ...]
    current_version: str | None
    previous_version: str | None
    never_called: tuple[str, ...] | None

    @property
    def calls(self) -> float:
        """All calls, weighted."""
        return sum(tool.calls for tool in self.tools)

    @property
    def failed(self) -> float:
        """Soft errors and errors, weighted."""
        return sum(tool.soft_errors + tool.errors for tool in self.tools)


async def health_report(
    reader: Reader, which: Filter | None = None, *, known_tools: Iterable[str] | None = None, now: datetime | None = None
) -> HealthReport:
    """Health of each tool with what changed. `known_tools` are the names that the server lists."""
    chosen = which or Filter()
    tools = await tool_health(reader, chosen)
    window: list[ToolChange] = []
    length: timedelta | None = None
    if chosen.since is not None:
        length = (chosen.until or now or datetime.now(UTC)) - chosen.since
        earlier = replace(chosen, since=chosen.since - length, until=chosen.since)
        window = changes(await tool_health(reader, earlier), tools)
    current = previous = None
    version: list[ToolChange] = []
    if chosen.server_version is None:
        # Not bounded from below: the version before may have ended before the window.
        known = await server_versions(reader, replace(chosen, since=None))
        current, previous = (known[0].version if known else None), (known[1].version if len(known) > 1 else None)
    if current is not None and previous is not None:
        new, old = replace(chosen, server_version=current), replace(chosen, server_version=previous)
        if length is not None:
            last = known[1].last_seen
            old = replace(old, since=last - length, until=last + timedelta(microseconds=1))
        version = changes(await tool_health(reader, old), await tool_health(reader, new))
    called = {tool.tool for tool in tools}
    return HealthReport(
        tuple(tools),
        tuple(window),
        tuple(version),
        current,
        previous,
        None if known_tools is None else tuple(sorted(set(known_tools) - called)),
    )
