"""Places in a text that must go, and how the text without them is put together."""

from __future__ import annotations

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
