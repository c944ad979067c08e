"""Tool health: how often each tool is called, how it ends, how long it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .filters import Filter
from .parts import WEIGHT
from .reader import Reader


@dataclass(frozen=True, slots=True)
class ToolHealth:
    """One tool. Counts are weighted: a call kept by sampling at rate r stands for 1 / r calls.

    Times in milliseconds, sizes in bytes (None when none was recorded).
    """

    tool: str
    calls: float
    ok: float
    soft_errors: float
    errors: float
    p50_ms: float
    p95_ms: float
    max_ms: float
    users: int
    conversations: int
    p99_ms: float = 0.0
    args_bytes: float | None = None
    result_bytes: float | None = None
    max_result_bytes: int | None = None
    extra_fields: ClassVar = ("failed_share",)
    """What stands beside the fields where this is written as JSON."""

    @property
    def failed_share(self) -> float:
        """Soft errors and errors among all calls, 0 to 1."""
        return (self.soft_errors + self.errors) / self.calls if self.calls else 0.0


async def tool_health(reader: Reader, which: Filter | None = None) -> list[ToolHealth]:
    """Health of every tool that the filter leaves, the most called first.

    A percentile is the smallest duration that at least that share of the recorded calls did not exceed (nearest rank);
    `args_bytes` and `result_bytes` are means.
    """
    asked = which or Filter()
    where, bound = asked.where(reader.stamp)
    # Rows of a time range are picked first: else SQLite walks the whole index by tool, which spares it a sort.
    picked = "NOT MATERIALIZED" if asked.since is None and asked.until is None else "MATERIALIZED"
    rows = await reader.rows(
        f"""
        WITH picked AS {picked} (
            SELECT tool, outcome, duration_ms, user_sub, conversation_key, args_size, result_size, {WEIGHT} AS weight
            FROM {reader.calls} WHERE {where}
        ),
        chosen AS (
            SELECT picked.*, ROW_NUMBER() OVER (PARTITION BY tool ORDER BY duration_ms) AS rank, COUNT(*) OVER (PARTITION BY tool) AS n
            FROM picked
        )
        SELECT tool, SUM(weight) AS calls,
               SUM(CASE WHEN outcome = 'ok' THEN weight ELSE 0 END) AS ok_calls,
               SUM(CASE WHEN outcome = 'soft_error' THEN weight ELSE 0 END) AS soft_errors,
               SUM(CASE WHEN outcome = 'error' THEN weight ELSE 0 END) AS errors,
               COALESCE(MIN(CASE WHEN rank >= 0.5 * n THEN duration_ms END), 0.0) AS p50_ms,
               COALESCE(MIN(CASE WHEN rank >= 0.95 * n THEN duration_ms END), 0.0) AS p95_ms,
               COALESCE(MIN(CASE WHEN rank >= 0.99 * n THEN duration_ms END), 0.0) AS p99_ms,
               COALESCE(MAX(duration_ms), 0.0) AS max_ms,
               COUNT(DISTINCT user_sub) AS users, COUNT(DISTINCT conversation_key) AS conversations,
               AVG(args_size) AS args_bytes, AVG(result_size) AS result_bytes, MAX(result_size) AS max_result_bytes
        FROM chosen GROUP BY tool ORDER BY calls DESC, tool
        """,  # noqa: S608 - names of ours, values bound
        bound,
    )
    # A name of a column means that column to the reader: the count of ok calls has one of its own.
    return [_health({("ok" if name == "ok_calls" else name): value for name, value in row.items()}) for row in rows]


def _health(row: dict[str, Any]) -> ToolHealth:
    for name in ("args_bytes", "result_bytes"):  # PostgreSQL's mean of integers is a decimal
        row[name] = None if row[name] is None else float(row[name])
    return ToolHealth(**row)
