"""One segment file: appended frames, an index of what each sink is still owed, and acknowledgements.

Not thread-safe; `Spool` holds its lock around every call. The index costs about 13 bytes a record and one for each sink.
"""

from __future__ import annotations

import os
import time
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from .files import read_all, read_at, write_all
from .frames import (
    ACK,
    END,
    MAGIC,
    RECORD,
    START,
    Frame,
    Gap,
    frame,
    pack_numbers,
    pack_owed,
    scan,
    unpack_numbers,
    unpack_owed,
)

# What a record is to a sink: nothing any more, waiting in memory too, or only here.
DONE: Final = 0
HELD: Final = 1
ON_DISK: Final = 2
_ON_DISK: Final = bytes([ON_DISK])
_BREATHE_EVERY: Final = 50


class Entry(NamedTuple):
    """One record to append: its bytes, the sinks that hold it in memory too, and those that rely on the disk."""

    record: bytes
    held: tuple[str, ...]
    on_disk: tuple[str, ...] = ()


class Segment:
    """An open, locked segment file. `claimed` says that another process wrote it."""

    def __init__(self, path: Path, fd: int, *, claimed: bool) -> None:
        self.path = path
        self.fd = fd
        self.claimed = claimed
        self.sealed = claimed
        self.size = 0
        self.last_append = time.monotonic()
        self.damaged = 0
        self.held: Counter[str] = Counter()
        self.on_disk: Counter[str] = Counter()
        self.starts: dict[int, bytes] = {}  # payloads of START frames without their END
        self._states: defaultdict[str, bytearray] = defaultdict(bytearray)
        self._numbers = array("Q")
        self._offsets = array("Q")
        self._lengths = array("I")
        self._next_number = 1
        self._unwritten_acks: defaultdict[str, list[int]] = defaultdict(list)

    # -- writing

    def begin(self) -> None:
        """Write the head of a new file."""
        self._write(MAGIC)

    def append(self, entries: Sequence[Entry]) -> int:
        """Append records in one write; the position of the first (the others follow).

        Raises:
            OSError: nothing was appended.
        """
        first, number = len(self._numbers), self._next_number
        frames = [frame(RECORD, number + i, pack_owed(e.held + e.on_disk, e.record)) for i, e in enumerate(entries)]
        offset = self.size
        self._write(b"".join(frames))
        for entry, data in zip(entries, frames, strict=True):
            self._index(self._next_number, offset, len(data))
            self._owe(entry.held, HELD)
            self._owe(entry.on_disk, ON_DISK)
            self._next_number += 1
            offset += len(data)
        self.last_append = time.monotonic()
        return first

    def start(self, names: tuple[str, ...], record: bytes) -> int:
        """Append a start marker; its number.

        Raises:
            OSError: it was not appended.
        """
        number, payload = self._next_number, pack_owed(names, record)
        self._write(frame(START, number, payload))
        self._next_number += 1
        self.starts[number] = payload
        self.last_append = time.monotonic()
        return number

    def end(self, number: int) -> None:
        """Clear a start marker.

        Raises:
            OSError: the end is not on disk (but known here).
        """
        if self.starts.pop(number, None) is not None and not self.finished:
            self._write(frame(END, number, b""))

    def write_acks(self) -> None:
        """Append what was settled since the last time, unless the file is about to go.

        Raises:
            OSError: the acknowledgements are not on disk; records may come twice after a kill.
        """
        waiting, self._unwritten_acks = self._unwritten_acks, defaultdict(list)
        if not self.finished:
            data = b"".join(frame(ACK, 0, name.encode() + b"\n" + pack_numbers(sorted(numbers))) for name, numbers in waiting.items())
            if data:
                self._write(data)

    def _write(self, data: bytes) -> None:
        """All of it or nothing."""
        try:
            write_all(self.fd, data)
        except OSError:
            os.ftruncate(self.fd, self.size)  # a part may have gone in
            raise
        self.size += len(data)

    # -- the index

    def _index(self, number: int, offset: int, length: int) -> None:
        self._numbers.append(number)
        self._offsets.append(offset)
        self._lengths.append(length)

    def _owe(self, names: Sequence[str], state: int) -> None:
        """Note that the record indexed last is owed to these sinks."""
        for name in names:
            states = self._states[name]
            states.extend(bytes(len(self._numbers) - len(states)))
            states[-1] = state
            (self.held if state == HELD else self.on_disk)[name] += 1

    @property
    def finished(self) -> bool:
        """True when nothing in this file is owed to anybody."""
        return not self.starts and not any(self.held.values()) and not any(self.on_disk.values())

    def owed_to(self) -> set[str]:
        """Names of the sinks that still wait for something in here."""
        names = {name for counter in (self.held, self.on_disk) for name, count in counter.items() if count}
        for payload in self.starts.values():
            names.update(unpack_owed(payload)[0])
        return names

    def settle(self, name: str, position: int) -> int:
        """This sink has the record now; what it was before. Settling twice does no harm."""
        before = self._change(name, position, DONE)
        if before != DONE:
            self._unwritten_acks[name].append(self._numbers[position])
        return before

    def release(self, name: str, position: int) -> bool:
        """The record leaves memory and stays owed; False when it was settled meanwhile."""
        return self._change(name, position, ON_DISK) != DONE

    def _change(self, name: str, position: int, state: int) -> int:
        states = self._states[name]
        before = states[position] if position < len(states) else DONE
        if before not in (DONE, state):
            (self.held if before == HELD else self.on_disk)[name] -= 1
            states[position] = state
            if state != DONE:
                (self.held if state == HELD else self.on_disk)[name] += 1
        return before

    # -- reading

    def take(self, name: str, most: int, most_bytes: int) -> Iterator[tuple[int, bytes | None]]:
        """Records that are only here, oldest first, now held: position and bytes (None: no longer readable)."""
        states = self._states[name]
        position = states.find(_ON_DISK)
        while position >= 0 and most > 0 and most_bytes > 0:
            self._change(name, position, HELD)
            record = self._read(position)
            if record is None:
                self.damaged += 1
                self.settle(name, position)
            yield position, record
            most -= 1
            most_bytes -= self._lengths[position]
            position = states.find(_ON_DISK, position + 1)

    def _read(self, position: int) -> bytes | None:
        data = read_at(self.fd, self._lengths[position], self._offsets[position])
        found = next(scan(data), None)
        return unpack_owed(found.payload)[1] if isinstance(found, Frame) and found.number == self._numbers[position] else None

    def load(self, breathe: Callable[[], None], on_record: Callable[[bytes], None] | None = None) -> None:
        """Index a file that another process wrote. `on_record` sees the payload of each record."""
        data = read_all(self.fd)
        self.size = len(data)
        for count, found in enumerate(scan(data)):
            if isinstance(found, Gap):
                self._skip(found)
            else:
                self._replay_frame(found, on_record)
            if count % _BREATHE_EVERY == 0:
                breathe()

    def _skip(self, gap: Gap) -> None:
        if gap.torn:
            self.size = gap.start
        else:
            self.damaged += 1

    def _replay_frame(self, found: Frame, on_record: Callable[[bytes], None] | None) -> None:
        if found.kind == RECORD:
            if self._numbers and found.number <= self._numbers[-1]:  # pragma: no cover - no writer of ours does this
                return
            self._index(found.number, found.start, found.end - found.start)
            self._owe(unpack_owed(found.payload)[0], ON_DISK)
            if on_record is not None:
                on_record(found.payload)
        elif found.kind == START:
            self.starts[found.number] = found.payload
        elif found.kind == END:
            self.starts.pop(found.number, None)
        elif found.kind == ACK:
            name, _, numbers = found.payload.partition(b"\n")
            self._load_acks(name.decode("utf-8", "replace"), numbers)
        self._next_number = max(self._next_number, found.number + 1)

    def _load_acks(self, name: str, packed: bytes) -> None:
        for first, last in unpack_numbers(packed):
            for position in range(bisect_left(self._numbers, first), bisect_right(self._numbers, last)):
                self._change(name, position, DONE)

    def cut_torn_tail(self) -> None:
        """Drop the bytes of a write that was never finished."""
        os.ftruncate(self.fd, self.size)

    def restore(self, fd: int) -> None:
        """Copy everything into another, empty file: the old one was deleted under us.

        Raises:
            OSError: that is not possible; the old file stays in use.
        """
        try:
            write_all(fd, read_at(self.fd, self.size, 0))
        except OSError:
            os.close(fd)
            raise
        old, self.fd = self.fd, fd
        os.close(old)
