"""The tools: questions of a coding agent about recorded calls. Each method's docstring is what the agent reads."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastmcp.exceptions import ToolError
from pydantic import Field

from ..query import failures, flailing, story, versions
from ..query.calls import find_call, list_calls
from ..query.filters import Filter
from ..query.health import tool_health
from . import reports
from .access import Access, Rules
from .answers import Calls, Conversation, Failures, Flailing, Health, OneCall, OneReport, ReportRow, Reports, Versions
from .recorded_text import label, label_or_none, mark, payload
from .rows import call_row, failure_row, flailing_row, moment, offset_of, page, step, tool_row, version_row
from .source import Source

MAX_LISTED: Final = 50
Limit = Annotated[int, Field(ge=1, le=MAX_LISTED, description="How many at most.")]
Cursor = Annotated[str | None, Field(description="`cursor` of the answer before, for its next page.")]
Since = Annotated[str | None, Field(description="Only from then on: 15m, 2h, 7d, today, or ISO 8601. Default: all.")]
Tool = Annotated[str | None, Field(description="Only this tool, by its exact name.")]
CallId = Annotated[str, Field(description="Id of a call, or the first 8 or more characters of it.")]


class Insight:
    """The tools of one server; each takes its reader from `source` and obeys `rules`."""

    def __init__(self, source: Source, rules: Rules) -> None:
        self._source = source
        self._rules = rules

    async def tool_health(self, since: Since = None, tool: Tool = None, limit: Limit = 20, cursor: Cursor = None) -> Health:
        """Which tools of this MCP server fail, how often, and how slow they are. Start here; then list_failures tells why."""
        async with self._source.reader() as reader:
            found = await tool_health(reader, Filter.parse({"since": since, "tool": tool}))
        found.sort(key=lambda one: (-(one.soft_errors + one.errors), -one.calls, one.tool))
        rows, following = page(found, limit, cursor)
        return Health([tool_row(one) for one in rows], following)

    async def list_failures(
        self,
        since: Since = None,
        tool: Tool = None,
        fault: Annotated[str | None, Field(description="Who has to mend it: server, upstream, caller or cancelled.")] = None,
        limit: Limit = 10,
        cursor: Cursor = None,
    ) -> Failures:
        """Why tools fail: equal failures grouped by fingerprint, the most frequent first.

        Each row names one example call for get_call. `fault: server` is what a change of the server's code can mend.
        """
        async with self._source.reader() as reader:
            which = Filter.parse({"since": since, "tool": tool, "fault": fault})
            found = await failures.list_failures(reader, which, limit=offset_of(cursor) + limit + 1)
        rows, following = page(found, limit, cursor)
        access = self._rules.access()
        return Failures([failure_row(one, access) for one in rows], following)

    async def list_calls(
        self,
        since: Since = None,
        tool: Tool = None,
        outcome: Annotated[str | None, Field(description="ok, soft_error, error, or failed for both kinds of failure.")] = None,
        fingerprint: Annotated[str | None, Field(description="Only calls that failed in this way.")] = None,
        limit: Limit = 10,
        cursor: Cursor = None,
    ) -> Calls:
        """Single recorded calls, the newest first, without arguments and results; get_call shows one whole."""
        which = {"since": since, "tool": tool, "outcome": outcome, "fingerprint": fingerprint}
        async with self._source.reader() as reader:
            found = await list_calls(reader, Filter.parse(which), limit=limit, cursor=cursor)
        access = self._rules.access()
        return Calls([call_row(row, access) for row in found.calls], found.cursor)

    async def get_call(self, call_id: CallId) -> OneCall:
        """One recorded call whole: how it ended, why, with which arguments, for whom, and what to do next.

        Arguments and result are shown only to callers who may see them; secrets were taken out when they were recorded.
        """
        access = self._rules.access()
        async with self._source.reader() as reader:
            row = await find_call(reader, call_id)
            if row is None:
                raise ToolError(
                    f"there is no call {call_id[:64]!r}, or more than one begins so: take an id from list_calls or list_failures"
                )
            linked = await reports.reports_of(reader, row["id"])
        return _one_call(row, linked, access, self._source.db_option)

    async def get_conversation(
        self,
        conversation: Annotated[str, Field(description="A `conversation` of another answer, or the id of one of its calls.")],
        limit: Limit = 30,
        cursor: Cursor = None,
    ) -> Conversation:
        """Everything that happened in one conversation, in order: calls, events, model calls and reports.

        Shows what a caller tried before and after a failure.
        """
        self._rules.require(Access.TEXTS)
        async with self._source.reader() as reader:
            found = await story.tell_story(reader, conversation)
        if found is None:
            raise ToolError(f"there is no conversation {conversation[:64]!r}: take one from get_call or find_flailing")
        entries, following = page(found.entries, limit, cursor)
        return Conversation(
            label(found.key),
            moment(found.started_at),
            found.calls,
            found.failed,
            [label(user) for user in found.users],
            [step(one, found.started_at) for one in entries],
            following,
        )

    async def find_flailing(self, since: Since = "7d", limit: Limit = 10, cursor: Cursor = None) -> Flailing:
        """Where callers try again and again and get nowhere: the same call repeated, failures in a row, conversations given up.

        Often a sign of an unclear description or error message rather than of a bug.
        """
        self._rules.require(Access.TEXTS)
        async with self._source.reader() as reader:
            found = await flailing.find_flailing(reader, Filter.parse({"since": since}), limit=offset_of(cursor) + limit + 1)
        rows, following = page(found.findings, limit, cursor)
        return Flailing([flailing_row(one) for one in rows], following)

    async def list_reports(
        self,
        since: Since = None,
        status: Annotated[str | None, Field(description="open, in_progress, resolved or closed.")] = None,
        tool: Tool = None,
        limit: Limit = 10,
        cursor: Cursor = None,
    ) -> Reports:
        """Reports that users and agents gave about this server: bugs, wishes, questions. get_report shows one with its evidence."""
        self._rules.require(Access.TEXTS)
        async with self._source.reader() as reader:
            rows, following = await reports.list_reports(reader, Filter.parse({"since": since, "tool": tool}), status, limit, cursor)
        return Reports([_report_row(row) for row in rows], following)

    async def get_report(self, report_id: Annotated[str, Field(description="Id of a report.")]) -> OneReport:
        """One report with its evidence: the calls that led to it, in order, with their outcomes."""
        access = self._rules.require(Access.TEXTS)
        async with self._source.reader() as reader:
            found = await reports.find_report(reader, report_id)
        if found is None:
            raise ToolError(f"there is no report {report_id[:64]!r}: take an id from list_reports")
        row, calls = found
        return OneReport(
            _report_row(row),
            mark(row["description"], 2000),
            label_or_none(row["server_version"]),
            [call_row(call, access) for call in calls],
        )

    async def compare_versions(
        self,
        before: Annotated[str | None, Field(description="The older version; default: the one before `after`.")] = None,
        after: Annotated[str | None, Field(description="The newer version; default: the newest recorded.")] = None,
        limit: Limit = 10,
        cursor: Cursor = None,
    ) -> Versions:
        """What a release changed: failures and times of each tool before and after, failures that came, failures that went."""
        async with self._source.reader() as reader:
            known = [one.version for one in await versions.server_versions(reader)]
            older, newer = _two_versions(known, before, after)
            found = await versions.compare_versions(reader, older, newer)
        rows, following = page(found.tools, limit, cursor)
        access = self._rules.access()
        return Versions(
            label(older),
            label(newer),
            [version_row(one) for one in rows],
            [failure_row(one, access) for one in found.new_failures[:limit]],
            [failure_row(one, access) for one in found.gone_failures[:limit]],
            [label(version) for version in known[:MAX_LISTED]],
            following,
        )


def _two_versions(known: list[str], before: str | None, after: str | None) -> tuple[str, str]:
    shown = ", ".join(label(version) for version in known[:10]) or "none"
    for given in (before, after):
        if given is not None and given not in known:
            raise ToolError(f"no call was recorded of version {given[:64]!r}; known are {shown}")
    newer = after or next((version for version in known if version != before), None)
    older = before or next((version for version in known[known.index(newer) + 1 :] if newer), None) if newer else None
    if newer is None or older is None:
        raise ToolError(f"two versions are needed; known are {shown} (set server_version in instrument())")
    return older, newer


def _one_call(row: dict[str, Any], linked: list[str], access: Access, database: str) -> OneCall:
    words = access >= Access.TEXTS
    shown = access >= Access.PAYLOADS
    return OneCall(
        call=call_row(row, access),
        category=label_or_none(row["category"]),
        bad_arguments=[label(str(name)) for name in row["bad_arguments"] or ()],
        arguments=payload(row["args"]) if shown else None,
        result=payload(row["result"]) if shown else None,
        payloads=_payloads(row, access),
        args_bytes=row["args_size"],
        result_bytes=row["result_size"],
        mode=label(row["mode"]),
        conversation=label_or_none(row["conversation_key"]) if words else None,
        user=label_or_none(row["user_sub"]) if words else None,
        client=label_or_none(row["client_id"]) if words else None,
        server_version=label_or_none(row["server_version"]),
        trace_id=label_or_none(row["trace_id"]),
        parent_call_id=label_or_none(row["parent_call_id"]),
        reports=[label(ref) for ref in linked] if words else [],
        next_steps=_next_steps(row, access, database),
    )


def _payloads(row: dict[str, Any], access: Access) -> str:
    if row["mode"] != "full":
        return "not recorded (mode meta)"
    return "shown" if access >= Access.PAYLOADS else "recorded, not shown to this caller"


def _next_steps(row: dict[str, Any], access: Access, database: str) -> list[str]:
    """Commands for whoever has the server's code at hand; the database is named to those who may see words of it."""
    rest = f"{label(row['id'])}{database if access >= Access.TEXTS else ''} --server MODULE:APP"
    steps = []
    if not row["ok"]:
        steps.append(f"fastmcp-feedback make-test {rest} -o tests/test_recorded.py   # writes a test that fails until the tool is mended")
    if row["mode"] == "full":
        steps.append(f"fastmcp-feedback replay {rest}   # calls the tool again and shows what differs")
    else:
        steps.append("record with mode full: without arguments a call cannot be made again")
    return steps


def _report_row(row: dict[str, Any]) -> ReportRow:
    return ReportRow(
        report_id=label(row["id"]),
        type=label(row["type"]),
        status=label(row["status"]),
        severity=label_or_none(row["severity"]),
        tool=label_or_none(row["tool"]),
        title=mark(row["title"]),
        created_at=moment(row["created_at"]),
        report_count=row["report_count"],
        linked_calls=row["linked_calls"],
    )
