"""Looks for what killed processes left in the spool, and takes it over on a thread of its own: it may be a lot."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from .. import contain
from .spool.spool import Spool

_LOOK_EVERY_S: Final = 5.0


class Orphans:
    """Claims files without an owner. `on_claimed` counts records for a sink, `ring` tells that there is something to do."""

    def __init__(self, spool: Spool, on_claimed: Callable[[str, int], None], ring: Callable[[], None]) -> None:
        self._spool = spool
        self._on_claimed = on_claimed
        self._ring = ring
        self._looked_s = float("-inf")
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Every few seconds: claim, when there is something and nobody is at it."""
        now_s = time.monotonic()
        if now_s - self._looked_s < _LOOK_EVERY_S or (self._thread is not None and self._thread.is_alive()):
            return
        self._looked_s = now_s
        if self._spool.sees_orphans():
            self._thread = threading.Thread(target=self._claim, name="fastmcp-feedback-recovery", daemon=True)
            self._thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait for a claim that runs."""
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _claim(self) -> None:
        with contain.contain("spool recovery"):
            for name, count in self._spool.claim_orphans(self._on_claimed).items():
                contain.logger.info("spool %s: %d record(s) of an earlier process for %s", self._spool.folder.path, count, name)
            self._ring()
