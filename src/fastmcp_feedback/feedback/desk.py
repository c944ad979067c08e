"""What the tools do: take reports with their evidence, show them, triage them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from ..capture.middleware import CaptureMiddleware
from ..contain import contain
from ..ids import utc_now
from ..records import CallLink
from ..store.feedback_sql import Which
from ..store.feedback_store import FeedbackStore
from . import answers, checks, names
from .access import Caller, Rules, caller_of
from .checks import Draft
from .limits import Limits
from .recorder import Recorder

ANSWER_S: Final = 0.5
_LEAST_S: Final = 0.05
MAX_SIMILAR: Final = 5
MIN_SCORE: Final = 0.3
MIN_SCORE_BY_MEANING: Final = 0.6
MAX_LINKS: Final = 50
_FLUSH_S: Final = 1.0

Clean = Callable[[Sequence[str | None], Sequence[str]], Any]


class Desk:
    """The work behind the tools of one server."""

    def __init__(
        self,
        *,
        open_store: Callable[[], FeedbackStore],
        recorder: Any,
        clean: Clean,
        rules: Rules,
        limits: Limits,
        announce: Callable[[dict[str, Any], list[dict[str, Any]]], None],
    ) -> None:
        self._open_store = open_store
        self._recorder: Recorder | None = recorder
        self._clean = clean
        self._rules = rules
        self._limits = limits
        self._announce = announce

    @property
    def store(self) -> FeedbackStore:
        """Where reports are."""
        return self._open_store()

    def caller(self) -> Caller:
        """Who makes the running call."""
        recorder = self._recorder
        return caller_of(recorder if isinstance(recorder, CaptureMiddleware) else None)

    def sees_all(self, tool: str, caller: Caller) -> bool:
        """May this caller read what others wrote?"""
        return self._rules.allows(tool, remote=caller.remote, scopes=caller.scopes)

    # -- submitting

    async def submit(self, draft: Draft) -> answers.Submitted:
        """Store a report with the calls that led to it."""
        began_s = time.monotonic()
        caller = self.caller()
        await self._limits.take(caller.owner, self.store)
        links = await self._recorder.capture_recent_calls(calls=draft.calls) if self._recorder is not None else []
        row = await self._row(draft, caller, links)
        stored, new = await self.store.add(row, caller.owner)
        linked = await self._link(stored["id"], links, new=new)
        self._record(stored)
        left_s = max(_LEAST_S, ANSWER_S - (time.monotonic() - began_s))
        similar = await self._similar(stored, caller, left_s)
        self._announce(stored, [answers_link(link) for link in links])
        stored["report_count"] = await self._count(stored)
        return self._submitted(stored, linked, similar, _missing(draft.calls, links), new=new)

    async def _count(self, row: dict[str, Any]) -> int:
        first = await self.store.get(row["duplicate_of"]) if row["duplicate_of"] else None
        return int((first or row)["report_count"])

    async def _row(self, draft: Draft, caller: Caller, links: Sequence[CallLink]) -> dict[str, Any]:
        submitter = draft.submitter or caller.name
        texts = [draft.title, draft.description, submitter, draft.contact_info, draft.tool]
        title, description, submitter, contact, tool = await self._clean(texts, [link.call_id for link in links])
        return {
            "id": names.new_id(),
            "type": draft.type,
            "title": title,
            "description": description,
            "submitter": submitter,
            "submitter_kind": caller.kind(draft.submitter),
            "contact_info": contact,
            "tool": tool,
            "severity": draft.severity,
            "session_id": caller.session_id,
            "client_id": caller.client_id,
            "server_version": caller.server_version,
        }

    async def _link(self, report_id: str, links: Sequence[CallLink], *, new: bool) -> int:
        """Attach the calls; a repeated report keeps its first ones. How many it has now."""
        if self._recorder is None:
            return 0
        kept = [] if new else [_as_link(row) for row in await self._recorder.feedback_context(report_id)]
        known = {link.call_id for link in kept}
        wanted = [*kept, *(link for link in links if link.call_id not in known)][:MAX_LINKS]
        ordered = [_at(link, n) for n, link in enumerate(sorted(wanted, key=lambda link: (link.started_at, link.call_id)))]
        if len(wanted) == len(kept):
            return len(kept)
        return len(ordered) if await self._recorder.link_feedback(report_id, ordered) else len(kept)

    def _record(self, row: dict[str, Any]) -> None:
        if self._recorder is not None:
            attrs = {name: row[name] for name in ("type", "title", "description", "submitter")}
            self._recorder.record_event(names.SUBMITTED, key=row["id"], attrs=attrs)

    async def _similar(self, row: dict[str, Any], caller: Caller, limit_s: float) -> list[answers.Similar]:
        """Open and past reports like it. What cannot be found in time is left out: first by words, then by meaning."""
        text = f"{row['title']}\n{row['description']}"
        deadline_s = asyncio.get_running_loop().time() + limit_s
        by_words: list[str] = []
        by_meaning: list[str] = []
        with contain("finding similar reports"), suppress(TimeoutError):
            async with asyncio.timeout_at(deadline_s):
                found = await self.store.similar(text, limit=MAX_SIMILAR + 2, but=row["id"])
                by_words = [one for one, score in found if score >= MIN_SCORE]
                if self._recorder is not None and self._recorder.has_vectors:
                    near = await self._recorder.similar(text, source_types=("feedback",), k=MAX_SIMILAR + 2, min_score=MIN_SCORE_BY_MEANING)
                    by_meaning = [hit["source_id"] for hit in near]
        wanted = [one for one in dict.fromkeys([*by_meaning, *by_words]) if one not in {row["id"], row["duplicate_of"]}]
        with contain("finding similar reports"):
            return self._shown(wanted, await self.store.get_all(wanted), caller)
        return []

    def _shown(self, wanted: list[str], rows: dict[str, dict[str, Any]], caller: Caller) -> list[answers.Similar]:
        every = self.sees_all("list_feedback", caller)
        hits = [rows[one] for one in wanted if one in rows and rows[one]["duplicate_of"] is None]
        return [
            answers.Similar(hit["id"], hit["title"] if every or caller.owns(hit) else None, hit["status"], hit["report_count"])
            for hit in hits[:MAX_SIMILAR]
        ]

    @staticmethod
    def _submitted(row: dict[str, Any], linked: int, similar: list[answers.Similar], missing: int, *, new: bool) -> answers.Submitted:
        count = row["report_count"]
        said = f"Stored as {row['id']}." if new else f"You have reported this already as {row['id']}; it is counted there."
        if row["duplicate_of"]:
            said += f" Others have reported the same as {row['duplicate_of']}; it is counted there."
        if missing:
            said += f" {missing} of the references in calls were not found among your recent calls."
        return answers.Submitted(
            success=True,
            feedback_id=row["id"],
            linked_calls=linked,
            similar=similar,
            count=count,
            duplicate_of=row["duplicate_of"],
            message=said,
        )

    # -- reading

    async def page(
        self,
        *,
        type: str | None,  # noqa: A002 - the field's name
        status: str | None,
        tool: str | None,
        search: str | None,
        limit: int,
        cursor: str | None,
    ) -> answers.Page:
        """Reports that the caller may see, the newest first."""
        caller = self.caller()
        every = self.sees_all("list_feedback", caller)
        which = Which(
            type=checks.optional_choice("type", type, names.TYPES),
            status=checks.optional_choice("status", status, names.STATUSES),
            tool=checks.optional_text("tool", tool, names.MAX_SHORT_CHARS),
            search=checks.optional_text("search", search, checks.MAX_SEARCH_CHARS),
            owner=None if every else caller.owner,
        )
        size = checks.number("limit", limit, 1, names.MAX_PAGE)
        rows = await self.store.page(which, size + 1, checks.read_cursor(cursor))
        shown = [answers.row_of(row, shown=True) for row in rows[:size]]
        return answers.Page(shown, checks.cursor(rows[size - 1]) if len(rows) > size else None)

    async def get(self, feedback_id: str) -> answers.Whole:
        """One report whole; its texts only for who may see them."""
        caller = self.caller()
        wanted = checks.feedback_id(feedback_id)
        row = await self.store.get(wanted)
        if row is None:
            raise checks.unknown_id(wanted)
        shown = caller.owns(row) or self.sees_all("get_feedback", caller)
        calls = await self._calls(wanted) if shown else []
        return answers.Whole(
            report=answers.row_of(row, shown=shown),
            description=row["description"] if shown else None,
            contact_info=row["contact_info"] if shown else None,
            duplicate_of=row["duplicate_of"],
            server_version=row["server_version"] if shown else None,
            notes=[answers.note_of(note) for note in row["notes"] or ()] if shown else [],
            calls=[answers.call_of(call) for call in calls],
            withheld=not shown,
        )

    async def _calls(self, report_id: str) -> list[dict[str, Any]]:
        found = await self._recorder.feedback_context(report_id) if self._recorder is not None else []
        return found or await self.store.sink.read_context(report_id)

    async def statistics(self, days: int) -> answers.Statistics:
        """Counts only: nobody's words."""
        span = checks.number("days", days, 1, names.MAX_DAYS)
        since = utc_now() - timedelta(days=span)
        by_type = await self.store.counts("type")
        recent = await self.store.counts("type", since)
        every = self.sees_all("list_feedback", self.caller())
        return answers.Statistics(
            total=sum(reports for reports, _ in by_type.values()),
            reported_times=sum(times for _, times in by_type.values()),
            by_type=_reports(by_type),
            by_status=_reports(await self.store.counts("status")),
            by_submitter_kind=_reports(await self.store.counts("submitter_kind")),
            by_tool=_reports(await self.store.counts("tool")) if every else {},
            days=span,
            recent=sum(reports for reports, _ in recent.values()),
            recent_by_type=_reports(recent),
        )

    # -- managing

    async def set_status(self, feedback_id: str, status: str, note: str | None) -> answers.Changed:
        """Set the status; `in_progress` and `resolved` say that a maintainer has confirmed the report."""
        caller = self.caller()
        self._rules.require("update_feedback_status", caller)
        wanted = checks.feedback_id(feedback_id)
        new = checks.choice("status", status, names.STATUSES)
        said = checks.optional_text("note", note, names.MAX_NOTE_CHARS)
        (said,) = await self._clean([said], [])
        confirmed = new in ("in_progress", "resolved")
        if not await self.store.set_status(wanted, new, note=said, by=caller.name, verified=confirmed):
            raise checks.unknown_id(wanted)
        return answers.Changed(success=True, feedback_id=wanted, status=new)

    async def delete(self, feedback_id: str) -> answers.Deleted:
        """Remove a report and everything that holds its words."""
        self._rules.require("delete_feedback", self.caller())
        wanted = checks.feedback_id(feedback_id)
        if self._recorder is not None:
            await self._recorder.flush(_FLUSH_S)  # its event may still be on its way
        removed = await self.store.delete(wanted)
        if not removed:
            raise checks.unknown_id(wanted)
        return answers.Deleted(success=True, feedback_id=wanted, removed=removed)


def answers_link(link: CallLink) -> dict[str, Any]:
    """A linked call as notifiers get it."""
    return {"call_id": link.call_id, "tool": link.tool, "started_at": link.started_at.isoformat(), "ok": link.ok, "rule": link.rule}


def _as_link(row: dict[str, Any]) -> CallLink:
    return CallLink(row["call_id"], row["rule"], row["tool"] or "", row["started_at"], bool(row["ok"]), row["position"])


def _at(link: CallLink, position: int) -> CallLink:
    return CallLink(link.call_id, link.rule, link.tool, link.started_at, link.ok, position)


def _missing(quoted: Sequence[str], links: Sequence[CallLink]) -> int:
    return sum(not any(link.call_id.startswith(one) for link in links) for one in quoted)


def _reports(counted: dict[str | None, tuple[int, int]]) -> dict[str, int]:
    return {value or "none": reports for value, (reports, _) in counted.items()}
