"""What became of every record, for every sink: accepted = written + waiting + spooled + quarantined + lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Account:
    """The books of one sink.

    Callers' threads change the first group (under the recorder's lock), the shaping thread the second, the writer
    thread the third, so no counter has two writers. `entered` counts what went into the queue, `withdrawn` what
    shaping took back (sampled out), `left` what came out in whatever way; a flush compares them.
    """

    entered: int = 0
    entered_bytes: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    withdrawn: int = 0
    withdrawn_bytes: int = 0

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
        return self.entered - self.left - self.withdrawn

    @property
    def waiting_bytes(self) -> int:
        """Approximate bytes of those."""
        return self.entered_bytes - self.left_bytes - self.withdrawn_bytes

    def report(self) -> dict[str, Any]:
        """The books as `stats()` shows them; the sum holds by construction."""
        lost = self.lost + self.refused
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
