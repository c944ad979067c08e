"""What stands in a sink's queue, and what the spool's keeper sees of that sink."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ..sink import Record
from .accounting import Account

if TYPE_CHECKING:
    from .spool.holdings import Ticket


class Queued:
    """One record waiting for one sink.

    `ticket` tells where it lies on disk too; `gone` that it has left memory; `foreign` that an earlier process made it.
    """

    __slots__ = ("foreign", "gone", "record", "since", "size_bytes", "ticket")

    def __init__(self, record: Record, size_bytes: int, since: float, ticket: Ticket | None = None, *, foreign: bool = False) -> None:
        self.record = record
        self.size_bytes = size_bytes
        self.since = since
        self.ticket = ticket
        self.gone = False
        self.foreign = foreign


class Lane(Protocol):
    """What the keeper sees of a sink's runner."""

    name: str
    account: Account
    queue: deque[Queued]
    final: bool
    owns_resource: bool


class Watched:
    """A record between shaping and safety: its places in memory, and the sinks whose queues had no room for it."""

    __slots__ = ("places", "record", "since", "spilled")

    def __init__(self, record: Record, since: float, places: Sequence[tuple[Lane, Queued]], spilled: Sequence[Lane]) -> None:
        self.record = record
        self.since = since
        self.places = places
        self.spilled = spilled
