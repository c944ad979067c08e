"""What follows what: which tool conversations call next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .filters import Filter
from .reader import Reader


@dataclass(frozen=True, slots=True)
class Transition:
    """`next_tool` came right after `tool` in `count` of `total` cases; None means that the conversation ended there.

    `after_failure` counts the cases in which the first call had failed, `next_failed` those in which the second did.
    Counts are of recorded calls: a sampled call has no known neighbour to stand for.
    """

    tool: str
    next_tool: str | None
    count: int
    total: int
    after_failure: int
    next_failed: int

    @property
    def share(self) -> float:
        """How much of what follows `tool` this is, 0 to 1."""
        return self.count / self.total if self.total else 0.0


async def transitions(reader: Reader, which: Filter | None = None, *, limit: int = 100) -> list[Transition]:
    """What follows what, the most frequent first. The filter chooses the first call of each pair; any call may follow it."""
    chosen = which or Filter()
    around = replace(chosen, tool=None, outcome=None, fault=None, text=None, fingerprint=None)
    where, bound = around.where(reader.stamp)
    first, first_bound = replace(chosen, internal=True).where(reader.stamp)
    pairs = _pairs_of_all(reader, where, first) if chosen.tool is None else _pairs_of_some(reader, where, first)
    rows = await reader.rows(
        f"""
        WITH {pairs},
        counted AS (
            SELECT tool, next_tool, COUNT(*) AS n,
                   SUM(CASE WHEN outcome <> 'ok' THEN 1 ELSE 0 END) AS after_failure,
                   SUM(CASE WHEN next_outcome <> 'ok' THEN 1 ELSE 0 END) AS next_failed
            FROM pairs GROUP BY tool, next_tool
        )
        SELECT tool, next_tool, n, after_failure, next_failed, SUM(n) OVER (PARTITION BY tool) AS total
        FROM counted ORDER BY n DESC, tool, next_tool LIMIT :limit
        """,  # noqa: S608 - names of ours, values bound
        {**bound, **first_bound, "limit": limit},
    )
    return [
        Transition(row["tool"], row["next_tool"], int(row["n"]), int(row["total"]), int(row["after_failure"]), int(row["next_failed"]))
        for row in rows
    ]


def _pairs_of_all(reader: Reader, where: str, first: str) -> str:
    """Every call with the next one: one pass over all conversations."""
    return f"""
        ordered AS (
            SELECT tool, outcome, fault, error_message, fingerprint, started_at, user_sub, conversation_key, client_id, server_version,
                   LEAD(tool) OVER place AS next_tool, LEAD(outcome) OVER place AS next_outcome
            FROM {reader.calls} WHERE {where} AND conversation_key IS NOT NULL
            WINDOW place AS (PARTITION BY conversation_key ORDER BY started_at, id)
        ),
        pairs AS (SELECT * FROM ordered WHERE {first})"""  # noqa: S608 - names of ours, values bound


def _pairs_of_some(reader: Reader, where: str, first: str) -> str:
    """The same for the calls of one tool: the next one is looked up by the index over conversations."""
    return f"""
        firsts AS (
            SELECT id, tool, outcome, started_at, conversation_key FROM {reader.calls}
            WHERE {where} AND {first} AND conversation_key IS NOT NULL
        ),
        followed AS (
            SELECT f.tool, f.outcome, (
                SELECT n.id FROM {reader.calls} n WHERE {where} AND n.conversation_key = f.conversation_key
                AND n.started_at >= f.started_at AND (n.started_at > f.started_at OR n.id > f.id) ORDER BY n.started_at, n.id LIMIT 1
            ) AS next_id FROM firsts f
        ),
        pairs AS (
            SELECT l.tool, l.outcome, n.tool AS next_tool, n.outcome AS next_outcome
            FROM followed l LEFT JOIN {reader.calls} n ON n.id = l.next_id
        )"""  # noqa: S608 - names of ours, values bound
