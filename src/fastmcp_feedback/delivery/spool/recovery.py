"""What processes left behind that were killed: claims their segments and settles the calls that never ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from ... import contain
from ...codec import UnreadableRecord, decode_record, encode_record, record_id
from ...records import ToolCallRecord
from .folder import Folder
from .frames import unpack_owed
from .holdings import discard
from .segment import Entry, Segment

Signature = tuple[int, int]


@dataclass(slots=True)
class Finds:
    """Result of one pass: segments that are ours now, and how many damaged places they had."""

    segments: list[Segment] = field(default_factory=list)
    damaged: int = 0


class Claimer:
    """Takes over segments without an owner. One pass at a time in each directory, whatever the number of processes."""

    def __init__(self, folder: Folder, names: Collection[str], breathe: Callable[[], None]) -> None:
        self._folder = folder
        self._names = frozenset(names)
        self._breathe = breathe
        self._not_for_us: dict[Path, Signature] = {}

    def worth_a_pass(self, owned: Collection[Path]) -> bool:
        """Is there a file that might be an orphan of interest?"""
        return any(path not in owned and self._not_for_us.get(path) != _signature(path) for path in self._folder.segments())

    def claim(self, owned: Collection[Path]) -> Finds:
        """Claim what is there; segments that owe nothing are deleted, those of other sinks left alone.

        Raises:
            NoLocks: the file system cannot tell whether an owner lives.
        """
        finds = Finds()
        with self._folder.claiming() as ours:
            if not ours:
                return finds
            self._folder.sweep_leftovers()
            loaded = self._load_orphans(owned, finds)
            for segment in loaded:
                if segment.finished:
                    discard(segment)
                elif segment.owed_to() & self._names:
                    finds.segments.append(segment)
                else:
                    self.leave(segment)
        return finds

    def leave(self, segment: Segment) -> None:
        """Give a segment back: what it still owes is not for our sinks."""
        os.close(segment.fd)
        found = _signature(segment.path)
        if found is not None:
            self._not_for_us[segment.path] = found

    def _load_orphans(self, owned: Collection[Path], finds: Finds) -> list[Segment]:
        loaded: list[Segment] = []
        last_writes: list[datetime] = []
        finished_calls: set[str] = set()

        def on_record(payload: bytes) -> None:
            call_id = record_id(unpack_owed(payload)[1])
            if call_id is not None:
                finished_calls.add(call_id)

        for path in self._folder.segments():
            if path in owned or self._not_for_us.get(path) == _signature(path):
                continue
            fd = self._folder.open_orphan(path)
            if fd is None:
                continue
            segment = Segment(path, fd, claimed=True)
            last_writes.append(datetime.fromtimestamp(os.fstat(fd).st_mtime, UTC))
            segment.load(self._breathe, on_record)
            finds.damaged += segment.damaged
            loaded.append(segment)
        for segment, last_write in zip(loaded, last_writes, strict=True):
            with contain.contain("spool recovery"):
                segment.cut_torn_tail()
                _settle_starts(segment, finished_calls, last_write)
        return loaded


def _settle_starts(segment: Segment, finished_calls: set[str], last_write: datetime) -> None:
    """Turn each call that never ended into a record in the same file, and clear its marker."""
    for number, payload in list(segment.starts.items()):
        names, data = unpack_owed(payload)
        with suppress(UnreadableRecord):
            record = decode_record(data)
            if record.id not in finished_calls and isinstance(record, ToolCallRecord):
                segment.append([Entry(encode_record(_interrupted(record, last_write)), (), names)])
                finished_calls.add(record.id)
        segment.end(number)


def _interrupted(record: ToolCallRecord, last_write: datetime) -> ToolCallRecord:
    lived_ms = (last_write - record.started_at).total_seconds() * 1000
    changed: ToolCallRecord = replace(record, duration_ms=max(record.duration_ms, lived_ms))
    return changed


def _signature(path: Path) -> Signature | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns
