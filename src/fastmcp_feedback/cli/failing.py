"""`failures`, `show` and `flailing`: what goes wrong, one call whole, and who tries in vain."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from ..query.calls import find_call
from ..query.failures import FailureDetail, FailureGroup, find_failure, list_failures
from ..query.flailing import Flail, find_flailing
from .narrowing import Limit, Which, chosen, nothing
from .output import CliError, console, count, error_text, milliseconds, moment, outcome_text, plain, print_json, table
from .reading import AsJson, Database, ask

if TYPE_CHECKING:
    from rich.console import Console

_KINDS = {
    "identical_retry": "an error answered by the identical call",
    "near_retry": "tried again with nearly the same arguments",
    "retry_chain": "failed again and again",
    "repetition": "the same call with the same answer",
    "ends_in_failure": "ended in a failure",
}
_FIRST = (
    "tool",
    "outcome",
    "started_at",
    "duration_ms",
    "error_type",
    "error_message",
    "fault",
    "category",
    "fingerprint",
    "bad_arguments",
)
_PAYLOADS = ("args", "result")
_SHORT_ID = 13
_NARROW = 120  # columns of a terminal below which the less needed ones are left out


def failures(*, which: Which | None = None, number: Limit = 20, db: Database = None, json: AsJson = False) -> None:
    """Failures, equal ones together: how often, since when, for how many users, whose fault.

    With `--fingerprint` one of them, with an example.
    """
    asked = chosen(which)
    if asked.fingerprint is not None:
        detail = ask(db, lambda reader: find_failure(reader, asked.fingerprint or "", asked))
        if detail is None:
            raise CliError(f"there is no failure {asked.fingerprint}", "fingerprints: fastmcp-feedback failures")
        _show_failure(detail, as_json=json)
        return
    groups = ask(db, lambda reader: list_failures(reader, asked, limit=number))
    if json:
        print_json([asdict(group) for group in groups])
        return
    out = console()
    if not groups:
        out.print(nothing(which, "failure"))
        return
    shown: list[tuple[str, str, Callable[[FailureGroup], Any]]] = [
        ("calls", "right", lambda group: count(group.calls)),
        ("tool", "left", lambda group: group.tool),
        ("fault", "left", lambda group: group.fault),
        ("error", "left", lambda group: error_text(group.error_type, group.message)),
        ("users", "right", lambda group: group.users or ""),
        ("first seen", "left", lambda group: moment(group.first_seen)),
        ("last seen", "left", lambda group: moment(group.last_seen)),
        ("fingerprint", "left", lambda group: group.fingerprint),
        ("example", "left", lambda group: group.example_id[:_SHORT_ID]),
    ]
    if out.width < _NARROW:
        shown = [column for column in shown if column[0] not in {"fault", "users", "first seen", "example"}]
    out.print(table("", [column[:2] for column in shown], [[value(group) for _, _, value in shown] for group in groups]))


def _show_failure(detail: FailureDetail, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {**asdict(detail.group), "users_by_calls": dict(detail.top_users), "versions": detail.versions, "example": detail.example}
        )
        return
    out, group = console(), detail.group
    out.print(plain(f"{group.tool}: {error_text(group.error_type, group.message)}"), markup=False)
    out.print(f"{count(group.calls)} calls of {group.conversations} conversations, {moment(group.first_seen)} to {moment(group.last_seen)}")
    if detail.top_users:
        out.print(plain("users: " + ", ".join(f"{user} ({n})" for user, n in detail.top_users)), markup=False)
    if detail.versions:
        out.print(plain(f"versions: {', '.join(detail.versions)}"), markup=False)
    out.print("\nthe newest call:")
    _show_call(out, detail.example)


def show(
    call_id: Annotated[str, Parameter(help="The call's id, or the beginning of it (8 characters at least).")],
    *,
    db: Database = None,
    json: AsJson = False,
) -> None:
    """One call whole, with what was recorded of its arguments and result."""
    call = ask(db, lambda reader: find_call(reader, call_id)) if len(call_id) >= 8 else None
    if call is None:
        raise CliError(f"there is no call {call_id} (or more than one that begins so)", "ids: fastmcp-feedback calls")
    if json:
        print_json(call)
        return
    _show_call(console(), call)


def _show_call(out: Console, call: dict[str, Any]) -> None:
    names = ["id", *_FIRST, *(name for name in call if name not in {"id", "ok", *_FIRST, *_PAYLOADS})]
    rows = [(name, _value(name, call[name])) for name in names if call.get(name) not in (None, False, "", {}, [])]
    made = table("", [("", "left"), ("", "left")], rows)
    made.show_header = False
    out.print(made)
    for name in _PAYLOADS:
        if call.get(name) is not None:
            out.print(f"\n{name}")
            # soft_wrap: a line that is copied stays one line
            text = jsonlib.dumps(call[name], indent=2, ensure_ascii=False, default=str)
            out.print("\n".join(plain(line) for line in text.split("\n")), markup=False, soft_wrap=True)


def _value(name: str, value: Any) -> Any:
    if name == "outcome":
        return outcome_text(value)
    if name == "started_at":
        return moment(value)
    if name == "duration_ms":
        return milliseconds(value)
    return jsonlib.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (dict, list)) else value


def flailing(
    *,
    which: Which | None = None,
    number: Limit = 10,
    calls: Annotated[bool, Parameter(negative="", help="Show the calls of each finding.")] = False,
    db: Database = None,
    json: AsJson = False,
) -> None:
    """Callers that try the same thing again and again and get nowhere, the worst first."""
    asked = chosen(which)
    report = ask(db, lambda reader: find_flailing(reader, asked, limit=number))
    if json:
        print_json(asdict(report))
        return
    out = console()
    if not report.findings:
        out.print("No flailing was found.")
        return
    columns = [("score", "right"), ("tool", "left"), ("what", "left"), ("calls", "right"), ("lost", "right"), ("ended", "left"),
               ("began", "left"),               ("conversation", "left")]  # fmt: skip
    rows = [
        (
            f"{flail.score:g}", flail.tool, _KINDS[flail.kind] + ("" if flail.basis == "arguments" else " (by size)"), len(flail.calls),
            milliseconds(flail.wasted_ms), _end(flail), moment(flail.started_at), flail.conversation_key or f"user {flail.user_sub}",
        )
        for flail in report.findings
    ]  # fmt: skip
    out.print(table("", columns, rows))
    if calls:
        for flail in report.findings:
            _flail_calls(out, flail)
    if report.truncated:
        out.print(f"\nThe newest {report.calls_read:,} calls were looked at; narrow with --since and --until for others.")


def _flail_calls(out: Console, flail: Flail) -> None:
    out.print()
    out.print(plain(f"{flail.tool}, {_KINDS[flail.kind]}:"), markup=False)
    columns = [("when", "left"), ("outcome", "left"), ("arguments", "left"), ("took", "right"), ("error", "left"), ("id", "left")]
    rows = [
        (
            moment(call.started_at), outcome_text(call.outcome), call.likeness or "", milliseconds(call.duration_ms),
            error_text(call.error_type, call.error_message), call.id[:_SHORT_ID],
        )
        for call in flail.calls
    ]  # fmt: skip
    out.print(table("", columns, rows))


def _end(flail: Flail) -> str:
    if flail.ended_conversation:
        return "gave up"
    return "worked" if flail.resolved else "failed"


def register(app: App) -> None:
    """Add the commands."""
    app.command(failures)
    app.command(show)
    app.command(flailing)
