"""A file can be read at one sitting."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from support.paths import relative, repository_files

LIMIT_LINES: Final = 300
# Files above the limit and their size in lines. Entries may only shrink or go.
EXCEPTIONS: Final[dict[str, int]] = {}

PYTHON_FILES: Final = [path for path in repository_files() if path.suffix == ".py"]


@pytest.mark.parametrize("path", PYTHON_FILES, ids=relative)
def test_a_python_file_has_at_most_300_lines(path: Path) -> None:
    """Longer files are split by reason to change."""
    lines = len(path.read_text(encoding="utf-8").splitlines())

    assert lines <= EXCEPTIONS.get(relative(path), LIMIT_LINES)


def test_the_exceptions_to_the_limit_are_still_needed() -> None:
    """A file that fits again leaves the list."""
    sizes = {relative(path): len(path.read_text(encoding="utf-8").splitlines()) for path in PYTHON_FILES}

    assert [name for name in EXCEPTIONS if sizes.get(name, 0) <= LIMIT_LINES] == []
