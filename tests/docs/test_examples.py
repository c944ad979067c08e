"""Every example in the documents and in the docstrings runs, so none of them can go stale."""

from __future__ import annotations

import asyncio
import doctest
import importlib
from pathlib import Path
from typing import Any, Final

import pytest

from support.examples import run_block
from support.markdown import blocks, documents
from support.paths import PACKAGE, package_files, relative

KINDS: Final = {"bash", "console", "dockerfile", "ini", "json", "mermaid", "python", "sql", "text", "toml", "yaml"}
PAGES_WITH_PYTHON: Final = [page for page in documents() if any(block.info == "python" for block in blocks(page))]


def module_names() -> list[str]:
    """Every module of the package that can be imported without running something."""
    names = [".".join(("fastmcp_feedback", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in package_files()]
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


@pytest.mark.parametrize("page", PAGES_WITH_PYTHON, ids=relative)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path) -> None:
    """All python blocks of one page run in order in one namespace, as a reader would type them."""
    namespace: dict[str, Any] = {"__name__": f"page_{page.stem}"}
    with asyncio.Runner() as runner:
        for block in blocks(page):
            if block.info == "python":
                run_block(block, namespace, runner)


@pytest.mark.parametrize("page", documents(), ids=relative)
def test_every_block_says_what_it_is(page: Path) -> None:
    """A block has one known kind and no switch that would take it out of the tests."""
    odd = [f"{relative(page)}:{block.line}: {block.info!r}" for block in blocks(page) if block.info not in KINDS]

    assert odd == []


@pytest.mark.parametrize("name", module_names())
def test_the_examples_of_a_module_hold(name: str) -> None:
    """A module can be imported alone, and its doctests give what they show."""
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)

    assert results.failed == 0
