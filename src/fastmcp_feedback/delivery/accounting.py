"""What became of every record, for every sink: accepted = written + waiting + spooled + quarantined + lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Account:
    """The books of one sink.

    Each group has one writer, so no count is ever lost: `refused` is counted by callers (under the recorder's lock),
    the second group by the shaping thread, the third by the writer thread. `entered` counts what went into the queue,
    `left` what came out of it in whatever way; a flush compares the two.
    """

    refused: Counter[str] = field(default_factory=Counter)

    entered: int = 0
    entered_bytes: int = 0
    overflow: Counter[str] = field(default_factory=Counter)

    left: int = 0
    left_bytes: int = 0
    written: int = 0
    spooled: int = 0
    quarantined: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    quarantine_reasons: Counter[str] = field(default_factory=Counter)
    last_error: str | None = None

    @property
    def waiting(self) -> int:
        """Records in memory, not yet in an end state."""
        return self.entered - self.left

    @property
    def waiting_bytes(self) -> int:
        """Approximate bytes of those."""
        return self.entered_bytes - self.left_bytes

    def report(self) -> dict[str, Any]:
        """The books as `stats()` shows them; the sum holds by construction."""
        lost = self.lost + self.refused + self.overflow
        waiting, total = self.waiting, lost.total()
        return {
            "accepted": self.written + waiting + self.spooled + self.quarantined + total,
            "written": self.written,
            "waiting": waiting,
            "spooled": self.spooled,
            "quarantined": self.quarantined,
            "lost": total,
            "lost_by_reason": dict(lost),
            "quarantine_reasons": dict(self.quarantine_reasons),
            "last_error": self.last_error,
        }
