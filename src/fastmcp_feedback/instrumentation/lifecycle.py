"""`instrument`: adds the recorder to a server and makes it deliver whatever way the server ends.

FastMCP has no stop hook for middleware, and on SIGTERM none of its own hooks runs: not under stdio, and under
`run("http")` only the inner exit of the lifespan manager. So three things are tied together: the lifespan manager of
the app instance, handlers for SIGTERM and SIGINT (only where Python's defaults are in place), and `atexit`. Each only
flushes, so each may run any number of times.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import Any

from .. import contain
from .living import living
from .middleware import InstrumentationMiddleware
from .setup import shows_options

_AT_LEAST_S = 0.1

SignalHandler = Callable[[int, FrameType | None], Any]


@shows_options
def instrument(app: Any, sinks: Sequence[Any] | None = None, **options: Any) -> InstrumentationMiddleware:
    """Record every tool call of a FastMCP server.

    Adds an `InstrumentationMiddleware` at the end of the server's middleware chain and delivers what waits when the
    server ends: at the end of the lifespan, on a closed stdin, SIGTERM, SIGINT and interpreter exit.

    Args:
        app: The FastMCP server.
        sinks: Where records go; None is `[JsonLinesSink()]` (stderr).
        **options: See `docs/options.md`.

    Returns:
        The middleware: `record_event`, `flush`, `stats` and the rest live on it.

    Raises:
        ValueError: the server is instrumented already, or an option is out of range.
        TypeError: `app` is not a FastMCP server, an option is unknown, or a sink has no `write`.

    >>> from fastmcp import FastMCP
    >>> from fastmcp_feedback import instrument
    >>> from fastmcp_feedback.instrumentation import MemorySink
    >>> instrument(FastMCP("demo"), [MemorySink()]).mode
    'meta'
    """
    if not callable(getattr(app, "add_middleware", None)):
        msg = f"instrument takes a FastMCP server, got {type(app).__name__}"
        raise TypeError(msg)
    if any(isinstance(middleware, InstrumentationMiddleware) for middleware in getattr(app, "middleware", ())):
        msg = f"server {getattr(app, 'name', '?')!r} is instrumented already: use the middleware that the first instrument() returned"
        raise ValueError(msg)
    middleware = InstrumentationMiddleware(sinks, **options)
    app.add_middleware(middleware)
    _follow_lifespan(app, middleware)
    return middleware


def _follow_lifespan(app: Any, middleware: InstrumentationMiddleware) -> None:
    original: Callable[[], Any] | None = getattr(app, "_lifespan_manager", None)
    if original is None:
        contain.warn_once("lifespan", "this FastMCP has no _lifespan_manager: records are delivered at exit, not at the server's end")
        return

    @asynccontextmanager
    async def managed() -> AsyncIterator[Any]:
        with _handlers.installed():
            middleware.recorder.recover()
            try:
                async with original() as value:
                    yield value
            finally:
                await _flush_at_end(middleware)

    app._lifespan_manager = managed  # noqa: SLF001 - the one hook that 2.14, 3.x and 4.x share


async def _flush_at_end(middleware: InstrumentationMiddleware) -> None:
    limit_s = middleware.recorder.options.shutdown_timeout
    try:
        with contain.contain("flush at the end of the lifespan"):
            await middleware.flush(limit_s)
    except BaseException:
        # Cancelled: no await will work any more, so block shortly for what our own thread can write.
        middleware.flush_sync(limit_s, own_only=True)
        raise


@atexit.register
def _flush_all_finally() -> None:
    _flush_all("flush at exit", final=True)


def _flush_all(where: str, *, final: bool) -> None:
    """Flush every recorder, all of them within the longest `shutdown_timeout`."""
    began_s = time.monotonic()
    for middleware in list(living):
        with contain.contain(where):
            left_s = middleware.recorder.options.shutdown_timeout - (time.monotonic() - began_s)
            middleware.flush_sync(max(left_s, _AT_LEAST_S), final=final, own_only=not final)


class _Handlers:
    """Our handlers for SIGTERM and SIGINT while servers run in the main thread, over Python's own or ones that we can call after us.

    SIGINT's is taken back when the last server has ended: the next event loop looks for Python's own. SIGTERM's stays,
    because records may wait until the process ends.
    """

    def __init__(self) -> None:
        self._servers = 0
        self._previous: SignalHandler | None = None
        self._held = threading.local()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Have them in place while the block runs."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        if self._servers == 0:  # a lifespan inside another one finds the web server's own handlers, which call us later
            self._install()
        self._servers += 1
        try:
            yield
        finally:
            self._servers -= 1
            if self._servers == 0:
                self._take_back()

    def _install(self) -> None:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _on_sigterm)
        current = signal.getsignal(signal.SIGINT)
        if callable(current):
            self._previous = current
            signal.signal(signal.SIGINT, self._on_sigint)

    def _take_back(self) -> None:
        if self._previous is not None and signal.getsignal(signal.SIGINT) == self._on_sigint:
            signal.signal(signal.SIGINT, self._previous)
        self._previous = None

    def _on_sigint(self, signum: int, frame: FrameType | None) -> Any:
        _flush_all("flush on a signal", final=False)
        return self._previous(signum, frame) if self._previous is not None else None

    def before_fork(self) -> None:
        """Hold SIGTERM back until the child's handler is settled: one that comes in between would be forgotten."""
        ours = signal.getsignal(signal.SIGTERM) is _on_sigterm
        self._held.mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}) if ours else None

    def after_fork(self) -> None:
        """Let it through."""
        if self._held.mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._held.mask)

    def after_fork_in_child(self) -> None:
        """A child is no server until it runs one: SIGTERM ends it as it would without us."""
        self._servers = 0
        if signal.getsignal(signal.SIGTERM) is _on_sigterm:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.after_fork()


_handlers = _Handlers()


def _on_sigterm(signum: int, _frame: FrameType | None) -> None:
    """Flush, then end by the same signal, so that the exit status stays what it would have been."""
    for middleware in list(living):
        with contain.contain("recording interrupted calls"):
            middleware.interrupt_running()
    _flush_all_finally()
    signal.signal(signum, signal.SIG_DFL)
    os.kill(os.getpid(), signum)


def _after_fork_in_child() -> None:
    """What ran or waited for its hooks at the fork is the parent's to record."""
    for middleware in list(living):
        middleware.forget_running()
    _handlers.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_handlers.before_fork,
        after_in_parent=_handlers.after_fork,
        after_in_child=_after_fork_in_child,
    )
