"""`tools`, `failures`, `show`, `flailing`, `compare`, `conversation`, `events`: for people and for machines."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fastmcp_feedback.cli.app import run
from fastmcp_feedback.records import Derived, EventRecord
from support.recorded import NOON, a_call, database

HOSTILE = "\x1b[31mred\x1b[0m [bold]no markup[/bold]"


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database with two versions, a conversation that flails, an event, and hostile text; it is the default one."""
    good = [a_call(n, conversation="session/1", user_sub="ann", server_version="1.0") for n in range(20)]
    given: dict[str, Any] = {
        "outcome": "error",
        "error_type": "ValueError",
        "conversation": "session/2",
        "server_version": "2.0",
        "duration_ms": 5.0,
    }
    bad = [
        a_call(1000 + n, **given, fingerprint="f1-aa", error_message="no such scene", args={"scene": HOSTILE}, mode="full")
        for n in range(15)
    ]
    other = a_call(1100, tool=HOSTILE, outcome="soft_error", error_type="SoftError", error_message=HOSTILE, fingerprint="f1-bb")
    event = EventRecord(
        "llm.call", NOON + timedelta(seconds=1001), key=HOSTILE, attrs={"model": "small-1", "ok": True, "note": HOSTILE},
        call_id=bad[0].id, _derived=Derived(conversation_key="session/2"),
    )  # fmt: skip
    database(tmp_path, [*good, *bad, other, event])
    monkeypatch.setenv("FASTMCP_FEEDBACK_DB", str(tmp_path / "calls.db"))
    return str(tmp_path / "calls.db")


COMMANDS = [
    (
        ["tools", "--since", "2026-10-02T12:10:00Z", "--known", "render", "export"],
        ["render", "100%", "never called: export", "worse: 0% -> 100%"],
    ),
    (["failures"], ["no such scene", "f1-aa", "00001014-0000"]),
    (["failures", "--fingerprint", "f1-aa"], ["the newest call:", "15 calls of 1 conversations", '"scene"']),
    (["show", "00001003"], ["no such scene", '"scene"']),
    (["flailing", "--calls"], ["an error answered by the identical call", "gave up", "identical", "session/2"]),
    (["compare", "1.0", "2.0"], ["worse", "new failures"]),
    (["conversation"], ["session/1", "session/2"]),
    (["conversation", "session/2"], ["15 calls, 15 failed", "small-1"]),
    (["conversation", "00001003"], ["session/2"]),
    (["events"], ["llm.call", '"model": "small-1"']),
    (["tail", "-n", "3"], ["no such scene"]),
    (["calls"], ["no such scene"]),
]


@pytest.mark.parametrize(("arguments", "words"), COMMANDS, ids=lambda value: " ".join(value)[:30])
def test_a_command_answers_people(db: str, capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]) -> None:
    """The answer holds the facts, and nothing that steers a terminal."""
    assert run(arguments) == 0
    shown, complaints = capsys.readouterr()

    assert [word for word in words if word not in shown] == []
    assert "\x1b" not in shown
    assert "\\n" not in shown
    assert complaints == ""


@pytest.mark.parametrize(
    "arguments", [arguments for arguments, _ in COMMANDS if arguments[0] != "tail"], ids=lambda value: " ".join(value)[:30]
)
def test_a_command_answers_machines(db: str, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    """With `--json` the whole output is one JSON value."""
    assert run([*arguments, "--json"]) == 0

    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["show", "ffffffff"], 1, "there is no call ffffffff"),
        (["show", "0"], 1, "there is no call 0"),
        (["failures", "--fingerprint", "f1-none"], 1, "there is no failure f1-none"),
        (["conversation", "nobody"], 1, "there is no conversation nobody"),
        (["compare", "1.0", "9.9"], 1, "recorded versions: 2.0, 1.0"),
        (["tools", "--fault", "mine"], 2, "write one of caller, upstream, server, cancelled"),
        (["tools", "--since", "gestern"], 2, "is not a time"),
        (["tail", "--interval", "0"], 2, "--interval is more than 0 seconds"),
        (["report"], 2, "--html FILE"),
        (["export", "--format", "xml"], 2, "write jsonl, csv, parquet"),
        (["export", "--format", "parquet"], 2, "name a file"),
        (["prune", "soon"], 2, "is not a time"),
        (["flailing", "--db", "missing.db"], 1, "there is no database at"),
    ],
)
def test_a_mistake_is_said_in_words(db: str, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str) -> None:
    """One line, a hint where there is one, no traceback, and the exit code."""
    assert run(arguments) == code
    complaints = capsys.readouterr().err

    assert words in complaints
    assert complaints.startswith("fastmcp-feedback: ")
    assert len(complaints.splitlines()) <= 2


@pytest.mark.parametrize("command", ["tools", "failures", "flailing", "conversation", "events", "calls", "stats"])
def test_nothing_that_matches_is_no_error(db: str, capsys: pytest.CaptureFixture[str], command: str) -> None:
    """It is said in a sentence."""
    assert run([command, "--since", "2027-01-01"]) == 0

    assert capsys.readouterr().out.startswith("No ")


@pytest.mark.parametrize("width", [40, 80, 160])
def test_tables_fit_the_terminal(db: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """No line is wider; long cells wrap."""
    monkeypatch.setattr("fastmcp_feedback.cli.output.PIPED_WIDTH", width)
    for command in ("tools", "failures", "flailing", "conversation", "events"):
        assert run([command]) == 0

    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= width
