"""Console examples of the documents: commands and what they print."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .markdown import Block

PROMPT: Final = "$ fastmcp-feedback "
# What is another value on every run, and is compared by its form alone.
_VARYING: Final = {
    "TIME": re.compile(r"\b(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\b"),
    "DURATION": re.compile(r"\b\d+(?:\.\d+)?(?:e[+-]\d+)? m?s\b"),
    "RATIO": re.compile(r"\bx\d+(?:\.\d+)?\b"),
    "ID": re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}\b"),
    "KEY": re.compile(r"\bprocess/\d+-[0-9a-f]{16}\b"),
    "SIZE": re.compile(r"\b\d+\.\d MB"),
}
_FLAGS: Final = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True, slots=True)
class Shown:
    """One command as a page shows it, with its output. Times, durations and ids are compared by their form; `...` stands for anything."""

    line: int
    arguments: list[str]
    output: str

    def matches(self, printed: str) -> bool:
        """Is this what was printed, whatever the width of its columns?"""
        return doctest.OutputChecker().check_output(_of_any_time(self.output), _of_any_time(printed), _FLAGS)


def _of_any_time(text: str) -> str:
    for name, form in _VARYING.items():
        text = form.sub(name, text)
    return text


def shown_commands(block: Block) -> Iterator[Shown]:
    """The prompted commands of a block, each with the lines up to the next one."""
    lines = block.code.splitlines()
    starts = [place for place, line in enumerate(lines) if line.startswith(PROMPT)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        output = "\n".join(lines[start + 1 : end]).rstrip()
        yield Shown(block.line + start, shlex.split(lines[start].removeprefix(PROMPT)), f"{output}\n" if output else "")
