"""Failures by fingerprint: what goes wrong, since when, for whom, and one example of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from .calls import find_call
from .filters import Filter
from .parts import WEIGHT, as_time, rows_by_id, texts
from .reader import Reader

_EXAMPLE: Final = "id, error_message, fault, category, bad_arguments, server_version"


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Equal failures of one tool. `calls` is weighted; the newest call is the example that message and fault are taken from.

    `fingerprint` is None for calls that were recorded without one.
    """

    fingerprint: str | None
    tool: str
    calls: float
    error_type: str | None
    message: str | None
    fault: str | None
    category: str | None
    first_seen: datetime
    last_seen: datetime
    users: int
    conversations: int
    bad_arguments: tuple[str, ...]
    server_version: str | None
    example_id: str


@dataclass(frozen=True, slots=True)
class FailureDetail:
    """One group with its example call whole, payloads as recorded (redacted), and the users that met it most."""

    group: FailureGroup
    example: dict[str, Any]
    top_users: tuple[tuple[str, int], ...]
    versions: tuple[str, ...]


async def list_failures(reader: Reader, which: Filter | None = None, *, limit: int = 50) -> list[FailureGroup]:
    """Groups of equal failures, the most frequent first."""
    chosen = which or Filter()
    where, bound = (chosen if chosen.outcome is not None else replace(chosen, outcome="failed")).where(reader.stamp)
    rows = await reader.rows(
        f"""
        WITH failed AS (
            SELECT id, tool, error_type, fingerprint, started_at, user_sub, conversation_key, {WEIGHT} AS weight,
                   ROW_NUMBER() OVER (PARTITION BY fingerprint, tool, error_type ORDER BY started_at DESC, id DESC) AS place
            FROM {reader.calls} WHERE {where} AND outcome <> 'ok'
        )
        SELECT fingerprint, tool, error_type, SUM(weight) AS calls, MIN(started_at) AS first_seen, MAX(started_at) AS last_seen,
               COUNT(DISTINCT user_sub) AS users, COUNT(DISTINCT conversation_key) AS conversations,
               MAX(CASE WHEN place = 1 THEN id END) AS example_id
        FROM failed GROUP BY fingerprint, tool, error_type ORDER BY calls DESC, last_seen DESC, example_id LIMIT :limit
        """,  # noqa: S608 - names of ours, values bound
        {**bound, "limit": limit},
    )
    examples = await rows_by_id(reader, _EXAMPLE, [row["example_id"] for row in rows])
    return [_group(row, examples.get(row["example_id"], {})) for row in rows]


async def find_failure(reader: Reader, fingerprint: str, which: Filter | None = None) -> FailureDetail | None:
    """One group with its example, or None when no call has this fingerprint."""
    chosen = replace(which or Filter(), fingerprint=fingerprint)
    groups = await list_failures(reader, chosen, limit=1)
    if not groups:
        return None
    example = await find_call(reader, groups[0].example_id)
    where, bound = chosen.where(reader.stamp)
    users = await reader.rows(
        f"SELECT user_sub, COUNT(*) AS n FROM {reader.calls} WHERE {where} AND user_sub IS NOT NULL "  # noqa: S608 - names of ours, values bound
        "GROUP BY user_sub ORDER BY n DESC, user_sub LIMIT 10",
        bound,
    )
    versions = await reader.rows(
        f"SELECT server_version, MIN(started_at) AS first_seen FROM {reader.calls} WHERE {where} AND server_version IS NOT NULL "  # noqa: S608 - see above
        "GROUP BY server_version ORDER BY first_seen",
        bound,
    )
    return FailureDetail(
        groups[0],
        example or {},
        tuple((row["user_sub"], int(row["n"])) for row in users),
        tuple(row["server_version"] for row in versions),
    )


def _group(row: dict[str, Any], example: dict[str, Any]) -> FailureGroup:
    return FailureGroup(
        fingerprint=row["fingerprint"],
        tool=row["tool"],
        calls=row["calls"],
        error_type=row["error_type"],
        message=example.get("error_message"),
        fault=example.get("fault"),
        category=example.get("category"),
        first_seen=as_time(row["first_seen"]),
        last_seen=as_time(row["last_seen"]),
        users=row["users"],
        conversations=row["conversations"],
        bad_arguments=texts(example.get("bad_arguments")),
        server_version=example.get("server_version"),
        example_id=row["example_id"],
    )
