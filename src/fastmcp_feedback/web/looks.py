"""What the templates may use beside their values: number formats as filters, charts and JSON as functions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from . import charts, figures
from .json_view import json_text, json_view, plain_text

if TYPE_CHECKING:
    from jinja2 import Environment


def install(environment: Environment) -> None:
    """Add filters (`short`, `ms`, `share`, `size`, `plain`, `iso`) and functions (charts, `json_view`) to a template environment."""
    environment.filters |= {
        "short": figures.short,
        "ms": figures.milliseconds,
        "share": figures.share,
        "size": figures.size,
        "plain": plain_text,
        "iso": iso,
        "json_text": json_text,
    }
    environment.globals |= {
        "sparkline": charts.sparkline,
        "line_chart": charts.line_chart,
        "stacked_bars": charts.stacked_bars,
        "latency_chart": charts.latency_chart,
        "outcome_chart": charts.outcome_chart,
        "bar_list": charts.bar_list,
        "json_view": json_view,
    }


def iso(value: Any) -> str:
    """A moment as ISO 8601 in UTC to the millisecond; texts pass, times without a zone are UTC.

    >>> iso(datetime(2026, 10, 2, 12, 30, tzinfo=UTC))
    '2026-10-02T12:30:00.000Z'
    """
    if not isinstance(value, datetime):
        return "" if value is None else str(value)
    moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
