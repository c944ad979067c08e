"""Several processes that write to one database at the same moment."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

from support.paths import ROOT

# Writes so many calls through a sink of its own once its standard input is closed.
WRITER: Final = """
import asyncio, sys
from datetime import UTC, datetime
from fastmcp_feedback.records import ToolCallRecord
from fastmcp_feedback.store import DatabaseSink

async def main(url, count):
    sink = DatabaseSink(url, create_tables=True)
    sys.stdin.read()
    for _ in range(count):
        await sink.write([ToolCallRecord(tool="t", started_at=datetime.now(UTC), duration_ms=1.0, ok=True, mode="meta")])
    await sink.aclose()

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def start_together(url: str, processes: int, count: int) -> list[str]:
    """Let so many processes open the database and write; what each of them said on stderr."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", WRITER, url, str(count)]
    writers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) for _ in range(processes)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
        writer.stdin = None
    return [writer.communicate(timeout=60)[1] for writer in writers]
