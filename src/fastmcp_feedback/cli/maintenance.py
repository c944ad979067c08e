"""Commands for operators: `db`, `spool` and `redact`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from ..sink import SinkUnavailable
from ..store.default_database import database_url
from .output import CliError, console, count, plain, print_json, table
from .reading import AsJson, Database


def db_status(*, db: Database = None, json: AsJson = False) -> None:
    """What a database holds and whether it is up to date."""
    from ..store.admin import status  # noqa: PLC0415 - loads a driver
    from ..store.migrations import ForeignTables  # noqa: PLC0415 - see above

    try:
        found = status(database_url(db))
    except (SinkUnavailable, ForeignTables, ValueError, ImportError) as exc:
        raise CliError(str(exc)) from exc
    if json:
        print_json({"url": found.url, "version": found.version, "wanted": found.wanted, "up_to_date": found.up_to_date, "rows": found.rows})
        return
    out = console()
    made_by = f" (made by {found.made_by})" if found.made_by else ""
    state = "no tables yet" if found.version is None else f"version {found.version}{made_by} of {found.wanted}"
    out.print(f"{plain(found.url)}: {state}{'' if found.up_to_date else ' -> fastmcp-feedback db upgrade'}")
    out.print(table("", [("table", "left"), ("rows", "right")], [(name, count(rows)) for name, rows in found.rows.items()]))


def db_upgrade(*, db: Database = None) -> None:
    """Create the tables, or upgrade those of an older version. Rows are kept; a failed step changes nothing."""
    from ..store.admin import upgrade  # noqa: PLC0415 - loads a driver
    from ..store.migrations import ForeignTables  # noqa: PLC0415 - see above

    try:
        before, after = upgrade(database_url(db))
    except (SinkUnavailable, ForeignTables, ValueError, ImportError) as exc:
        raise CliError(str(exc)) from exc
    console().print(
        "up to date" if before == after else f"{'created' if before is None else f'upgraded from version {before}'}: version {after}"
    )


def db_sql(*, db: Annotated[str, Parameter(help="sqlite, postgresql, or a database's file or URL.")] = "sqlite") -> None:
    """Print the SQL that makes the tables, or that a database still needs."""
    from ..store.admin import sql  # noqa: PLC0415 - loads a driver

    try:
        print(sql(db if db in {"sqlite", "postgresql"} else database_url(db)))
    except (SinkUnavailable, ValueError, ImportError) as exc:
        raise CliError(str(exc)) from exc


def spool_status(folder: Path, *, json: AsJson = False) -> None:
    """What waits in a spool folder."""
    from ..delivery.spool.admin import status  # noqa: PLC0415 - the other commands need none of it

    if not folder.is_dir():
        raise CliError(f"there is no folder {folder}", "name the folder that the server was given as spool=")
    found = status(folder)
    if json:
        print_json({name: getattr(found, name) for name in found.__dataclass_fields__})
        return
    out = console()
    for name in found.__dataclass_fields__:
        out.print(f"{name}: {plain(getattr(found, name))}")


def spool_replay(folder: Path, *, db: Database = None) -> None:
    """Store what waits in a spool folder whose server is gone into a database."""
    from ..delivery.spool.admin import replay  # noqa: PLC0415 - the other commands need none of it
    from ..store import DatabaseSink  # noqa: PLC0415 - see above

    if not folder.is_dir():
        raise CliError(f"there is no folder {folder}", "name the folder that the server was given as spool=")

    async def work() -> object:
        sink = DatabaseSink(database_url(db), create_tables=True)
        try:
            return await replay(folder, sink)
        finally:
            await sink.aclose()

    try:
        console().print(plain(asyncio.run(work())))
    except (SinkUnavailable, ValueError, ImportError) as exc:
        raise CliError(str(exc)) from exc


def redact(
    file: Path,
    *,
    explain: Annotated[bool, Parameter(negative="", help="Show what would go, and by which rule.")] = False,
    json: AsJson = False,
) -> None:
    """Show a file as redaction leaves it, or explain what would go. The removed values are never shown."""
    from ..shaping.redact import Redactor  # noqa: PLC0415 - compiles its rules
    from ..shaping.redact.explain import explain_file  # noqa: PLC0415 - see above

    try:
        if not explain:
            print(Redactor().redact_text(file.read_text(encoding="utf-8", errors="replace")), end="")
            return
        findings = explain_file(file)
    except OSError as exc:
        raise CliError(f"{file} cannot be read: {exc.strerror}") from exc
    if json:
        print_json([{name: getattr(finding, name) for name in finding.__dataclass_fields__} for finding in findings])
        return
    out = console()
    columns = [(name, "left") for name in findings[0].__dataclass_fields__] if findings else []
    if not findings:
        out.print("Nothing would be removed.")
        return
    out.print(table("", columns, [[getattr(finding, name) for name, _ in columns] for finding in findings]))


def register(app: App) -> None:
    """Add the commands."""
    database = App(name="db", help="Look at a database, upgrade it, print its SQL.")
    database.command(db_status, name="status")
    database.command(db_upgrade, name="upgrade")
    database.command(db_sql, name="sql")
    spool = App(name="spool", help="Look at a spool folder, replay it.")
    spool.command(spool_status, name="status")
    spool.command(spool_replay, name="replay")
    app.command(database)
    app.command(spool)
    app.command(redact)
