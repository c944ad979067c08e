"""Nobody reads the server's stderr: it answers all the same, and what it says there itself still has room."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from support.endings import ByHand, Ending

PIPES: Final[dict[str, Any]] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def test_a_stdio_server_answers_1500_calls_with_the_default_sink_while_nobody_reads_stderr(tmp_path: Path) -> None:
    """The stuck stream is a failing sink, not a stuck server."""
    with Ending(tmp_path, "stderr").process("stdio", **PIPES) as process:
        by_hand = ByHand(process)
        for first in range(1, 1501, 100):
            by_hand.call("ping", first, 100)
            assert all(answer["result"] for answer in by_hand.read(100))
        by_hand.call("fails", 2000, 5)  # FastMCP says so on stderr, from the server's own loop
        assert all(answer["result"]["isError"] for answer in by_hand.read(5))
        status, _ = by_hand.end(signal.SIGTERM)
    assert status == -signal.SIGTERM
