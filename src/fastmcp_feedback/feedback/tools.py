"""The six tools. Each method's docstring is what a model reads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Final

from fastmcp.exceptions import ToolError
from pydantic import Field

from ..sink import SinkUnavailable
from . import checks, names
from .answers import Changed, Deleted, Page, Statistics, Submitted, Whole
from .desk import Desk

TOOLS: Final = (
    "submit_feedback",
    "list_feedback",
    "get_feedback",
    "get_feedback_statistics",
    "update_feedback_status",
    "delete_feedback",
)
_READS: Final = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
ANNOTATIONS: Final[dict[str, dict[str, bool]]] = {
    "submit_feedback": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
    "list_feedback": _READS,
    "get_feedback": _READS,
    "get_feedback_statistics": _READS,
    "update_feedback_status": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
    "delete_feedback": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False},
}

Type = Annotated[str, Field(description="What kind of report.", json_schema_extra={"enum": list(names.TYPES)})]
Status = Annotated[str, Field(description="The new status.", json_schema_extra={"enum": list(names.STATUSES)})]
Id = Annotated[str, Field(description="Id of a report, such as fb-7k3m9qx2rt5w.")]
Short = Annotated[str | None, Field(description="At most 200 characters.")]


class Tools:
    """The tools of one server; `entered` is told of every call."""

    def __init__(self, desk: Desk, entered: Callable[[], None]) -> None:
        self._desk = desk
        self._entered = entered

    @asynccontextmanager
    async def _at_work(self) -> AsyncIterator[Desk]:
        self._entered()
        try:
            yield self._desk
        except SinkUnavailable as exc:
            raise ToolError(f"the feedback database cannot be used now, nothing was changed; try again later ({exc})") from exc

    async def submit_feedback(  # noqa: PLR0917 - models name their arguments
        self,
        type: Type,  # noqa: A002 - the field's name
        title: Annotated[str, Field(description=f"The problem or wish in one line, at most {names.MAX_TITLE_CHARS} characters.")],
        description: Annotated[
            str,
            Field(description=f"What was done, expected and seen; at most {names.MAX_DESCRIPTION_CHARS} characters. Leave out secrets."),
        ],
        submitter: Annotated[str | None, Field(description="Who reports: the user's name, or your own as an agent.")] = None,
        contact_info: Annotated[str | None, Field(description="How to reach the user, only if they agreed to be contacted.")] = None,
        tool: Annotated[str | None, Field(description="The tool that it is about.")] = None,
        severity: Annotated[str | None, Field(description="How bad it is.", json_schema_extra={"enum": [*names.SEVERITIES, None]})] = None,
        calls: Annotated[list[str] | None, Field(description="References to calls, if results carried any in _meta.")] = None,
    ) -> Submitted:
        """Report a concrete problem, wish or question about this server's tools to its maintainers.

        Your latest calls are attached as evidence, so there is no need to repeat arguments or results. Not for praise.
        """
        async with self._at_work() as desk:
            return await desk.submit(
                checks.draft(
                    type=type,
                    title=title,
                    description=description,
                    submitter=submitter,
                    contact_info=contact_info,
                    tool=tool,
                    severity=severity,
                    calls=calls,
                )
            )

    async def list_feedback(
        self,
        type: Annotated[str | None, Field(description="Only this type.", json_schema_extra={"enum": [*names.TYPES, None]})] = None,  # noqa: A002
        status: Annotated[str | None, Field(description="Only this status.", json_schema_extra={"enum": [*names.STATUSES, None]})] = None,
        tool: Annotated[str | None, Field(description="Only about this tool, by its exact name.")] = None,
        search: Annotated[str | None, Field(description="Words that title or description hold, all of them.")] = None,
        limit: Annotated[int, Field(description=f"How many at most, 1 to {names.MAX_PAGE}.")] = 20,
        cursor: Annotated[str | None, Field(description="`next_cursor` of the page before.")] = None,
    ) -> Page:
        """List reports about this server, the newest first: your own, or all of them for maintainers."""
        async with self._at_work() as desk:
            return await desk.page(type=type, status=status, tool=tool, search=search, limit=limit, cursor=cursor)

    async def get_feedback(self, feedback_id: Id) -> Whole:
        """Show one report with its status and the calls that led to it, in order."""
        async with self._at_work() as desk:
            return await desk.get(feedback_id)

    async def get_feedback_statistics(
        self, days: Annotated[int, Field(description=f"What counts as recent: 1 to {names.MAX_DAYS} days.")] = 7
    ) -> Statistics:
        """Count the reports about this server by type, status and tool."""
        async with self._at_work() as desk:
            return await desk.statistics(days)

    async def update_feedback_status(
        self,
        feedback_id: Id,
        status: Status,
        note: Annotated[str | None, Field(description=f"What was found or done, at most {names.MAX_NOTE_CHARS} characters.")] = None,
    ) -> Changed:
        """Set the status of a report. For maintainers; in_progress and resolved confirm what it says."""
        async with self._at_work() as desk:
            return await desk.set_status(feedback_id, status, note)

    async def delete_feedback(self, feedback_id: Id) -> Deleted:
        """Remove a report for good, with its evidence links. For maintainers."""
        async with self._at_work() as desk:
            return await desk.delete(feedback_id)
