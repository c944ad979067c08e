"""`fastmcp-feedback serve` as a real process, asked over real HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

import pytest

from fastmcp_feedback.web.gates import COOKIE
from support.served import served
from support.waiting import DEADLINE_S

TOKEN: Final = "a token of twenty letters"


class _Stay(HTTPRedirectHandler):
    """Shows a redirect instead of following it."""

    def redirect_request(self, *args: object, **options: object) -> None:
        return None


def ask(url: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and text of one answer."""
    named = {"Accept": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
    data = None if form is None else urlencode(form).encode()
    try:
        with build_opener(_Stay).open(Request(url, data, named), timeout=DEADLINE_S) as found:
            return found.status, {name.lower(): value for name, value in found.headers.items()}, found.read().decode()
    except HTTPError as refused:
        with refused:
            return refused.code, {name.lower(): value for name, value in refused.headers.items()}, refused.read().decode()


def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, which has to end by itself."""
    command = [sys.executable, "-m", "fastmcp_feedback", "serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEADLINE_S)


def test_pages_and_twins_are_served_to_this_machine(studio_url: str) -> None:
    """Everything but payloads, which need their option; nothing to a page that comes by another name."""
    with served(studio_url) as origin:
        status, headers, page = ask(f"{origin}/")
        found = json.loads(ask(f"{origin}/calls.json?outcome=error&tool=update_scene")[2])["calls"][0]
        call = json.loads(ask(f"{origin}/calls/{found['id']}.json")[2])
        foreign = ask(f"{origin}/", Host="evil.example")

    assert (status, "render_preview" in page) == (200, True)
    assert "server" not in headers
    assert (call["payloads"], call["arguments"]) == ("hidden", None)
    assert foreign[0] == 404


def test_payloads_are_shown_when_asked_for(studio_url: str) -> None:
    """With --payloads."""
    with served(studio_url, "--payloads") as origin:
        found = json.loads(ask(f"{origin}/calls.json?outcome=error&tool=update_scene")[2])["calls"][0]
        call = json.loads(ask(f"{origin}/calls/{found['id']}.json")[2])

    assert call["arguments"]["opacity"] == 80


def test_with_a_token_one_signs_in(studio_url: str) -> None:
    """The first page asks for it; then a cookie is enough, and a program sends the token itself."""
    with served(studio_url, "--token", TOKEN) as origin:
        closed = ask(f"{origin}/calls")
        wrong = ask(f"{origin}/login", {"token": "wrong"}, Origin=origin)
        status, headers, _ = ask(f"{origin}/login", {"token": TOKEN}, Origin=origin)
        cookie = headers["set-cookie"].partition(";")[0]
        signed_in = ask(f"{origin}/calls", Cookie=cookie)
        program = ask(f"{origin}/calls", Authorization=f"Bearer {TOKEN}")

    assert (closed[0], 'name="token"' in closed[2], wrong[0]) == (404, True, 404)
    assert (status, cookie.startswith(f"{COOKIE}=")) == (303, True)
    assert (signed_in[0], program[0]) == (200, 200)


def test_a_public_address_needs_a_token(studio_url: str) -> None:
    """Refused at once, with what to do."""
    done = serve("--db", studio_url, "--host", "0.0.0.0", "--port", "0")

    assert done.returncode == 2
    assert re.search(r"other machines.*\n.*--token.*FASTMCP_FEEDBACK_DASHBOARD_TOKEN", done.stderr)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--token", "short"), "at least 16"),
        (("--port", "70000"), "no port"),
        (("--host", "203.0.113.7", "--token", TOKEN), "cannot listen at 203.0.113.7"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(studio_url: str, arguments: tuple[str, ...], said: str) -> None:
    """Without a traceback."""
    done = serve("--db", studio_url, *arguments)

    assert done.returncode in {1, 2}
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_named(studio_url: str) -> None:
    """With the option that chooses another one."""
    with served(studio_url) as origin:
        done = serve("--db", studio_url, "--port", origin.rpartition(":")[2])

    assert (done.returncode, "--port" in done.stderr) == (1, True)


def test_without_its_extra_the_command_says_what_to_install(studio_url: str, tmp_path: Path) -> None:
    """Where Jinja2 is missing."""
    (tmp_path / "jinja2.py").write_text("raise ImportError('not installed')")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from fastmcp_feedback.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "serve", "--db", studio_url, "--port", "0"],
        capture_output=True, text=True, check=False, timeout=DEADLINE_S,
    )  # fmt: skip

    assert done.returncode == 1
    assert "pip install 'fastmcp-feedback[dashboard]'" in done.stderr
    assert "Traceback" not in done.stderr
