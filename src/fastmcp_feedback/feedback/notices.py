"""Ways out for reports, off by default: a `Notifier` is told of every report, on a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, Protocol, runtime_checkable

from ..contain import contain, warn_once
from ..worker import Worker

MAX_WAITING: Final = 200


@runtime_checkable
class Notifier(Protocol):
    """Anything with `async notify(report)`; `report` is a JSON-friendly dict with the linked calls under `calls`."""

    async def notify(self, report: dict[str, Any]) -> None:
        """Tell somebody. An exception is logged; retrying is the notifier's own business."""
        ...


class Notices:
    """Hands reports to the notifiers without making anybody wait; beyond two hundred waiting ones they are dropped, with a warning."""

    def __init__(self, notifiers: Sequence[Any]) -> None:
        for one in notifiers:
            if not callable(getattr(one, "notify", None)):
                raise TypeError(f"a notifier needs `async notify(report)`; {type(one).__name__} has none")
        self._notifiers = list(notifiers)
        self._worker = Worker("fastmcp-feedback-notices")

    def put(self, row: dict[str, Any], calls: list[dict[str, Any]]) -> None:
        """A report has come in, or has come again."""
        if not self._notifiers:
            return
        if self._worker.waiting >= MAX_WAITING:
            warn_once("notices", "more than %d reports wait for notifiers: one was not announced", MAX_WAITING)
            return
        self._worker.submit(self._tell, {**public_fields(row), "calls": calls})

    def _tell(self, report: dict[str, Any]) -> None:

        for one in self._notifiers:
            with contain(f"notifier {type(one).__name__}"):
                asyncio.run(one.notify(report))


def public_fields(row: dict[str, Any]) -> dict[str, Any]:
    """What leaves the server about a report: not who its user is to the server, and no contact."""
    times = {name: row[name].isoformat() for name in ("created_at", "last_reported_at") if row[name] is not None}
    kept = ("id", "type", "title", "description", "status", "submitter", "submitter_kind", "verified", "tool", "severity", "server_version")
    return {name: row[name] for name in kept} | times | {"count": row["report_count"], "duplicate_of": row["duplicate_of"]}
