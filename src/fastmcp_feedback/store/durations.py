"""Durations as hosts write them: seconds, a timedelta, or text with a unit."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import Final

_TEXT: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)\s*", re.IGNORECASE)
_UNIT_S: Final = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
    **dict.fromkeys(("w", "week", "weeks"), 7 * 86400),
}


def seconds(name: str, value: float | timedelta | str, *, unit_needed: bool = False) -> float:
    """The duration in seconds. `unit_needed` refuses bare numbers, where a wrong guess of the unit would cost data.

    >>> seconds("prune_interval", "1 h"), seconds("retention", "30d")
    (3600.0, 2592000.0)

    Raises:
        ValueError: not a positive duration.
    """
    hint = f'pass a timedelta or text such as "30 d" or "12 h", got {name}={value!r}'
    if isinstance(value, timedelta):
        found = value.total_seconds()
    elif isinstance(value, str):
        parts = _TEXT.fullmatch(value)
        if parts is None or parts[2].lower() not in _UNIT_S:
            raise ValueError(f"{name} is no duration: {hint}")
        found = float(parts[1]) * _UNIT_S[parts[2].lower()]
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} is no duration: {hint}")
    elif unit_needed:
        raise ValueError(f"{name} has no unit: {hint}")
    else:
        found = float(value)
    if not math.isfinite(found) or found <= 0:
        raise ValueError(f"{name} must be longer than zero: {hint}")
    return found
