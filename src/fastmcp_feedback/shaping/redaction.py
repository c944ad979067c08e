"""Redaction of every kind of outlet: payloads, texts, identity, extra and attrs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import contain
from ..jsonsafe import Encoded, clean_text, encode
from .redact import Redactor
from .redact.carry import CarryOver
from .texts import cut_text
from .trim import head, marker, over_limit, preview_chars

UNREDACTABLE = "[REDACTION FAILED]"


class Redaction:
    """Redaction of every kind of outlet; a redactor that fails costs the value, never the record or a leak."""

    def __init__(self, redactor: Any, limit_bytes: int | None, breathe: Callable[[], None] | None) -> None:
        self._redactor = redactor
        self._limit = limit_bytes
        self._breathe = breathe
        # A host's own class, or a subclass that changes a rule, may not know our fast road over bytes.
        self._fast = type(redactor) is Redactor

    def payload(self, encoded: Encoded, found: list[str], *, full: bool, needed: bool, carry: CarryOver | None = None) -> Encoded | None:
        """The payload as it is stored; what was removed is appended to `found`. None in meta mode."""
        if not full and not needed:
            return None
        data, size = encoded.data, encoded.size
        if over_limit(size, data, self._limit):
            limit = self._limit or 0
            if needed:  # what is not stored may still come out in an error text
                self._json(data, found)
            data = head(data, limit)
            with contain.contain("redactor"):
                preview = self._head(data, preview_chars(limit))
                return marker(size, carry.apply_text(preview) if carry else preview) if full else None
            return marker(size, UNREDACTABLE) if full else None
        redacted = self._json(data, found)
        if carry:
            redacted = carry.apply_json(redacted)
        return Encoded(redacted) if full else None

    def _json(self, data: bytes, found: list[str]) -> bytes:
        with contain.contain("redactor"):
            if self._fast:
                redacted: bytes = self._redactor.redact_json(data, found=found, breathe=self._breathe)
                return redacted
            return encode(self._redactor.redact(Encoded(data).decode())).data
        return encode(UNREDACTABLE).data

    def _head(self, data: bytes, limit_chars: int) -> str:
        if self._fast:
            preview: str = self._redactor.redact_head(data, limit_chars)
            return preview
        return cut_text(self._redactor.redact_text(data.decode("utf-8", "ignore")), limit_chars) or ""

    def mapping_bytes(self, data: bytes, carry: CarryOver) -> bytes:
        """Identity, extra or attrs as JSON bytes: redacted, without what the arguments lost."""
        redacted = self._json(data, [])
        return carry.apply_json(redacted) if carry else redacted

    def mapping(self, value: dict[str, Any], carry: CarryOver) -> dict[str, Any]:
        """The same, decoded."""
        result = Encoded(self.mapping_bytes(encode(value).data, carry)).decode()
        return result if isinstance(result, dict) else {"value": result}

    def text(self, message: str) -> str:
        """Free text without secrets."""
        with contain.contain("redactor"):
            return str(self._redactor.redact_text(clean_text(message)))
        return UNREDACTABLE
