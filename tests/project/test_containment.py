"""Errors end in one place: a broad `except` is either in contain.py, raises again, or says why it falls back."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

from support.paths import package_files, relative

BROAD: Final = {"Exception", "BaseException"}
REASON: Final = re.compile(r"# noqa: [A-Z0-9, ]*BLE001[A-Z0-9, ]* - \w")


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Does this handler catch everything?"""
    caught = handler.type
    if caught is None:
        return True
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(name, ast.Name) and name.id in BROAD for name in names)


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Does the handler end in a bare `raise`, or in raising another error from the one it caught?"""
    last = handler.body[-1]
    if not isinstance(last, ast.Raise):
        return False
    return last.exc is None or (isinstance(last.cause, ast.Name) and last.cause.id == handler.name)


@pytest.mark.parametrize("path", [path for path in package_files() if path.name != "contain.py"], ids=relative)
def test_a_broad_except_raises_again_or_gives_its_reason(path: Path) -> None:
    """Nothing outside contain.py swallows an unknown error without saying which value takes its place."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    silent = [
        f"{relative(path)}:{node.lineno}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ExceptHandler) and is_broad(node) and not raises_again(node) and not REASON.search(lines[node.lineno - 1])
    ]

    assert silent == []
