"""Random faults: sinks that fail, hang and come back, processes that stop and start. Nothing is lost, nothing comes twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fastmcp_feedback.delivery.options import DeliveryOptions
from fastmcp_feedback.delivery.recorder import Recorder
from fastmcp_feedback.sink import Record, SinkUnavailable
from support.spooling import made_call
from support.waiting import until

Contained = list[tuple[str, BaseException]]


class Moody:
    """Stores each id once, like a database; fails before or after storing, or dawdles, as its dice say."""

    owns_resource = True

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.trouble = 0.0
        self.stored: dict[str, int] = {}

    async def write(self, records: Sequence[Record]) -> None:
        mood = self.dice.random()
        if mood < self.trouble / 3:
            raise SinkUnavailable("before")
        if mood < self.trouble / 2:
            await asyncio.sleep(self.dice.random() * 0.3)
        for record in records:
            self.stored.setdefault(record.id, len(self.stored))
        if mood > 1 - self.trouble / 3:
            raise SinkUnavailable("after")


def as_is(item: Any) -> tuple[Record, bool]:
    """No shaping."""
    return item, True


def balanced(made: Recorder) -> bool:
    """Do the books of every sink add up, without a negative count?"""
    names = ("written", "waiting", "spooled", "quarantined", "lost")
    reports = made.stats()["sinks"].values()
    return all(r["accepted"] == sum(r[n] for n in names) and min(r[n] for n in names) >= 0 for r in reports)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_each_record_is_stored_once(tmp_path: Path, contained: Contained, seed: int) -> None:
    """Two moody sinks, small memory, random closes: at the end both have every record, and the directory is empty."""
    dice = random.Random(seed)
    sinks = [Moody(random.Random(seed * 10 + i)) for i in range(2)]
    number = 0
    for _life in range(dice.randint(2, 4)):
        options = DeliveryOptions(
            spool=str(tmp_path), max_queue=dice.choice([5, 50, 5000]), batch_size=dice.choice([1, 10, 100]), flush_interval=0.01,
            retry_for=dice.choice([0.0, 0.2, 300.0]), sink_timeout=0.2, shutdown_timeout=0.05,
        )  # fmt: skip
        made = Recorder(as_is, sinks, options)
        for _step in range(dice.randint(3, 8)):
            for sink in sinks:
                sink.trouble = dice.choice([0.0, 0.3, 0.9, 3.0])
            for _ in range(dice.choice([1, 20, 300])):
                assert made.submit(made_call(number))
                number += 1
            await asyncio.sleep(dice.random() * 0.25)
            assert balanced(made)
        await made.aclose()
        assert balanced(made)
    for sink in sinks:
        sink.trouble = 0.0
    last = Recorder(as_is, sinks, DeliveryOptions(spool=str(tmp_path)))
    last.recover()
    await until(lambda: all(len(sink.stored) == number for sink in sinks))
    await until(lambda: not list(tmp_path.glob("*.spool")))
    await last.aclose()
    assert sum(report["lost"] for report in last.stats()["sinks"].values()) == 0
    assert all(isinstance(exc, (SinkUnavailable, TimeoutError)) for _, exc in contained)
