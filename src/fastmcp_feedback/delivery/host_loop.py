"""The server's event loop as sinks see it: which one it is, whether it lives, and running a write on it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from typing import Any

from ..sink import Record

_LOOK_EVERY_S = 0.2


class LoopClosed(Exception):
    """The server's loop is gone and no new one has been seen."""


class SinkEnded(Exception):
    """A sink tried to end the process; the text names the exception's class."""


class HostLoop:
    """Follows the loop that the host runs on. `bind` is called from that loop, often, and costs one comparison."""

    __slots__ = ("loop",)

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Note the loop that serves calls now."""
        self.loop = loop

    @property
    def alive(self) -> bool:
        """True when a loop is known that has not been closed."""
        return self.loop is not None and not self.loop.is_closed()


async def write(sink: Any, records: Sequence[Record]) -> None:
    """`sink.write(records)`, awaited when it is a coroutine. An exit that it raises is its failure, not the server's."""
    try:
        answer = sink.write(records)
        if inspect.isawaitable(answer):
            await answer
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as exc:
        raise SinkEnded(type(exc).__name__) from exc


async def write_on(host: HostLoop, sink: Any, records: Sequence[Record]) -> None:
    """Run the write on the host's loop and wait for it here; `LoopClosed` when that loop ends first."""
    loop = host.loop
    if loop is None or loop.is_closed():
        raise LoopClosed
    coroutine = write(sink, records)
    try:
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    except RuntimeError:  # closed between the look and the call
        coroutine.close()
        raise LoopClosed from None
    waiting = asyncio.wrap_future(future)
    try:
        while not waiting.done():
            await asyncio.wait((waiting,), timeout=_LOOK_EVERY_S)
            if not waiting.done() and loop.is_closed():
                raise LoopClosed
        return waiting.result()
    finally:
        waiting.cancel()
