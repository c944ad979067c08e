from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from support.browser import page_of
from support.busy_studio import fill
from support.devtools import DevTools, find_chromium
from support.poison import MARK, poison
from support.served import FIRST_REPORT, Site, served
from support.waiting import wait_until

WIDER = "(one) => one.getBoundingClientRect().right > 391 && !one.closest('svg')"

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize(
    ("script", "seen"),
    [
        ("console.error('a complaint')", "console: ['a complaint']"),
        ("setTimeout(() => { throw new Error('a slip') }); new Promise((done) => setTimeout(done, 50))", "a slip"),
        ("fetch('/no-such-page')", "404: "),
        (
            "new Promise((done) => { const one = new Image(); one.onerror = done; one.src = 'http://elsewhere.invalid/a.png'; })",
            "elsewhere.invalid",
        ),
        ("document.body.setAttribute('style', 'color: red')", "Content Security Policy"),
    ],
)
def test_trouble_is_noticed(browser: DevTools, site: Site, script: str, seen: str) -> None:
    """The tests here would see a complaint, an error, a missing file, another host, something inline."""
    with page_of(browser, site.origin) as page:
        page.open("/privacy")
        page.run(script)
        page.run("new Promise((done) => setTimeout(done, 0))")

        assert any(seen in one for one in page.trouble), page.trouble


@pytest.fixture(scope="session")
def poisoned(browser: DevTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A dashboard over a database in which every text is markup and script."""
    file = tmp_path_factory.mktemp("poisoned") / "calls.db"
    asyncio.run(fill(f"sqlite:///{file}", datetime.now(UTC), calls=60))
    poison(f"sqlite:///{file}")
    with served(f"sqlite:///{file}", "--payloads") as origin:
        yield origin, file


def test_a_browser_runs_nothing_that_was_recorded(browser: DevTools, poisoned: tuple[str, Path]) -> None:
    """On no page, phone or not, does recorded text load, run or break anything."""
    origin, file = poisoned
    with sqlite3.connect(file) as con:
        (call,) = con.execute("SELECT id FROM ffb_tool_calls LIMIT 1").fetchone()
        (tool, key, fingerprint) = con.execute("SELECT tool, conversation_key, fingerprint FROM ffb_tool_calls LIMIT 1").fetchone()
    con.close()
    pages = [
        "/?since=",
        "/calls?since=",
        f"/calls/{call}",
        "/failures?since=",
        "/conversations?since=",
        "/feedback",
        f"/feedback/{FIRST_REPORT}",
    ]
    pages += [
        f"/tool?since=&tool={quote(tool)}",
        f"/conversation?since=&conversation={quote(key)}",
        f"/failure?since=&fingerprint={quote(fingerprint)}",
    ]
    shown = 0
    with page_of(browser, origin, phone=True) as page:
        for path in [*pages, "/flailing?since=", "/privacy"]:
            page.open(path)
            shown += MARK in page.text("main")
            assert page.run(f"typeof {MARK}") == "undefined"
            assert (
                page.run(
                    "document.querySelectorAll('main script, main img, main [onload], main [onerror], main [href^=javascript]').length"
                )
                == 0
            )
            assert (
                page.run(f"Array.from(document.querySelectorAll('main *')).filter({WIDER}).map((one) => one.outerHTML.slice(0, 200))") == []
            )
        assert shown > 8
        assert page.trouble == []


@pytest.fixture
def short_folder() -> Iterator[str]:
    """A folder with a short path: sockets of a browser's profile may have at most 108 characters."""
    with tempfile.TemporaryDirectory(prefix="b-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield folder


def test_the_browser_ends_with_the_process_that_started_it(browser: DevTools, short_folder: str) -> None:
    """A killed test leaves no browser behind."""
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from support.devtools import DevTools\n"
        f"tools = DevTools({find_chromium()!r})\n"
        "tools.send('Browser.getVersion')\n"
        "print(tools._process.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    env = {**os.environ, "TMPDIR": short_folder}  # its profile stays behind
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        starter.kill()

    wait_until(lambda: not is_alive(pid))


def is_alive(pid: int) -> bool:
    """Does a process with this id run? One that ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except FileNotFoundError:
        return False
