"""Size limits for payloads. Redaction always comes first; what is cut by an edge is dropped, never shown in part."""

from __future__ import annotations

from typing import Any, Protocol

from ..jsonsafe import Encoded, dump_safe, encode

_PREVIEW_CHARS = 1000
_HEAD_FACTOR = 6  # bytes kept for each character of preview: the longest escape of one character


class HeadRedactor(Protocol):
    """The part of a redactor that trimming needs."""

    def redact_head(self, data: bytes, limit_chars: int) -> str:
        """The first characters of the redacted JSON text, given its first bytes."""
        ...


def preview_chars(limit_bytes: int) -> int:
    """How many characters of a payload over the limit are kept."""
    return min(_PREVIEW_CHARS, limit_bytes // 4)


def marker(size: int | None, preview: str) -> Encoded:
    """What stands for a payload over the limit."""
    return encode({"_truncated": True, "size": size, "preview": preview})


def head(data: bytes, limit_bytes: int) -> bytes:
    """The first bytes of a payload, enough for its preview and for a secret that begins inside it."""
    return data[: preview_chars(limit_bytes) * _HEAD_FACTOR + 4096]


def over_limit(size: int | None, data: bytes, limit_bytes: int | None) -> bool:
    """Is a payload larger than the limit? Measured as `json.dumps` would, or as it is when that has no answer."""
    return limit_bytes is not None and (len(data) if size is None else size) > limit_bytes


def fit_attrs(attrs: dict[str, Any], size: int | None, limit_bytes: int | None) -> dict[str, Any]:
    """Replace the largest values of (already redacted) attrs, one at a time, until the whole fits.

    When even markers do not fit, the dict becomes one marker.
    """
    if limit_bytes is None:
        return attrs
    sizes = {key: encode(value).size or 0 for key, value in attrs.items()}
    total = size if size is not None else encode(attrs).size or 0
    fitted = dict(attrs)
    for key in sorted(sizes, key=sizes.__getitem__, reverse=True):
        if total <= limit_bytes:
            break
        text = dump_safe(attrs[key]).decode()[: preview_chars(limit_bytes)]
        replacement = marker(sizes[key], text)
        saved = sizes[key] - (replacement.size or 0)
        if saved > 0:
            fitted[key] = replacement.decode()
            total -= saved
    if total <= limit_bytes:
        return fitted
    whole = encode(attrs)
    result: dict[str, Any] = marker(whole.size, whole.data.decode()[: preview_chars(limit_bytes)]).decode()
    return result
