"""What `doctor` looks at. Every check has an id that stays, a state, a finding and, where something is to do, a hint."""

from __future__ import annotations

import json
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, Literal

from ..delivery.spool.admin import status as spool_status
from ..query.calls import list_calls
from ..query.filters import Filter
from ..query.health import tool_health
from ..query.parts import as_time
from ..query.reader import NotReadable, Reader, open_reader
from ..shaping.redact import Redactor
from ..sink import SinkUnavailable
from ..store.location import locate
from ..version import __version__

State = Literal["ok", "note", "warning", "error"]
_QUIET: Final = timedelta(days=7)
_CLOCK: Final = timedelta(seconds=5)
_SAMPLE: Final = 200
_MADE_UP_SECRET: Final = "correct-horse-battery-9"  # noqa: S105 - made up, to see it removed
_EXTENSIONS: Final = (
    ("asyncpg", "PostgreSQL", "fastmcp-feedback[postgres]"),
    ("sqlite_vec", "similar reports on SQLite", "fastmcp-feedback[embeddings]"),
    ("re2", "faster redaction", "fastmcp-feedback[fast]"),
    ("jinja2", "the dashboard", "fastmcp-feedback[dashboard]"),
    ("opentelemetry.sdk", "traces", "fastmcp-feedback[otel]"),
    ("pyarrow", "export to Parquet", "fastmcp-feedback[parquet]"),
)


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `error` means that recording or reading does not work; `warning` that somebody should look."""

    id: str
    state: State
    text: str
    hint: str = ""


async def examine(url: str, spool: Path | None) -> list[Check]:
    """All checks, in a fixed order. What cannot be looked at without a database is left out when there is none."""
    found = [_versions(), _redacts()]
    try:
        found += _file(url)
        async with open_reader(url) as reader:
            found.append(Check("schema", "ok", "up to date"))
            found += [check async for check in _recorded(reader)]
    except NotReadable as exc:
        found.append(Check("schema" if "older version" in str(exc) else "database", "error", str(exc), exc.hint))
    except (SinkUnavailable, ValueError, ImportError) as exc:
        found.append(Check("database", "error", str(exc)))
    if spool is not None:
        found += _spool(spool)
    found += [_extension(*extension) for extension in _EXTENSIONS]
    return found


def _versions() -> Check:
    return Check("versions", "ok", f"fastmcp-feedback {__version__}, FastMCP {_version('fastmcp')}, Python {sys.version.split()[0]}")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def _redacts() -> Check:
    shown = Redactor().redact_text(f"password={_MADE_UP_SECRET}") + json.dumps(Redactor().redact({"api_key": _MADE_UP_SECRET}))
    if _MADE_UP_SECRET in shown:
        return Check("redaction.works", "error", "a made-up password was not removed", "reinstall fastmcp-feedback")
    return Check("redaction.works", "ok", "a made-up password is removed")


def _file(url: str) -> list[Check]:
    location = locate(url)
    if location.path is None or not location.path.exists():
        return []
    details = location.path.stat()
    found = [Check("database.size", "ok", f"{location.path}, {details.st_size / 1e6:.1f} MB")]
    if details.st_mode & (stat.S_IRWXG | stat.S_IRWXO) and sys.platform != "win32":
        found.append(Check("database.mode", "warning", "other users of this machine can read the file", f"chmod 600 {location.path}"))
    return found


async def _recorded(reader: Reader) -> AsyncIterator[Check]:
    yield Check("database", "ok", f"{reader.url}, {await _server(reader)}")
    page = await list_calls(reader, Filter(internal=True), limit=_SAMPLE, payloads=True)
    if not page.calls:
        yield Check("recording", "warning", "no call was recorded yet", "does the server record to this database?")
        return
    newest = page.calls[0]["started_at"]
    now = datetime.now(UTC)
    if now - newest > _QUIET:
        yield Check(
            "recording", "warning", f"the newest call is {(now - newest).days} days old", "does the server still record to this database?"
        )
    else:
        yield Check("recording", "ok", f"the newest call began at {newest:%Y-%m-%d %H:%M:%S} UTC")
    yield await _clock(reader, newest, now)
    yield await _losses(reader)
    yield _payloads([row[name] for row in page.calls for name in ("args", "result", "error_message") if row[name] is not None])


async def _server(reader: Reader) -> str:
    if reader.dialect == "sqlite":
        return f"SQLite {sqlite3.sqlite_version}"
    (row,) = await reader.rows("SELECT current_setting('server_version') AS release", {})
    return f"PostgreSQL {row['release']}"


async def _clock(reader: Reader, newest: datetime, now: datetime) -> Check:
    if newest - now > _CLOCK:
        return Check("clock", "error", f"the newest call began {(newest - now).total_seconds():.0f} s from now", "set the clocks by NTP")
    if reader.dialect == "postgresql":
        (row,) = await reader.rows("SELECT clock_timestamp() AS at", {})
        apart = abs(as_time(row["at"]) - datetime.now(UTC))
        if apart > _CLOCK:
            return Check(
                "clock", "warning", f"the database's clock is {apart.total_seconds():.0f} s apart from this one", "set both by NTP"
            )
    return Check("clock", "ok", "no call is from the future")


async def _losses(reader: Reader) -> Check:
    """What the database can tell: calls that ran when their server was killed. The rest is in the server's own `stats()`."""
    where, bound = Filter(since=datetime.now(UTC) - _QUIET).where(reader.stamp)
    (row,) = await reader.rows(f"SELECT COUNT(*) AS n FROM {reader.calls} WHERE {where} AND category = 'interrupted'", bound)  # noqa: S608 - names of ours, values bound
    if row["n"]:
        tools = await tool_health(reader, Filter(since=datetime.now(UTC) - _QUIET, fault="cancelled"))
        names = ", ".join(tool.tool for tool in tools[:5])
        return Check("losses", "warning", f"{row['n']} calls of the last 7 days were running when their server ended ({names})",
                     "fastmcp-feedback calls --outcome error --since 7d")  # fmt: skip
    return Check("losses", "ok", "no call of the last 7 days was cut off; what was never stored, the server's own stats() tells")


def _payloads(values: list[object]) -> Check:
    """Would redaction take something out of what is stored? Rules may have grown since, or a tool may hide secrets from them."""
    redactor = Redactor()
    leaky = sum(1 for value in values if (redactor.redact_text(value) if isinstance(value, str) else redactor.redact(value)) != value)
    if leaky:
        return Check("redaction.stored", "warning", f"{leaky} of {len(values)} recorded values hold what redaction now takes out",
                     "fastmcp-feedback export -o calls.jsonl, then fastmcp-feedback redact --explain calls.jsonl")  # fmt: skip
    return Check("redaction.stored", "ok", f"{len(values)} recorded values hold nothing that redaction takes out")


def _spool(folder: Path) -> list[Check]:
    try:
        found = spool_status(folder)
    except OSError:
        return [Check("spool", "error", f"there is no folder {folder}", "name the folder that the server was given as spool=")]
    checks = []
    owed = sum(found.owed.values())
    if found.damaged:
        checks.append(Check("spool.damaged", "error", f"{found.damaged} places of {folder} cannot be read", "is the disk in order?"))
    if found.orphans:
        text = f"{found.orphans} files of servers that ended, {owed} records wait"
        checks.append(Check("spool.orphans", "warning", text, f"fastmcp-feedback spool replay {folder}"))
    return checks or [Check("spool", "ok", f"{owed} records wait in {found.segments} files")]


def _extension(module: str, purpose: str, package: str, load: Callable[[str], object] = import_module) -> Check:
    name = f"extension.{module.split('.', maxsplit=1)[0]}"
    try:
        load(module)
    except ImportError:
        return Check(name, "note", f"not installed: {purpose}", f"pip install '{package}'")
    return Check(name, "ok", purpose)
