"""Made-up calls of a busy server, the same for the same seed: for benchmarks and for tests of what questions find.

40 tools, 30 days, a few tools called most, days and nights, bursts, failures of several kinds, ordinary retries. Among
them planted flailing, with the truth beside it. Between the planted ones stands what looks alike and is none: pages,
polling, batches, hiccups of something upstream that a retry mends, a wrong argument that the next call corrects.

    python bench/generate.py calls.db --calls 1000000
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from fastmcp_feedback.records import Derived, Failure, ToolCallRecord
from fastmcp_feedback.store import DatabaseSink

START = datetime(2026, 9, 1, tzinfo=UTC)
TOOLS = tuple(f"tool_{number:02d}" for number in range(40))
VERSIONS = ("1.0.0", "1.1.0", "1.2.0")
FAILURES = (  # fault, category, type, message
    ("server", "exception", "ValueError", "no scene of that name"),
    ("server", "tool_error", "ToolError", "scene is locked"),
    ("caller", "bad_arguments", "ValidationError", "size must be a number"),
    ("upstream", "timeout", "ReadTimeout", "the renderer did not answer"),
    ("upstream", "rate_limited", "HTTPStatusError", "429 Too Many Requests"),
    ("server", "reported", "SoftError", "status=failed: out of memory"),
)
_WORDS = (
    "amber", "basalt", "cedar", "dune", "ember", "fjord", "grove", "harbour", "island", "juniper", "kelp", "lagoon", "marble", "nectar",
    "onyx", "prairie", "quartz", "river", "sable", "tundra",
)  # fmt: skip
PLANTED = ("identical_retry", "near_retry", "retry_chain", "repetition")


@dataclass
class World:
    """What the generator made: `planted` maps the ids of flailing calls to a number of the planted case."""

    planted: dict[str, int] = field(default_factory=dict)
    kinds: dict[int, str] = field(default_factory=dict)


class Conversation:
    """One conversation being made: calls one after the other."""

    def __init__(self, rng: random.Random, world: World, began: datetime, days: float, mode: str) -> None:
        self.rng, self.world, self.clock, self.mode = rng, world, began, mode
        self.user = f"user-{int(rng.paretovariate(1.1)) % 400:03d}"
        self.key = f"session/{rng.getrandbits(80):020x}"
        progress = (began - START) / timedelta(days=days)
        self.version = VERSIONS[min(2, int(progress * 3))]
        self.calls: list[ToolCallRecord] = []

    def tool(self) -> str:
        """One of the tools, some far more often than others."""
        return TOOLS[min(len(TOOLS) - 1, int(self.rng.paretovariate(0.6)) - 1)]

    def args(self) -> dict[str, Any]:
        """Arguments that nobody used before."""
        words = self.rng.sample(_WORDS, 3)
        return {"scene": f"{words[0]}-{words[1]}-{self.rng.randrange(1000)}", "style": words[2], "size": self.rng.randrange(64, 4096)}

    def call(
        self, tool: str, args: dict[str, Any], *, failure: int | None = None, planted: int | None = None, result: int | None = None,
        wait: bool = True,
    ) -> ToolCallRecord:  # fmt: skip
        """One call; `failure` is a place in FAILURES. Without `wait` the next call begins at the same time."""
        rng = self.rng
        place = TOOLS.index(tool)
        took = rng.lognormvariate(math.log(3 + 7 * (place % 11)), 0.8)
        derived = Derived(conversation_key=self.key, conversation_basis="session")
        given: dict[str, Any] = {}
        if failure is not None:
            fault, category, kind, message = FAILURES[failure]
            made = Failure(fault, category, f"f1-{place:04x}{failure:04x}")
            derived = Derived(failure=made, conversation_key=self.key, conversation_basis="session")
            given = {"error_type": kind, "error_message": message}
        record = ToolCallRecord(
            tool=tool, started_at=self.clock, duration_ms=took, ok=failure is None, mode=self.mode,
            outcome="ok" if failure is None else "soft_error" if failure == 5 else "error",
            id=str(uuid.UUID(int=rng.getrandbits(128), version=4)),
            user_sub=self.user, session_id=self.key[8:], server_version=self.version, args_size=len(repr(args)),
            result_size=(rng.randrange(20, 20_000) if result is None else result) if failure is None else 60,
            args=args if self.mode == "full" else None, _derived=derived, **given,
        )  # fmt: skip
        self.calls.append(record)
        if planted is not None:
            self.world.planted[record.id] = planted
        if wait:
            self.clock += timedelta(milliseconds=took, seconds=rng.expovariate(1 / 4) + 0.05)
        return record

    # -- what people and models do

    def ordinary(self) -> None:
        """One call; some fail, and then something else is done."""
        failed = self.rng.random() < 0.03
        self.call(self.tool(), self.args(), failure=self.rng.randrange(len(FAILURES)) if failed else None)

    def corrected(self) -> None:
        """A wrong argument, put right by the next call."""
        tool, args = self.tool(), self.args()
        self.call(tool, {**args, "size": "large"}, failure=2)
        self.call(tool, args)

    def hiccup(self) -> None:
        """Something upstream fails once or twice, and the retry works."""
        tool, args = self.tool(), self.args()
        for _ in range(self.rng.choice((1, 1, 2))):
            self.call(tool, args, failure=self.rng.choice((3, 4)))
        self.call(tool, args)

    def pages(self) -> None:
        """The same question, page after page."""
        tool, args = self.tool(), self.args()
        for page in range(self.rng.randrange(3, 12)):
            self.call(tool, {**args, "page": page})

    def polling(self) -> None:
        """The same question until the answer is another one."""
        tool, args = self.tool(), self.args()
        for _ in range(self.rng.randrange(2, 12)):
            self.call(tool, args)

    def batch(self) -> None:
        """Calls at the same time, which may all fail for the same reason."""
        tool, failure = self.tool(), self.rng.choice((None, None, 1))
        for _ in range(self.rng.randrange(3, 9)):
            self.call(tool, self.args(), failure=failure, wait=False)
        self.clock += timedelta(seconds=5)

    def later_again(self) -> None:
        """A failure, other work, and the same call long after."""
        tool, args = self.tool(), self.args()
        self.call(tool, args, failure=0)
        for _ in range(5):
            self.call(self.tool(), self.args())
        self.call(tool, args)

    # -- flailing

    def flail(self) -> None:
        """One planted case."""
        rng = self.rng
        kind = rng.choice(PLANTED)
        case = len(self.world.kinds)
        self.world.kinds[case] = kind
        tool, args, failure = self.tool(), self.args(), rng.choice((0, 1, 2, 5))
        for number in range(
            rng.randrange(*{"identical_retry": (2, 8), "near_retry": (3, 8), "retry_chain": (4, 9), "repetition": (5, 11)}[kind])
        ):
            if kind == "near_retry":
                args = {**args, "scene": f"{args['scene'].rsplit('-', 1)[0]}-{rng.randrange(1000):03d}"}
            elif kind == "retry_chain":
                args = self.args()
            self.call(tool, args, failure=None if kind == "repetition" else failure, planted=case, result=77)
            if number and rng.random() < 0.2:
                self.call(TOOLS[(TOOLS.index(tool) + 1) % len(TOOLS)], self.args())  # a look at something else in between


HABITS: tuple[tuple[Callable[[Conversation], None], float], ...] = (
    (Conversation.ordinary, 100), (Conversation.corrected, 2), (Conversation.hiccup, 2), (Conversation.pages, 2), (Conversation.polling, 1),
    (Conversation.batch, 1), (Conversation.later_again, 0.5), (Conversation.flail, 0.6),
)  # fmt: skip


def conversations(calls: int, world: World, *, seed: int = 7, days: float = 30, mode: str = "full") -> Iterator[list[ToolCallRecord]]:
    """About so many calls, a conversation at a time, in the order of their beginnings."""
    rng = random.Random(seed)
    habits, weights = zip(*HABITS, strict=True)
    made = 0
    while made < calls:
        day = days * made / calls
        busy = 0.5 - 0.5 * math.cos(2 * math.pi * (day % 1))  # nights are quiet
        began = START + timedelta(days=math.floor(day) + (day % 1) * 0.5 + 0.25 + 0.2 * busy)
        talk = Conversation(rng, world, began, days, mode)
        for habit in rng.choices(habits, weights, k=1 + int(rng.expovariate(1 / 12))):
            habit(talk)
        made += len(talk.calls)
        yield talk.calls


async def fill(url: str, calls: int, *, seed: int = 7, mode: str = "full", days: float = 30) -> World:
    """Write the calls to a database; what was planted."""
    world = World()
    sink = DatabaseSink(url, create_tables=True)
    batch: list[ToolCallRecord] = []
    for talk in conversations(calls, world, seed=seed, days=days, mode=mode):
        batch += talk
        if len(batch) >= 2000:
            await sink.write(batch)
            batch = []
    await sink.write(batch)
    await sink.aclose()
    return world


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", help="file or URL")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--mode", choices=("full", "meta"), default="full")
    given = parser.parse_args()
    url = given.database if "://" in given.database else f"sqlite:///{given.database}"
    world = asyncio.run(fill(url, given.calls, seed=given.seed, mode=given.mode))
    print(f"{len(world.kinds)} cases of flailing were planted", file=sys.stderr)


if __name__ == "__main__":
    main()
