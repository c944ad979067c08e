"""The reader of code blocks finds what a reader of the page would."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from support.examples import run_block
from support.markdown import blocks

PAGE = """
Text
```python
x = 1
```
1. a list
   ```python
   import asyncio
   y = await asyncio.sleep(0, x + 1)
   ```
```text
not code
```
"""


def test_blocks_are_found_with_kind_line_and_code(tmp_path: Path) -> None:
    """Also inside a list, where the block is indented."""
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")

    assert [(block.info, block.line, block.code.splitlines()[-1]) for block in blocks(page)] == [
        ("python", 4, "x = 1"),
        ("python", 8, "y = await asyncio.sleep(0, x + 1)"),
        ("text", 12, "not code"),
    ]


def test_blocks_of_a_page_share_names_and_may_await(tmp_path: Path) -> None:
    """A later block uses what an earlier one defined."""
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    namespace: dict[str, Any] = {}
    with asyncio.Runner() as runner:
        for block in blocks(page)[:2]:
            run_block(block, namespace, runner)

    assert namespace["y"] == 2


def test_a_failing_block_points_into_the_page(tmp_path: Path) -> None:
    """The traceback's last line is the page's own line."""
    page = tmp_path / "page.md"
    page.write_text("one\n\n```python\na = 1\nb = a.nothing\n```\n", encoding="utf-8")
    with asyncio.Runner() as runner, pytest.raises(AttributeError) as caught:
        run_block(blocks(page)[0], {}, runner)

    assert caught.traceback[-1].lineno + 1 == 5


def test_a_block_that_is_never_closed_is_refused(tmp_path: Path) -> None:
    """Otherwise the rest of the page would silently be taken for code, or dropped."""
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n", encoding="utf-8")

    with pytest.raises(AssertionError, match="never closed"):
        blocks(page)
