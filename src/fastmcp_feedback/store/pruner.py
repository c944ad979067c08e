"""Runs retention: on demand to its end, or one small step after a write when it is due."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from ..contain import contain
from . import retention
from .codec import STAMPS
from .schema import EMBEDDINGS
from .statements import Statement

_UNCOUNTED: Final = frozenset({EMBEDDINGS.name})


class Pruner:
    """Retention of one sink. `backend` is anything with `inspect`, `execute` and `prune_partitions`."""

    def __init__(self, backend: Any, prefix: str, keep: timedelta | None, interval_s: float, batch_rows: int) -> None:
        if isinstance(batch_rows, bool) or not isinstance(batch_rows, int) or batch_rows <= 0:
            raise ValueError(f"prune_batch must be a number of rows above 0, got {batch_rows!r}")
        self._backend = backend
        self._prefix = prefix
        self._keep = keep
        self._interval_s = interval_s
        self._batch_rows = batch_rows
        self._due_s = 0.0
        self._left: list[Statement] = []

    async def prune(self, older_than: datetime | timedelta | str | None, on_progress: Callable[[int], None] | None) -> int:
        """Delete everything that is old; how many calls and events went."""
        cutoff = retention.cutoff_for(older_than, self._keep)
        deleted = await self._backend.prune_partitions(cutoff)
        for name, statement in (await self._batches(cutoff)).items():
            while True:
                gone = await self._step(statement)
                deleted += 0 if name in _UNCOUNTED else gone
                if on_progress is not None:
                    on_progress(deleted)
                if gone < statement[1]["rows"]:
                    break
        return int(deleted)

    async def after_write(self) -> None:
        """At most one batch, when pruning is due; never raises. Nothing runs in the background, so nothing has to be stopped."""
        if self._keep is None or (not self._left and time.monotonic() < self._due_s):
            return
        with contain("pruning old records"):
            if not self._left:
                self._due_s = time.monotonic() + self._interval_s
                cutoff = retention.cutoff_for(None, self._keep)
                await self._backend.prune_partitions(cutoff)
                self._left = list((await self._batches(cutoff)).values())
            statement = self._left[-1]
            if await self._step(statement) < statement[1]["rows"]:
                self._left.pop()

    async def _batches(self, cutoff: datetime) -> dict[str, Statement]:
        dialect = self._backend.dialect
        bound = STAMPS[dialect](cutoff)
        return retention.batches(await self._backend.inspect(), self._prefix, dialect, bound, self._batch_rows)

    async def _step(self, statement: Statement) -> int:
        (gone,) = await self._backend.execute([statement], exclusive=True)
        return int(gone)
