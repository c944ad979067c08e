"""Code blocks of the project's documents."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .paths import ROOT

_FENCE: Final = re.compile(r"^(?P<indent> *)```(?P<info>.*)$")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `line` is the line of its first line of code, counted from 1."""

    path: Path
    line: int
    info: str
    code: str


def documents() -> list[Path]:
    """The pages that users read."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return sorted(page for page in pages if page.is_file())


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    opened: tuple[int, str] | None = None
    code: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is None and fence:
            opened, code = (number + 1, fence["info"].strip()), []
        elif opened is not None and fence and not fence["info"].strip():
            found.append(Block(page, opened[0], opened[1], textwrap.dedent("\n".join(code)) + "\n"))
            opened = None
        elif opened is not None:
            code.append(line)
    assert opened is None, f"{page}:{opened}: a block is never closed"
    return found
