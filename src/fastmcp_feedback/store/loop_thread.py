"""An event loop on a daemon thread of its own, for a driver whose connections belong to one loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines from any thread and any loop on one loop. Started on first use, anew after a fork."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = os.getpid()

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """`await` the coroutine's answer; cancelling the wait cancels the coroutine."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._started()))

    def stop(self) -> None:
        """End the loop and its thread. A later `run` starts new ones."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None and self._pid == os.getpid():
            loop.call_soon_threadsafe(loop.stop)

    @property
    def generation(self) -> object:
        """The loop that runs now: what belongs to another one is of no use."""
        return self._started()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._pid = os.getpid()
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_turn, args=(self._loop,), name=self._name, daemon=True).start()
            return self._loop


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()
