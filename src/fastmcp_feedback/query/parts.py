"""Small parts that several questions share: SQL of ours, and values as they come back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from .reader import Reader

WEIGHT: Final = "COALESCE(1.0 / NULLIF(sample_rate, 0.0), 1.0)"
"""How many calls a row stands for: one kept by sampling at rate r stands for 1 / r."""

_MAX_IDS: Final = 500  # of one statement: older builds of SQLite take 999 parameters


def as_time(value: Any) -> datetime:
    """A time that came out of an SQL function: SQLite gives text.

    >>> as_time("2026-10-02T12:00:00.000000+00:00").hour
    12
    """
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def texts(value: Any) -> tuple[str, ...]:
    """A JSON list of words; nothing for anything else."""
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


async def rows_by_id(reader: Reader, columns: str, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Columns (`id` among them) of the calls with these ids, by id."""
    wanted: Sequence[str] = list(dict.fromkeys(ids))
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(wanted), _MAX_IDS):
        names = {f"id{n}": call_id for n, call_id in enumerate(wanted[start : start + _MAX_IDS])}
        places = ", ".join(f":{name}" for name in names)
        rows = await reader.rows(f"SELECT {columns} FROM {reader.calls} WHERE id IN ({places})", names)  # noqa: S608 - names of ours, values bound
        found |= {row["id"]: row for row in rows}
    return found
