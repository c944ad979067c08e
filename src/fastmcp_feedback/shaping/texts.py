"""Short texts that a client may choose (tool name, ids): redacted, cleaned and cut, with a memo for repeats."""

from __future__ import annotations

from typing import Any

from .. import contain
from ..jsonsafe import clean_text

MAX_CHARS = 255
_MEMO = 4096
_READ_CHARS = 4096  # what a longer text could show after redaction is beyond the cut anyway


def cut_text(text: str | None, limit_chars: int) -> str | None:
    """The first `limit_chars` characters.

    >>> cut_text("disk full", 4)
    'disk'
    """
    return text if text is None or len(text) <= limit_chars else text[:limit_chars]


class ShortTexts:
    """Redacts and cuts, remembering what it has seen: tools, users and sessions come again and again."""

    def __init__(self, redactor: Any) -> None:
        self._redactor = redactor
        self._memo: dict[str, str] = {}

    def short(self, text: str | None) -> str | None:
        """The text as a column holds it: at most 255 characters, without secrets."""
        if text is None:
            return None
        known = self._memo.get(text)
        if known is not None:
            return known
        text = text[:_READ_CHARS]
        if text.isdecimal() and len(text) < 12:  # request ids
            return text
        shown = "[REDACTION FAILED]"
        with contain.contain("redactor"):
            shown = str(self._redactor.redact_text(clean_text(text)))[:MAX_CHARS]
        if len(self._memo) >= _MEMO:
            self._memo.clear()
        self._memo[text] = shown
        return shown
