"""The feedback board, and one report with the calls that led to it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final

from ...feedback import names
from ...query.moments import FilterError
from ...query.parts import as_time
from ...store.feedback_sql import Which
from ...store.feedback_store import FeedbackStore
from ..asked import read_cursor, write_cursor
from ..views import NotThere, View, Visit

OWN: Final = ("status", "type", "cursor")
_REPORTS: Final = 50
_MAX_SIMILAR: Final = 5
_MIN_SCORE: Final = 0.25


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One report in a list. `count` is how often it was made, `verified` that a maintainer has confirmed it."""

    id: str
    title: str
    type: str
    status: str
    severity: str | None
    tool: str | None
    submitter: str | None
    submitter_kind: str | None
    verified: bool
    count: int
    created_at: datetime
    last_reported_at: datetime


@dataclass(frozen=True, slots=True)
class BoardView(View):
    """A page of reports, the newest first. `by_status` counts all that there are, whatever the filter says."""

    template: ClassVar[str] = "feedback.html"
    here: ClassVar[str] = "/feedback"

    reports: tuple[ReportLine, ...]
    cursor: str | None
    by_status: tuple[tuple[str, int], ...]
    status: str | None
    type: str | None
    statuses: tuple[str, ...] = names.STATUSES
    types: tuple[str, ...] = names.TYPES


@dataclass(frozen=True, slots=True)
class LinkedCall:
    """One call that led to a report. `outcome` is None for one that is not stored any more."""

    id: str
    rule: str
    tool: str | None
    started_at: datetime | None
    duration_ms: float | None
    outcome: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class Note:
    """A change of status, with what was said about it and by whom."""

    at: datetime | None
    status: str
    note: str | None
    by: str | None


@dataclass(frozen=True, slots=True)
class ReportView(View):
    """One report whole."""

    template: ClassVar[str] = "report.html"
    here: ClassVar[str] = "/feedback"

    report: ReportLine
    description: str
    contact_info: str | None
    duplicate_of: str | None
    conversation: str | None
    user: str | None
    client: str | None
    server_version: str | None
    extra: Any
    notes: tuple[Note, ...]
    calls: tuple[LinkedCall, ...]
    similar: tuple[ReportLine, ...]
    duplicates: tuple[ReportLine, ...]
    statuses: tuple[str, ...] = names.STATUSES
    max_note_chars: int = names.MAX_NOTE_CHARS


async def board(visit: Visit) -> BoardView:
    """Reports that the filter leaves, its words in title or description; what it says of outcomes is about calls."""
    which, own = visit.asked.which, visit.asked.own
    status, kind = _one_of("status", own.get("status"), names.STATUSES), _one_of("type", own.get("type"), names.TYPES)
    store = FeedbackStore(visit.reader.sink)
    before = read_cursor(own.get("cursor")) or (None if which.until is None else (which.until, ""))
    chosen = Which(
        type=kind,
        status=status,
        tool=which.tool,
        search=which.text,
        since=which.since,
        user_sub=which.user,
        conversation_key=which.conversation,
        client_id=which.client,
        server_version=which.server_version,
    )
    rows = await store.page(chosen, _REPORTS + 1, before)
    counted = await store.counts("status")
    shown = rows[:_REPORTS]
    return BoardView(
        reports=tuple(map(_line, shown)),
        cursor=write_cursor(shown[-1]["created_at"], shown[-1]["id"]) if len(rows) > _REPORTS else None,
        by_status=tuple((one, counted.get(one, (0, 0))[0]) for one in names.STATUSES),
        status=status,
        type=kind,
    )


async def report(visit: Visit) -> ReportView:
    """The report whose id stands in the path."""
    store = FeedbackStore(visit.reader.sink)
    wanted = names.read_id(visit.path["report_id"])
    row = None if wanted is None else await store.get(wanted)
    if row is None:
        raise NotThere("there is no such report", "it may have been deleted; the board shows what is there")
    scored = await store.similar(f"{row['title']}\n{row['description']}", limit=_MAX_SIMILAR, but=row["id"])
    near = await store.get_all([one for one, score in scored if score >= _MIN_SCORE])
    linked = await visit.reader.sink.read_context(row["id"])
    return ReportView(
        report=_line(row),
        description=row["description"] or "",
        contact_info=row["contact_info"],
        duplicate_of=row["duplicate_of"],
        conversation=row["conversation_key"],
        user=row["user_sub"],
        client=row["client_id"],
        server_version=row["server_version"],
        extra=row["extra"],
        notes=tuple(_note(entry) for entry in row["notes"] or () if isinstance(entry, dict)),
        calls=tuple(
            LinkedCall(
                call["call_id"], call["rule"], call["tool"], call["started_at"], call["duration_ms"], call["outcome"], call["error_message"]
            )
            for call in linked
        ),
        similar=tuple(_line(near[one]) for one, _ in scored if one in near and one != row["duplicate_of"]),
        duplicates=tuple(map(_line, await store.duplicates(row["id"]))),
    )


async def change_status(visit: Visit, form: dict[str, str]) -> str:
    """Set a report's status, with a note if one was written; the report's id.

    Raises:
        NotThere: there is no such report.
        FilterError: the status does not exist, or the note is too long.
    """
    wanted = names.read_id(visit.path["report_id"])
    status = _one_of("status", form.get("status"), names.STATUSES)
    if status is None:
        raise FilterError(f"choose a status: {', '.join(names.STATUSES)}")
    note = form.get("note", "").strip().replace("\r\n", "\n") or None
    if note is not None and len(note) > names.MAX_NOTE_CHARS:
        raise FilterError(f"the note has {len(note)} characters, at most {names.MAX_NOTE_CHARS} are allowed")
    if wanted is None or not await visit.source.set_status(wanted, status, note, by=visit.grant.name):
        raise NotThere("there is no such report", "it may have been deleted; the board shows what is there")
    return wanted


def _line(row: dict[str, Any]) -> ReportLine:
    return ReportLine(
        row["id"], row["title"], row["type"], row["status"], row["severity"], row["tool"], row["submitter"], row["submitter_kind"],
        bool(row["verified"]), int(row["report_count"] or 1), row["created_at"], row["last_reported_at"] or row["created_at"],
    )  # fmt: skip


def _note(entry: dict[str, Any]) -> Note:
    at = None
    with suppress(ValueError):
        at = as_time(str(entry.get("at")))
    note, by = (None if entry.get(name) is None else str(entry[name]) for name in ("note", "by"))
    return Note(at, str(entry.get("status", "")), note, by)


def _one_of(name: str, value: str | None, allowed: tuple[str, ...]) -> str | None:
    if not value:
        return None
    if value not in allowed:
        raise FilterError(f"{name} {value!r} does not exist; write one of {', '.join(allowed)}")
    return value
