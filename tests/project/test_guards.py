"""The suite's own guards bite: swallowed errors fail a test, and warnings are errors."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from support.paths import ROOT

SUITE = """
import warnings
from fastmcp_feedback import contain

def test_swallows():
    with contain.contain("a hook"):
        raise ValueError("lost")

def test_expects(contained):
    with contain.contain("a hook"):
        raise ValueError("looked at")
    assert [where for where, _ in contained] == ["a hook"]

def test_warns():
    warnings.warn("old", DeprecationWarning)
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says of a small suite under this project's conftest and settings."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "tests" / "support").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "support" / "watchdog.py", folder / "tests" / "support")
    (folder / "tests" / "test_sample.py").write_text(SUITE, encoding="utf-8")
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests" / "conftest.py")
    shutil.copy(ROOT / "pyproject.toml", folder / "pyproject.toml")
    answer = subprocess.run([sys.executable, "-m", "pytest", "-rA"], cwd=folder, capture_output=True, check=False, text=True)
    return answer.stdout


@pytest.mark.parametrize(
    ("outcome", "test"),
    [("ERROR", "test_swallows"), ("PASSED", "test_expects"), ("FAILED", "test_warns")],
)
def test_a_swallowed_error_and_a_warning_fail_a_test(report: str, outcome: str, test: str) -> None:
    """Only a test that takes the fixture `contained` may see an error swallowed."""
    assert re.search(rf"^{outcome} \S+::{test}\b", report, re.MULTILINE), report


def test_a_swallowed_error_is_named_with_its_place(report: str) -> None:
    """The message says where the error was kept from the host, and which one it was."""
    assert "1 error(s) were contained; the first one in 'a hook': ValueError('lost')" in report
