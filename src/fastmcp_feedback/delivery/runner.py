"""Brings the records of one queue to one sink: batches, retries with back-off, quarantine.

A runner lives on the writer thread's loop. Whether the sink's own `write` runs there too or on the host's loop is its
only difference between sinks.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import contain
from ..sink import Record, RecordsRejected, SinkUnavailable
from .accounting import Account
from .backoff import delay_s
from .host_loop import HostLoop, LoopClosed, write, write_on
from .options import MAX_BATCH, DeliveryOptions
from .queued import Queued

if TYPE_CHECKING:
    from .keeper import Keeper

_SUSPECT_AFTER = 2  # failures of a batch before its records are tried in smaller pieces

_CHANCES = 3  # more attempts for a single suspect once the sink is known to work
_CHANCE_PAUSE_S = 0.02


class SinkRunner:
    """One sink, its queue, its books and its retries."""

    def __init__(self, name: str, sink: Any, options: DeliveryOptions, host: HostLoop) -> None:
        self.name = name
        self.sink = sink
        self.account = Account()
        self.queue: deque[Queued] = deque()
        self.in_flight: list[Queued] = []
        self.owns_resource = bool(getattr(sink, "owns_resource", False))
        self.final = False  # the process is ending: host sinks may run on our loop as a last resort
        self.on_progress: Any = None
        self.more_coming: Callable[[], bool] = bool
        self.keeper: Keeper | None = None
        self.failures = 0
        self._options = options
        self._host = host
        self._wake: asyncio.Event | None = None
        self._kick: asyncio.Event | None = None
        self._last_write = 0.0
        self._rush = False

    # -- from other threads, through call_soon_threadsafe or under the recorder's lock

    def nudge(self) -> None:
        """Look at the queue (on the writer's loop)."""
        if self._wake is not None:
            self._wake.set()

    def hurry(self) -> None:
        """Deliver now: skip the batch interval and a running back-off (on the writer's loop)."""
        self._rush = True
        if self._kick is not None:
            self._kick.set()
        self.nudge()

    @property
    def oldest_age_s(self) -> float | None:
        """Seconds that the oldest record has waited, None when nothing waits."""
        items = self.in_flight or list(self.queue)[:1]
        return time.monotonic() - items[0].since if items else None

    # -- on the writer's loop

    async def run(self) -> None:
        """Deliver until cancelled."""
        self._wake, self._kick = asyncio.Event(), asyncio.Event()
        while True:
            if not self.queue:
                self._rush = False
                self._wake.clear()
                if not self.queue:
                    await self._wake.wait()
                continue
            await self._gather_batch()
            self._take(max(self._options.batch_size, min(len(self.queue), MAX_BATCH)))
            await self._deliver()
            self._last_write = time.monotonic()

    async def _gather_batch(self) -> None:
        """Wait for a fuller batch while records keep coming; at once after a pause longer than the interval."""
        assert self._wake is not None
        due = self._last_write + self._options.flush_interval
        while len(self.queue) < self._options.batch_size or (self.more_coming() and len(self.queue) < MAX_BATCH):
            if self.more_coming():  # shaping nudges us when it is through
                left_s = self._options.flush_interval
            elif self._rush:
                return
            else:
                left_s = due - time.monotonic()
            if left_s <= 0:
                return
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), left_s)
            except TimeoutError:
                return

    def _take(self, count: int) -> None:
        self.in_flight.extend(self.queue.popleft() for _ in range(min(count, len(self.queue))))

    async def _deliver(self) -> None:
        """Bring what is in flight to an end state."""
        failures, first_failure = 0, 0.0
        while self.in_flight:
            error = await self._attempt(self.in_flight)
            if error is None:
                return
            failures += 1
            self.failures += 1
            first_failure = first_failure or time.monotonic()
            self.account.last_error = contain.describe(error)
            contain.report(f"sink {self.name}", error, "records are kept and tried again")
            if isinstance(error, LoopClosed) and self.final:
                self._lose(self.in_flight, "loop_closed")
                return
            if time.monotonic() - first_failure >= self._options.retry_for:
                self._lose(self.in_flight, "loop_closed" if isinstance(error, LoopClosed) else "retries_exhausted")
                return
            if failures >= _SUSPECT_AFTER and not isinstance(error, (SinkUnavailable, LoopClosed, TimeoutError)):
                await self._isolate()
            if self.in_flight:
                await self._back_off(failures)
                self._take(min(self._options.batch_size, MAX_BATCH - len(self.in_flight)))

    async def _attempt(self, items: list[Queued]) -> BaseException | None:
        """One write; books what was stored. None when all of `items` reached an end state."""
        records = [item.record for item in items]
        try:
            async with asyncio.timeout(self._options.sink_timeout):
                await self._write(records)
        except RecordsRejected as rejection:
            self._settle_rejected(items, rejection)
            return None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return LoopClosed("the write was cancelled")
        except BaseException as exc:  # noqa: BLE001 - whatever a foreign sink raises means: try again later
            return exc
        self.account.written += len(items)
        self._leave(items)
        return None

    async def _write(self, records: list[Record]) -> None:
        if self.owns_resource:
            await write(self.sink, records)
        elif self._host.alive and not self.final:
            await write_on(self._host, self.sink, records)
        elif self.final:
            await self._write_last_resort(records)
        else:
            raise LoopClosed("the event loop that this sink runs on is closed")

    async def _write_last_resort(self, records: list[Record]) -> None:
        """The process ends and the host's loop does not turn any more: our own loop is better than losing them."""
        try:
            await write(self.sink, records)
        except RuntimeError as exc:  # bound to the dead loop
            raise LoopClosed(str(exc)) from exc

    async def _isolate(self) -> None:
        """Find the records that make a batch fail: halves, then halves of halves.

        Only when at least one record was stored is the sink known to work, and what still fails alone is quarantined.
        """
        whole = list(self.in_flight)
        stack, suspects, stored = [whole], [], False
        if len(whole) < 2:
            return
        while stack:
            part = stack.pop()
            error = await self._attempt(part)
            if error is None:
                stored = True
            elif isinstance(error, (SinkUnavailable, LoopClosed, TimeoutError)):
                return
            elif len(part) == 1:
                suspects.append((part[0], error))
                if not stored and len(suspects) > len(whole) // 2:
                    return  # nothing goes through at all: an outage, not a poison
            else:
                middle = len(part) // 2
                stack += [part[middle:], part[:middle]]
        if stored:
            for item, _ in suspects:
                await self._convict(item)

    async def _convict(self, item: Queued) -> None:
        """Quarantine a suspect that keeps failing while the sink works; it may only have come at a bad moment."""
        for _ in range(_CHANCES):
            error = await self._attempt([item])
            if error is None or isinstance(error, (SinkUnavailable, LoopClosed, TimeoutError)):
                return
            await asyncio.sleep(_CHANCE_PAUSE_S)
        assert error is not None
        self._quarantine([(item, contain.describe(error))])

    async def _back_off(self, failures: int) -> None:
        assert self._kick is not None
        if self._rush:  # a flush waits: try quickly, but do not spin
            await asyncio.sleep(min(0.05, delay_s(failures)))
            return
        self._kick.clear()
        try:
            await asyncio.wait_for(self._kick.wait(), delay_s(failures))
        except TimeoutError:
            return

    # -- the ends a record can come to

    def _settle_rejected(self, items: list[Queued], rejection: RecordsRejected) -> None:
        reasons = {record.id: reason for record, reason in rejection.rejected}
        bad = [(item, reasons[item.record.id]) for item in items if item.record.id in reasons]
        good = [item for item in items if item.record.id not in reasons]
        self.account.written += len(good)
        self._leave(good)
        self._quarantine(bad)

    def _quarantine(self, bad: list[tuple[Queued, str]]) -> None:
        for _, reason in bad:
            self.account.quarantine_reasons[reason[:200]] += 1
            contain.warn_once(f"quarantine {self.name}", "sink %s: a record was set aside: %s", self.name, reason)
        self.account.quarantined += len(bad)
        self._leave([item for item, _ in bad])

    def _lose(self, items: list[Queued], reason: str) -> None:
        """Give up on records: those that are on disk stay there for another try, the others are lost."""
        if self.keeper is not None and items:
            kept = self.keeper.keep(self, items)
            self._drop(kept)
            known = {id(item) for item in kept}
            items = [item for item in items if id(item) not in known]
        if items:
            self.account.lost[reason] += len(items)
        self._leave(list(items))

    def _leave(self, items: list[Queued]) -> None:
        """These came to an end."""
        account = self.account
        foreign = 0
        if self.keeper is not None:
            for item in items:
                item.gone = True  # before the look at the ticket: the keeper does it the other way round
                if item.ticket is not None:
                    self.keeper.spool.settle(self.name, item.ticket)
            foreign = sum(item.foreign for item in items)
        account.left += len(items) - foreign
        account.recovered_left += foreign
        self._drop(items)

    def _drop(self, items: list[Queued]) -> None:
        """These leave memory."""
        gone = {id(item) for item in items}
        self.in_flight = [item for item in self.in_flight if id(item) not in gone]
        self.account.left_bytes += sum(item.size_bytes for item in items)
        if self.on_progress is not None:
            self.on_progress()
        if self.keeper is not None and self.account.on_disk:
            self.keeper.ring()

    def abandon(self, reason: str) -> None:
        """Count everything still here as lost (the recorder closes)."""
        self._take(len(self.queue))
        self._lose(self.in_flight, reason)
