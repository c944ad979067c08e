"""The one place where our own errors end.

A recorder must never break the server that it records, so every boundary between us and foreign code (hooks, sinks,
classifiers, redactors) and between us and a tool runs inside `contain`. What is swallowed here is counted, logged
once per place and minute, and handed to `on_contained` observers; the test suite installs one that fails the test.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import wait
from types import TracebackType
from typing import Final

from .worker import Worker

logger = logging.getLogger("fastmcp_feedback")

_LOG_EVERY_S = 60.0
_OUR_THREADS: Final = "fastmcp-feedback"
_LOG_PATIENCE_S: Final = 0.05
_MAX_LINES: Final = 100
# A handler of the host may block for ever (a stderr that nobody reads) and hold its lock meanwhile. Neither a server nor
# delivery may wait for that, so every line is logged on a thread of its own.
_log = Worker("fastmcp-feedback-log")

counts: Counter[str] = Counter()
on_contained: list[Callable[[str, BaseException], None]] = []

_lock = threading.RLock()  # a signal handler may interrupt its holder
_last_logged: dict[str, float] = {}
_suppressed: Counter[str] = Counter()
# Set by the public face to the redactor's text rules: messages of foreign exceptions may quote secrets.
_scrub: Callable[[str], str] | None = None


def set_scrubber(scrub: Callable[[str], str]) -> None:
    """Install the function that cleans exception messages before they are logged."""
    global _scrub
    _scrub = scrub


def describe(exc: BaseException, limit_chars: int = 300) -> str:
    """`Type: message` with secrets removed; the type alone when no scrubber is installed or it fails."""
    name = type(exc).__name__
    if _scrub is None:
        return name
    try:
        text = _scrub(str(exc)[: limit_chars * 4])[:limit_chars]
    except Exception:
        return name
    return f"{name}: {text}" if text else name


def report(where: str, exc: BaseException, hint: str = "") -> None:
    """Count and log an error that was kept from the host; at most one line per place and minute."""
    with _lock:
        counts[where] += 1
        now = time.monotonic()
        silent = now - _last_logged.get(where, -_LOG_EVERY_S) < _LOG_EVERY_S
        if silent:
            _suppressed[where] += 1
        else:
            _last_logged[where] = now
        repeats = 0 if silent else _suppressed.pop(where, 0)
    if not silent:
        more = f" ({repeats} more like it in the last minute)" if repeats else ""
        tail = f"; {hint}" if hint else ""
        log(logging.WARNING, "%s failed: %s%s%s", where, describe(exc), tail, more)
    for observer in list(on_contained):  # noqa: PERF101 - a copy: an observer may leave while it is called
        observer(where, exc)


def warn_once(key: str, message: str, *args: object) -> None:
    """Log a warning about the host's set-up or data, at most once per key and minute."""
    with _lock:
        now = time.monotonic()
        if now - _last_logged.get(key, -_LOG_EVERY_S) < _LOG_EVERY_S:
            return
        _last_logged[key] = now
    log(logging.WARNING, message, *args)


def log(level: int, message: str, *args: object) -> None:
    """Log a line without ever waiting for a stuck handler; beyond a hundred lines behind one, lines are dropped."""
    if not logger.isEnabledFor(level):
        return
    if _log.waiting >= _MAX_LINES:
        return
    stuck = _log.busy
    done = _log.submit(logger.log, level, message, *args)
    if not stuck and not threading.current_thread().name.startswith(_OUR_THREADS):
        # Mostly it is through at once, and a host that reads its log finds things in their order.
        wait((done,), timeout=_LOG_PATIENCE_S)


class contain:  # noqa: N801 - reads as a word of the language: `with contain("enricher"):`
    """Swallow and report any `Exception` of the block; `BaseException` (cancellation, exit) passes.

    A class and not a generator: it stands on the caller's path and costs a quarter of `@contextmanager`.
    """

    __slots__ = ("hint", "where")

    def __init__(self, where: str, hint: str = "") -> None:
        self.where = where
        self.hint = hint

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None) -> bool:
        if exc is None or not isinstance(exc, Exception):
            return False
        report(self.where, exc, self.hint)
        return True


def forget() -> None:
    """Forget counts and log times (tests, and the child after a fork)."""
    global _lock
    _lock = threading.RLock()
    counts.clear()
    _last_logged.clear()
    _suppressed.clear()
