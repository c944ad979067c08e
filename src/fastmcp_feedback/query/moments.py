"""Points in time as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_AGO: Final = re.compile(r"(\d{1,6})\s*(s|sec|m|min|h|d|w)")
_UNITS: Final = {"s": "seconds", "sec": "seconds", "m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class FilterError(ValueError):
    """A filter that cannot be understood; the text says what is allowed."""


def parse_moment(text: str, now: datetime | None = None) -> datetime:
    """A moment in UTC: `2h`, `15m`, `7d` ago, `today`, `yesterday`, or ISO 8601. Times without a zone are local.

    >>> from datetime import UTC, datetime
    >>> noon = datetime(2026, 10, 2, 12, tzinfo=UTC)
    >>> parse_moment("90m", noon).isoformat(), parse_moment("2026-10-01T08:00:00Z", noon).isoformat()
    ('2026-10-02T10:30:00+00:00', '2026-10-01T08:00:00+00:00')

    Raises:
        FilterError: anything else.
    """
    moment = now or datetime.now(UTC)
    words = text.strip().lower()
    midnight = moment.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    named = {"now": moment, "today": midnight, "yesterday": midnight - timedelta(days=1)}
    if words in named:
        return named[words].astimezone(UTC)
    ago = _AGO.fullmatch(words)
    try:
        if ago is not None:
            return moment - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise FilterError(f"{text!r} is not a time: write 2h, 15m, 7d, today, yesterday, or a date such as 2026-10-02T08:00") from None
