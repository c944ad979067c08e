"""The passes over one slice of a text that look for shapes: token runs, armour, hashes, commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from . import blocks, tokens
from .spans import Span
from .tokens import RUN_CLASS

SLICE: Final = 48_000
LOWER: Final = bytes(byte + 32 if 0x41 <= byte <= 0x5A else byte for byte in range(256))
_OVERLAP: Final = 16
_OPTION: Final = re.compile(rb"-(?<=[ \t]-)[pauw]")


@dataclass(frozen=True, slots=True)
class Buffer:
    """A text with its two maps: run characters as `a`, and lower case. `raw`: JSON, of which only the places count."""

    data: bytes
    classes: bytes
    low: bytes
    ascii: bool
    raw: bool = False

    @classmethod
    def of(cls, data: bytes, breathe: Callable[[], None] | None = None, *, raw: bool = False) -> Buffer:
        """Map a text, in slices when it is long."""
        if len(data) <= SLICE or breathe is None:
            return cls(data, data.translate(RUN_CLASS), data.translate(LOWER), data.isascii(), raw)
        return cls(data, _mapped(data, RUN_CLASS, breathe), _mapped(data, LOWER, breathe), data.isascii(), raw)

    def slices(self) -> Iterator[tuple[int, int]]:
        """Starts and stops of the pieces to work on."""
        size = len(self.data)
        for start in range(0, size, SLICE):
            yield start, min(size, start + SLICE)


def _mapped(data: bytes, table: bytes, breathe: Callable[[], None]) -> bytes:
    parts = []
    for start in range(0, len(data), SLICE):
        parts.append(data[start : start + SLICE].translate(table))
        breathe()
    return b"".join(parts)


def shape_spans(buffer: Buffer, start: int, stop: int, long_runs: list[int]) -> list[Span]:
    """Secrets by shape in one slice. Runs that may be base64 of a text are appended to `long_runs`."""
    data, low = buffer.data, buffer.low
    out = tokens.spans(data, buffer.classes, start, stop, long_runs)
    limit = min(len(data), stop + _OVERLAP)
    dashes = data.find(b"-", start, limit) >= 0
    at = data.find(b"-----BEGIN ", start, limit) if dashes else -1
    while at >= 0:
        block = blocks.armour(data, at)
        if block is not None:
            out.append(block)
        at = data.find(b"-----BEGIN ", block[1] if block else at + 11, limit)
    if data.find(b"$", start, stop) >= 0:
        out += [(*found.span(), "password-hash") for found in blocks.CRYPT.finditer(data, start, min(len(data), stop + 200))]
    if data.find(b"~", start, limit) >= 0:
        out += [(*found.span(), "azure-client-secret") for found in tokens.AZURE_SECRET.finditer(data, max(0, start - 8), stop + 48)]
    at = low.find(b"identified ", start, limit)
    while at >= 0:
        out += blocks.sql(data, at)
        at = low.find(b"identified ", at + 10, limit)
    if dashes and buffer.raw:  # a command in one string must not hide one in the next
        out += [(*found.span(), "command-password") for found in _OPTION.finditer(low, start, stop)]
    elif dashes and _OPTION.search(low, start, stop):
        out += blocks.commands(data, low, start, stop)
    return out
