"""What the tools answer: small, with a schema, recorded text marked. Times are ISO 8601 in UTC, durations milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from .recorded_text import NOTICE

Notice = Annotated[str, Field(description="How to read recorded text.")]
Cursor = Annotated[str | None, Field(description="Pass it as `cursor` for the next page; null: this was the last.")]


@dataclass(frozen=True, slots=True)
class ToolRow:
    """Health of one tool. A call kept by sampling counts for those that were not."""

    tool: str
    calls: float
    failed: float
    failed_percent: float
    soft_errors: float
    errors: float
    p50_ms: float
    p95_ms: float
    users: int


@dataclass(frozen=True, slots=True)
class Health:
    """Tools, those with the most failures first."""

    tools: list[ToolRow]
    cursor: Cursor = None
    notice: Notice = NOTICE


@dataclass(frozen=True, slots=True)
class FailureRow:
    """One failure: all calls that failed in the same way.

    `fault` is who has to mend it: server, upstream (something behind the server), caller or cancelled. `example_message` is null
    where the caller of this tool may not see recorded words.
    """

    fingerprint: str | None
    tool: str
    calls: float
    users: int
    conversations: int
    fault: str | None
    category: str | None
    error_type: str | None
    example_message: str | None
    first_seen: str
    last_seen: str
    example_call_id: str


@dataclass(frozen=True, slots=True)
class Failures:
    """Failures, the most frequent first."""

    failures: list[FailureRow]
    cursor: Cursor = None
    notice: Notice = NOTICE


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call, short."""

    call_id: str
    tool: str
    started_at: str
    duration_ms: float
    outcome: str
    fault: str | None
    error_type: str | None
    error_message: str | None
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls, the newest first."""

    calls: list[CallRow]
    cursor: Cursor = None
    notice: Notice = NOTICE


@dataclass(frozen=True, slots=True)
class OneCall:
    """One call whole. `arguments` and `result` are marked JSON text, or null: `payloads` says why."""

    call: CallRow
    category: str | None
    bad_arguments: list[str]
    arguments: str | None
    result: str | None
    payloads: str
    args_bytes: int | None
    result_bytes: int | None
    mode: str
    conversation: str | None
    user: str | None
    client: str | None
    server_version: str | None
    trace_id: str | None
    parent_call_id: str | None
    reports: list[str]
    next_steps: list[str]
    notice: Notice = NOTICE


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `kind` is call, event, llm_call or report, `id` that of it. `seconds` counts from the first step."""

    seconds: float
    kind: str
    what: str
    outcome: str | None
    duration_ms: float | None
    text: str | None
    id: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """What happened in one conversation, in order."""

    conversation: str
    started_at: str
    calls: int
    failed: int
    users: list[str]
    steps: list[Step]
    cursor: Cursor = None
    notice: Notice = NOTICE


@dataclass(frozen=True, slots=True)
class FlailingRow:
    """A row of calls of one tool that got nowhere. `kind` says how: the same again, nearly the same, failures in a row, ...

    `resolved`: the last call worked. `call_ids` are the first and the last ones.
    """

    kind: str
    conversation: str | None
    tool: str
    attempts: int
    resolved: bool
    ended_conversation: bool
    started_at: str
    ended_at: str
    wasted_ms: float
    last_error: str | None
    call_ids: list[str]


@dataclass(frozen=True, slots=True)
class Flailing:
    """Such rows, the worst first."""

    findings: list[FlailingRow]
    cursor: Cursor = None
    notice: Notice = NOTICE


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One report of a user or an agent. `report_count` tells how often the same was reported."""

    report_id: str
    type: str
    status: str
    severity: str | None
    tool: str | None
    title: str
    created_at: str
    report_count: int
    linked_calls: int


@dataclass(frozen=True, slots=True)
class Reports:
    """Reports, the newest first."""

    reports: list[ReportRow]
    cursor: Cursor = None
    notice: Notice = NOTICE


@dataclass(frozen=True, slots=True)
class OneReport:
    """One report with its evidence: the calls that led to it, in order."""

    report: ReportRow
    description: str
    server_version: str | None
    evidence: list[CallRow]
    notice: Notice = NOTICE


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One tool on two versions of the server; null on a side where it was not called.

    `verdict` is about failures: `worse` or `better` only beyond chance, else `same` or `too few calls`.
    """

    tool: str
    verdict: str
    calls_before: float | None
    calls_after: float | None
    failed_percent_before: float | None
    failed_percent_after: float | None
    p95_ms_before: float | None
    p95_ms_after: float | None


@dataclass(frozen=True, slots=True)
class Versions:
    """Two versions compared tool by tool, the worst change first; failures that only one of them has."""

    before: str
    after: str
    tools: list[VersionRow]
    new_failures: list[FailureRow]
    gone_failures: list[FailureRow]
    known_versions: list[str]
    cursor: Cursor = None
    notice: Notice = NOTICE
