"""Hands batches to a function of the host."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence

from ..sink import Record


class CallbackSink:
    """Calls `fn(records)` with each batch, on the server's event loop; awaits what it returns when that is awaitable.

    An exception means that the batch is tried again.

    >>> import asyncio
    >>> from fastmcp_feedback.instrumentation import CallbackSink, EventRecord
    >>> from datetime import UTC, datetime
    >>> sink = CallbackSink(lambda records: print(len(records), records[0].record_type))
    >>> asyncio.run(sink.write([EventRecord(kind="deploy", occurred_at=datetime.now(UTC))]))
    1 event

    Raises:
        TypeError: `fn` is not callable.
    """

    owns_resource = False

    def __init__(self, fn: Callable[[Sequence[Record]], Awaitable[None] | None]) -> None:
        if not callable(fn):
            msg = f"CallbackSink needs a function that takes a list of records, got {type(fn).__name__}"
            raise TypeError(msg)
        self._fn = fn

    async def write(self, records: Sequence[Record]) -> None:
        """Call the function."""
        answer = self._fn(records)
        if inspect.isawaitable(answer):
            await answer
