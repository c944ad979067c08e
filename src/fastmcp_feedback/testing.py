"""Helpers for the tests of hosts: record a server for a moment, prove that no secret gets out, see contained errors."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from . import contain
from .instrumentation import InstrumentationMiddleware, MemorySink
from .shaping.redact.proof import find_secrets

__all__ = ["assert_no_secret", "contained_errors", "recording"]

_LARGEST_BYTES = 256 * 1024 * 1024


@asynccontextmanager
async def recording(app: Any, **options: Any) -> AsyncIterator[MemorySink]:
    """Record a server for the length of a block; afterwards it is as it was.

    The records are complete in the sink when the block is left. Options are those of `instrument`; `mode` is `full`
    unless another one is given.

    >>> import asyncio
    >>> from fastmcp import FastMCP
    >>> from fastmcp_feedback.testing import recording
    >>> app = FastMCP("studio")
    >>> @app.tool
    ... def render(scene: str) -> dict:
    ...     return {"status": "failed", "error": "out of memory"}
    >>> async def main():
    ...     async with recording(app) as sink:
    ...         await app.call_tool("render", {"scene": "big"})
    ...     return [(call.outcome, call.args) for call in sink.calls]
    >>> asyncio.run(main())
    [('soft_error', {'scene': 'big'})]
    """
    sink = MemorySink()
    middleware = InstrumentationMiddleware([sink], **{"mode": "full", **options})
    app.add_middleware(middleware)
    try:
        yield sink
    finally:
        app.middleware.remove(middleware)
        await middleware.aclose()


def assert_no_secret(where: Any, secrets: Iterable[str]) -> None:
    """Fail when one of the secrets stands anywhere in what was recorded: as it is, JSON-escaped, URL-encoded or base64.

    Args:
        where: A sink with `records`, a list of records, text, bytes, or the path of a file or folder: JSON lines, an
            SQLite database (its write-ahead log is read too), a spool.
        secrets: The planted values.

    Raises:
        AssertionError: a secret was found; the message says which one by its position, never its value.
        FileNotFoundError: there is nothing at that path.

    >>> from fastmcp_feedback.testing import assert_no_secret
    >>> assert_no_secret("password=[REDACTED]", ["hunter2-prod"])
    """
    wanted = list(secrets)
    for name, data in _contents(where):
        found = find_secrets(data, wanted)
        positions = [position for position, secret in enumerate(wanted) if secret in found]
        assert not positions, f"secret number {', '.join(map(str, positions))} (counting from 0) stands in {name}"


def _contents(where: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(where, os.PathLike):
        yield from _files(Path(where))
    elif isinstance(where, (str, bytes)):
        yield "the text", where
    else:
        for record in getattr(where, "records", where):
            yield f"{record.record_type} {record.id}", [record.to_dict(), repr(record.derived)]


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        found = sorted(entry for entry in path.rglob("*") if entry.is_file())
    else:
        path.stat()
        found = sorted(path.parent.glob(path.name + "*"))  # a database's -wal and -shm belong to it
    for entry in found:
        size_bytes = entry.stat().st_size
        assert size_bytes <= _LARGEST_BYTES, f"{entry} has {size_bytes} bytes: too large to be searched in one piece"
        yield entry.name, entry.read_bytes()


@contextmanager
def contained_errors() -> Iterator[list[tuple[str, BaseException]]]:
    """Collect the errors that the recorder keeps from the host during a block, as (place, exception).

    >>> from fastmcp_feedback.testing import contained_errors
    >>> with contained_errors() as errors:
    ...     pass  # call your server here
    >>> errors
    []
    """
    seen: list[tuple[str, BaseException]] = []

    def observe(where: str, exc: BaseException) -> None:
        seen.append((where, exc))

    contain.on_contained.append(observe)
    try:
        yield seen
    finally:
        contain.on_contained.remove(observe)
