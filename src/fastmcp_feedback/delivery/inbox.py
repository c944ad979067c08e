"""The shaping thread: takes raw calls from the caller's hands, shapes them in small slices, hands records on.

Why slices: a thread of pure Python holds the interpreter for up to the switch interval (5 ms) while the server's loop
waits. After half a millisecond of work this thread sleeps for about as long, so the loop is never kept waiting more
than that; under a backlog it sleeps less, and a flush makes it hurry.

Why a timer of the loop wakes it: a thread that waits for the interpreter makes every short release of it in the busy
loop's thread cost a wake-up (tens of microseconds a call, for as long as the loop does not pause). A timer fires between
two turns of the loop, when it is about to pause. The thread looks by itself as well, should the loop not turn.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from .. import contain

_SLICE_S = 0.0005
_LOOK_S = 0.15  # how often the thread looks by itself while records come
_IDLE_LOOKS = 60  # after so many looks in vain it sleeps until it is rung awake
_LINGER_S = 0.05
_BACKLOG = 2000


class Pacer:
    """Gives the interpreter away after each slice of work; `breathe` is cheap to call often."""

    def __init__(self) -> None:
        self.rush = False
        self.backlog = False
        self._slice_began = time.perf_counter()

    def begin(self) -> None:
        """A new slice starts now."""
        self._slice_began = time.perf_counter()

    def breathe(self) -> None:
        """Sleep when this slice has been long enough."""
        worked_s = time.perf_counter() - self._slice_began
        if worked_s >= _SLICE_S:
            # Any real sleep hands the interpreter over; without one the waiting loop may lose the race for it.
            time.sleep(0.00005 if self.rush or self.backlog else min(worked_s, 0.002))
            self._slice_began = time.perf_counter()


class Bell:
    """Wakes one sleeping thread. Ringing is a single C call, so a signal handler may ring at any point."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def ring(self) -> None:
        """Wake the sleeper, or let its next wait return at once."""
        try:
            self._lock.release()
        except RuntimeError:  # rung already
            return

    def wait(self, timeout_s: float = -1) -> bool:
        """Sleep until somebody rings; False when the time is over."""
        return self._lock.acquire(timeout=timeout_s)


class Inbox:
    """A queue with one consumer thread. `put` may be called from any thread and never waits.

    `consume` gets each item and its size in turn; whatever it raises is contained.
    """

    def __init__(self, name: str, consume: Callable[[Any, int], None], after_slice: Callable[[], None]) -> None:
        self._name = name
        self._consume = consume
        self._after_slice = after_slice
        self.pacer = Pacer()
        self._items: deque[tuple[Any, int]] = deque()
        self._bell = Bell()
        self._asleep = True
        self._deep = True  # nothing came for a while: only ringing wakes the thread
        self._stopping = False
        self._thread: threading.Thread | None = None
        # Each has one writer: callers (under the recorder's lock), and the thread.
        self.entered = 0
        self.entered_bytes = 0
        self.taken = 0
        self.taken_bytes = 0

    def start(self) -> None:
        """Start the thread (once)."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    @property
    def running(self) -> bool:
        """True while the thread lives."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def waiting(self) -> int:
        """Items not yet consumed, the one in hand included."""
        return self.entered - self.taken

    @property
    def waiting_bytes(self) -> int:
        """Bytes of those."""
        return self.entered_bytes - self.taken_bytes

    def busy(self) -> bool:
        """Is the thread in the midst of a queue? Then more records follow at once."""
        return bool(self._items) and not self._asleep

    def put(self, item: Any, size_bytes: int) -> None:
        """Queue one item. Called under the recorder's lock."""
        self.entered += 1
        self.entered_bytes += size_bytes
        self._items.append((item, size_bytes))
        if self._asleep:
            self._asleep = False
            self._call_thread()

    def _call_thread(self) -> None:
        """Wake the thread a moment later: by the loop that runs here, or at once where none does."""
        if not self._deep:
            try:
                asyncio.get_running_loop().call_later(_LINGER_S, self._ring_if_needed, self.taken)
            except RuntimeError:  # no loop in this thread, or one that closes
                self._bell.ring()
            return
        self._bell.ring()

    def _ring_if_needed(self, taken: int) -> None:
        if self.taken == taken:  # else a flush was faster, and what waits now has a timer of its own
            self._bell.ring()

    def hurry(self) -> None:
        """Skip the pause before the next slice, and short sleeps until the queue is empty."""
        self.pacer.rush = True
        self._bell.ring()

    def stop(self, timeout_s: float) -> None:
        """End the thread when the queue is empty; wait for it at most `timeout_s`."""
        self._stopping = True
        self.hurry()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            if not self._items:
                if self._stopping:
                    return
                self._park()
                continue
            self._drain()

    def _park(self) -> None:
        """Sleep until there is something to do."""
        self.pacer.rush = False
        looks = 0
        while not self.pacer.rush and not self._stopping:
            self._asleep = True
            if self._items:  # put() may have looked before we said that we sleep
                break
            self._deep = looks >= _IDLE_LOOKS
            if self._bell.wait(-1 if self._deep else _LOOK_S):
                self._linger()
                break
            looks += 1
        self._asleep = False

    def _linger(self) -> None:
        """Let the answer of the call that rang us awake go out first."""
        if self._deep and not self.pacer.rush:
            self._asleep = False
            self._bell.wait(_LINGER_S)

    def _drain(self) -> None:
        self.pacer.begin()
        while self._items:
            self.pacer.backlog = len(self._items) > _BACKLOG
            item, size_bytes = self._items.popleft()
            try:
                self._consume(item, size_bytes)
            except BaseException as exc:  # noqa: BLE001 - the thread must live on, whatever a hook of the host raises
                contain.report("shaping", exc)
            del item
            self.taken += 1
            self.taken_bytes += size_bytes
            if self._items:
                self.pacer.breathe()
        self._after_slice()
