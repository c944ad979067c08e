"""How many reports one conversation and one user may make in an hour."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from datetime import timedelta
from typing import Final

from fastmcp.exceptions import ToolError

from ..ids import utc_now
from ..store.feedback_sql import Owner
from ..store.feedback_store import FeedbackStore

HOUR_S: Final = 3600.0
DEFAULT_PER_HOUR: Final = 60
_USER_TIMES: Final = 2  # a user has several conversations
_UNKNOWN_TIMES: Final = 5  # all callers that nothing tells apart share one allowance
_REMEMBERED: Final = 10_000


class Limits:
    """Counts in memory, and for reports of other workers in the database."""

    def __init__(self, per_hour: int | None) -> None:
        if per_hour is not None and per_hour < 1:
            raise ValueError(f"max_per_hour must be at least 1, or None for no limit, got {per_hour!r}")
        self._per_hour = per_hour
        self._times: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    async def take(self, owner: Owner, store: FeedbackStore) -> None:
        """One more report.

        Raises:
            ToolError: that is too many.
        """
        if self._per_hour is None:
            return
        allowances = self._allowances(owner, self._per_hour)
        for key, allowed in allowances.items():
            self._check(key[0], self._recent(key), allowed)
        for key in allowances:
            self._recent(key).append(time.monotonic())
        stored = await store.count_since(owner, utc_now() - timedelta(seconds=HOUR_S))
        for (column, value), allowed in allowances.items():
            if value and stored.get(column, 0) >= allowed:
                self._refuse(column, allowed, HOUR_S)

    def _allowances(self, owner: Owner, per_hour: int) -> dict[tuple[str, str], int]:
        found = {}
        if owner.conversation_key is not None:
            found["conversation_key", owner.conversation_key] = per_hour
        if owner.user_sub is not None:
            found["user_sub", owner.user_sub] = per_hour * _USER_TIMES
        return found or {("unknown", ""): per_hour * _UNKNOWN_TIMES}

    def _recent(self, key: tuple[str, str]) -> deque[float]:
        times = self._times.setdefault(key, deque())
        self._times.move_to_end(key)
        while len(self._times) > _REMEMBERED:
            self._times.popitem(last=False)
        oldest = time.monotonic() - HOUR_S
        while times and times[0] < oldest:
            times.popleft()
        return times

    def _check(self, column: str, times: deque[float], allowed: int) -> None:
        if len(times) >= allowed:
            self._refuse(column, allowed, HOUR_S - (time.monotonic() - times[0]))

    def _refuse(self, column: str, allowed: int, wait_s: float) -> None:
        who = {"conversation_key": "this conversation", "user_sub": "this user"}.get(column, "callers without identity")
        raise ToolError(
            f"too many reports: {who} may make {allowed} in an hour; put what belongs together into one report, "
            f"or try again in {max(1, round(wait_s / 60))} minutes"
        )
