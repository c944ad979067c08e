"""A daemon thread that runs one blocking function after another.

Not `ThreadPoolExecutor`: that refuses work once the interpreter has begun to exit, which is when the last records are
written.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Worker:
    """One lazily started daemon thread with a queue of calls; usable from any thread and any event loop.

    After a fork the child gets a fresh thread and an empty queue. A function that blocks for ever blocks only this
    worker.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._calls: deque[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = deque()
        self._ready = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._busy = False

    @property
    def busy(self) -> bool:
        """True while a function runs or waits."""
        return self._busy or bool(self._calls)

    @property
    def waiting(self) -> int:
        """Functions that have not begun."""
        return len(self._calls)

    def submit(self, fn: Callable[..., T], *args: Any) -> Future[T]:
        """Queue `fn(*args)`; the future gives its result."""
        if self._pid != os.getpid():
            self._reset()
        future: Future[T] = Future()
        with self._ready:
            self._calls.append((future, fn, args))
            started = (self._thread is not None and self._thread.is_alive()) or self._start()
            self._ready.notify()
        if not started:
            self._run()
        return future

    def _start(self) -> bool:
        """Start the thread; False when the interpreter has begun to exit: Python 3.12 and later start none then."""
        thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread, self._stopping = thread, False
        try:
            thread.start()
        except RuntimeError:
            self._stopping = True
            return False
        return True

    async def run(self, fn: Callable[..., T], *args: Any) -> T:
        """`await` the result of `fn(*args)` from any event loop."""
        return await asyncio.wrap_future(self.submit(fn, *args))

    def stop(self, timeout_s: float | None = None) -> None:
        """End the thread after what is queued; waits at most `timeout_s` (None: does not wait)."""
        with self._ready:
            self._stopping = True
            self._ready.notify()
            thread = self._thread
        if thread is not None and timeout_s is not None and thread is not threading.current_thread():
            thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._calls:
                    if self._stopping:
                        self._thread = None
                        return
                    self._ready.wait()
                future, fn, args = self._calls.popleft()
                self._busy = True
            self._call(future, fn, args)
            del future, fn, args

    def _call(self, future: Future[Any], fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
        if not future.set_running_or_notify_cancel():
            self._busy = False
            return
        result, error = None, None
        try:
            result = fn(*args)
        except BaseException as exc:  # noqa: BLE001 - the caller gets it through the future
            error = exc
        self._busy = False  # before the answer: whoever gets it finds this worker free
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)
