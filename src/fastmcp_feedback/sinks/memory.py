"""Keeps records in a list: for tests, and for a look at what a server does."""

from __future__ import annotations

from collections.abc import Sequence

from ..records import EventRecord, ToolCallRecord
from ..sink import Record


class MemorySink:
    """Keeps everything in memory, in order, without a limit.

    >>> import asyncio
    >>> from fastmcp_feedback.instrumentation import EventRecord, MemorySink
    >>> from datetime import UTC, datetime
    >>> sink = MemorySink()
    >>> asyncio.run(sink.write([EventRecord(kind="deploy", occurred_at=datetime.now(UTC))]))
    >>> [event.kind for event in sink.events]
    ['deploy']
    """

    owns_resource = True

    def __init__(self) -> None:
        self.records: list[Record] = []

    async def write(self, records: Sequence[Record]) -> None:
        """Append the records."""
        self.records.extend(records)

    @property
    def calls(self) -> list[ToolCallRecord]:
        """The tool calls among the records."""
        return [record for record in self.records if isinstance(record, ToolCallRecord)]

    @property
    def events(self) -> list[EventRecord]:
        """The events among the records."""
        return [record for record in self.records if isinstance(record, EventRecord)]
