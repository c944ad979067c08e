"""What a sink is: the protocol between delivery and everything that keeps records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from .records import EventRecord, ToolCallRecord

Record: TypeAlias = ToolCallRecord | EventRecord


@runtime_checkable
class Sink(Protocol):
    """Anything with `async write(records)`; `async aclose()` is optional.

    Batches mix both record types. A sink attribute `owns_resource = True` says that the sink holds its own file or
    connection and may run on the recorder's writer thread; others run on the server's event loop. An exception
    means that the whole batch may be tried again; `RecordsRejected` names single records that never will be taken.

    >>> from fastmcp_feedback.instrumentation import Sink
    >>> class Printing:
    ...     async def write(self, records):
    ...         for record in records:
    ...             print(record.record_type)
    >>> isinstance(Printing(), Sink)
    True
    """

    async def write(self, records: Sequence[Record]) -> None:
        """Keep these records, all or none."""
        ...


class RecordsRejected(Exception):
    """Some records of a batch can never be stored; all others of that batch have been.

    `rejected` pairs each bad record with the reason (a short text without payload).
    """

    def __init__(self, rejected: Sequence[tuple[Record, str]]) -> None:
        super().__init__(f"{len(rejected)} record(s) rejected: {rejected[0][1] if rejected else ''}")
        self.rejected = tuple(rejected)


class SinkUnavailable(Exception):
    """The sink's resource is away (locked, restarting, full); trying later makes sense. The text says what to do."""
