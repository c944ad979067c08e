"""Where callers try again and again and get nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from ...query.flailing import Flail, find_flailing
from ..views import View, Visit

MAX_FINDINGS: Final = 50


@dataclass(frozen=True, slots=True)
class FlailingView(View):
    """Findings, the worst first; `truncated` says that only the newest calls were looked at."""

    template: ClassVar[str] = "flailing.html"
    here: ClassVar[str] = "/flailing"

    findings: tuple[Flail, ...]
    calls_read: int
    truncated: bool


async def flailing(visit: Visit) -> FlailingView:
    """Look for it among the calls that the filter leaves."""
    report = await find_flailing(visit.reader, visit.asked.which, limit=MAX_FINDINGS, now=visit.now)
    return FlailingView(report.findings, report.calls_read, report.truncated)
