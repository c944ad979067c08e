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
_OVERLAP: Final = 16
_OPTION: Final = re.compile(rb"-(?<=[ \t]-)[pauwUP]")
_DASHED: Final = re.compile(rb"-(?:----BEGIN |(?<=[ \t]-)[pauwUP])")


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
            return cls(data, data.translate(RUN_CLASS), data.lower(), data.isascii(), raw)
        classes, low = [], []
        for start in range(0, len(data), SLICE):
            part = data[start : start + SLICE]
            classes.append(part.translate(RUN_CLASS))
            low.append(part.lower())
            breathe()
        return cls(data, b"".join(classes), b"".join(low), data.isascii(), raw)

    def slices(self) -> Iterator[tuple[int, int]]:
        """Starts and stops of the pieces to work on."""
        size = len(self.data)
        for start in range(0, size, SLICE):
            yield start, min(size, start + SLICE)


def shape_spans(buffer: Buffer, start: int, stop: int, long_runs: list[int]) -> list[Span]:
    """Secrets by shape in one slice. Runs that may be base64 of a text are appended to `long_runs`."""
    data, low = buffer.data, buffer.low
    out = tokens.spans(data, buffer.classes, start, stop, long_runs)
    limit = min(len(data), stop + _OVERLAP)
    if data.find(b"-", start, limit) >= 0 and _DASHED.search(data, start, limit):
        out += _dashed(buffer, start, stop)
    if data.find(b"$", start, stop) >= 0:
        out += [(*found.span(), "password-hash") for found in blocks.CRYPT.finditer(data, start, min(len(data), stop + 200))]
    if data.find(b"~", start, limit) >= 0:
        out += [(*found.span(), "azure-client-secret") for found in tokens.AZURE_SECRET.finditer(data, max(0, start - 8), stop + 48)]
    at = low.find(b"identified ", start, limit)
    while at >= 0:
        out += blocks.sql(data, at)
        at = low.find(b"identified ", at + 10, limit)
    return out


def _dashed(buffer: Buffer, start: int, stop: int) -> list[Span]:
    """Private keys, and the options of commands."""
    data = buffer.data
    out: list[Span] = []
    limit = min(len(data), stop + _OVERLAP)
    at = data.find(b"-----BEGIN ", start, limit)
    while at >= 0:
        block = blocks.armour(data, at)
        if block is not None:
            out.append(block)
        at = data.find(b"-----BEGIN ", block[1] if block else at + 11, limit)
    if buffer.raw:  # a command in one string must not hide one in the next
        out += [(*found.span(), "command-password") for found in _OPTION.finditer(data, start, stop)]
    elif _OPTION.search(data, start, stop):
        out += blocks.commands(data, buffer.low, start, stop)
    return out
