"""What users can reach is documented, and what the documents promise is there."""

from __future__ import annotations

import importlib
import inspect
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from support.markdown import blocks, documents
from support.paths import ROOT, relative
from support.public import PUBLIC_NAMES

COMMAND: Final = "fastmcp-feedback"
GROUPS: Final = {"db", "spool"}  # commands that have commands
EXTRA: Final = re.compile(r"fastmcp-feedback\[([a-z, ]+)\]")
TARGET: Final = re.compile(r"^([a-z][a-z0-9-]*):", re.MULTILINE)

PAGES: Final = documents()
# Before there is a README there is nothing to compare with.
NAMES: Final = [(module, name) for module, names in PUBLIC_NAMES.items() for name in names] if PAGES else []


@cache
def all_text() -> str:
    """All pages as one text."""
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def public_objects() -> list[tuple[str, Any]]:
    """Public functions and classes with their dotted names."""
    found = ((f"{module}.{name}", getattr(importlib.import_module(module), name)) for module, name in NAMES)
    return [(name, value) for name, value in found if inspect.isfunction(value) or inspect.isclass(value)]


def shell_lines(page: Path) -> list[str]:
    """Commands of a page: lines of bash blocks, and the prompted lines of console blocks."""
    lines: list[str] = []
    for block in blocks(page):
        code = block.code.replace("\\\n", " ")
        if block.info == "bash":
            lines += [line for line in code.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        elif block.info == "console":
            lines += [line.removeprefix("$ ") for line in code.splitlines() if line.startswith("$ ")]
    return lines


def our_commands(page: Path) -> list[list[str]]:
    """The arguments of every use of our command in a page's shell examples, up to a pipe or the child's command."""
    found = []
    for line in shell_lines(page):
        words = shlex.split(line, comments=True)
        if COMMAND in words:
            arguments = words[words.index(COMMAND) + 1 :]
            ends = [arguments.index(mark) for mark in ("--", "|", ">", "&&", "&", ";") if mark in arguments]
            found.append(arguments[: min(ends, default=len(arguments))])
    return found


@cache
def help_text(subcommand: str) -> str:
    """What `fastmcp-feedback SUBCOMMAND --help` prints; fails when there is no such command."""
    answer = subprocess.run(
        [Path(sys.executable).with_name(COMMAND), *subcommand.split(), "--help"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert answer.returncode == 0, f"{COMMAND} {subcommand} --help: {answer.stderr}"
    return answer.stdout


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_stands_in_the_documents(module: str, name: str) -> None:
    """Whoever finds a name in `__all__` finds it in the pages too."""
    assert re.search(rf"\b{re.escape(name)}\b", all_text())


@pytest.mark.parametrize(("name", "value"), public_objects())
def test_a_public_function_or_class_shows_an_example(name: str, value: Any) -> None:
    """Its docstring holds an example, which the doctests run."""
    assert ">>> " in (inspect.getdoc(value) or ""), name


@pytest.mark.parametrize(
    ("name", "option"),
    [
        (name, option)
        for name, value in public_objects()
        for option in (() if inspect.isclass(value) and issubclass(value, BaseException) else inspect.signature(value).parameters)
        if not option.startswith("_") and option not in {"args", "kwargs"}
    ],
)
def test_a_public_option_stands_in_the_documents(name: str, option: str) -> None:
    """Every parameter of a public function or class is named in the pages."""
    assert re.search(rf"\b{re.escape(option)}\b", all_text()), f"{option} of {name}"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_make_targets_in_shell_examples_exist(page: Path) -> None:
    """`make X` in a page is a target of the Makefile."""
    targets = set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    used = {line.split()[1] for line in shell_lines(page) if line.startswith("make ")}

    assert used - targets == set()


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_our_commands_in_shell_examples_exist(page: Path) -> None:
    """Subcommand and options of every example stand in the command's own help."""
    for arguments in our_commands(page):
        subcommand = arguments[0] if arguments and not arguments[0].startswith("-") else ""
        if subcommand in GROUPS and len(arguments) > 1:
            subcommand += f" {arguments[1]}"
        options = {word.split("=")[0] for word in arguments if re.match(r"--?[a-z]", word)}
        known = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", help_text(subcommand)))

        assert options - known == set(), f"{relative(page)}: {COMMAND} {' '.join(arguments)}"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_extras_in_the_documents_exist(page: Path) -> None:
    """`fastmcp-feedback[NAME]` names an extra of the distribution."""
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"])
    used = {name.strip() for group in EXTRA.findall(page.read_text(encoding="utf-8")) for name in group.split(",")}

    assert used - extras == set()
