"""Cost and latency of language models, from `llm.call` events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .filters import Filter
from .reader import Reader


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, for one million tokens, in any currency."""

    input_per_million: float
    output_per_million: float


@dataclass(frozen=True, slots=True)
class ModelUse:
    """One model. Times in milliseconds (None when none was recorded).

    `cost` is the sum of the events' own `cost` attribute; where they have none, it comes from a given price; None when
    neither is known.
    """

    model: str
    provider: str | None
    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    cost: float | None


async def model_use(reader: Reader, which: Filter | None = None, *, prices: Mapping[str, Price] | None = None) -> list[ModelUse]:
    """Every model that was called, the most called first.

    Of the filter, times, user, conversation, client and server version choose events; the rest chooses the calls that
    events belong to, so `tool` gives what one tool spent on models.
    """
    where, bound = events_where(reader, which or Filter())
    number = {name: reader.json_number("attrs", name) for name in ("duration_ms", "input_tokens", "output_tokens", "cost")}
    failed = "json_extract(attrs, '$.ok') = 0" if reader.dialect == "sqlite" else "attrs ->> 'ok' = 'false'"
    rows = await reader.rows(
        f"""
        WITH used AS (
            SELECT {reader.json_text("attrs", "model")} AS model, {reader.json_text("attrs", "provider")} AS provider,
                   {number["duration_ms"]} AS took_ms, {number["input_tokens"]} AS tokens_in, {number["output_tokens"]} AS tokens_out,
                   {number["cost"]} AS cost, CASE WHEN {failed} THEN 1 ELSE 0 END AS failed
            FROM {reader.events} WHERE kind = 'llm.call' AND {where}
        ),
        ranked AS (
            SELECT used.*, ROW_NUMBER() OVER (PARTITION BY model, took_ms IS NULL ORDER BY took_ms) AS rank,
                   COUNT(took_ms) OVER (PARTITION BY model) AS n
            FROM used
        )
        SELECT model, MAX(provider) AS provider, COUNT(*) AS calls, SUM(failed) AS failed, COALESCE(SUM(tokens_in), 0) AS tokens_in,
               COALESCE(SUM(tokens_out), 0) AS tokens_out, MAX(took_ms) AS max_ms, SUM(cost) AS cost,
               MIN(CASE WHEN rank >= 0.5 * n THEN took_ms END) AS p50_ms, MIN(CASE WHEN rank >= 0.95 * n THEN took_ms END) AS p95_ms,
               MIN(CASE WHEN rank >= 0.99 * n THEN took_ms END) AS p99_ms
        FROM ranked GROUP BY model ORDER BY calls DESC, model
        """,  # noqa: S608 - names of ours, values bound
        bound,
    )
    return [_use(row, (prices or {}).get(row["model"] or "")) for row in rows]


def _use(row: dict[str, Any], price: Price | None) -> ModelUse:
    cost = row["cost"]
    if cost is None and price is not None:
        cost = (row["tokens_in"] * price.input_per_million + row["tokens_out"] * price.output_per_million) / 1_000_000
    return ModelUse(
        model=row["model"] or "unknown",
        provider=row["provider"],
        calls=int(row["calls"]),
        failed=int(row["failed"]),
        input_tokens=int(row["tokens_in"]),
        output_tokens=int(row["tokens_out"]),
        p50_ms=row["p50_ms"],
        p95_ms=row["p95_ms"],
        p99_ms=row["p99_ms"],
        max_ms=row["max_ms"],
        cost=cost,
    )


def events_where(reader: Reader, which: Filter) -> tuple[str, dict[str, Any]]:
    """The filter over events: those of calls that match it, where it speaks of calls."""
    of_calls = Filter(
        tool=which.tool, outcome=which.outcome, fault=which.fault, text=which.text, fingerprint=which.fingerprint, internal=True
    )
    own = replace(which, tool=None, outcome=None, fault=None, text=None, fingerprint=None, internal=True)
    where, bound = own.where(reader.stamp)
    where = where.replace("started_at", "occurred_at")
    if of_calls != Filter(internal=True):
        inner, inner_bound = of_calls.where(reader.stamp)
        where += f" AND call_id IN (SELECT id FROM {reader.calls} WHERE {inner})"  # noqa: S608 - names of ours, values bound
        bound |= inner_bound
    return where, bound
