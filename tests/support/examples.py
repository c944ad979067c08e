"""Running the examples of a page."""

from __future__ import annotations

import ast
import asyncio
import inspect
from typing import Any

from .markdown import Block


def run_block(block: Block, namespace: dict[str, Any], runner: asyncio.Runner) -> None:
    """Execute one block; `await` may stand at its top. Tracebacks point into the page."""
    source = "\n" * (block.line - 1) + block.code
    code = compile(source, str(block.path), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        runner.run(eval(code, namespace))
    else:
        exec(code, namespace)
