"""What a database holds: how many rows, from when to when, with payloads or without."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .parts import as_time
from .reader import Reader


@dataclass(frozen=True, slots=True)
class Holding:
    """One kind of record. `oldest` and `newest` are None when there are none."""

    name: str
    rows: int
    oldest: datetime | None
    newest: datetime | None


@dataclass(frozen=True, slots=True)
class Holdings:
    """All kinds, and what the calls among them were recorded with."""

    kinds: tuple[Holding, ...]
    with_payloads: int
    with_user: int
    modes: tuple[tuple[str, int], ...]


async def holdings(reader: Reader) -> Holdings:
    """Count everything that is stored, whatever a filter says."""
    kinds = [
        await _holding(reader, name, table, column)
        for name, table, column in (
            ("calls", reader.calls, "started_at"),
            ("events", reader.events, "occurred_at"),
            ("reports", reader.feedback, "created_at"),
        )
    ]
    rows = await reader.rows(
        f"SELECT mode, COUNT(*) AS n, COUNT(user_sub) AS users, "  # noqa: S608 - a name of ours
        f"SUM(CASE WHEN args IS NOT NULL OR result IS NOT NULL THEN 1 ELSE 0 END) AS payloads "
        f"FROM {reader.calls} GROUP BY mode ORDER BY mode",
        {},
    )
    return Holdings(
        tuple(kinds),
        sum(int(row["payloads"] or 0) for row in rows),
        sum(int(row["users"]) for row in rows),
        tuple((row["mode"], int(row["n"])) for row in rows),
    )


async def _holding(reader: Reader, name: str, table: str, column: str) -> Holding:
    (row,) = await reader.rows(f"SELECT COUNT(*) AS n, MIN({column}) AS low, MAX({column}) AS high FROM {table}", {})  # noqa: S608 - names of ours
    low, high = row["low"], row["high"]
    return Holding(name, int(row["n"]), None if low is None else as_time(low), None if high is None else as_time(high))
