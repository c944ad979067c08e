"""Tool health: how often each tool is called, how it ends, how long it takes."""

from __future__ import annotations

from dataclasses import dataclass

from .filters import Filter
from .reader import Reader


@dataclass(frozen=True, slots=True)
class ToolHealth:
    """One tool. Counts are weighted: a call kept by sampling at rate r stands for 1 / r calls. Times in milliseconds."""

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

    @property
    def failed_share(self) -> float:
        """Soft errors and errors among all calls, 0 to 1."""
        return (self.soft_errors + self.errors) / self.calls if self.calls else 0.0


_WEIGHT = "COALESCE(1.0 / sample_rate, 1.0)"


async def tool_health(reader: Reader, which: Filter | None = None) -> list[ToolHealth]:
    """Health of every tool that the filter leaves, the most called first.

    A percentile is the smallest duration that at least that share of the recorded calls did not exceed (nearest rank).
    """
    where, bound = (which or Filter()).where(reader.stamp)
    rows = await reader.rows(
        f"""
        WITH chosen AS (
            SELECT tool, outcome, duration_ms, user_sub, conversation_key, {_WEIGHT} AS weight,
                   ROW_NUMBER() OVER (PARTITION BY tool ORDER BY duration_ms) AS rank,
                   COUNT(*) OVER (PARTITION BY tool) AS n
            FROM {reader.calls} WHERE {where}
        )
        SELECT tool, SUM(weight) AS calls,
               SUM(CASE WHEN outcome = 'ok' THEN weight ELSE 0 END) AS ok_calls,
               SUM(CASE WHEN outcome = 'soft_error' THEN weight ELSE 0 END) AS soft_errors,
               SUM(CASE WHEN outcome = 'error' THEN weight ELSE 0 END) AS errors,
               MIN(CASE WHEN rank >= 0.5 * n THEN duration_ms END) AS p50_ms,
               MIN(CASE WHEN rank >= 0.95 * n THEN duration_ms END) AS p95_ms,
               MAX(duration_ms) AS max_ms,
               COUNT(DISTINCT user_sub) AS users, COUNT(DISTINCT conversation_key) AS conversations
        FROM chosen GROUP BY tool ORDER BY calls DESC, tool
        """,  # noqa: S608 - names of ours, values bound
        bound,
    )
    # A name of a column means that column to the reader: the count of ok calls has one of its own.
    return [ToolHealth(**{name: row["ok_calls" if name == "ok" else name] for name in ToolHealth.__slots__}) for row in rows]
