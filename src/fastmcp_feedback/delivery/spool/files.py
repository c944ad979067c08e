"""Reading and writing whole files through descriptors."""

from __future__ import annotations

import os
from mmap import mmap
from typing import Final

from .frames import Content

_READ_BYTES: Final = 1 << 20


def write_all(fd: int, data: bytes) -> None:
    """Append everything, in as many writes as it takes."""
    written = 0
    while written < len(data):
        written += os.write(fd, memoryview(data)[written:])


def read_all(fd: int) -> Content:
    """All of a file, read without ever holding the interpreter for long: neither joining nor clearing 16 MiB."""
    size = os.fstat(fd).st_size
    if size == 0 or not hasattr(os, "preadv"):  # pragma: no cover - for systems without preadv
        return read_at(fd, size, 0)
    data, done = mmap(-1, size), 0
    with memoryview(data) as view:
        while done < size:
            count = os.preadv(fd, [view[done : done + _READ_BYTES]], done)
            if not count:
                break
            done += count
    return data


def read_at(fd: int, length: int, offset: int) -> bytes:
    """Up to `length` bytes from `offset`."""
    parts = []
    while length > 0:
        part = os.pread(fd, min(length, _READ_BYTES), offset)
        if not part:
            break
        parts.append(part)
        length -= len(part)
        offset += len(part)
    return b"".join(parts)
