"""One conversation as a story: calls, events, model calls and reports on one time line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from ..store.ddl import quoted
from ..store.schema import EVENTS, FEEDBACK, TOOL_CALLS
from .calls import find_call
from .filters import Filter
from .parts import as_time
from .reader import Reader

EntryKind = Literal["call", "event", "llm_call", "report"]
MAX_ENTRIES: Final = 2000
_CALLS: Final = ", ".join(quoted(name) for name in TOOL_CALLS.column_names if name not in {"args", "result"})
_CALLS_WHOLE: Final = ", ".join(quoted(name) for name in TOOL_CALLS.column_names)
_EVENTS: Final = ", ".join(f"e.{quoted(name)}" for name in EVENTS.column_names)
_REPORTS: Final = ", ".join(f"f.{quoted(name)}" for name in FEEDBACK.column_names)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened. `title` is a tool, a kind of event, a model or a report's title; `row` holds all columns.

    `call_id` is the call that an event belongs to, or the call itself.
    """

    at: datetime
    kind: EntryKind
    id: str
    title: str
    call_id: str | None
    outcome: str | None
    duration_ms: float | None
    text: str | None
    row: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Story:
    """A conversation, oldest first. `truncated` says that only its newest entries are here."""

    key: str
    basis: str | None
    started_at: datetime
    ended_at: datetime
    calls: int
    failed: int
    users: tuple[str, ...]
    clients: tuple[str, ...]
    entries: tuple[Entry, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """One conversation in a list. `last_outcome` is that of its last call."""

    key: str
    started_at: datetime
    ended_at: datetime
    calls: int
    failed: int
    tools: int
    last_outcome: str


async def list_conversations(
    reader: Reader, which: Filter | None = None, *, limit: int = 50, before: tuple[datetime, str] | None = None
) -> list[ConversationSummary]:
    """Conversations that have a call which the filter leaves, the newest first; counts are of those calls.

    `before` is end and key of the last one of the page before.
    """
    where, bound = (which or Filter()).where(reader.stamp)
    having = ""
    if before is not None:
        having = "HAVING MAX(started_at) < :end OR (MAX(started_at) = :end AND conversation_key > :after)"
        bound |= {"end": reader.stamp(before[0]), "after": before[1]}
    rows = await reader.rows(
        f"""
        WITH chosen AS (
            SELECT conversation_key, tool, outcome, started_at,
                   ROW_NUMBER() OVER (PARTITION BY conversation_key ORDER BY started_at DESC, id DESC) AS place
            FROM {reader.calls} WHERE {where} AND conversation_key IS NOT NULL
        )
        SELECT conversation_key, MIN(started_at) AS first_at, MAX(started_at) AS last_at, COUNT(*) AS calls,
               SUM(CASE WHEN outcome <> 'ok' THEN 1 ELSE 0 END) AS failed, COUNT(DISTINCT tool) AS tools,
               MAX(CASE WHEN place = 1 THEN outcome END) AS last_outcome
        FROM chosen GROUP BY conversation_key {having} ORDER BY last_at DESC, conversation_key LIMIT :limit
        """,  # noqa: S608 - names of ours, values bound
        {**bound, "limit": limit},
    )
    return [
        ConversationSummary(
            row["conversation_key"], as_time(row["first_at"]), as_time(row["last_at"]),
            int(row["calls"]), int(row["failed"]), int(row["tools"]), row["last_outcome"],
        )
        for row in rows
    ]  # fmt: skip


async def tell_story(reader: Reader, key: str, *, limit: int = MAX_ENTRIES, payloads: bool = False) -> Story | None:
    """The conversation with this key, or that of the call with this id (or beginning of an id); None when there is none.

    At most `limit` of its newest calls and events, internal calls included: a report is part of the story.
    """
    columns = _CALLS_WHOLE if payloads else _CALLS
    found = await _calls(reader, key, columns, limit)
    if not found:
        call = await find_call(reader, key) if len(key) >= 8 else None
        key = (call or {}).get("conversation_key") or key
        found = await _calls(reader, key, columns, limit) if call else []
    entries = [*(_call(row) for row in found), *await _told(reader, key, limit)]
    if not entries:
        return None
    entries.sort(key=lambda entry: (entry.at, entry.kind != "call", entry.id))
    shown = [row for row in found if not row["internal"]]
    return Story(
        key=key,
        basis=next((row["conversation_basis"] for row in found if row["conversation_basis"]), None),
        started_at=entries[0].at,
        ended_at=entries[-1].at,
        calls=len(shown),
        failed=sum(row["outcome"] != "ok" for row in shown),
        users=tuple(dict.fromkeys(row["user_sub"] for row in found if row["user_sub"])),
        clients=tuple(dict.fromkeys(row["client_id"] for row in found if row["client_id"])),
        entries=tuple(entries[-limit:]),
        truncated=len(found) >= limit or len(entries) > limit,
    )


async def _calls(reader: Reader, key: str, columns: str, limit: int) -> list[dict[str, Any]]:
    sql = f"SELECT {columns} FROM {reader.calls} WHERE conversation_key = :key ORDER BY started_at DESC, id DESC LIMIT :limit"  # noqa: S608 - names of ours, values bound
    return await reader.rows(sql, {"key": key, "limit": limit})


async def _told(reader: Reader, key: str, limit: int) -> list[Entry]:
    """Events of the conversation or of one of its calls, and reports on it."""
    of_calls = f"SELECT id FROM {reader.calls} WHERE conversation_key = :key"  # noqa: S608 - names of ours, values bound
    head = f"SELECT {_EVENTS} FROM {reader.events} e WHERE"  # noqa: S608 - see above
    tail = "ORDER BY e.occurred_at DESC, e.id DESC LIMIT :limit"
    bound = {"key": key, "limit": limit}
    events = {row["id"]: row for row in await reader.rows(f"{head} e.conversation_key = :key {tail}", bound)}
    events |= {row["id"]: row for row in await reader.rows(f"{head} e.call_id IN ({of_calls}) {tail}", bound)}
    reports = await reader.rows(
        f"SELECT {_REPORTS} FROM {reader.feedback} f WHERE f.conversation_key = :key OR f.id IN "  # noqa: S608 - see above
        f"(SELECT l.feedback_ref FROM {reader.links} l WHERE l.call_id IN ({of_calls})) ORDER BY f.created_at DESC LIMIT :limit",
        bound,
    )
    known = {row["id"] for row in reports}
    told = [row for row in events.values() if not (row["kind"] == "feedback.submitted" and row["key"] in known)]
    return [*(_event(row) for row in told), *(_report(row) for row in reports)]


def _call(row: dict[str, Any]) -> Entry:
    return Entry(
        row["started_at"], "call", row["id"], row["tool"], row["id"], row["outcome"], row["duration_ms"], row["error_message"], row
    )


def _event(row: dict[str, Any]) -> Entry:
    attrs = row["attrs"] if isinstance(row["attrs"], dict) else {}
    if row["kind"] == "llm.call":
        took = attrs.get("duration_ms")
        outcome = None if attrs.get("ok") is None else "ok" if attrs["ok"] else "error"
        error = attrs.get("error")
        return Entry(
            row["occurred_at"], "llm_call", row["id"], str(attrs.get("model", "?")), row["call_id"], outcome,
            float(took) if isinstance(took, (int, float)) else None, None if error is None else str(error), row,
        )  # fmt: skip
    if row["kind"] == "feedback.submitted":
        return Entry(row["occurred_at"], "report", row["key"] or row["id"], str(attrs.get("title", "")), row["call_id"], None, None,
                     _text(attrs.get("description")), row)  # fmt: skip
    return Entry(row["occurred_at"], "event", row["id"], row["kind"], row["call_id"], None, None, row["key"], row)


def _report(row: dict[str, Any]) -> Entry:
    return Entry(row["created_at"], "report", row["id"], row["title"], None, row["status"], None, row["description"], row)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
