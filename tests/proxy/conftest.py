"""Servers as commands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.proxied import OLD_SERVER, SERVER


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    """The command of a server that uses all of the protocol."""
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    return [sys.executable, str(script)]


@pytest.fixture
def old_server(tmp_path: Path) -> list[str]:
    """The command of a server that knows only the handshake."""
    script = tmp_path / "old_server.py"
    script.write_text(OLD_SERVER)
    return [sys.executable, str(script)]
