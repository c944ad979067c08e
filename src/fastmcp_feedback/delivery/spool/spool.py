"""The spool of one recorder: append, take, settle, claim, all synchronous and thread-safe.

    spool = Spool(directory, names=["DatabaseSink-0"])
    tickets = spool.append([Entry(encode_record(record), held=("DatabaseSink-0",))])   # None: not possible now
    spool.settle("DatabaseSink-0", tickets[0])                                         # the sink has it

Everything but `settle` and `counts` may write to the disk, so call it from a thread of the recorder's own. Nothing is
forced to the platter (no fsync): the promise is against a killed process, not against lost power.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Final

from ... import contain
from ...codec import UnreadableRecord, decode_record, encode_record
from ...records import ToolCallRecord
from ...sink import Record
from .folder import Folder, NoLocks
from .health import Health
from .holdings import Counts, Holdings, OnLost, Ticket, discard
from .recovery import Claimer
from .segment import Entry, Segment

SEGMENT_BYTES: Final = 16 * 1024 * 1024
_FRAME_BYTES: Final = 64  # head and sink names of a frame, about
_LOOK_AROUND_S: Final = 1.0
_IDLE_DELETE_S: Final = 1.0


class Spool:
    """Segment files of one recorder in a directory that several processes may share.

    Args:
        directory: Made with mode 0700 when missing.
        names: The sinks that this recorder serves.
        max_bytes: Bound over all files of the directory; beyond it the oldest segment of ours is dropped.
        segment_bytes: A file that has grown to this is followed by a new one.
        on_lost: Told `(sink, own, recovered, reason)` when records that were only on disk are gone: how many of this
            process, how many of earlier ones, and `spool_full` or `spool_damaged`.
        breathe: Called now and then in long work, so that the interpreter can be given away.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        names: Collection[str],
        *,
        max_bytes: int = 1 << 30,
        segment_bytes: int = SEGMENT_BYTES,
        on_lost: OnLost = lambda *_: None,
        breathe: Callable[[], None] = lambda: None,
    ) -> None:
        self.folder = Folder(directory)
        self.names = frozenset(names)
        self.damaged = 0
        self.piece_bytes = min(1 << 20, segment_bytes, max_bytes // 4)  # a good size of one append
        self._on_lost = on_lost
        self._lock = threading.RLock()
        self._health = Health(self.folder.path)
        self._claimer = Claimer(self.folder, self.names, breathe)
        self._holdings = Holdings(self.folder, max_bytes, segment_bytes, on_lost)
        self._settled: deque[tuple[str, Ticket]] = deque()
        self._looked_around_s = 0.0
        self._locks_work = True
        self._closed = False
        self._left_behind: list[Segment] = []  # after closing, for the books

    # -- state

    @property
    def problem(self) -> str | None:
        """Why the spool cannot be written now, or None."""
        return self._health.problem

    @property
    def usable(self) -> bool:
        """May `append` be tried now?"""
        return not self._closed and self._health.usable

    def counts(self, name: str) -> Counts:
        """What is owed to a sink; settled records may still be counted for a moment."""
        held = on_disk = recovered = 0
        for segment in tuple(self._left_behind or self._holdings.segments):
            if segment.claimed:
                recovered += segment.held[name] + segment.on_disk[name]
            else:
                held += segment.held[name]
                on_disk += segment.on_disk[name]
        return Counts(held, on_disk, recovered)

    def on_disk_only(self, name: str) -> int:
        """Records that `take` would yield for a sink."""
        return sum(segment.on_disk[name] for segment in tuple(self._holdings.segments))

    def bytes_used(self) -> int:
        """Bytes of all segments in the directory, as far as known."""
        return self._holdings.bytes_used

    # -- writing

    def append(self, entries: Sequence[Entry]) -> list[Ticket] | None:
        """Store these records, all or none; None when that is not possible now (a warning says why)."""
        if not entries or not self.usable:
            return None
        with self._lock:
            try:
                segment = self._writable(sum(len(entry.record) + _FRAME_BYTES for entry in entries))
                if segment is None:
                    return None
                first = segment.append(entries)
                self._health.works()
                return [Ticket(segment, first + i) for i in range(len(entries))]
            except OSError as exc:
                self._health.failed(exc)
                return None

    def start_call(self, names: Sequence[str], record: ToolCallRecord) -> tuple[Segment, int] | None:
        """Note that a call runs; `record` is stored by a later process if `end_call` never comes. None: not possible."""
        if not self.usable:
            return None
        data = encode_record(record)
        with self._lock:
            try:
                segment = self._writable(len(data) + _FRAME_BYTES)
                return (segment, segment.start(tuple(names), data)) if segment is not None else None
            except OSError as exc:
                self._health.failed(exc)
                return None

    def end_call(self, mark: tuple[Segment, int]) -> None:
        """The call's own record is safe: forget the start marker."""
        segment, number = mark
        with self._lock, suppress(OSError):
            segment.end(number)

    def knows_start(self, mark: tuple[Segment, int]) -> bool:
        """Is the marker still there (and not dropped with its segment)?"""
        return mark[0] in self._holdings.segments

    def _writable(self, adding_bytes: int) -> Segment | None:
        self._apply_settled()
        segment = self._holdings.writable(adding_bytes)
        if not self._holdings.locked:
            self._warn_no_locks()
        return segment

    # -- what sinks take

    def settle(self, name: str, ticket: Ticket) -> None:
        """The sink has the record, or it came to another end. Never waits; written by the next `maintain`."""
        self._settled.append((name, ticket))

    def release(self, name: str, tickets: Sequence[Ticket]) -> list[bool]:
        """Memory lets go of records that stay owed; for each, whether it does (a dropped segment keeps none)."""
        with self._lock:
            self._apply_settled()
            return [t.segment in self._holdings.segments and t.segment.release(name, t.position) for t in tickets]

    def take(self, name: str, most: int = 1000, most_bytes: int = 4 << 20) -> list[tuple[Record, Ticket]]:
        """Records owed to a sink that are only on disk, oldest first; they count as held from now on."""
        taken: list[tuple[Record, Ticket]] = []
        with self._lock:
            self._apply_settled()
            for segment in self._holdings.in_order():
                if segment.on_disk[name] and most > len(taken) and most_bytes > 0:
                    most_bytes -= self._take_from(segment, name, most - len(taken), most_bytes, taken)
        return taken

    def _take_from(self, segment: Segment, name: str, most: int, most_bytes: int, taken: list[tuple[Record, Ticket]]) -> int:
        size = 0
        for position, data in segment.take(name, most, most_bytes):
            try:
                record = decode_record(data) if data is not None else None
            except UnreadableRecord:
                record = None
            if record is None:
                segment.settle(name, position)
                self.damaged += 1
                self._on_lost(name, 0 if segment.claimed else 1, 1 if segment.claimed else 0, "spool_damaged")
            else:
                taken.append((record, Ticket(segment, position)))
                size += len(data or b"")
        return size

    def _apply_settled(self) -> None:
        while self._settled:
            name, ticket = self._settled.popleft()
            ticket.segment.settle(name, ticket.position)

    # -- housekeeping

    def probe(self) -> None:
        """Find out early, and say, when the directory cannot be used."""
        with self._lock:
            try:
                self.folder.prepare()
            except OSError as exc:
                self._health.failed(exc)

    def maintain(self, *, tidy: bool = False) -> None:
        """Write acknowledgements, delete finished segments, look after the directory. Call it every 50 ms or so.

        `tidy` deletes the current segment as soon as it is finished, and not only when it has been idle for a while.
        """
        with self._lock:
            self._apply_settled()
            now_s = time.monotonic()
            for segment in list(self._holdings.segments):
                self._tidy(segment, now_s, at_once=tidy or self._closed)
            if now_s - self._looked_around_s >= _LOOK_AROUND_S:
                self._looked_around_s = now_s
                try:
                    self._holdings.look_after()
                except OSError as exc:
                    self._health.failed(exc)

    def _tidy(self, segment: Segment, now_s: float, *, at_once: bool) -> None:
        holdings = self._holdings
        idle = segment is not holdings.active or at_once or now_s - segment.last_append >= _IDLE_DELETE_S
        if segment.finished and idle:
            holdings.forget(segment)
            discard(segment)
        elif segment.claimed and not segment.owed_to() & self.names:
            holdings.forget(segment)
            with suppress(OSError):
                segment.write_acks()
            self._claimer.leave(segment)
        else:
            with suppress(OSError):  # acknowledgements may be lost
                segment.write_acks()

    def sees_orphans(self) -> bool:
        """Is there a file that `claim_orphans` should look at?"""
        return not self._closed and self._locks_work and self._claimer.worth_a_pass(self._holdings.paths())

    def claim_orphans(self, on_claimed: Callable[[str, int], None] = lambda *_: None) -> dict[str, int]:
        """Take over segments of processes that died; how many records each of our sinks is owed by them.

        `on_claimed` is told the same before `take` yields any of them. Slow when much was left behind: call it from a
        thread that may take its time.
        """
        owned = self._holdings.paths()
        if not self.sees_orphans():
            return {}
        try:
            self.folder.prepare()
            finds = self._claimer.claim(owned)
        except NoLocks:
            self._warn_no_locks()
            return {}
        except OSError as exc:
            self._health.failed(exc)
            return {}
        self.damaged += finds.damaged
        if finds.damaged:
            place = self.folder.path
            contain.warn_once(f"spool damaged {place}", "spool %s: %d damaged place(s) were skipped", place, finds.damaged)
        counts = {name: sum(segment.on_disk[name] for segment in finds.segments) for name in self.names}
        owed = {name: count for name, count in counts.items() if count}
        with self._lock:
            for name, count in owed.items():
                on_claimed(name, count)
            if not self._closed:
                self._holdings.segments += finds.segments
                return owed
        for segment in finds.segments:  # closed meanwhile
            os.close(segment.fd)
        return {}

    def _warn_no_locks(self) -> None:
        self._locks_work = False
        contain.warn_once(
            f"spool locks {self.folder.path}",
            "spool %s lies on a file system without flock: nobody can tell whether a file's owner lives, so what killed processes "
            "left there is not recovered by itself. Use a local directory, or run `fastmcp-feedback spool replay` when no server runs",
            self.folder.path,
        )

    def close(self) -> None:
        """Give back what is not finished, for the next process. Idempotent."""
        with self._lock:
            self._closed = True
            self.maintain()
            self._left_behind = self._left_behind or list(self._holdings.segments)
            self._holdings.let_go()

    def abandon_after_fork(self) -> None:
        """In a forked child: let go of the parent's files without touching them. Takes no lock; the child's are void."""
        self._closed = True
        self._holdings.let_go()
