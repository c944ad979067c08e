"""Examples run in an empty folder of their own, and what they record goes there too."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No example touches the user's folders."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("FASTMCP_FEEDBACK_DB", raising=False)
    monkeypatch.delenv("FEEDBACK_INSTRUMENTATION_MODE", raising=False)
