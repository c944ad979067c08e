"""The recorder: one inbox and shaping thread, one queue per sink, one writer thread, one set of books.

    submit -> inbox -> shaping thread -> queue of each sink -> writer thread -> sink

Everything that a caller's thread touches is O(1) under one lock that is never held while anything waits.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from .. import contain
from ..raw import RawCall
from ..records import ToolCallRecord
from ..sink import Record
from .fan_out import fan_out
from .host_loop import HostLoop
from .inbox import Inbox
from .options import DeliveryOptions
from .runner import SinkRunner
from .waiters import Waiters
from .writer import abandon_and_stop, start_writer

if TYPE_CHECKING:
    from .keeper import Keeper

Shape = Callable[[Any], "tuple[Record, bool] | None"]
_OVERHEAD_BYTES = 600  # a record's own objects, beside its payloads
# With a spool the queues' limits say what stays in memory; a burst on its way to disk may be larger.
_BURST = 400_000
_BURST_BYTES = 256 * 1024 * 1024
_SECURE_S = 1.0


class Recorder:
    """Takes raw calls and finished records, shapes and delivers them.

    Args:
        shape: Turns an item into `(record, keep)`; `keep=False` means sampled out; None means nothing to record.
        sinks: Where records go.
        options: Checked settings.
        host: Follows the server's event loop.
    """

    def __init__(self, shape: Shape, sinks: Sequence[Any], options: DeliveryOptions, host: HostLoop | None = None) -> None:
        self._shape = shape
        self.options = options
        self.host = host or HostLoop()
        self.sinks = list(sinks)
        self.closed = False
        self.refused_after_close = 0
        self.keeper: Keeper | None = None
        self._follow: tuple[Callable[[], Iterable[Any]], Callable[[Any], ToolCallRecord | None]] = (tuple, lambda _call: None)
        self.start_afresh()
        _alive.add(self)

    def start_afresh(self) -> None:
        """New threads, queues and books, without touching old ones: at construction, and in a forked child."""
        self._lock = threading.RLock()  # a signal handler may interrupt its holder
        self._started = False
        self._room = self._room_bytes = 0  # none: the first record and a closed recorder take the careful road
        self._loop: asyncio.AbstractEventLoop | None = None
        self.inbox = Inbox("fastmcp-feedback-shaping", self._consume, self._hand_on)
        self.runners = [SinkRunner(f"{type(sink).__name__}-{n}", sink, self.options, self.host) for n, sink in enumerate(self.sinks)]
        self.keeper = self._new_keeper()
        self._waiters = Waiters(self.runners, self.inbox, self.keeper)
        for runner in self.runners:
            runner.on_progress = self._waiters.check
            runner.more_coming = self.inbox.busy
            runner.keeper = self.keeper
        self._fresh = False

    def _new_keeper(self) -> Keeper | None:
        if self.keeper is not None:  # a forked child: the parent's files are not ours
            self.keeper.spool.abandon_after_fork()
        if self.options.spool is None or not self.runners:
            return None
        from .keeper import Keeper  # noqa: PLC0415 - most recorders have no spool

        keeper = Keeper(self.options, self.runners, self._nudge, lambda: self._waiters.check())  # noqa: PLW0108 - made later
        keeper.marks.running, keeper.marks.template = self._follow
        return keeper

    def follow_calls(self, running: Callable[[], Iterable[Any]], template: Callable[[Any], ToolCallRecord | None]) -> None:
        """With a spool: `running` lists the calls that run, `template` makes what is stored of one that never ends."""
        self._follow = (running, template)
        if self.keeper is not None:
            self.keeper.marks.running, self.keeper.marks.template = running, template

    def recover(self) -> None:
        """With a spool: start now, not with the first record, so that what an earlier process left is delivered."""
        if self.keeper is not None and not self._started:
            with self._lock:
                if not self._started and not self.closed:
                    self._start()

    # -- callers' side

    def submit(self, item: RawCall | Record, size_bytes: int = 0) -> bool:
        """Queue an item for every sink. False when none has room for it; refusals are counted. Never waits.

        The caller pays for one lock and one append; the books of each sink are kept by the shaping thread.
        """
        with self._lock:
            inbox = self.inbox
            if inbox.entered - inbox.taken >= self._room or inbox.entered_bytes - inbox.taken_bytes + size_bytes > self._room_bytes:
                return self._submit_carefully(item, size_bytes)
            inbox.put(item, size_bytes + _OVERHEAD_BYTES)
        return True

    def _submit_carefully(self, item: RawCall | Record, size_bytes: int) -> bool:
        """The first record, a full queue or a closed recorder: look at everything anew."""
        if self.closed:
            self.refused_after_close += 1
            return False
        if not self._started:
            self._start()
        self._measure_room()
        full = self.inbox.waiting >= self._room
        if full or self.inbox.waiting_bytes + size_bytes > self._room_bytes:
            for runner in self.runners:
                runner.account.refused["queue_full" if full else "queue_bytes"] += 1
            return not self.runners
        self.inbox.put(item, size_bytes + _OVERHEAD_BYTES)
        return True

    def _measure_room(self) -> None:
        """How much the inbox may hold: what the emptiest sink's queue still takes, or what the disk will."""
        options = self.options
        if self.keeper is not None and self.keeper.spool.usable:
            self._room, self._room_bytes = max(options.max_queue, _BURST), max(options.max_queue_bytes, _BURST_BYTES)
            return
        accounts = [runner.account for runner in self.runners]
        self._room = options.max_queue - min((account.waiting for account in accounts), default=0)
        self._room_bytes = options.max_queue_bytes - min((account.waiting_bytes for account in accounts), default=0)

    def _start(self) -> None:
        self._started = True
        self.inbox.start()
        self._loop = start_writer(self.runners)
        if self.keeper is not None:
            self.keeper.start()

    # -- the shaping thread

    def _consume(self, item: RawCall | Record, size_bytes: int) -> None:
        try:
            shaped = self._shape(item)
        except BaseException:
            with self._lock:
                for runner in self.runners:
                    runner.account.refused["shaping_failed"] += 1
            raise
        if shaped is not None and shaped[1]:
            fan_out(shaped[0], size_bytes, self.runners, self.options, self.keeper)
            self._measure_room()
            self._fresh = True

    def _hand_on(self) -> None:
        """After a slice: tell the writer thread, and whoever waits for shaping."""
        if self._fresh and self._loop is not None:
            self._fresh = False
            self._nudge()
            if self.keeper is not None:
                self.keeper.wake()
        self._waiters.check()

    def _nudge(self) -> None:
        def nudge() -> None:
            for runner in self.runners:
                runner.nudge()

        self._on_writer(nudge)

    def _on_writer(self, call: Callable[[], Any]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            with contain.contain("writer thread"):
                self._loop.call_soon_threadsafe(call)

    # -- waiting

    def _hurry(self, *, final: bool = False) -> None:
        self.inbox.hurry()

        def kick() -> None:
            for runner in self.runners:
                runner.final = runner.final or final
                runner.hurry()

        self._on_writer(kick)

    async def flush(self, timeout_s: float = 30.0) -> bool:
        """Wait until all that was submitted before has reached an end state; False when the time is over."""
        loop = asyncio.get_running_loop()
        self.host.bind(loop)
        with self._lock:
            waiter = self._waiters.until_delivered()
        self._hurry()
        return await self._waiters.wait_async(waiter, timeout_s, self._hurry) or self._waiters.is_safe(waiter)

    async def shaped(self, timeout_s: float) -> bool:
        """Wait until all that was submitted before has been shaped (outcomes are known)."""
        with self._lock:
            waiter = self._waiters.until_shaped()
        self.inbox.hurry()
        return await self._waiters.wait_async(waiter, timeout_s, self.inbox.hurry)

    def flush_sync(self, timeout_s: float, *, final: bool = False, own_only: bool = False) -> bool:
        """The same from plain code, a signal handler or `atexit`. Blocks the calling thread.

        `final` lets sinks of a loop that no longer turns run on the writer's loop as a last resort; `own_only` does
        not wait for sinks of the host's loop (the caller is that loop and blocks it).
        """
        if not self._started or not self._lock.acquire(timeout=max(timeout_s, 0.1)):
            return not self._started
        try:
            waiter = self._waiters.until_delivered(own_only=own_only)
        finally:
            self._lock.release()
        self._hurry(final=final)
        done = self._waiters.wait_sync(waiter, timeout_s, lambda: self._hurry(final=final))
        if final:
            if self.keeper is not None:
                self.keeper.secure(_SECURE_S)
            self._on_writer(self._end_final)
        return done or self._waiters.is_safe(waiter)

    def _end_final(self) -> None:
        for runner in self.runners:
            runner.final = False

    async def aclose(self) -> None:
        """Flush within `shutdown_timeout`, close the sinks, refuse and count what comes later. Idempotent."""
        with self._lock:
            if self.closed:
                return
        await self.flush(self.options.shutdown_timeout)
        with self._lock:
            self.closed = True
            self._room = 0
        await asyncio.to_thread(self._close_threads) if self._started else None
        for runner in self.runners:
            await self._close_sink(runner)

    def _close_threads(self) -> None:
        self.inbox.stop(1.0)
        if self.keeper is not None:
            self.keeper.stop(_SECURE_S)
        done: Future[None] = Future()
        self._on_writer(lambda: abandon_and_stop(self.runners, done))
        with contain.contain("closing the writer thread"):
            done.result(2.0)
        if self.keeper is not None:
            self.keeper.spool.close()

    async def _close_sink(self, runner: SinkRunner) -> None:
        close = getattr(runner.sink, "aclose", None)
        if close is None:
            return
        with contain.contain(f"closing sink {runner.name}"):
            async with asyncio.timeout(self.options.shutdown_timeout):
                await close()

    # -- books

    def stats(self) -> dict[str, Any]:
        """The books of every sink and of the recorder itself."""
        with self._lock:
            unshaped = self.inbox.waiting
            sinks = {}
            for runner in self.runners:
                report = runner.account.report(self.keeper.on_disk(runner.name) if self.keeper is not None else 0)
                report["accepted"] += unshaped
                report["waiting"] += unshaped
                sinks[runner.name] = {**report, "oldest_waiting_s": runner.oldest_age_s}
        return {
            "sinks": sinks,
            "refused_after_close": self.refused_after_close,
            "contained_errors": dict(contain.counts),
            "spool": self.keeper.report() if self.keeper is not None else None,
        }


_alive: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    """The child has none of our threads, and what waited belongs to the parent: start from empty."""
    contain.forget()
    for recorder in list(_alive):
        recorder.start_afresh()


os.register_at_fork(after_in_child=_after_fork_in_child)
