"""What became of every record, for every sink: accepted = written + waiting + spooled + quarantined + lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Account:
    """The books of one sink.

    Each group has one writer, so no count is ever lost: `refused` is counted by callers (under the recorder's lock),
    then come the shaping thread, the writer thread, the spool's thread, and what is counted under the spool's lock.
    `entered` counts the records that were taken on, `left` those that came to an end; a flush compares the two. A
    record that lies on disk alone has not left: it was `spilled` there (or `parked` later) and will be `unparked`.
    """

    refused: Counter[str] = field(default_factory=Counter)

    entered: int = 0
    entered_bytes: int = 0
    spilled: int = 0
    overflow: Counter[str] = field(default_factory=Counter)

    left: int = 0
    left_bytes: int = 0
    parked: int = 0
    recovered_left: int = 0
    written: int = 0
    quarantined: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    quarantine_reasons: Counter[str] = field(default_factory=Counter)
    last_error: str | None = None

    unparked: int = 0

    recovered: int = 0
    recovered_lost: int = 0
    parked_lost: int = 0
    lost_on_disk: Counter[str] = field(default_factory=Counter)

    @property
    def on_disk(self) -> int:
        """Records of this process that lie on disk and not in memory."""
        return self.spilled + self.parked - self.unparked - self.parked_lost

    @property
    def waiting(self) -> int:
        """Records in memory, not yet in an end state."""
        return self.entered - self.left - self.spilled - self.parked + self.unparked

    @property
    def waiting_bytes(self) -> int:
        """Approximate bytes of those."""
        return self.entered_bytes - self.left_bytes

    @property
    def ended(self) -> int:
        """Records of this process that came to an end."""
        return self.left + self.parked_lost

    def lose_on_disk(self, own: int, recovered: int, reason: str) -> None:
        """Records are gone that were only on disk."""
        self.parked_lost += own
        self.recovered_lost += recovered
        if own or recovered:
            self.lost_on_disk[reason] += own + recovered

    def report(self, safe: int = 0) -> dict[str, Any]:
        """The books as `stats()` shows them; the sum holds by construction. `safe` records are on disk."""
        lost = self.lost + self.refused + self.overflow + self.lost_on_disk
        owed, total = self.entered - self.ended, lost.total()
        waiting = max(0, owed - safe)
        spooled = owed - waiting + self.recovered - self.recovered_left - self.recovered_lost
        return {
            "accepted": self.written + waiting + spooled + self.quarantined + total,
            "written": self.written,
            "waiting": waiting,
            "spooled": spooled,
            "quarantined": self.quarantined,
            "lost": total,
            "lost_by_reason": dict(lost),
            "quarantine_reasons": dict(self.quarantine_reasons),
            "last_error": self.last_error,
        }
