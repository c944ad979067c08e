"""The calls that run now and those that ran lately, in memory: for linking and for events."""

from __future__ import annotations

from collections import OrderedDict, deque
from contextvars import ContextVar
from itertools import islice

from ..raw import RawCall

MAX_TOOL_CHARS = 255


class CallLog:
    """The calls that run, and the last `recent` calls that ended, in the order of their ends.

    `running` is filled and emptied by the middleware itself, on the caller's path; `recent` by the shaping thread.
    """

    def __init__(self, recent: int) -> None:
        self.running: set[RawCall] = set()
        # What runs in this task, excluded tools too. One for each recorder: several on one server must not hide each
        # other's calls. A task that outlives its call, and a session that a tool opened, still show that call.
        self.current: ContextVar[RawCall | None] = ContextVar("fastmcp_feedback_current_call", default=None)
        self.recent: deque[RawCall] = deque(maxlen=recent)

    def shaped(self, call: RawCall) -> None:
        """It has its outcome (called by the shaping thread)."""
        call.tool = call.tool[:MAX_TOOL_CHARS]  # a name may be a megabyte long, and this one stays
        self.recent.append(call)

    def running_now(self) -> list[RawCall]:
        """A snapshot of the running calls, oldest first; those of excluded tools are left out."""
        return sorted((call for call in self.running.copy() if not call.excluded), key=lambda call: call.started_ns)

    def newest_first(self) -> list[RawCall]:
        """A snapshot of the running and the recent calls, the last started first; those of excluded tools are left out."""
        while True:
            try:
                return sorted((*self.running_now(), *self.recent), key=lambda call: call.started_ns, reverse=True)
            except RuntimeError:  # another thread changed one meanwhile
                continue


class KeyedLog:
    """The last events, findable by their key."""

    def __init__(self, recent: int) -> None:
        self._recent = recent
        self._events: OrderedDict[str, object] = OrderedDict()

    def add(self, event_id: str, event: object) -> None:
        """Remember an event, forgetting the oldest beyond the limit."""
        self._events[event_id] = event
        while len(self._events) > self._recent:
            self._events.popitem(last=False)

    def snapshot(self) -> list[object]:
        """The remembered events, oldest first."""
        while True:
            try:
                return list(islice(self._events.values(), None))
            except RuntimeError:  # another thread added one meanwhile
                continue
