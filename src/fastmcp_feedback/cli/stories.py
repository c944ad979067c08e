"""`conversation`, `events` and `tail`: what happened, in order."""

from __future__ import annotations

import asyncio
import json as jsonlib
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.text import Text

from ..query.calls import MAX_PAGE, list_calls
from ..query.events import list_events
from ..query.filters import Filter
from ..query.reader import Reader
from ..query.story import Entry, list_conversations, tell_story
from .narrowing import Limit, Which, chosen, nothing
from .output import CliError, console, error_text, milliseconds, moment, outcome_text, plain, print_json, table
from .reading import AsJson, Database, ask

_LOOK_BACK = timedelta(minutes=15)
_MAX_ATTRS_CHARS = 120


def conversation(
    key: Annotated[str | None, Parameter(help="Its key, or the id of one of its calls. Without: a list of conversations.")] = None,
    *,
    which: Which | None = None,
    number: Limit = 20,
    payloads: Annotated[bool, Parameter(negative="", help="With --json: arguments and results, too.")] = False,
    db: Database = None,
    json: AsJson = False,
) -> None:
    """One conversation as a story: calls, events, model calls and reports on one time line."""
    if key is None:
        _conversations(db, which, number, as_json=json)
        return
    story = ask(db, lambda reader: tell_story(reader, key, payloads=payloads))
    if story is None:
        raise CliError(f"there is no conversation {key}", "keys: fastmcp-feedback conversation")
    if json:
        print_json(asdict(story))
        return
    out = console()
    people = f", {', '.join(story.users)}" if story.users else ""
    out.print(plain(f"{story.key}{people}: {story.calls} calls, {story.failed} failed"), markup=False)
    out.print(f"{moment(story.started_at)} to {moment(story.ended_at)}{' (the newest entries)' if story.truncated else ''}\n")
    columns = [("when", "left"), ("what", "left"), ("", "left"), ("outcome", "left"), ("took", "right"), ("", "left")]
    rows = [
        (
            moment(entry.at), entry.kind.replace("_", " "), _indented(entry),
            outcome_text(entry.outcome) if entry.outcome else "", milliseconds(entry.duration_ms), _words(entry),
        )
        for entry in story.entries
    ]  # fmt: skip
    out.print(table("", columns, rows))


def _indented(entry: Entry) -> str:
    return f"  {entry.title}" if entry.kind in {"event", "llm_call"} and entry.call_id else entry.title


def _words(entry: Entry) -> str:
    if entry.kind == "call":
        return error_text(entry.row["error_type"], entry.text)
    return (entry.text or "").split("\n", 1)[0]


def _conversations(db: str | None, which: Which | None, number: int, *, as_json: bool) -> None:
    asked = chosen(which)
    found = ask(db, lambda reader: list_conversations(reader, asked, limit=number))
    if as_json:
        print_json([asdict(one) for one in found])
        return
    out = console()
    if not found:
        out.print(nothing(which, "conversation"))
        return
    columns = [
        ("began", "left"),
        ("ended", "left"),
        ("calls", "right"),
        ("failed", "right"),
        ("tools", "right"),
        ("last", "left"),
        ("key", "left"),
    ]
    rows = [
        (moment(one.started_at), moment(one.ended_at), one.calls, one.failed, one.tools, outcome_text(one.last_outcome), one.key)
        for one in found
    ]
    out.print(table("", columns, rows))


def events(
    *,
    which: Which | None = None,
    kind: Annotated[str | None, Parameter(help="Only this kind, such as llm.call.")] = None,
    key: Annotated[str | None, Parameter(help="Only events with this key.")] = None,
    call: Annotated[str | None, Parameter(help="Only events of the call with this id.")] = None,
    number: Limit = 20,
    db: Database = None,
    json: AsJson = False,
) -> None:
    """The last recorded events."""
    asked = chosen(which)
    page = ask(db, lambda reader: list_events(reader, asked, kind=kind, key=key, call_id=call, limit=number))
    if json:
        print_json(page.events)
        return
    out = console()
    if not page.events:
        out.print("No recorded event matches.")
        return
    columns = [("when", "left"), ("kind", "left"), ("key", "left"), ("attrs", "left"), ("call", "left")]
    rows = [(moment(row["occurred_at"]), row["kind"], row["key"], _attrs(row["attrs"]), (row["call_id"] or "")[:13]) for row in page.events]
    out.print(table("", columns, rows))


def _attrs(attrs: Any) -> str:
    text = "" if not attrs else jsonlib.dumps(attrs, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_ATTRS_CHARS else text[: _MAX_ATTRS_CHARS - 3] + "..."


def tail(
    *,
    which: Which | None = None,
    follow: Annotated[
        bool, Parameter(name=["-f", "--follow"], negative="", help="Go on with calls as they are recorded, until Ctrl-C.")
    ] = False,
    number: Limit = 10,
    interval: Annotated[float, Parameter(help="With -f: seconds between two looks.")] = 1.0,
    db: Database = None,
    json: Annotated[bool, Parameter(name="--json", negative="", help="For machines: one line of JSON a call.")] = False,
) -> None:
    """The last calls, oldest first, one line each; with `-f` also those to come."""
    asked = chosen(which)
    if interval <= 0:
        raise CliError("--interval is more than 0 seconds", code=2)
    show = _print_json_line if json else _print_line

    async def pause() -> bool:
        await asyncio.sleep(interval)
        return True

    ask(db, lambda reader: follow_calls(reader, asked, show, number=number, pause=pause if follow else None))


async def follow_calls(
    reader: Reader,
    which: Filter,
    show: Callable[[dict[str, Any]], None],
    *,
    number: int,
    pause: Callable[[], Awaitable[bool]] | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> None:
    """Show the last calls, then, after each `pause` that says True, those that were recorded meanwhile.

    A call is recorded when it has ended, so one that began before another may come after it: every look goes a quarter
    of an hour back and leaves out what was shown.
    """
    rows = (await list_calls(reader, which, limit=max(number, MAX_PAGE))).calls
    for row in reversed(rows[:number]):
        show(row)
    newest = max((row["started_at"] for row in rows), default=now())
    seen = {row["id"]: row["started_at"] for row in rows}
    while pause is not None and await pause():
        since = newest - _LOOK_BACK
        looked = replace(which, since=max(since, which.since) if which.since is not None else since)
        fresh = [row for row in (await list_calls(reader, looked, limit=MAX_PAGE)).calls if row["id"] not in seen]
        for row in reversed(fresh):
            show(row)
        seen |= {row["id"]: row["started_at"] for row in fresh}
        newest = max([newest, *seen.values()])
        seen = {call_id: began for call_id, began in seen.items() if began >= newest - _LOOK_BACK}


def _print_line(row: dict[str, Any]) -> None:
    line = Text(f"{moment(row['started_at'])}  ")
    line.append_text(outcome_text(row["outcome"].ljust(10)))
    took = milliseconds(row["duration_ms"])
    line.append(plain(f"  {took:>8}  {row['tool']}  {error_text(row['error_type'], row['error_message'])}".rstrip()))
    console().print(line, soft_wrap=True)


def _print_json_line(row: dict[str, Any]) -> None:
    print(
        jsonlib.dumps(row, ensure_ascii=True, default=lambda value: value.isoformat() if isinstance(value, datetime) else str(value)),
        flush=True,
    )


def register(app: App) -> None:
    """Add the commands."""
    app.command(conversation)
    app.command(events)
    app.command(tail)
