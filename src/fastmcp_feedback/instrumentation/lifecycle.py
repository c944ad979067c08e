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
import weakref
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

from .. import contain
from .middleware import InstrumentationMiddleware
from .setup import shows_options

_live: weakref.WeakSet[InstrumentationMiddleware] = weakref.WeakSet()
_OURS = "_fastmcp_feedback"


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


def deliver_at_exit(middleware: InstrumentationMiddleware) -> None:
    """Make the interpreter's exit flush this recorder too (called at construction)."""
    _live.add(middleware)


def _follow_lifespan(app: Any, middleware: InstrumentationMiddleware) -> None:
    original: Callable[[], Any] | None = getattr(app, "_lifespan_manager", None)
    if original is None:
        contain.warn_once("lifespan", "this FastMCP has no _lifespan_manager: records are delivered at exit, not at the server's end")
        return

    @asynccontextmanager
    async def managed() -> AsyncIterator[Any]:
        _install_signal_handlers()
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
    for middleware in list(_live):
        with contain.contain("flush at exit"):
            middleware.flush_sync(final=True)


def _flush_all() -> None:
    for middleware in list(_live):
        with contain.contain("flush on a signal"):
            middleware.flush_sync(own_only=True)


def _install_signal_handlers() -> None:
    """Only from the main thread, and only over Python's own defaults or a callable that we can call after us."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_sigterm)
    previous = signal.getsignal(signal.SIGINT)
    if callable(previous) and not getattr(previous, _OURS, False):
        signal.signal(signal.SIGINT, _flushing_first(previous))


def _on_sigterm(signum: int, _frame: FrameType | None) -> None:
    """Flush, then end by the same signal, so that the exit status stays what it would have been."""
    for middleware in list(_live):
        middleware.interrupt_running()
    _flush_all_finally()
    signal.signal(signum, signal.SIG_DFL)
    os.kill(os.getpid(), signum)


def _flushing_first(previous: Callable[[int, FrameType | None], Any]) -> Callable[[int, FrameType | None], Any]:
    def handler(signum: int, frame: FrameType | None) -> Any:
        _flush_all()
        return previous(signum, frame)

    setattr(handler, _OURS, True)
    return handler
