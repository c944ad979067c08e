"""`replay` and `make-test`: from a recorded failure to a fixed tool."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from ..query.calls import find_call, list_calls
from ..query.filters import Filter
from ..query.reader import Reader
from .output import CliError, console, milliseconds, outcome_text, plain, print_json, table
from .proxying import parse_headers
from .reading import AsJson, Database, ask

if TYPE_CHECKING:
    from ..replay.again import Replayed

_LOOKED_AT = 200  # calls of one fingerprint among which a usable one is looked for
_SHOWN_CHARS = 60
Server = Annotated[str | None, Parameter(help="The server as module:app or file.py:app, called in this process.")]


def replay(
    call_id: Annotated[str, Parameter(help="The call, or the beginning of its id.")],
    *command: Annotated[str, Parameter(allow_leading_hyphen=True, help="A server to start, after --.")],
    server: Server = None,
    url: Annotated[str | None, Parameter(help="A remote server.")] = None,
    header: Annotated[list[str] | None, Parameter(help="`Name: value` to send to the remote server; may be repeated.", negative="")] = None,
    yes: Annotated[bool, Parameter(negative="", help="Call tools that are not marked read-only without asking.")] = False,
    timeout: Annotated[float, Parameter(help="Seconds that the start and the call may take, each.")] = 60.0,
    db: Database = None,
    json: AsJson = False,
) -> int:
    """Call a tool again with recorded arguments and show what differs."""
    from ..replay.again import CannotReplay, replay_call  # noqa: PLC0415 - the other commands need no server
    from ..replay.app_name import ServerError  # noqa: PLC0415 - see above
    from ..replay.servers import Target  # noqa: PLC0415 - see above

    for name in ("fastmcp", "mcp"):  # what they have to say about failures is in the record
        logging.getLogger(name).setLevel(logging.CRITICAL)
    target = Target(server, url, command, parse_headers(header or []))
    try:
        target.check()
        call = ask(db, lambda reader: _one(reader, call_id))
        made = asyncio.run(replay_call(call, target, lambda question: yes or _confirmed(question), timeout_s=timeout))
    except ServerError as exc:
        raise CliError(str(exc), exc.hint, exc.code) from exc
    except CannotReplay as exc:
        raise CliError(str(exc), exc.hint) from exc
    if json:
        print_json(_as_dict(made))
    else:
        _show(made)
    return 0


async def _one(reader: Reader, call_id: str) -> dict[str, Any]:
    call = await find_call(reader, call_id)
    if call is None:
        raise CliError(f"there is no call {call_id} (or more than one that begins so)", "ids: fastmcp-feedback calls --outcome failed")
    return call


def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise CliError(f"not asked because this is no terminal: {question}", "--yes calls it without asking", 2)
    print(f"{plain(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _as_dict(made: Replayed) -> dict[str, Any]:
    names = ("id", "tool", "started_at", "outcome", "error_type", "error_message", "duration_ms")
    found = made.differences
    return {
        "verdict": made.verdict,
        "recorded": {name: made.recorded[name] for name in names},
        "again": {name: getattr(made.again, name) for name in names},
        "differences": None if found is None else [one.to_dict() for one in found],
        "notes": list(made.notes),
    }


def _show(made: Replayed) -> None:
    before, now, out = made.recorded, made.again, console()
    out.print(plain(f"{before['tool']}, call {before['id'][:13]} of {before['started_at'].astimezone():%Y-%m-%d %H:%M:%S}"), markup=False)
    rows = [
        ("outcome", outcome_text(before["outcome"]), outcome_text(now.outcome)),
        ("error", _error(before["error_type"], before["error_message"]), _error(now.error_type, now.error_message)),
        ("took", milliseconds(before["duration_ms"]), milliseconds(now.duration_ms)),
    ]
    out.print(table("", [("", "left"), ("recorded", "left"), ("now", "left")], rows))
    if made.differences:
        places = [(one.path, _short(one.before), _short(one.after)) for one in made.differences]
        out.print(table("", [("\nresult", "left"), ("\nrecorded", "left"), ("\nnow", "left")], places))
    for note in made.notes:
        out.print(plain(f"note: {note}"), markup=False)
    out.print(f"\n{made.verdict}")


def _error(error_type: str | None, message: str | None) -> str:
    return "" if error_type is None else message or "" if error_type == "SoftError" else f"{error_type}: {message or ''}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 3] + "..."


def make_test(
    *call_ids: Annotated[str, Parameter(help="Calls that failed, or the beginnings of their ids.")],
    fingerprint: Annotated[list[str] | None, Parameter(help="The best call of this failure; may be repeated.", negative="")] = None,
    server: Annotated[str | None, Parameter(help="The server under test: module:app.")] = None,
    output: Annotated[Path | None, Parameter(name=["-o", "--output"], help="The file to write; default: standard output.")] = None,
    overwrite: Annotated[bool, Parameter(negative="", help="Replace the file when it is there.")] = False,
    db: Database = None,
) -> int:
    """Write a pytest file that reproduces recorded failures, one test each."""
    from ..replay.app_name import ServerError  # noqa: PLC0415 - see above
    from ..replay.make_test import NothingToTest, write_tests  # noqa: PLC0415 - the other commands need none of it

    if not call_ids and not fingerprint:
        raise CliError("say which failures: call ids, or --fingerprint F", "fastmcp-feedback calls --outcome failed", 2)
    try:
        text = write_tests(ask(db, lambda reader: _wanted(reader, call_ids, fingerprint or [])), server)
    except NothingToTest as exc:
        raise CliError(str(exc)) from exc
    except ServerError as exc:
        raise CliError(str(exc), exc.hint, exc.code) from exc
    if output is None:
        print(text, end="")
        return 0
    try:
        with output.open("w" if overwrite else "x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as exc:
        raise CliError(f"{output} is there already", "choose another name, or --overwrite") from exc
    except OSError as exc:
        raise CliError(f"{output} cannot be written: {exc.strerror}") from exc
    tests = text.count("\ndef test_")
    console().print(plain(f"{output}: {tests} test{'' if tests == 1 else 's'}"), markup=False)
    return 0


async def _wanted(reader: Reader, call_ids: tuple[str, ...], fingerprints: list[str]) -> list[dict[str, Any]]:
    calls = [await _one(reader, call_id) for call_id in dict.fromkeys(call_ids)]
    calls += [await _newest(reader, fingerprint) for fingerprint in dict.fromkeys(fingerprints)]
    return list({call["id"]: call for call in calls}.values())


async def _newest(reader: Reader, fingerprint: str) -> dict[str, Any]:
    from ..replay.arguments import lost_arguments  # noqa: PLC0415 - see make_test

    page = await list_calls(reader, Filter(fingerprint=fingerprint), limit=_LOOKED_AT, payloads=True)
    if not page.calls:
        raise CliError(f"there is no failure {fingerprint}", "fingerprints: fastmcp-feedback calls --outcome failed --json")
    return min(page.calls, key=lambda call: len(lost_arguments(call)))  # the newest of equally good ones


def register(app: App) -> None:
    """Add the commands."""
    app.command(replay)
    app.command(make_test)
