"""What a report holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ..query.failures import FailureGroup, list_failures
from ..query.filters import Filter
from ..query.flailing import FlailReport, find_flailing
from ..query.latency import DurationBucket, TimeBucket, duration_histogram, over_time
from ..query.llm import ModelUse, model_use
from ..query.reader import Reader
from ..query.trends import HealthReport, health_report


@dataclass(frozen=True, slots=True)
class Report:
    """Answers to the usual questions about one choice of calls."""

    made_at: datetime
    database: str
    chosen: dict[str, str]
    health: HealthReport
    failures: tuple[FailureGroup, ...]
    flailing: FlailReport
    times: tuple[TimeBucket, ...]
    durations: tuple[DurationBucket, ...]
    models: tuple[ModelUse, ...]


async def gather(reader: Reader, which: Filter) -> Report:
    """Put all questions."""
    return Report(
        made_at=datetime.now(UTC),
        database=reader.url,
        chosen=which.texts(),
        health=await health_report(reader, which),
        failures=tuple(await list_failures(reader, which, limit=30)),
        flailing=await find_flailing(reader, which, limit=15),
        times=tuple(await over_time(reader, which, buckets=48)),
        durations=tuple(await duration_histogram(reader, which)),
        models=tuple(await model_use(reader, which)),
    )
