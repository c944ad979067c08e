"""Where things are in the repository, and which files belong to it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = ROOT / "src" / "fastmcp_feedback"
_OURS: Final = (".ci", "bench", "docs", "examples", "src", "tests")


def repository_files() -> list[Path]:
    """Every file that git tracks or would track; without git, what stands in the project's folders."""
    answer = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        capture_output=True,
        check=False,
    )
    if answer.returncode == 0:
        files = [ROOT / name for name in answer.stdout.decode().split("\0") if name]
    else:
        files = [path for folder in _OURS for path in (ROOT / folder).rglob("*")] + list(ROOT.glob("*"))
    return sorted(path for path in set(files) if path.is_file() and "__pycache__" not in path.parts)


def package_files() -> list[Path]:
    """The package's Python files."""
    return sorted(PACKAGE.rglob("*.py"))


def relative(path: Path) -> str:
    """The path as seen from the repository's root, with forward slashes."""
    return path.relative_to(ROOT).as_posix()
