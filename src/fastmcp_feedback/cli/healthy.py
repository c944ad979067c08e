"""`tools` and `compare`: how tools do, and whether they did better before."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter
from rich.text import Text

from ..query.failures import FailureGroup
from ..query.trends import HealthReport, health_report
from ..query.versions import ToolChange, compare_versions, server_versions
from .narrowing import Which, chosen, nothing
from .output import CliError, console, count, error_text, milliseconds, plain, print_json, share, table
from .reading import AsJson, Database, ask

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {"worse": "red", "better": "green"}
_SHOWN_FAILURES = 10


def tools(
    *,
    which: Which | None = None,
    known: Annotated[
        list[str] | None, Parameter(help="Tools of the server, to name those never called.", negative="", consume_multiple=True)
    ] = None,
    db: Database = None,
    json: AsJson = False,
) -> None:
    """Health of each tool: calls, failures, latency, users, and what changed.

    With `--since` each tool is compared with the window of the same length before; with several server versions, the
    newest with the one before.
    """
    asked = chosen(which)
    report = ask(db, lambda reader: health_report(reader, asked, known_tools=known))
    if json:
        print_json(_as_dict(report))
        return
    out = console()
    if not report.tools:
        out.print(nothing(which))
    else:
        _show(out, report)
    if report.never_called:
        out.print()
        out.print(plain(f"never called: {', '.join(report.never_called)}"), markup=False)


def _show(out: Console, report: HealthReport) -> None:
    against = {change.tool: change for change in report.window}
    versions = {change.tool: change for change in report.version}
    columns = [("tool", "left"), *((name, "right") for name in ("calls", "failed", "p50", "p95", "p99", "max", "users", "chats"))]
    if against:
        columns.append(("window before", "left"))
    if versions:
        columns.append((f"{report.previous_version} -> {report.current_version}", "left"))
    rows = []
    for tool in report.tools:
        row: list[Any] = [tool.tool, count(tool.calls), share(tool.failed_share)]
        row += [milliseconds(value) for value in (tool.p50_ms, tool.p95_ms, tool.p99_ms, tool.max_ms)]
        row += [tool.users or "", tool.conversations or ""]
        row += [_change(found.get(tool.tool)) for found in (against, versions) if found]
        rows.append(row)
    out.print(table("", columns, rows))
    out.print(f"\n{count(report.calls)} calls of {len(report.tools)} tools, {count(report.failed)} failed")


def _change(change: ToolChange | None) -> Text:
    if change is None or change.before is None:
        return Text("new")
    if change.after is None:
        return Text("gone")
    moved = f"{share(change.before.failed_share)} -> {share(change.after.failed_share)} failed"
    slower = "" if change.p95_ratio is None else f", p95 x{change.p95_ratio:.2g}"
    sure = change.verdict if change.verdict in _STYLES else ""
    return Text(f"{sure}{': ' if sure else ''}{moved}{slower}", style=_STYLES.get(change.verdict, ""))


def _as_dict(report: HealthReport) -> dict[str, Any]:
    return {
        "tools": [{**asdict(tool), "failed_share": tool.failed_share} for tool in report.tools],
        "window": [_change_dict(change) for change in report.window],
        "version": [_change_dict(change) for change in report.version],
        "current_version": report.current_version,
        "previous_version": report.previous_version,
        "never_called": report.never_called,
    }


def _change_dict(change: ToolChange) -> dict[str, Any]:
    return {**asdict(change), "failed_change": change.failed_change, "p95_ratio": change.p95_ratio}


def compare(
    before: Annotated[str, Parameter(help="The older version.")],
    after: Annotated[str, Parameter(help="The newer version.")],
    *,
    which: Which | None = None,
    db: Database = None,
    json: AsJson = False,
) -> None:
    """Two server versions: which tools fail more or less, which failures came, went and stayed.

    `worse` and `better` are said only where chance alone would do that once in a hundred times.
    """
    asked = chosen(which)
    found = ask(db, lambda reader: compare_versions(reader, before, after, asked))
    if not found.calls_before or not found.calls_after:
        missing = before if not found.calls_before else after
        known = [version.version for version in ask(db, server_versions)]
        raise CliError(f"no call was recorded under version {missing}", f"recorded versions: {', '.join(known) or 'none'}")
    if json:
        print_json({**asdict(found), "tools": [_change_dict(change) for change in found.tools]})
        return
    out = console()
    out.print(plain(f"{before}: {count(found.calls_before)} calls, {after}: {count(found.calls_after)} calls"), markup=False)
    out.print()
    rows = [
        (
            change.tool, *(count(side.calls) if side else "" for side in (change.before, change.after)),
            *(share(side.failed_share) if side else "" for side in (change.before, change.after)),
            *(milliseconds(side.p95_ms) if side else "" for side in (change.before, change.after)),
            Text(change.verdict, style=_STYLES.get(change.verdict, "")),
        )
        for change in found.tools
    ]  # fmt: skip
    names = ("calls before", "after", "failed before", "after", "p95 before", "after")
    out.print(table("", [("tool", "left"), *((name, "right") for name in names), ("verdict", "left")], rows))
    for title, groups in (("new", found.new_failures), ("gone", found.gone_failures), ("kept", found.kept_failures)):
        _groups(out, title, groups)


def _groups(out: Console, title: str, groups: tuple[FailureGroup, ...]) -> None:
    if not groups:
        return
    out.print(f"\n{title} failures")
    rows = [(count(group.calls), group.tool, error_text(group.error_type, group.message)) for group in groups[:_SHOWN_FAILURES]]
    out.print(table("", [("calls", "right"), ("tool", "left"), ("error", "left")], rows))
    if len(groups) > _SHOWN_FAILURES:
        out.print(f"and {len(groups) - _SHOWN_FAILURES} more")


def register(app: App) -> None:
    """Add the commands."""
    app.command(tools)
    app.command(compare)
