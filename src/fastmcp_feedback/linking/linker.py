"""Finds the calls that led to a report, in memory and in the database, and keeps what was attached to it."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar

from .. import contain
from ..capture import adapter
from ..capture.options import CaptureOptions
from ..capture.running import MAX_TOOL_CHARS, CallLog
from ..ids import utc_from_ns, utc_now
from ..raw import CallOutcome, RawCall
from ..records import CallLink
from .rules import Candidate, Reporter, choose

T = TypeVar("T")
_REMEMBERED_REPORTS = 1000
_LONGEST = timedelta(days=36_500)
_LOOK_EVERY_S = 0.002
_CONTEXT_FIELDS = (
    "started_at", "duration_ms", "ok", "outcome", "error_type", "error_message",
    "session_id", "user_sub", "caller_kind", "server_version", "extra",
)  # fmt: skip


class Shaping(Protocol):
    """The part of the recorder that linking needs."""

    async def shaped(self, timeout_s: float) -> bool:
        """Wait until what was submitted before has its outcome."""
        ...

    def submit(self, item: Any, size_bytes: int = 0) -> bool:
        """Queue a record."""
        ...


class CallStore(Protocol):
    """What a database offers to linking (`DatabaseSink`)."""

    async def recent_calls(
        self, *, conversation_key: str | None, user_sub: str | None, ids: Sequence[str], since: datetime | None, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        """Stored calls that may be linked, newest first."""
        ...

    async def write_links(self, ref: str, links: Sequence[CallLink]) -> None:
        """Replace the links of a report."""
        ...

    async def read_context(self, ref: str) -> list[dict[str, Any]]:
        """The links of a report joined with their calls, in order."""
        ...

    async def read_events(self, key: str, kinds: Sequence[str] | None, limit: int) -> list[dict[str, Any]]:
        """Stored events with that key, the newest `limit`, oldest first."""
        ...


class Linker:
    """Links calls to reports for one recorder. `pending` holds the calls that have ended and wait for hooks of the host."""

    def __init__(
        self, log: CallLog, shaping: Shaping, sinks: Sequence[Any], options: CaptureOptions, pending: Mapping[RawCall, object]
    ) -> None:
        self._log = log
        self._shaping = shaping
        self._options = options
        self._pending = pending
        self._store: CallStore | None = next((sink for sink in sinks if hasattr(sink, "write_links")), None)
        # What the database does not hold: each link with its call, if that is still in memory.
        self._reports: OrderedDict[str, list[tuple[CallLink, RawCall | None]]] = OrderedDict()

    def running_calls(self) -> list[dict[str, Any]]:
        """The calls that run now, oldest first."""
        now_ns = time.time_ns()
        return [
            {
                "call_id": call.id,
                "tool": call.tool[:MAX_TOOL_CHARS],
                "started_at": utc_from_ns(call.started_ns),
                "duration_ms": (now_ns - call.started_ns) / 1e6,
                "session_id": call.context.session_id,
                "user_sub": call.user_sub,
            }
            for call in self._log.running_now()
        ]

    # -- which calls

    async def recent(self, ctx: Any, n: int, *, user_sub: str | None, window: timedelta | float, calls: Sequence[str]) -> list[CallLink]:
        """Links by the rules of `choose`, from memory and the database."""
        quoted = [calls] if isinstance(calls, str) else [str(reference).strip() for reference in calls or ()]
        span = window if isinstance(window, timedelta) else timedelta(seconds=min(float(window), _LONGEST.total_seconds()))
        span = min(span, _LONGEST)
        reporter = self._reporter(ctx, user_sub)
        await self._settled()
        now = utc_now()
        candidates = [_candidate(call) for call in self._in_memory() if not call.internal]
        candidates += await self._stored_candidates(reporter, quoted, now - span, n)
        return choose(candidates, reporter, n=max(0, n), window=span, quoted=quoted, now=now)

    async def _settled(self) -> None:
        """Wait until calls that have ended have their outcome: first for the host's hooks, then for shaping."""
        deadline_s = time.monotonic() + self._options.correlation_timeout
        asking = self._log.current.get()  # a hook of this very call may ask, too
        ended = [call for call in list(self._pending) if call is not asking]
        while any(call in self._pending for call in ended) and time.monotonic() < deadline_s:  # noqa: ASYNC110 - as in flush
            await asyncio.sleep(_LOOK_EVERY_S)
        await self._shaping.shaped(max(0.0, deadline_s - time.monotonic()))

    def _in_memory(self) -> list[RawCall]:
        """All calls that are known here, the last started first."""
        known = {call.id: call for call in (*list(self._pending), *self._log.newest_first()) if not call.excluded}
        return sorted(known.values(), key=lambda call: call.started_ns, reverse=True)

    def _reporter(self, ctx: Any, user_sub: str | None) -> Reporter:
        running = self._log.current.get()
        call = running if running is not None and not running.ended else None
        context = call.context if call is not None else None
        if ctx is not None and (context is None or context.conversation_key is None):
            with contain.contain("linking"):
                context = adapter.call_context(SimpleNamespace(fastmcp_context=ctx, message=None, method="tools/call"))
        known = call.user_sub if call is not None else None
        key, basis = (context.conversation_key, context.conversation_basis) if context is not None else (None, None)
        if user_sub is not None and user_sub != known and context is not None:  # calls of a known user have keys of their own
            key, basis = adapter.conversation_for(context, user_sub)
        return Reporter(
            conversation_key=key,
            conversation_basis=basis,
            user_sub=user_sub if user_sub is not None else known,
            call_id=call.id if call is not None else None,
        )

    async def _stored_candidates(self, reporter: Reporter, quoted: Sequence[str], since: datetime, n: int) -> list[Candidate]:
        store = self._store
        if store is None or n <= 0:
            return []
        rows = await self._bounded(
            store.recent_calls(
                conversation_key=reporter.conversation_key,
                user_sub=reporter.user_sub,
                ids=quoted,
                since=None if reporter.conversation_basis == "session" else since,
                limit=n,
            ),
            "looking up calls in the database",
        )
        return [
            Candidate(
                call_id=row["id"],
                tool=row["tool"],
                started_at=row["started_at"],
                ok=bool(row["ok"]),
                conversation_key=row["conversation_key"],
                conversation_basis=row["conversation_basis"],
                user_sub=row["user_sub"],
            )
            for row in rows or ()
            if not row.get("internal")
        ]

    async def _bounded(self, question: Awaitable[T], what: str) -> T | None:
        """The database's answer, or None when it fails or takes longer than `correlation_timeout`."""
        with contain.contain(what):
            try:
                async with asyncio.timeout(self._options.correlation_timeout):
                    return await question
            except TimeoutError:
                contain.warn_once(what, "%s took more than %g s (correlation_timeout)", what, self._options.correlation_timeout)
        return None

    # -- attached to a report

    async def link(self, ref: str, links: Sequence[CallLink]) -> bool:
        """Attach the calls, replacing earlier links; calls that sampling left out are stored now."""
        self._keep_sampled_out(links)
        if self._store is not None and await self._bounded(_done(self._store.write_links(ref, links)), "linking calls in the database"):
            self._reports.pop(ref, None)
            return True
        in_memory = {call.id: call for call in self._in_memory()}
        self._reports[ref] = [(link, in_memory.get(link.call_id)) for link in links]
        self._reports.move_to_end(ref)
        while len(self._reports) > _REMEMBERED_REPORTS:
            self._reports.popitem(last=False)
        return self._store is None

    def _keep_sampled_out(self, links: Iterable[CallLink]) -> None:
        wanted = {link.call_id for link in links}
        for call in self._log.newest_first():
            if call.id in wanted and call.outcome is not None and not call.outcome.kept:
                record = call.outcome.record
                call.outcome = CallOutcome(record, kept=True)
                self._shaping.submit(record)

    async def context(self, ref: str) -> list[dict[str, Any]]:
        """What is attached to the report, each call with what became of it."""
        rows: list[dict[str, Any]] | None = None
        held = self._reports.get(ref)
        if self._store is not None and held is None:
            rows = await self._bounded(self._store.read_context(ref), "reading linked calls from the database")
        if rows is None:
            rows = [_link_row(link) for link, _ in held or ()]
        if any(row["outcome"] is None for row in rows):
            await self._settled()
        known = {call.id: call for call in self._in_memory()} | {call.id: call for _, call in held or () if call is not None}
        return [_completed(row, known.get(row["call_id"])) for row in rows]

    # -- events

    async def with_stored_events(
        self, remembered: list[dict[str, Any]], key: str, kinds: Iterable[str] | None, limit: int
    ) -> list[dict[str, Any]]:
        """Remembered events and those that other workers stored, each once."""
        if self._store is None or limit <= 0 or not hasattr(self._store, "read_events"):
            return remembered
        wanted = None if kinds is None else ([kinds] if isinstance(kinds, str) else list(kinds))
        stored = await self._bounded(self._store.read_events(key, wanted, limit), "reading events from the database")
        merged = {event["id"]: event for event in (*(stored or ()), *remembered)}
        return sorted(merged.values(), key=lambda event: event["occurred_at"])[-limit:]


def _completed(row: dict[str, Any], call: RawCall | None) -> dict[str, Any]:
    """Fill in from memory what the database does not hold (yet)."""
    if row["outcome"] is not None:
        return row
    if call is not None and call.outcome is not None:
        record = call.outcome.record
        return {**row, **{name: getattr(record, name) for name in _CONTEXT_FIELDS}}
    # Only a call that has ended is linked as ok; of others that nobody knows here no end has been seen.
    found = {"outcome": "ok" if row["ok"] else "running", "extra": row["extra"] or {}}
    if call is not None:
        found |= {"session_id": call.context.session_id, "user_sub": call.user_sub, "caller_kind": call.caller_kind}
    return {**row, **found}


async def _done(question: Awaitable[Any]) -> bool:
    await question
    return True


def _candidate(call: RawCall) -> Candidate:
    record = call.outcome.record if call.outcome is not None else None
    return Candidate(
        call_id=call.id,
        tool=record.tool if record is not None else call.tool[:MAX_TOOL_CHARS],
        started_at=utc_from_ns(call.started_ns),
        ok=bool(record.ok) if record is not None else False,
        conversation_key=call.context.conversation_key,
        conversation_basis=call.context.conversation_basis,
        user_sub=call.user_sub,
    )


def _link_row(link: CallLink) -> dict[str, Any]:
    return {
        "call_id": link.call_id, "position": link.position, "rule": link.rule, "tool": link.tool, "started_at": link.started_at,
        "duration_ms": None, "ok": link.ok, "outcome": None, "error_type": None, "error_message": None, "session_id": None,
        "user_sub": None, "caller_kind": None, "server_version": None, "extra": {},
    }  # fmt: skip
