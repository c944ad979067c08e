"""The format of a segment file: frames with a checksum each, readable however the file was cut or damaged.

    sync (4 bytes)  payload length (u32)  kind (u8)  number (u64)  crc32 (u32)  payload

The checksum covers length, kind, number and payload. The sync mark holds bytes that UTF-8 text never does, and every
payload is UTF-8, so that after damage the next frame is found without being fooled by what a tool returned.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap
from typing import Final, TypeAlias

MAGIC: Final = b"ffbspl1\n"
SYNC: Final = b"\xff\xfb\xfe\xf5"
_HEAD: Final = struct.Struct("<4sIBQI")
_CHECKED: Final = struct.Struct("<IBQ")
HEAD_BYTES: Final = _HEAD.size

Content: TypeAlias = bytes | mmap

RECORD: Final = 1  # names of the sinks it is owed to, newline, record
ACK: Final = 2  # name of a sink, newline, numbers of records that it has taken
START: Final = 3  # like RECORD: what to store if the call never ends
END: Final = 4  # the number is that of the START which it clears


@dataclass(frozen=True, slots=True)
class Frame:
    """One intact frame; `start` and `end` are byte offsets in the file."""

    start: int
    end: int
    kind: int
    number: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that are no frame. `torn` tells a write that never finished (at the end) from damage."""

    start: int
    end: int
    torn: bool


def frame(kind: int, number: int, payload: bytes) -> bytes:
    """The bytes of one frame.

    >>> [found] = scan(MAGIC + frame(END, 7, b""))
    >>> found.kind == END, found.number
    (True, 7)
    """
    length = len(payload)
    crc = zlib.crc32(payload, zlib.crc32(_CHECKED.pack(length, kind, number)))
    return _HEAD.pack(SYNC, length, kind, number, crc) + payload


def scan(data: Content) -> Iterator[Frame | Gap]:
    """The frames of a file's bytes in order, and the gaps between them. Never raises."""
    position, size = (len(MAGIC) if data[: len(MAGIC)] == MAGIC else 0), len(data)
    while position < size:
        found = _at(data, position)
        if found is None:
            found = _after(data, position)
            end = found.start if found is not None else size
            yield Gap(position, end, torn=found is None and _unfinished(data, position))
        if found is None:
            return
        yield found
        position = found.end


def _at(data: Content, start: int) -> Frame | None:
    """The frame at this offset, if it is intact."""
    body = start + HEAD_BYTES
    if body > len(data):
        return None
    sync, length, kind, number, crc = _HEAD.unpack_from(data, start)
    end = body + length
    if sync != SYNC or end > len(data):
        return None
    payload = data[body:end]
    if zlib.crc32(payload, zlib.crc32(_CHECKED.pack(length, kind, number))) != crc:
        return None
    return Frame(start, end, kind, number, payload)


def _after(data: Content, start: int) -> Frame | None:
    """The first intact frame behind a damaged place."""
    position = data.find(SYNC, start + 1)
    while position >= 0:
        found = _at(data, position)
        if found is not None:
            return found
        position = data.find(SYNC, position + 1)
    return None


def _unfinished(data: Content, start: int) -> bool:
    """Do the last bytes of the file look like the beginning of a frame that was never written to its end?"""
    begin = data[start : start + HEAD_BYTES]
    if len(begin) < HEAD_BYTES:
        return SYNC.startswith(begin[:4])
    return begin.startswith(SYNC) and start + HEAD_BYTES + int.from_bytes(begin[4:8], "little") > len(data)


def pack_numbers(numbers: list[int]) -> bytes:
    """Sorted numbers as ranges.

    >>> pack_numbers([1, 2, 3, 7])
    b'1-3,7'
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges).encode()


def unpack_numbers(data: bytes) -> Iterator[tuple[int, int]]:
    """The ranges, both ends included.

    >>> list(unpack_numbers(b"1-3,7"))
    [(1, 3), (7, 7)]
    """
    for part in data.decode().split(","):
        first, _, last = part.partition("-")
        if first:
            yield int(first), int(last or first)


def pack_owed(names: tuple[str, ...], record: bytes) -> bytes:
    """The payload of a RECORD or START frame."""
    return "\t".join(names).encode() + b"\n" + record


def unpack_owed(payload: bytes) -> tuple[tuple[str, ...], bytes]:
    """Names of sinks, and the record's bytes."""
    names, _, record = payload.partition(b"\n")
    return tuple(name for name in names.decode("utf-8", "replace").split("\t") if name), record
