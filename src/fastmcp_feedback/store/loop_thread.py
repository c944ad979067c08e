"""An event loop on a daemon thread of its own, for a driver whose connections belong to one loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import weakref
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

from ..worker import Worker

T = TypeVar("T")


class _Loop(asyncio.SelectorEventLoop):
    """Looks up host names on a thread of ours: the default pool takes no work once the interpreter has begun to exit."""

    def __init__(self) -> None:
        super().__init__()
        self._resolver = Worker("fastmcp-feedback-resolver")

    async def getaddrinfo(self, *args: Any, **options: Any) -> Any:
        """`socket.getaddrinfo`, elsewhere."""
        return await self._resolver.run(partial(socket.getaddrinfo, *args, **options))

    def close(self) -> None:
        """End the resolver too."""
        self._resolver.stop()
        super().close()


class LoopThread:
    """Runs coroutines from any thread and any loop on one loop. Started on first use, anew after a fork."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """`await` the coroutine's answer; cancelling the wait cancels the coroutine."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._started()))

    def stop(self) -> None:
        """End the loop and its thread. A later `run` starts new ones."""
        if self._pid != os.getpid():
            self._reset()
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            _stop(loop)

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._pid != os.getpid():
            self._reset()
        with self._lock:
            if self._loop is None:
                self._loop = _Loop()
                threading.Thread(target=_turn, args=(self._loop,), name=self._name, daemon=True).start()
                # When the owner is forgotten; at exit the last records may still need the loop.
                weakref.finalize(self, _stop, self._loop).atexit = False
            return self._loop


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    with contextlib.suppress(RuntimeError):  # closed already
        loop.call_soon_threadsafe(loop.stop)


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()
