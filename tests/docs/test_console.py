"""What a page shows of the command line is what the command line prints."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from fastmcp_feedback.cli.app import run
from support.console import PROMPT, shown_commands
from support.examples import run_block
from support.markdown import Block, blocks, documents
from support.paths import relative


def is_shown(block: Block) -> bool:
    """Is it a console block with our prompt and an output? One of commands alone may need a server or a client."""
    lines = [line for line in block.code.splitlines() if line.strip()]
    prompts = sum(line.startswith(PROMPT) for line in lines)
    return block.info == "console" and 0 < prompts < len(lines)


PAGES: Final = [page for page in documents() if any(map(is_shown, blocks(page)))]


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times are shown on the reader's clock; the pages' reader lives in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_commands_print_what_the_page_shows(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All python blocks and prompted commands of a page run in order in one folder, as a reader would type them."""
    namespace: dict[str, Any] = {"__name__": f"page_{page.stem}"}
    wrong = []
    with asyncio.Runner() as runner:
        for block in blocks(page):
            if block.info == "python":
                run_block(block, namespace, runner)
            for shown in shown_commands(block) if is_shown(block) else ():
                capsys.readouterr()
                run(shown.arguments)
                out, err = capsys.readouterr()
                if not shown.matches(out + err):
                    wrong.append(f"{relative(page)}:{shown.line}: fastmcp-feedback {' '.join(shown.arguments)} prints\n{out}{err}")

    assert not wrong, "\n".join(wrong)


def test_an_example_that_is_wrong_is_found(tmp_path: Path) -> None:
    """Other words do not match; other widths and another duration do."""
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ fastmcp-feedback stats\ntool  calls  p50\nrender   3  5 ms\n\n$ fastmcp-feedback calls\n```\n", encoding="utf-8"
    )
    first, second = shown_commands(blocks(page)[0])

    assert (first.arguments, second.arguments, second.line) == (["stats"], ["calls"], 6)
    assert first.matches("tool    calls   p50\nrender  3       12 ms\n")
    assert not first.matches("tool    calls   p50\nrender  4       12 ms\n")
    assert second.matches("")
    assert not second.matches("something\n")
