"""The words of a report: types, statuses, severities, and how long its texts may be."""

from __future__ import annotations

import re
import secrets
from typing import Final

TYPES: Final = ("bug", "feature", "improvement", "question")
STATUSES: Final = ("open", "in_progress", "resolved", "closed")
SEVERITIES: Final = ("low", "medium", "high", "critical")
KINDS: Final = ("agent", "human", "unknown")

MAX_TITLE_CHARS: Final = 200
MAX_DESCRIPTION_CHARS: Final = 10_000
MAX_SHORT_CHARS: Final = 200
MAX_NOTE_CHARS: Final = 2000
MAX_CALLS: Final = 20
MAX_PAGE: Final = 100
MAX_DAYS: Final = 3650

SUBMITTED: Final = "feedback.submitted"
"""Kind of the event that a report leaves."""

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: nothing that looks like something else
_ID_CHARS: Final = 12
_ID: Final = re.compile(rf"fb-[{_ALPHABET}]{{{_ID_CHARS}}}")


def new_id() -> str:
    """A short id that cannot be guessed (60 random bits) and is easy to quote: `fb-` and twelve letters and digits."""
    return "fb-" + "".join(secrets.choice(_ALPHABET) for _ in range(_ID_CHARS))


def read_id(text: str) -> str | None:
    """An id as somebody wrote it, however they wrote it; None when it is none.

    >>> read_id(" FB-7K3M9QX2RT5O. "), read_id("7")
    ('fb-7k3m9qx2rt50', None)
    """
    plain = text.strip(" \t\r\n.,;:!?\"'`#<>()[]").lower()
    head, dash, tail = plain.partition("-")
    plain = head + dash + tail.translate(_LOOKALIKES) if dash else plain
    return plain if _ID.fullmatch(plain) else None


_LOOKALIKES: Final = str.maketrans("oil", "011")
