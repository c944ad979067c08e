"""Whether the spool can be written: says so once when it cannot, and when to try again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from ... import contain
from .folder import HINTS

_FIRST_PROBE_S: Final = 1.0
_LAST_PROBE_S: Final = 30.0


class Health:
    """Off after an error until the next probe; each failing probe doubles the wait."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._off_until_s = 0.0
        self._wait_s = _FIRST_PROBE_S
        self.problem: str | None = None

    @property
    def usable(self) -> bool:
        """May the spool be tried now?"""
        return self.problem is None or time.monotonic() >= self._off_until_s

    def failed(self, exc: OSError) -> None:
        """Switch off for a while, with a warning that says what, why and what to do."""
        self.problem = str(exc.strerror or exc)
        self._off_until_s = time.monotonic() + self._wait_s
        self._wait_s = min(_LAST_PROBE_S, self._wait_s * 2)
        hint = HINTS.get(exc.errno or 0, "look at that directory")
        contain.warn_once(
            f"spool {self._path}",
            "spool %s cannot be used: %s. Recording goes on without it: what waits in memory is lost if the process is killed. "
            "To mend it: %s; it is tried again by itself",
            self._path,
            self.problem,
            hint,
        )

    def works(self) -> None:
        """A write went through."""
        if self.problem is not None:
            self.problem = None
            self._wait_s = _FIRST_PROBE_S
            contain.logger.info("spool %s works again", self._path)
