"""Places in a text that must go, and how the text without them is put together."""

from __future__ import annotations

import re
from typing import Final

Span = tuple[int, int, str]


def merge(spans: list[Span]) -> list[Span]:
    """Spans in order, overlapping ones joined; the earlier one's rule names them.

    >>> merge([(5, 9, "b"), (0, 6, "a"), (9, 9, "c"), (12, 13, "d")])
    [(0, 9, 'a'), (12, 13, 'd')]
    """
    out: list[Span] = []
    for start, end, rule in sorted(spans, key=lambda span: (span[0], -span[1])):
        if end <= start:
            continue
        if out and start < out[-1][1]:
            first, last, name = out[-1]
            out[-1] = (first, max(last, end), name)
        else:
            out.append((start, end, rule))
    return out


_LONG: Final = 120
_TOKEN: Final = re.compile(rb"[A-Za-z0-9+/=_.~%\-]*")


def whole(data: bytes, spans: list[Span]) -> list[Span]:
    """The same spans with ends that cut nothing in two: no character, and no token of a value that was longer than looked at.

    A long span that a limit ended in the midst of a token goes on to that token's end; spans inside are swallowed, so the
    text is gone over once.
    """
    out: list[Span] = []
    for first, last, rule in spans:
        if out and last <= out[-1][1]:
            continue
        start, end = max(first, out[-1][1]) if out else first, last
        if end - start >= _LONG and data[end - 1 : end + 1].isascii() and _TOKEN.fullmatch(data, end - 1, min(end + 1, len(data))):
            end = _TOKEN.match(data, end).end()  # type: ignore[union-attr]  # it matches the empty text, too
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        while start > 0 and data[start] & 0xC0 == 0x80:
            start -= 1
        out.append((start, end, rule))
    return out


def cut_out(data: bytes, spans: list[Span], replacement: bytes, found: list[str] | None = None) -> bytes:
    """The text with every span replaced; what was removed is appended to `found`."""
    out: list[bytes] = []
    at = 0
    for start, end, _rule in spans:
        out += (data[at:start], replacement)
        if found is not None:
            found.append(data[start:end].decode("utf-8", "replace"))
        at = end
    out.append(data[at:])
    return b"".join(out)
