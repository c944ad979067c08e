"""`doctor`: is everything as it should be?"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.text import Text

from ..store.default_database import database_url
from .checks import Check, examine
from .output import console, print_json, table
from .reading import AsJson, Database

_STYLES = {"ok": "green", "note": "", "warning": "yellow", "error": "red"}


def doctor(
    *,
    spool: Annotated[Path | None, Parameter(help="The folder that the server was given as spool=.")] = None,
    db: Database = None,
    json: AsJson = False,
) -> int:
    """Check database, schema, recording, losses, clock, redaction and extensions. Exit code 1 when something is wrong."""
    checks = asyncio.run(examine(database_url(db), spool))
    if json:
        print_json([asdict(check) for check in checks])
    else:
        rows = [(Text(check.state, style=_STYLES[check.state]), check.id, _words(check)) for check in checks]
        console().print(table("", [("", "left"), ("check", "left"), ("finding", "left")], rows))
    return 1 if any(check.state == "error" for check in checks) else 0


def _words(check: Check) -> str:
    return f"{check.text} -> {check.hint}" if check.hint else check.text


def register(app: App) -> None:
    """Add the command."""
    app.command(doctor)
