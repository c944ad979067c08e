"""From the shaping thread into the queue of each sink, or past it: to disk, or into the losses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..sink import Record
from .accounting import Account
from .options import DeliveryOptions
from .queued import Queued
from .runner import SinkRunner

if TYPE_CHECKING:
    from .keeper import Keeper


def fan_out(record: Record, size_bytes: int, runners: Sequence[SinkRunner], options: DeliveryOptions, keeper: Keeper | None) -> None:
    """Give a record to every sink; a sink whose queue is full gets it by way of the disk when there is a spool."""
    since = time.monotonic()
    places: list[tuple[SinkRunner, Queued]] = []
    spilled: list[SinkRunner] = []
    for runner in runners:
        account = runner.account
        refusal = _refusal(account, size_bytes, options)
        # What is newer than records on disk goes there too, so that the order stays.
        if keeper is not None and (refusal or account.on_disk) and keeper.spool.usable:
            account.entered += 1
            spilled.append(runner)
        elif refusal:
            account.overflow[refusal] += 1
        else:
            account.entered += 1
            account.entered_bytes += size_bytes
            item = Queued(record, size_bytes, since)
            places.append((runner, item))
            runner.queue.append(item)
    if keeper is not None and (places or spilled):
        keeper.watch(record, since, places, spilled)


def _refusal(account: Account, size_bytes: int, options: DeliveryOptions) -> str | None:
    if account.waiting >= options.max_queue:
        return "queue_full"
    return "queue_bytes" if account.waiting_bytes + size_bytes > options.max_queue_bytes else None
