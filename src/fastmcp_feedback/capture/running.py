"""The calls that run now and those that ran lately, in memory: for linking and for events."""

from __future__ import annotations

from collections import OrderedDict, deque
from contextvars import ContextVar
from itertools import islice

from ..raw import RawCall

# What runs in this task: a call, or the mark that an excluded tool runs. Shared by all recorders of the process;
# each looks at `owner`.
current: ContextVar[RawCall | None] = ContextVar("fastmcp_feedback_current_call", default=None)


class CallLog:
    """Running calls by id, and the last `recent` calls in the order in which they started."""

    def __init__(self, recent: int) -> None:
        self.running: dict[str, RawCall] = {}
        self.recent: deque[RawCall] = deque(maxlen=recent)

    def started(self, call: RawCall) -> None:
        """A call begins."""
        self.running[call.id] = call
        self.recent.append(call)

    def ended(self, call: RawCall) -> None:
        """It returned or raised; its outcome may not be known yet."""
        call.ended = True
        self.running.pop(call.id, None)

    def newest_first(self) -> list[RawCall]:
        """A snapshot of the recent calls."""
        while True:
            try:
                return list(reversed(self.recent))
            except RuntimeError:  # another thread appended meanwhile
                continue

    def find(self, call_id: str) -> RawCall | None:
        """The recent call with that id, or whose id begins with that reference (8 characters at least)."""
        if call_id in self.running:
            return self.running[call_id]
        for call in self.newest_first():
            if call.id == call_id or (len(call_id) >= 8 and call.id.startswith(call_id)):
                return call
        return None


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
