"""The project speaks of itself alone: nothing in it names the machine that it was written on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from support.paths import relative, repository_files

# Put together from halves, so that this file does not name them either.
MACHINE_PATH: Final = re.compile("|".join(("/wor" + "k/", "/roo" + "t/", "/tm" + "p/", "/hom" + r"e/\w", r"C:\\" + r"Users\\")))


@pytest.mark.parametrize("path", repository_files(), ids=relative)
def test_a_file_names_no_path_of_a_machine(path: Path) -> None:
    """Absolute paths of somebody's machine help nobody else."""
    text = path.read_bytes().decode("utf-8", "replace")

    assert MACHINE_PATH.findall(text) == []


def test_test_files_have_names_of_their_own() -> None:
    """Tests are imported without packages, so two files of one name would be one module to the type checker."""
    names = [path.name for path in repository_files() if path.name.startswith("test_") and path.suffix == ".py"]

    assert sorted(names) == sorted(set(names))
