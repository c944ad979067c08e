"""Waiting times between attempts: exponential back-off with full jitter.

Source: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
"""

from __future__ import annotations

import random

BASE_S = 0.1
CAP_S = 10.0
_dice = random.Random()  # noqa: S311 - jitter, not security; our own, so that a host's seeded sequence stays as it is


def delay_s(attempt: int, draw: float | None = None) -> float:
    """Seconds before attempt number `attempt + 1` (counting from 1): half to all of a capped exponential.

    >>> delay_s(1, draw=1.0), delay_s(4, draw=0.0), delay_s(60, draw=1.0)
    (0.1, 0.4, 10.0)
    """
    full = min(CAP_S, BASE_S * 2.0 ** min(attempt - 1, 30))
    return full * (0.5 + 0.5 * (_dice.random() if draw is None else draw))
