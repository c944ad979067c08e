"""`make demo`, on the public servers themselves."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.paths import ROOT


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_demo_shows_successes_failures_and_no_secret() -> None:
    """Twenty calls, seven failures of different kinds, and the key in a commit message is gone."""
    pytest.importorskip("mcp_server_git", reason="the extra `demo` is not installed")
    done = subprocess.run([sys.executable, ROOT / "examples" / "demo.py"], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "mcp-server-git   .....xx.x..x\nmcp-server-time  ..x.xx..\n" in done.stdout
    assert "20 calls of 11 tools, 7 failed" in done.stdout
    assert "api_key=[REDACTED]" in done.stdout
    assert "sk-demo" not in done.stdout
