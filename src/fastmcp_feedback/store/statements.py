"""The SQL of the store's questions and links: bound, with named parameters, the same text on both databases.

A statement's parameters are written `:name`; the backends turn them into what their driver takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from ..records import EVENT_FIELDS, CallLink
from .codec import now, short_text
from .ddl import quoted
from .schema import EVENTS, LINKS, TABLES, TOOL_CALLS, Dialect, Kind

Statement = tuple[str, dict[str, Any]]

MIN_REFERENCE_CHARS: Final = 8
MAX_REFERENCES: Final = 100
MAX_ROWS: Final = 10_000
MAX_IDS: Final = 500  # of one statement: older builds of SQLite take 999 parameters
_CANDIDATE: Final = ("id", "tool", "started_at", "ok", "conversation_key", "conversation_basis", "user_sub", "outcome", "internal")
_CONTEXT_CALL: Final = (
    "duration_ms", "outcome", "error_type", "error_message", "session_id", "user_sub", "caller_kind", "server_version", "extra",
)  # fmt: skip

KINDS: Final[dict[str, Kind]] = {name: kind for table in reversed(TABLES) for name, kind in table.kinds().items()}
"""Column name -> kind: a name means the same in every table."""


def _list(names: Iterable[str], table: str = "") -> str:
    return ", ".join(f"{table}{quoted(name)}" for name in names)


_LAST: Final = "\U0010ffff"  # sorts after any other character, in bytes as well


def recent_calls(
    prefix: str, *, conversation_key: str | None, user_sub: str | None, ids: Sequence[str], since: Any, limit: int
) -> list[Statement]:
    """One statement for each rule of linking; each finds its newest `limit` calls by index alone."""
    table = quoted(prefix + TOOL_CALLS.name)
    head = f"SELECT {_list(_CANDIDATE)} FROM {table} WHERE"  # noqa: S608 - names of ours, values bound
    newest = f"AND NOT internal{' AND started_at >= :since' if since is not None else ''} ORDER BY started_at DESC LIMIT :limit"
    common: dict[str, Any] = {"limit": max(0, min(limit, MAX_ROWS))}
    if since is not None:
        common["since"] = since
    found: list[Statement] = []
    if conversation_key is not None:
        found.append((f"{head} conversation_key = :key {newest}", {**common, "key": short_text(conversation_key)}))
    if user_sub is not None:
        found.append((f"{head} user_sub = :user {newest}", {**common, "user": short_text(user_sub)}))
    for reference in [text for text in ids if isinstance(text, str) and len(text) >= MIN_REFERENCE_CHARS][:MAX_REFERENCES]:
        low = short_text(reference) or ""
        found.append((f"{head} id >= :low AND id < :high {newest}", {**common, "low": low, "high": low + _LAST}))
    return found


def read_calls(prefix: str, ids: Sequence[str]) -> list[Statement]:
    """All columns of the calls with these ids, so many at a time as every database takes."""
    wanted = list(dict.fromkeys(short_text(call_id) for call_id in ids))
    head = f"SELECT {_list(TOOL_CALLS.column_names)} FROM {quoted(prefix + TOOL_CALLS.name)} WHERE id IN"  # noqa: S608 - names of ours
    found: list[Statement] = []
    for start in range(0, len(wanted), MAX_IDS):
        names: dict[str, Any] = {f"id{n}": call_id for n, call_id in enumerate(wanted[start : start + MAX_IDS])}
        found.append((f"{head} ({', '.join(':' + name for name in names)})", names))
    return found


def write_links(prefix: str, ref: str, links: Sequence[CallLink], dialect: Dialect, stamp: Any) -> list[Statement]:
    """Replace the links of a report: run them in one transaction."""
    table = quoted(prefix + LINKS.name)
    key = short_text(ref)
    statements: list[Statement] = [(f"DELETE FROM {table} WHERE feedback_ref = :ref", {"ref": key})]  # noqa: S608 - value bound
    insert = f"INSERT INTO {table} ({_list(LINKS.column_names)}) VALUES ({', '.join(':' + c for c in LINKS.column_names)})"  # noqa: S608 - values bound
    moment = now(dialect)
    for link in {link.call_id: link for link in reversed(links)}.values():
        values = {
            "feedback_ref": key, "call_id": short_text(link.call_id), "position": link.position, "rule": short_text(link.rule),
            "linked_at": moment, "tool": short_text(link.tool), "started_at": stamp(link.started_at), "ok": bool(link.ok),
        }  # fmt: skip
        statements.append((insert, values))
    return statements


def read_context(prefix: str, ref: str) -> Statement:
    """The links of a report with what is known of their calls, in order."""
    links, calls = quoted(prefix + LINKS.name), quoted(prefix + TOOL_CALLS.name)
    both = ", ".join(f"COALESCE(c.{quoted(n)}, l.{quoted(n)}) AS {quoted(n)}" for n in ("tool", "started_at", "ok"))
    sql = (
        f"SELECT l.call_id, l.position, l.rule, {both}, {_list(_CONTEXT_CALL, 'c.')} "  # noqa: S608 - values bound
        f"FROM {links} l LEFT JOIN {calls} c ON c.id = l.call_id WHERE l.feedback_ref = :ref ORDER BY l.position, l.call_id"
    )
    return sql, {"ref": short_text(ref)}


CONTEXT_ORDER: Final = (
    "call_id", "position", "rule", "tool", "started_at", "duration_ms", "ok", "outcome", "error_type", "error_message",
    "session_id", "user_sub", "caller_kind", "server_version", "extra",
)  # fmt: skip


def read_events(prefix: str, key: str, kinds: Sequence[str] | None, limit: int) -> Statement:
    """The newest `limit` events with that key, newest first."""
    values: dict[str, Any] = {"key": short_text(key), "limit": max(0, min(limit, MAX_ROWS))}
    chosen = ""
    if kinds is not None:
        names = {f"kind{n}": short_text(kind) for n, kind in enumerate(dict.fromkeys(kinds))}
        chosen = f" AND kind IN ({', '.join(':' + name for name in names)})" if names else " AND kind IS NULL"
        values |= names
    sql = (
        f"SELECT {_list(EVENT_FIELDS)} FROM {quoted(prefix + EVENTS.name)} "  # noqa: S608 - values bound
        f'WHERE "key" = :key{chosen} ORDER BY occurred_at DESC, id DESC LIMIT :limit'
    )
    return sql, values


def count_rows(prefix: str, table: str) -> Statement:
    """How many rows a table holds."""
    return f"SELECT count(*) AS n FROM {quoted(prefix + table)}", {}  # noqa: S608 - a name of ours


def oldest(moment: datetime | None, stamp: Any) -> Any:
    """A lower bound of time as the database compares it."""
    return None if moment is None else stamp(moment)
