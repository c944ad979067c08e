"""How long questions take: each function of `query/` on the generator's calls, beside a plain scan of the same table.

    python bench/questions.py sqlite:///calls.db --calls 1000000
    python bench/questions.py postgresql://user@host/name --calls 1000000

A database that holds calls already is used as it is. Times are the least of three runs, warm, in milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from generate import fill

from fastmcp_feedback.query.calls import count_calls, list_calls
from fastmcp_feedback.query.failures import list_failures
from fastmcp_feedback.query.filters import Filter
from fastmcp_feedback.query.flailing import find_flailing
from fastmcp_feedback.query.health import tool_health
from fastmcp_feedback.query.latency import duration_histogram, over_time
from fastmcp_feedback.query.reader import NotReadable, Reader, open_reader
from fastmcp_feedback.query.sequences import transitions
from fastmcp_feedback.query.story import list_conversations, tell_story
from fastmcp_feedback.query.trends import health_report
from fastmcp_feedback.query.versions import compare_versions


async def least_ms(work: Callable[[], Awaitable[Any]], rounds: int = 3) -> float:
    """The least of so many runs after one to warm up; one run alone where it takes long."""
    times = []
    for number in range(rounds + 1):
        began = time.perf_counter()
        await work()
        took = (time.perf_counter() - began) * 1000
        if number or took > 5000:
            times.append(took)
        if took > 5000:
            break
    return min(times)


async def scan(reader: Reader, since: datetime) -> None:
    """Tool health as one would write it without an index: every row is read."""
    hidden = "started_at" if reader.dialect == "postgresql" else "+started_at"
    table = reader.calls if reader.dialect == "postgresql" else f"{reader.calls} NOT INDEXED"
    condition = f"{hidden} >= :since" if reader.dialect == "sqlite" else f"({hidden} + interval '0 s') >= :since"
    await reader.rows(
        "WITH c AS (SELECT tool, outcome, duration_ms, user_sub, "
        "ROW_NUMBER() OVER (PARTITION BY tool ORDER BY duration_ms) AS r, "
        f"COUNT(*) OVER (PARTITION BY tool) AS n FROM {table} WHERE {condition}) "
        "SELECT tool, COUNT(*) AS calls, SUM(CASE WHEN outcome <> 'ok' THEN 1 ELSE 0 END) AS failed, "
        "MIN(CASE WHEN r >= 0.95 * n THEN duration_ms END) AS p95_ms, COUNT(DISTINCT user_sub) AS users FROM c GROUP BY tool",
        {"since": reader.stamp(since)},
    )


async def measure(url: str) -> dict[str, float]:
    async with open_reader(url) as reader:
        (newest,) = (await list_calls(reader, limit=1)).calls
        day = Filter(since=newest["started_at"] - timedelta(days=1))
        key = newest["conversation_key"]
        questions: dict[str, Callable[[], Awaitable[Any]]] = {
            "plain scan, health of 24 h": lambda: scan(reader, day.since or newest["started_at"]),
            "plain scan, health of 30 d": lambda: scan(reader, newest["started_at"] - timedelta(days=60)),
            "tool_health, 24 h": lambda: tool_health(reader, day),
            "tool_health, 30 d": lambda: tool_health(reader),
            "health_report, 24 h": lambda: health_report(reader, day),
            "list_failures, 24 h": lambda: list_failures(reader, day),
            "list_failures, 30 d": lambda: list_failures(reader),
            "over_time, 24 h": lambda: over_time(reader, day),
            "over_time, 30 d": lambda: over_time(reader),
            "duration_histogram, 24 h": lambda: duration_histogram(reader, day),
            "transitions, 24 h": lambda: transitions(reader, day),
            "list_conversations, 24 h": lambda: list_conversations(reader, day),
            "tell_story": lambda: tell_story(reader, key),
            "find_flailing, 24 h": lambda: find_flailing(reader, day),
            "find_flailing, 30 d": lambda: find_flailing(reader),
            "compare_versions": lambda: compare_versions(reader, "1.1.0", "1.2.0"),
        }
        found = {"calls": float(await count_calls(reader))}
        for name, question in questions.items():
            found[name] = await least_ms(question)
            print(f"{name:32} {found[name]:10.1f} ms", flush=True)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()

    async def filled() -> bool:
        try:
            async with open_reader(given.url) as reader:
                return bool(await count_calls(reader))
        except NotReadable:
            return False

    if not asyncio.run(filled()):
        asyncio.run(fill(given.url, given.calls))
    found = asyncio.run(measure(given.url))
    if given.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
