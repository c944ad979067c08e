"""Settings of the delivery stage, checked when they are made."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields

MAX_BATCH = 2000


@dataclass(frozen=True, slots=True)
class DeliveryOptions:
    """Times in seconds, sizes in bytes, counts in records."""

    batch_size: int = 100
    flush_interval: float = 0.1
    sink_timeout: float = 10.0
    max_queue: int = 100_000
    max_queue_bytes: int = 64 * 1024 * 1024
    retry_for: float = 300.0
    shutdown_timeout: float = 5.0
    spool: str | os.PathLike[str] | None = None
    spool_max_bytes: int = 1024 * 1024 * 1024

    def __post_init__(self) -> None:
        counts = ("batch_size", "max_queue", "max_queue_bytes", "spool_max_bytes")
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "spool":
                self._check_spool()
                continue
            whole = f.name in counts
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                msg = f"{f.name}={value!r}: must be {'a whole number' if whole else 'a number of seconds'}"
                raise ValueError(msg)
            positive = value > 0 if whole or f.name == "sink_timeout" else value >= 0
            if not positive or math.isnan(value):
                msg = f"{f.name}={value!r}: must be {'positive' if whole or f.name == 'sink_timeout' else 'zero or more'}"
                raise ValueError(msg)

    def _check_spool(self) -> None:
        if self.spool is not None and (not isinstance(self.spool, (str, os.PathLike)) or not os.fspath(self.spool)):
            raise ValueError(f"spool={self.spool!r}: must be the path of a directory, or None for no spool")
        if self.spool is not None and "\0" in os.fsdecode(self.spool):
            raise ValueError(f"spool={self.spool!r}: a path cannot hold the character NUL")
