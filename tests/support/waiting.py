"""Waiting for something to become true, with a deadline: the only kind of waiting in the tests."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any, Final

DEADLINE_S: Final = 20.0
_LOOK_EVERY_S: Final = 0.005


def wait_until(condition: Callable[[], Any], timeout_s: float = DEADLINE_S) -> None:
    """Block until `condition()` is true.

    Raises:
        AssertionError: it was still false after `timeout_s` seconds.
    """
    pause = threading.Event()
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"still false after {timeout_s} s: {condition}"
        pause.wait(_LOOK_EVERY_S)


async def until(condition: Callable[[], Any], timeout_s: float = DEADLINE_S) -> None:
    """The same without blocking the event loop.

    Raises:
        AssertionError: it was still false after `timeout_s` seconds.
    """
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"still false after {timeout_s} s: {condition}"
        await asyncio.sleep(_LOOK_EVERY_S)
