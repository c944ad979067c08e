"""`export` and `prune`: rows out of the database, into a file or away."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..query.calls import count_calls, iterate_calls
from ..query.events import count_events, iterate_events
from ..query.filters import Filter
from ..query.moments import FilterError, parse_moment
from ..query.reader import Reader
from ..sink import SinkUnavailable
from ..store.default_database import database_url
from ..store.schema import EVENTS, TOOL_CALLS
from .export_formats import FORMATS, NoParquet
from .narrowing import Which, chosen
from .output import CliError, console, plain, print_json
from .reading import AsJson, Database, ask

_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".parquet": "parquet"}


def export(
    *,
    output: Annotated[Path | None, Parameter(name=["-o", "--output"], help="The file to write; default: standard output.")] = None,
    format: Annotated[str | None, Parameter(help="jsonl, csv or parquet; default: by the file's name, else jsonl.")] = None,  # noqa: A002 - the option's name
    events: Annotated[bool, Parameter(negative="", help="Events instead of calls.")] = False,
    overwrite: Annotated[bool, Parameter(negative="", help="Replace the file when it is there.")] = False,
    which: Which | None = None,
    db: Database = None,
    json: AsJson = False,
) -> None:
    """Write recorded calls, payloads included, to a file: JSON lines, CSV or Parquet. The newest come first."""
    asked = chosen(which)
    form = format or _SUFFIXES.get(output.suffix.lower() if output else "", "jsonl")
    if form not in FORMATS:
        raise CliError(f"--format {form!r} does not exist: write {', '.join(FORMATS)}", code=2)
    if output is None and form == "parquet":
        raise CliError("Parquet is not written to standard output", "name a file: -o calls.parquet", 2)
    try:
        with opened(output, overwrite) as stream:
            written = ask(db, lambda reader: write_rows(reader, asked, stream, form, events=events))
    except NoParquet as exc:
        raise CliError(str(exc), "pip install 'fastmcp-feedback[parquet]', or choose --format jsonl") from exc
    if output is not None:
        what = "event" if events else "call"
        if json:
            print_json({"file": str(output), "format": form, "rows": written})
        else:
            console().print(plain(f"{output}: {written:,} {what}{'' if written == 1 else 's'}"), markup=False)


async def write_rows(reader: Reader, which: Filter, stream: IO[bytes], form: str, *, events: bool) -> int:
    """Write all rows that the filter leaves; how many there were. A bar on stderr shows how far it is, where somebody looks."""
    total = await (count_events if events else count_calls)(reader, which)
    pages = iterate_events(reader, which) if events else iterate_calls(reader, which)
    written = 0
    with FORMATS[form](stream, EVENTS if events else TOOL_CALLS) as writer, _progress(total) as step:
        async for rows in pages:
            writer.write(rows)
            written += len(rows)
            step(len(rows))
    return written


@contextmanager
def opened(output: Path | None, overwrite: bool) -> Iterator[IO[bytes]]:
    """The stream to write to. The file appears when it is whole, for its owner only; until then an old one stays."""
    if output is None:
        yield sys.stdout.buffer
        return
    if output.exists() and not overwrite:
        raise CliError(f"{output} is there already", "choose another name, or --overwrite")
    try:
        handle, made = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
    except OSError as exc:
        raise CliError(f"{output} cannot be written: {exc.strerror}") from exc
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        Path(made).replace(output)
    except BaseException:
        with suppress(OSError):
            Path(made).unlink()
        raise


@contextmanager
def _progress(total: int | None) -> Iterator[Any]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as bar:
        task = bar.add_task("rows", total=total)
        yield lambda rows: bar.advance(task, rows)


def prune(
    older_than: Annotated[str, Parameter(help="30d, 12h, or a date such as 2026-10-02.")],
    *,
    yes: Annotated[bool, Parameter(negative="", help="Do not ask.")] = False,
    db: Database = None,
    json: AsJson = False,
) -> None:
    """Delete calls and events that are older, but no call that a report is linked to."""
    from ..store.admin import prune as delete  # noqa: PLC0415 - loads a driver

    try:
        cutoff = parse_moment(older_than)
    except FilterError as exc:
        raise CliError(str(exc), code=2) from exc
    old = ask(db, lambda reader: _old(reader, Filter(until=cutoff, internal=True)))
    if (
        not yes
        and any(old)
        and not _confirmed(f"delete up to {old[0]:,} calls and {old[1]:,} events from before {cutoff:%Y-%m-%d %H:%M} UTC?")
    ):
        raise CliError("nothing was deleted")
    try:
        with _progress(sum(old)) as step:
            deleted = delete(database_url(db), cutoff, on_progress=step)
    except (SinkUnavailable, ValueError, ImportError) as exc:
        raise CliError(str(exc)) from exc
    kept = ask(db, lambda reader: _old(reader, Filter(until=cutoff, internal=True)))
    if json:
        print_json({"deleted": deleted, "kept_calls": kept[0], "kept_events": kept[1]})
        return
    linked = f"; {kept[0]:,} linked calls stay" if kept[0] else ""
    console().print(f"{deleted:,} calls and events deleted{linked}")


async def _old(reader: Reader, which: Filter) -> tuple[int, int]:
    return await count_calls(reader, which), await count_events(reader, which)


def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise CliError(f"not asked because this is no terminal: {question}", "--yes deletes without asking", 2)
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def register(app: App) -> None:
    """Add the commands."""
    app.command(export)
    app.command(prune)
