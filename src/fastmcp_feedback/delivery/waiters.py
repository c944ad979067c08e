"""Waiting for the books to reach a mark, from coroutines and from plain threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .inbox import Inbox
from .runner import SinkRunner

if TYPE_CHECKING:
    from .keeper import Keeper

_LOOK_AGAIN_S = 0.25


@dataclass(slots=True, eq=False)
class Waiter:
    """Marks to reach: shaped items of the inbox, then records that left the queue of each sink.

    The second marks are set when the first is reached: only then has every record before it entered the queues.
    """

    taken: int
    runners: tuple[SinkRunner, ...] = ()
    left: dict[SinkRunner, int] | None = None
    secured: int = 0
    failures: dict[SinkRunner, int] = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)
    call: Callable[[], None] | None = None


class Waiters:
    """All who wait on one recorder."""

    def __init__(self, runners: Sequence[SinkRunner], inbox: Inbox, keeper: Keeper | None = None) -> None:
        self._runners = runners
        self._keeper = keeper
        self._inbox = inbox
        self._waiting: list[Waiter] = []
        self._lock = threading.RLock()  # a signal handler may interrupt the thread that holds it

    def until_shaped(self) -> Waiter:
        """A mark at what has been submitted so far; call under the recorder's lock."""
        return Waiter(self._inbox.entered)

    def until_delivered(self, *, own_only: bool = False) -> Waiter:
        """A mark at what has been submitted so far, for every sink (of our own); call under the recorder's lock."""
        return Waiter(self._inbox.entered, tuple(runner for runner in self._runners if runner.owns_resource or not own_only))

    def check(self) -> None:
        """Wake those whose marks are reached. Called after every batch and slice."""
        if not self._waiting:
            return
        with self._lock:
            for waiter in [w for w in self._waiting if self._reached(w)]:
                self._waiting.remove(waiter)
                waiter.done.set()
                if waiter.call is not None:
                    waiter.call()

    def _reached(self, waiter: Waiter) -> bool:
        if self._inbox.taken < waiter.taken:
            return False
        if waiter.left is None:
            waiter.left = {runner: runner.account.entered for runner in waiter.runners}
            waiter.failures = {runner: runner.failures for runner in waiter.runners}
            waiter.secured = self._keeper.entered if self._keeper is not None else 0
        # Safe on disk is an end, too, but only where the sink was tried once more and failed.
        return all(
            runner.account.ended >= left or (runner.failures > waiter.failures[runner] and self.is_safe(waiter))
            for runner, left in waiter.left.items()
        )

    def is_safe(self, waiter: Waiter) -> bool:
        """Is everything before the mark stored or on disk?"""
        return self._keeper is not None and waiter.left is not None and self._keeper.secured >= waiter.secured

    def _add(self, waiter: Waiter) -> None:
        with self._lock:
            self._waiting.append(waiter)
        self.check()

    def _drop(self, waiter: Waiter) -> None:
        with self._lock:
            if waiter in self._waiting:
                self._waiting.remove(waiter)

    async def wait_async(self, waiter: Waiter, timeout_s: float, again: Callable[[], None]) -> bool:
        """Wait without blocking the loop; `again` is called now and then to keep things moving."""
        loop = asyncio.get_running_loop()
        reached = asyncio.Event()

        def wake() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(reached.set)

        waiter.call = wake
        self._add(waiter)
        deadline = loop.time() + timeout_s
        try:
            while not waiter.done.is_set():
                left_s = deadline - loop.time()
                if left_s <= 0:
                    return False
                try:
                    await asyncio.wait_for(reached.wait(), min(left_s, _LOOK_AGAIN_S))
                except TimeoutError:
                    again()
                    self.check()
            return True
        finally:
            self._drop(waiter)

    def wait_sync(self, waiter: Waiter, timeout_s: float, again: Callable[[], None]) -> bool:
        """Block this thread until the marks are reached."""
        self._add(waiter)
        left_s = timeout_s
        try:
            while left_s > 0 and not waiter.done.wait(min(left_s, _LOOK_AGAIN_S)):
                left_s -= _LOOK_AGAIN_S
                again()
                self.check()
            return waiter.done.is_set()
        finally:
            self._drop(waiter)
