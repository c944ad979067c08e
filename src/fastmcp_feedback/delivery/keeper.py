"""The spool's thread: puts on disk what the sinks have not taken yet, and brings back what lies only there.

    shaping thread --watch--> keeper --append--> spool --take--> keeper --> queue of a sink

A record that its sinks take within `UNSAFE_S` never touches the disk. One that they do not is written there while it
stays in memory; one for which memory has no room goes to disk alone and comes back, in order, when there is room.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from .. import contain
from ..codec import encode_record
from ..sink import Record
from .inbox import Bell, Pacer
from .marks import Marks
from .options import MAX_BATCH, DeliveryOptions
from .orphans import Orphans
from .queued import Lane, Queued, Watched
from .spool.segment import Entry
from .spool.spool import Spool

UNSAFE_S: Final = 0.14  # with the shaping thread's pause and this thread's, a record is safe within 250 ms
_CYCLE_S: Final = 0.03
_IDLE_CYCLE_S: Final = 0.25
_BATCH: Final = 200
_TAKE: Final = 20  # reading and decoding take tens of microseconds a record
_PURGE_ABOVE: Final = 20_000
_PURGE_EVERY_S: Final = 5.0


class Keeper:
    """One spool and its thread.

    Args:
        options: `spool` names the directory.
        lanes: The sinks' queues and books.
        nudge: Wakes the writer thread after records came back.
        progress: Called when records became safe.
    """

    def __init__(self, options: DeliveryOptions, lanes: Sequence[Lane], nudge: Callable[[], None], progress: Callable[[], None]) -> None:
        assert options.spool is not None
        self.pacer = Pacer()
        self._lanes = {lane.name: lane for lane in lanes}
        bound = options.spool_max_bytes
        self.spool = Spool(options.spool, tuple(self._lanes), max_bytes=bound, on_lost=self._count_lost, breathe=Pacer().breathe)
        self._nudge = nudge
        self._progress = progress
        self._watched: deque[Watched] = deque()
        self._in_hand: list[Watched] = []
        self.entered = 0  # written by the shaping thread
        self.secured = 0  # of those, safe or gone; written by this thread
        self._spills_in = 0  # shaping thread
        self._spills_out = 0  # this thread
        self._books = threading.Lock()  # for losses, which several threads may find
        self._bell = Bell()
        self.ring = self._bell.ring  # there may be something to do
        self._idle = True
        self._rush = False
        self._tidied: threading.Event | None = None
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._orphans = Orphans(self.spool, self._count_recovered, self.ring)
        self._purged_s = 0.0
        self.marks = Marks(self.spool, tuple(self._lanes))

    def start(self) -> None:
        """Start the thread (once)."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="fastmcp-feedback-spool", daemon=True)
            self._thread.start()

    # -- the shaping thread

    def watch(self, record: Record, since: float, places: Sequence[tuple[Lane, Queued]], spilled: Sequence[Lane]) -> None:
        """Take care of a record that entered queues, or had no room in some."""
        for lane in spilled:
            lane.account.spilled += 1
        self.entered += 1
        self._watched.append(Watched(record, since, places, spilled))
        if spilled:
            self._spills_in += 1
            if self._spills_in % _BATCH == 1:
                self._bell.ring()

    def wake(self) -> None:
        """Records may have come in: look at them in time."""
        if self._idle and self._watched:
            self._idle = False
            self._bell.ring()

    # -- the writer thread

    def keep(self, lane: Lane, items: Sequence[Queued]) -> list[Queued]:
        """Leave records to the disk that memory lets go of; those of them that it has now."""
        for item in items:
            item.gone = True
        tickets = [item.ticket for item in items]
        released = iter(self.spool.release(lane.name, [ticket for ticket in tickets if ticket is not None]))
        kept = [item for item, ticket in zip(items, tickets, strict=True) if ticket is not None and next(released)]
        known = {id(item) for item in kept}
        fresh = [item for item in items if id(item) not in known and not item.foreign]
        if fresh and self.spool.append([Entry(encode_record(item.record), (), (lane.name,)) for item in fresh]) is not None:
            for item in fresh:
                if item.ticket is not None:  # this thread came to it meanwhile: one copy is enough
                    self.spool.settle(lane.name, item.ticket)
            kept += fresh
        lane.account.parked += sum(not item.foreign for item in kept)
        self._bell.ring()
        return kept

    # -- any thread

    def secure(self, timeout_s: float) -> bool:
        """Put everything that waits on disk now, and tidy up; False when the time is over first."""
        mark, tidied = self.entered, threading.Event()
        self._rush = True
        self._tidied = tidied  # after the other: the thread looks at them the other way round
        self._bell.ring()
        return tidied.wait(timeout_s) and self.secured >= mark

    def stop(self, timeout_s: float) -> None:
        """Secure everything and end the thread."""
        self._stopping = self._rush = True
        self._bell.ring()
        if self._thread is not None:
            self._thread.join(timeout_s)
        self._orphans.join(timeout_s)

    # -- the thread

    def _run(self) -> None:
        with contain.contain("spool"):
            self.spool.probe()
        while True:
            tidied, rush, stopping = self._tidied, self._rush, self._stopping
            busy = False
            with contain.contain("spool"):
                self.pacer.begin()
                self._secure_batches(rush=rush)
                busy = self._refill()
                self.marks.look(at_once=rush)
                self.spool.maintain(tidy=rush)
                if not stopping:
                    self._orphans.look()
            if tidied is not None:
                self._tidied, self._rush = None, stopping
                tidied.set()
            if stopping:
                return
            self._rest(busy=busy)

    def _rest(self, *, busy: bool) -> None:
        self._idle = not busy and not self._watched
        if self._watched:  # watch() may have looked before we said that we are idle
            self._idle = False
        self._bell.wait(0.001 if busy else (_IDLE_CYCLE_S if self._idle else _CYCLE_S))
        self._idle = False

    def _secure_batches(self, *, rush: bool) -> None:
        while True:
            batch = self._in_hand = self._next_batch(rush=rush)
            if batch and not self._append(batch):
                return
            if len(batch) < _BATCH:
                break
        self._progress()

    def _next_batch(self, *, rush: bool) -> list[Watched]:
        """Records that are due: old enough, or with others behind them that have no other place."""
        watched, batch = self._watched, list[Watched]()
        spills = self._spills_in - self._spills_out
        if not self.spool.usable and not spills:
            self._purge()
            return batch
        due = time.monotonic() - UNSAFE_S
        while watched and len(batch) < _BATCH:
            first = watched[0]
            if not first.spilled and all(item.gone for _, item in first.places):
                watched.popleft()
                self.secured += 1
                if self.secured % _BATCH == 0:
                    self.pacer.breathe()
                continue
            if first.since > due and not rush and not spills:
                break
            batch.append(watched.popleft())
        return batch

    def _append(self, batch: list[Watched]) -> bool:
        """Put these on disk, in pieces of bounded size; what did not go there is given up for now."""
        piece: list[Entry] = []
        size, done = 0, 0
        for watched in batch:
            held = tuple(lane.name for lane, item in watched.places if not item.gone)
            entry = Entry(encode_record(watched.record), held, tuple(lane.name for lane in watched.spilled))
            size += len(entry.record)
            if piece and size > self.spool.piece_bytes:
                if not self._store(batch[done : done + len(piece)], piece):
                    break
                done, piece, size = done + len(piece), [], len(entry.record)
            piece.append(entry)
            self.pacer.breathe()
        else:
            if self._store(batch[done:], piece):
                self._in_hand = []
                return True
        self._give_up(batch[done:])
        return False

    def _store(self, batch: list[Watched], entries: list[Entry]) -> bool:
        tickets = self.spool.append(entries)
        if tickets is None:
            return False
        for watched, ticket in zip(batch, tickets, strict=True):
            for lane, item in watched.places:
                item.ticket = ticket
                if item.gone:
                    self.spool.settle(lane.name, ticket)
        self._spills_out += sum(bool(watched.spilled) for watched in batch)
        self.secured += len(batch)
        return True

    def _give_up(self, batch: list[Watched]) -> None:
        """The disk does not take them: what is in memory waits for the next probe, what is nowhere else is lost."""
        reason = "queue_full" if self.spool.problem else "spool_full"
        self._spills_out += sum(bool(watched.spilled) for watched in batch)
        for watched in batch:
            for lane in watched.spilled:
                self._count_lost(lane.name, 1, 0, reason)
            watched.spilled = ()
        self._watched.extendleft(reversed(batch))

    def _purge(self) -> None:
        """Forget what is gone behind a first record that is not, while the spool is off."""
        now_s = time.monotonic()
        if len(self._watched) < _PURGE_ABOVE or now_s - self._purged_s < _PURGE_EVERY_S:
            return
        self._purged_s = now_s
        for _ in range(len(self._watched)):
            watched = self._watched.popleft()
            if all(item.gone for _, item in watched.places) and not watched.spilled:
                self.secured += 1
            else:
                self._watched.append(watched)
            self.pacer.breathe()

    def _wants(self, lane: Lane) -> bool:
        # What a dead loop's sink gives up at the end must not come back to it at once.
        ending = self._stopping or (lane.final and not lane.owns_resource)
        return len(lane.queue) < MAX_BATCH and not ending and self.spool.on_disk_only(lane.name) > 0

    def _refill(self) -> bool:
        """Bring records back from disk where a queue has room; True when there may be more to do at once."""
        busy = False
        for lane in self._lanes.values():
            while self._wants(lane):
                busy = True
                since = time.monotonic()
                items = [Queued(r, 0, since, t, foreign=t.segment.claimed) for r, t in self.spool.take(lane.name, _TAKE)]
                if not items:
                    break
                lane.account.unparked += sum(not item.foreign for item in items)
                lane.queue.extend(items)
                self.pacer.breathe()
        if busy:
            self._nudge()
        return busy

    def _count_recovered(self, name: str, count: int) -> None:
        self._lanes[name].account.recovered += count

    def _count_lost(self, name: str, own: int, recovered: int, reason: str) -> None:
        if name in self._lanes:
            with self._books:
                self._lanes[name].account.lose_on_disk(own, recovered, reason)

    def on_disk(self, name: str) -> int:
        """Records of this process that a sink is owed and that are safe."""
        counts = self.spool.counts(name)
        return counts.held + counts.on_disk

    def report(self) -> dict[str, object]:
        """The spool as `stats()` shows it."""
        unsafe = (*self._in_hand, *tuple(self._watched))
        first = next((watched for watched in unsafe if not all(item.gone for _, item in watched.places)), None)
        return {
            "directory": str(self.spool.folder.path),
            "bytes": self.spool.bytes_used(),
            "problem": self.spool.problem,
            "damaged": self.spool.damaged,
            "oldest_unsafe_s": time.monotonic() - first.since if first is not None else None,
        }
