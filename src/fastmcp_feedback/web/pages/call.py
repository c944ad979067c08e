"""Calls, and one of them whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final

from ...query.calls import find_call, list_calls
from ...query.events import list_events
from ...query.reports import LinkedReport, reports_of_call
from ..views import NotThere, View, Visit
from .rows import CallLine, call_line

CALL_ID: Final = re.compile(r"[A-Za-z0-9_.:~-]{8,255}")
_CALLS: Final = 50
_EVENTS: Final = 100
_PAYLOADS: Final = ("args", "result")
_MODEL_TEXTS: Final = ("prompt", "completion")


@dataclass(frozen=True, slots=True)
class CallsView(View):
    """A page of calls, the newest first; `cursor` is that of the next page."""

    template: ClassVar[str] = "calls.html"
    here: ClassVar[str] = "/calls"

    calls: tuple[CallLine, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class EventLine:
    """Something that happened in a call. Texts of language models are payloads: shown only to who may see those."""

    id: str
    kind: str
    key: str | None
    occurred_at: datetime
    attrs: Any


@dataclass(frozen=True, slots=True)
class CallView(View):
    """One call. `payloads` says why arguments and result are shown or not: `shown`, `hidden` or `not recorded`."""

    template: ClassVar[str] = "call.html"
    here: ClassVar[str] = "/calls"

    id: str
    tool: str
    started_at: datetime
    duration_ms: float | None
    outcome: str
    fault: str | None
    category: str | None
    fingerprint: str | None
    bad_arguments: tuple[str, ...]
    error_type: str | None
    error_message: str | None
    mode: str
    payloads: str
    arguments: Any
    result: Any
    args_bytes: int | None
    result_bytes: int | None
    user: str | None
    caller_kind: str | None
    client: str | None
    session: str | None
    conversation: str | None
    conversation_basis: str | None
    request: str | None
    server_version: str | None
    trace: str | None
    parent_call: str | None
    internal: bool
    sample_rate: float | None
    identity: Any
    extra: Any
    events: tuple[EventLine, ...]
    reports: tuple[LinkedReport, ...]


async def calls(visit: Visit) -> CallsView:
    """The calls that the filter leaves."""
    page = await list_calls(visit.reader, visit.asked.which, limit=_CALLS, cursor=visit.asked.own.get("cursor"))
    return CallsView(tuple(map(call_line, page.calls)), page.cursor)


async def call(visit: Visit) -> CallView:
    """The call with the id of the path, or the beginning of it."""
    reference = visit.path["call_id"]
    row = await find_call(visit.reader, reference) if CALL_ID.fullmatch(reference) else None
    if row is None:
        raise NotThere(
            "there is no such call, or more than one begins so", "it may have been pruned; the list of calls shows what is there"
        )
    events = await list_events(visit.reader, call_id=row["id"], limit=_EVENTS)
    shown = visit.grant.payloads
    return CallView(
        id=row["id"],
        tool=row["tool"],
        started_at=row["started_at"],
        duration_ms=row["duration_ms"],
        outcome=row["outcome"],
        fault=row["fault"],
        category=row["category"],
        fingerprint=row["fingerprint"],
        bad_arguments=tuple(map(str, row["bad_arguments"])) if isinstance(row["bad_arguments"], list) else (),
        error_type=row["error_type"],
        error_message=row["error_message"],
        mode=row["mode"],
        payloads="not recorded" if all(row[name] is None for name in _PAYLOADS) else "shown" if shown else "hidden",
        arguments=row["args"] if shown else None,
        result=row["result"] if shown else None,
        args_bytes=row["args_size"],
        result_bytes=row["result_size"],
        user=row["user_sub"],
        caller_kind=row["caller_kind"],
        client=row["client_id"],
        session=row["session_id"],
        conversation=row["conversation_key"],
        conversation_basis=row["conversation_basis"],
        request=row["request_id"],
        server_version=row["server_version"],
        trace=row["trace_id"],
        parent_call=row["parent_call_id"],
        internal=row["internal"],
        sample_rate=row["sample_rate"],
        identity=row["identity"],
        extra=row["extra"],
        events=tuple(event_line(event, payloads=shown) for event in reversed(events.events)),
        reports=tuple(await reports_of_call(visit.reader, row["id"])),
    )


def event_line(row: dict[str, Any], *, payloads: bool) -> EventLine:
    """A row of the events table."""
    attrs = row["attrs"]
    if isinstance(attrs, dict) and not payloads:
        attrs = {name: value for name, value in attrs.items() if name not in _MODEL_TEXTS}
    return EventLine(row["id"], row["kind"], row["key"], row["occurred_at"], attrs)
