"""Commands that read: `stats` and `calls`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from cyclopts import App, Parameter
from rich.cells import cell_len
from rich.text import Text

from ..query.calls import list_calls
from ..query.filters import Filter
from ..query.health import tool_health
from ..query.moments import FilterError
from ..query.reader import NotReadable, Reader, open_reader
from ..sink import SinkUnavailable
from ..store.default_database import database_url
from .output import CliError, console, count, milliseconds, outcome_text, plain, print_json, table

if TYPE_CHECKING:
    from rich.table import Table

T = TypeVar("T")
_WIDE: Final = 110
_LEAST_ERROR: Final = 16
Database = Annotated[str | None, Parameter(help="Database file or URL. Default: FASTMCP_FEEDBACK_DB, else the user's own calls.db.")]
Since = Annotated[str | None, Parameter(help="Only from then on: 2h, 15m, 7d, today, yesterday, or ISO 8601.")]
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="For machines.")]


def ask(db: str | None, question: Callable[[Reader], Awaitable[T]]) -> T:
    """Open the database, put the question, and turn what can go wrong into one line."""

    async def work() -> T:
        async with open_reader(database_url(db)) as reader:
            return await question(reader)

    try:
        return asyncio.run(work())
    except FilterError as exc:
        raise CliError(str(exc), code=2) from exc
    except NotReadable as exc:
        raise CliError(str(exc), exc.hint) from exc
    except (SinkUnavailable, ValueError, ImportError) as exc:
        raise CliError(str(exc)) from exc


def parse(**values: str | None) -> Filter:
    """A filter from options."""
    try:
        return Filter.parse(values)
    except FilterError as exc:
        raise CliError(str(exc), code=2) from exc


def stats(*, db: Database = None, since: Since = None, json: AsJson = False) -> None:
    """How often each tool was called, how it ended, how long it took."""
    which = parse(since=since)
    tools = ask(db, lambda reader: tool_health(reader, which))
    if json:
        print_json([{**asdict(tool), "failed_share": tool.failed_share} for tool in tools])
        return
    out = console()
    if not tools:
        out.print("No calls were recorded in that time." if since else "No calls were recorded yet.")
        return
    columns = [("tool", "left"), *((name, "right") for name in ("calls", "ok", "soft", "error", "failed", "p50", "p95", "max"))]
    rows = [
        (
            tool.tool, count(tool.calls), count(tool.ok), count(tool.soft_errors), count(tool.errors), f"{tool.failed_share:.0%}",
            milliseconds(tool.p50_ms), milliseconds(tool.p95_ms), milliseconds(tool.max_ms),
        )
        for tool in tools
    ]  # fmt: skip
    total = sum(tool.calls for tool in tools)
    failed = sum(tool.soft_errors + tool.errors for tool in tools)
    out.print(table("", columns, rows))
    out.print(f"\n{count(total)} calls of {len(tools)} tools, {count(failed)} failed")


def calls(
    *,
    db: Database = None,
    tool: str | None = None,
    outcome: Annotated[str | None, Parameter(help="ok, soft_error, error, or failed for both kinds of failure.")] = None,
    since: Since = None,
    json: AsJson = False,
    n: Annotated[int, Parameter(name=["-n", "--number"], help="How many, the newest first.")] = 20,
) -> None:
    """The last recorded calls."""
    which = parse(tool=tool, outcome=outcome, since=since)
    page = ask(db, lambda reader: list_calls(reader, which, limit=n, payloads=json))
    if json:
        print_json(page.calls)
        return
    out = console()
    if not page.calls:
        out.print("No recorded call matches." if (tool or outcome or since) else "No calls were recorded yet.")
        return
    out.print(_calls_table(page.calls, out.width))


def _calls_table(calls: Sequence[dict[str, Any]], width: int) -> Table:
    """One line a call as far as possible: times and ids are shorter on a narrow terminal, errors are cut to what is left."""
    narrow = width < _WIDE
    when = [call["started_at"].astimezone() for call in calls]
    today = all(moment.date() == datetime.now(UTC).astimezone().date() for moment in when)
    time_format = ("%H:%M:%S" if today else "%m-%d %H:%M") if narrow else "%m-%d %H:%M:%S"
    columns = [("when", "left"), ("tool", "left"), ("outcome", "left"), ("took", "right"), ("error", "left"), ("id", "left")]
    rows = [
        [
            moment.strftime(time_format),
            call["tool"],
            outcome_text(call["outcome"]),
            milliseconds(call["duration_ms"]),
            _error(call["error_type"], call["error_message"]),
            call["id"][: 8 if narrow else 13],
        ]
        for moment, call in zip(when, calls, strict=True)
    ]
    taken = sum(max(cell_len(plain(str(row[n]))) for row in [[name for name, _ in columns], *rows]) + 2 for n in (0, 1, 2, 3, 5))
    for row in rows:
        error = Text(row[4])
        error.truncate(max(width - taken, _LEAST_ERROR), overflow="ellipsis")
        row[4] = error
    return table("", columns, rows)


def _error(error_type: str | None, message: str | None) -> str:
    if error_type is None:
        return ""
    first = plain((message or "").split("\n", 1)[0])
    return first if error_type == "SoftError" else f"{error_type}: {first}"


def register(app: App) -> None:
    """Add the commands."""
    app.command(stats)
    app.command(calls)
