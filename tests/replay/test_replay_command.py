"""`replay` and `make-test` on real servers: in this process's folder, in another process, in another language's package."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from support.recorded import a_call, database
from support.replaying import BUGGY, MENDED, command, recorded_shop

TIME_SERVER = str(Path(sys.executable).with_name("mcp-server-time"))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the buggy server and a database of its calls. Tests do not change it."""
    folder = tmp_path_factory.mktemp("shop")
    recorded_shop(folder)
    return folder


def ids(folder: Path, tool: str, outcome: str = "%", argument: str = "%") -> list[str]:
    """Ids of recorded calls, oldest first."""
    con = sqlite3.connect(f"file:{folder / 'calls.db'}?mode=ro", uri=True)
    try:
        sql = "SELECT id FROM ffb_tool_calls WHERE tool = ? AND outcome LIKE ? AND coalesce(args, '') LIKE ? ORDER BY started_at"
        return [row[0] for row in con.execute(sql, (tool, outcome, f"%{argument}%"))]
    finally:
        con.close()


def replayed(folder: Path, call_id: str, *target: str) -> dict[str, Any]:
    """What `replay --json` says."""
    done = command("replay", call_id, "--db", str(folder / "calls.db"), "--json", *target, cwd=folder)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("target", [("--server", "shop:app"), ("--server", "shop.py:app"), ("--", sys.executable, "-c", BUGGY)])
def test_a_failure_is_met_again(shop: Path, target: tuple[str, ...]) -> None:
    """In this process and in another one; a read-only tool is called without asking."""
    env = {"SHOP_DB": "sqlite:///:memory:"}
    os.environ.update(env)
    try:
        found = replayed(shop, ids(shop, "in_stock", "error")[0], *target)
    finally:
        os.environ.pop("SHOP_DB")

    assert found["verdict"] == "It fails in the same way."
    assert found["again"]["error_message"].endswith("'cocoa'")
    assert found["differences"] is None


def test_what_differs_is_shown_by_path(tmp_path: Path) -> None:
    """A mended server gives another result, and the screen says where."""
    recorded_shop(tmp_path)
    (tmp_path / "shop.py").write_text(MENDED.replace("return sum(prices)", "return 1 + sum(prices)"), encoding="utf-8")
    ok = ids(tmp_path, "total", "ok")[0]
    done = command("replay", ok, "--db", "calls.db", "--server", "shop:app", "--yes", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "It succeeds; the result differs in 1 place(s)." in done.stdout
    assert "$.result" in done.stdout
    failed = ids(tmp_path, "total", "error")[0]
    assert replayed(tmp_path, failed, "--server", "shop:app", "--yes")["verdict"] == "It failed then and succeeds now."


def test_a_server_of_another_package_in_another_process(tmp_path: Path) -> None:
    """`mcp-server-time`, recorded through the proxy: the time differs by path, a wrong zone fails in the same way."""
    proxy = ["-m", "fastmcp_feedback.cli", "proxy", "--mode", "full", "--db", str(tmp_path / "calls.db"), "--", TIME_SERVER]

    async def drive() -> None:
        async with Client(StdioTransport(sys.executable, proxy, env=dict(os.environ), keep_alive=False)) as client:
            for zone in ("Europe/Vienna", "Nowhere/Land"):
                await client.call_tool("get_current_time", {"timezone": zone}, raise_on_error=False)

    asyncio.run(drive())
    time_id, zone_id = ids(tmp_path, "get_current_time", argument="Vienna")[0], ids(tmp_path, "get_current_time", argument="Land")[0]

    now = replayed(tmp_path, time_id, "--", TIME_SERVER)
    assert now["again"]["outcome"] == "ok"
    assert now["differences"]
    assert all(one["path"].startswith("$") for one in now["differences"])
    assert replayed(tmp_path, zone_id, "--", TIME_SERVER)["verdict"] == "It fails in the same way."


def no_app(folder: Path) -> str:
    """A module without a server."""
    (folder / "empty.py").write_text("app = 1\n", encoding="utf-8")
    (folder / "broken.py").write_text("raise ValueError('not today')\n", encoding="utf-8")
    return ""


@pytest.mark.parametrize(
    ("call", "target", "code", "words"),
    [
        ("ffffffff", ("--server", "shop:app"), 1, "there is no call ffffffff"),
        ("in_stock", (), 2, "say which server to call"),
        ("in_stock", ("--server", "shop:app", "--url", "http://127.0.0.1:9/mcp"), 2, "say which server to call"),
        ("in_stock", ("--server", "shop"), 2, "is not of the form module:app"),
        ("in_stock", ("--server", "nothing:app"), 1, "nothing cannot be imported: ModuleNotFoundError"),
        ("in_stock", ("--server", "nothing.py:app"), 1, "there is no such file"),
        ("in_stock", ("--server", "broken:app"), 1, "broken cannot be imported: ValueError: not today"),
        ("in_stock", ("--server", "empty:app"), 1, "empty is a int, not a FastMCP server: app"),
        ("in_stock", ("--server", "empty:mcp"), 1, "empty has no mcp"),
        ("in_stock", ("--", "no-such-command-anywhere"), 127, "command not found: no-such-command-anywhere"),
        ("in_stock", ("--", "sh", "-c", "exit 3"), 1, "the server does not start: sh ended with exit code 3"),
        ("in_stock", ("--timeout", "0.5", "--", sys.executable, "-c", "import sys; sys.stdin.read()"), 1, "did not answer within 0.5 s"),
        ("in_stock", ("--url", "http://127.0.0.1:9/mcp"), 1, "does not answer as an MCP server"),
        ("in_stock", ("--", TIME_SERVER), 1, "the server has no tool 'in_stock' (any more)"),
        ("total", ("--server", "shop:app"), 2, "'total' is not marked read-only. Call it again?"),
        ("order", ("--server", "shop:app", "--yes"), 1, "arguments were redacted when they were recorded: $.api_key"),
    ],
)
def test_what_cannot_be_replayed_is_said_in_one_line(shop: Path, call: str, target: tuple[str, ...], code: int, words: str) -> None:
    """With an exit code: 1 could not, 2 asked wrongly, 127 no such command."""
    no_app(shop)
    call_id = call if call == "ffffffff" else ids(shop, call, argument="sk" if call == "never" else "%")[0]
    done = command("replay", call_id, "--db", "calls.db", *target, cwd=shop)

    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("answer", "code", "words"), [("n", 1, "nothing was called"), ("y", 0, "")])
def test_a_person_is_asked_before_a_tool_that_may_change_something(shop: Path, answer: str, code: int, words: str) -> None:
    """On a terminal; anything but yes calls nothing."""
    keyboard, terminal = os.openpty()
    try:
        os.write(keyboard, f"{answer}\n".encode())
        done = command("replay", ids(shop, "total", "ok")[0], "--db", "calls.db", "--server", "shop:app", cwd=shop, stdin=terminal)
    finally:
        os.close(keyboard)
        os.close(terminal)

    assert done.returncode == code, done.stderr
    assert "'total' is not marked read-only. Call it again? [y/N]" in done.stderr
    assert words in done.stderr
    assert ("It succeeds with the same result." in done.stdout) is (answer == "y")


def test_recorded_words_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Escapes are shown, not sent, and markup is text, in the result as in the error."""
    (tmp_path / "shop.py").write_text(
        'from fastmcp import FastMCP\napp = FastMCP("shop")\n'
        '@app.tool(annotations={"readOnlyHint": True})\ndef look() -> str:\n    return "\\x1b[31m[bold]now"\n',
        encoding="utf-8",
    )
    database(tmp_path, [a_call(1, tool="look", mode="full", args={}, result={"result": "\x1b[32m[bold]then"})])
    done = command("replay", "00000001", "--db", "calls.db", "--server", "shop:app", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "\\x1b[31m[bold]now" in done.stdout
    assert "\\x1b[32m[bold]then" in done.stdout


def test_a_changed_schema_is_said_and_the_call_is_made(tmp_path: Path) -> None:
    """The new required argument and the one that is gone are named; the server's refusal is the result."""
    recorded_shop(tmp_path)
    (tmp_path / "shop.py").write_text(
        BUGGY.replace("article: str) -> int", "name: str) -> int").replace("[article]", "[name]"), encoding="utf-8"
    )
    found = replayed(tmp_path, ids(tmp_path, "in_stock", "ok")[0], "--server", "shop:app")

    assert found["verdict"] == "It succeeded then and fails now."
    assert found["notes"][0] == (
        "the tool's arguments have changed since: 'name' is required and was not given; 'article' is not an argument of the tool"
    )


def test_a_call_without_recorded_arguments_is_refused(tmp_path: Path) -> None:
    """Mode meta keeps none; make-test writes a test that is skipped until somebody fills them in."""
    recorded_shop(tmp_path, mode="meta")
    call_id = ids(tmp_path, "in_stock", "error")[0]
    done = command("replay", call_id, "--db", "calls.db", "--server", "shop:app", cwd=tmp_path)
    assert done.returncode == 1
    assert "its arguments were not recorded (mode meta)" in done.stderr
    written = command("make-test", call_id, "--db", "calls.db", cwd=tmp_path)
    assert 'pytest.skip("write the arguments first: its arguments were not recorded (mode meta)")' in written.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "say which failures"),
        (("ffffffff",), 1, "there is no call ffffffff"),
        (("--fingerprint", "f1-nothing"), 1, "there is no failure f1-nothing"),
        (("OK",), 1, "did not fail: there is nothing to reproduce"),
        (("FAILED", "--server", "shop"), 2, "is not of the form module:app"),
        (("FAILED", "-o", "shop.py"), 1, "shop.py is there already"),
        (("FAILED", "-o", "no-folder/test_x.py"), 1, "cannot be written"),
    ],
)
def test_a_test_that_cannot_be_written_is_said_in_one_line(shop: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    """With an exit code, and no file is touched."""
    known = {"OK": ids(shop, "in_stock", "ok")[0], "FAILED": ids(shop, "in_stock", "error")[0]}
    done = command("make-test", *(known.get(word, word) for word in arguments), "--db", "calls.db", cwd=shop)

    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert (shop / "shop.py").read_text(encoding="utf-8") == BUGGY
