"""Imports run in one direction: a record travels from left to right, and no stage knows a later one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from support.paths import PACKAGE, package_files, relative

NAME: Final = PACKAGE.name

# Stages in the order of the road; those of one line do not import each other. `root` is every module beside the folders.
ROAD: Final = (
    ("root",),
    ("capture",),
    ("shaping",),
    ("delivery",),
    ("sinks",),
    ("store",),
    ("linking",),
    ("embedding",),
    ("feedback",),
    ("query",),
    ("instrumentation",),
    ("tools", "web", "proxy"),
    ("replay", "insight"),
    ("cli",),
)
RANK: Final = {stage: rank for rank, stages in enumerate(ROAD) for stage in stages}
# They assemble the others, so they may import all of them. `face` is the package's own __init__.
ASSEMBLE: Final = {"face", "instrumentation", "testing"}
# Only these know FastMCP; everything else can be tested without a server.
KNOW_FASTMCP: Final = {"capture", "feedback", "instrumentation", "tools", "web", "proxy", "replay", "insight", "cli", "face", "testing"}
FASTMCP_PACKAGES: Final = {"fastmcp", "mcp", "mcp_types"}


def stage_of(module: str) -> str:
    """The stage of a dotted module name inside the package."""
    parts = module.split(".")[1:]
    if not parts:
        return "face"
    if parts[0] == "testing":
        return "testing"
    if parts[0] == "__main__":  # `python -m fastmcp_feedback`
        return "cli"
    return parts[0] if (PACKAGE / parts[0]).is_dir() else "root"


def module_name(path: Path) -> str:
    """The dotted name of a file of the package."""
    parts = [NAME, *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def exists(module: str) -> bool:
    """Is there a file or folder of the package for this dotted name?"""
    target = PACKAGE.joinpath(*module.split(".")[1:])
    return target.is_dir() or target.with_suffix(".py").is_file()


def names_a_module(value: object) -> bool:
    """Is this constant the dotted name of something in the package?"""
    return isinstance(value, str) and value.startswith(f"{NAME}.") and exists(value)


def imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of everything that a file imports, wherever the import stands."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, (base, node.module)))
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield node.lineno, inner if source.startswith(NAME) and exists(inner) else source
        elif isinstance(node, ast.Constant) and names_a_module(node.value):  # for importlib.import_module
            yield node.lineno, str(node.value)


def may_import(importer: str, imported: str) -> bool:
    """The one rule of direction."""
    if importer in ASSEMBLE or importer == imported:
        return True
    if imported in {"face", "testing"}:
        return False
    return RANK[imported] < RANK[importer]


def wrong_imports(path: Path) -> list[str]:
    """What a file imports against the direction, as readable lines."""
    importer = stage_of(module_name(path))
    found = []
    for line, module in imported_modules(path):
        top = module.split(".")[0]
        if top == NAME and not may_import(importer, stage_of(module)):
            found.append(f"{relative(path)}:{line}: {importer} must not import {module} ({stage_of(module)})")
        if top in FASTMCP_PACKAGES and importer not in KNOW_FASTMCP:
            found.append(f"{relative(path)}:{line}: {importer} must not know {top}")
    return found


@pytest.mark.parametrize("path", package_files(), ids=relative)
def test_a_module_imports_only_root_modules_and_earlier_stages(path: Path) -> None:
    """No import of the package runs against the road, not even for types."""
    assert wrong_imports(path) == []


def test_every_folder_of_the_package_has_its_place_on_the_road() -> None:
    """A new folder is a decision about direction, so it has to be entered here."""
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in package_files() if path.parent != PACKAGE}

    assert folders - set(RANK) - {"testing"} == set()


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("shaping", "root", True),
        ("delivery", "shaping", True),
        ("shaping", "delivery", False),
        ("store", "query", False),
        ("web", "tools", False),
        ("root", "capture", False),
        ("query", "face", False),
        ("instrumentation", "query", True),
        ("sinks", "testing", False),
    ],
)
def test_the_direction_rule_itself(importer: str, imported: str, *, allowed: bool) -> None:
    """Earlier stages are allowed, later ones, neighbours and the faces are not."""
    assert may_import(importer, imported) is allowed
