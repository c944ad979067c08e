"""Start markers: calls that run long are noted on disk, so that a killed process's calls are stored as interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..records import ToolCallRecord
from .spool.segment import Segment
from .spool.spool import Spool

_LONG_CALL_NS: Final = 1_000_000_000
_LOOK_EVERY_S: Final = 0.2
_AFTER_END_S: Final = 0.5  # an ended call's own record is safe by then


@dataclass(slots=True)
class _Mark:
    place: tuple[Segment, int]
    ended_s: float | None = None


class Marks:
    """The markers of one process. `running` lists the calls that run, `template` makes what is stored if one never ends."""

    def __init__(self, spool: Spool, names: Sequence[str]) -> None:
        self.running: Callable[[], Iterable[Any]] = lambda: ()
        self.template: Callable[[Any], ToolCallRecord | None] = lambda _call: None
        self.open: dict[str, _Mark] = {}
        self._spool = spool
        self._names = names
        self._looked_s = 0.0

    def look(self, *, at_once: bool) -> None:
        """Mark calls that have run for more than a second; clear the marks of those that ended a while ago.

        `at_once` clears them without that while: everything recorded is safe already.
        """
        now_s = time.monotonic()
        if now_s - self._looked_s < _LOOK_EVERY_S and not at_once:
            return
        self._looked_s = now_s
        began_before_ns = time.time_ns() - _LONG_CALL_NS
        long_running = {call.id: call for call in self.running() if call.started_ns <= began_before_ns and not call.ended}
        for call_id, mark in list(self.open.items()):
            if not self._spool.knows_start(mark.place):  # dropped with its file: mark it anew
                del self.open[call_id]
            elif call_id in long_running:
                mark.ended_s = None
            else:
                self._ended(call_id, mark, now_s, at_once=at_once)
        for call_id in long_running.keys() - self.open.keys():
            self._begin(call_id, long_running[call_id])

    def _ended(self, call_id: str, mark: _Mark, now_s: float, *, at_once: bool) -> None:
        mark.ended_s = now_s if mark.ended_s is None else mark.ended_s
        if at_once or now_s - mark.ended_s >= _AFTER_END_S:
            self._spool.end_call(mark.place)
            del self.open[call_id]

    def _begin(self, call_id: str, call: Any) -> None:
        record = self.template(call)
        place = self._spool.start_call(self._names, record) if record is not None else None
        if place is not None:
            self.open[call_id] = _Mark(place)
