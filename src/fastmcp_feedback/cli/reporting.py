"""`report`: everything on one page, for people who have no database."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from .exporting import opened
from .narrowing import Which, chosen
from .output import CliError, console, plain, print_json
from .reading import AsJson, Database, ask
from .report_data import gather


def report(
    *,
    html: Annotated[Path | None, Parameter(help="The file to write.")] = None,
    overwrite: Annotated[bool, Parameter(negative="", help="Replace the file when it is there.")] = False,
    which: Which | None = None,
    db: Database = None,
    json: AsJson = False,
) -> None:
    """Health, failures, flailing, latency and models in one HTML file that needs nothing else, or as JSON."""
    if html is None and not json:
        raise CliError("say what to write: --html FILE, or --json", code=2)
    asked = chosen(which)
    found = ask(db, lambda reader: gather(reader, asked))
    if json:
        print_json(asdict(found))
    if html is None:
        return
    from .report_html import page  # noqa: PLC0415 - the other commands need none of it

    with opened(html, overwrite) as out:
        out.write(page(found).encode())
    if not json:
        console().print(plain(f"{html}: {found.health.calls:,.0f} calls of {len(found.health.tools)} tools"), markup=False)


def register(app: App) -> None:
    """Add the command."""
    app.command(report)
