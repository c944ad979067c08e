"""`fastmcp-feedback serve` as a real process over a database full of made-up calls."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from support.busy_studio import Studio, fill

FIRST_REPORT: Final = "fb-7k3m9qx2rt50"
_START_S: Final = 30.0


@dataclass(frozen=True)
class Site:
    """Where the dashboard is, and what it shows."""

    origin: str
    studio: Studio

    def pages(self) -> dict[str, str]:
        """One address of every page, with something to show."""
        failed = next(call for call in reversed(self.studio.calls) if call.tool == "update_scene" and call.failure)
        assert failed.failure is not None
        return {
            "overview": "/?since=",
            "tool": "/tool?tool=render_preview&since=",
            "calls": "/calls?since=",
            "call": f"/calls/{failed.id}",
            "failures": "/failures?since=",
            "failure": f"/failure?fingerprint={failed.failure.fingerprint}&since=",
            "conversations": "/conversations?since=",
            "conversation": f"/conversation?{urlencode({'conversation': failed.conversation_key, 'since': ''})}",
            "feedback": "/feedback",
            "report": f"/feedback/{FIRST_REPORT}",
            "flailing": "/flailing?since=",
            "privacy": "/privacy",
        }


@contextmanager
def served_studio(folder: Path, now: datetime, *, calls: int) -> Iterator[Site]:
    """The dashboard over a busy studio's database in this folder."""
    studio = asyncio.run(fill(f"sqlite:///{folder / 'studio.db'}", now, calls=calls))
    with served(f"sqlite:///{folder / 'studio.db'}", "--payloads") as origin:
        yield Site(origin, studio)


@contextmanager
def served(db: str, *options: str) -> Iterator[str]:
    """The dashboard over a database at a free port of this machine."""
    command = [sys.executable, "-m", "fastmcp_feedback", "serve", "--db", db, "--port", "0", *options]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    too_late = threading.Timer(_START_S, process.kill)
    too_late.start()
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        too_late.cancel()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, f"the dashboard did not start: {line}{process.stdout.read()}"
        yield found[0]
    finally:
        too_late.cancel()
        process.terminate()
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
