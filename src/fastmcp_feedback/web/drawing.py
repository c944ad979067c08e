"""The parts of charts: paths through values, axes, and the figure around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final, Literal

from markupsafe import Markup

from .figures import known

Tone = Literal["ok", "soft", "error", "p50", "p95", "p99", "plain"]
Format = Callable[[float | None], str]
Rows = Sequence[tuple["Series", list[float | None]]]

WIDTH: Final = 600.0
HEIGHT: Final = 100.0
_HUGE: Final = 1e18  # nothing recorded is larger; keeps sums finite
_X_LABELS: Final = 5
_DAY_AND_A_HALF_S: Final = 36 * 3600
_TONES: Final = frozenset({"ok", "soft", "error", "p50", "p95", "p99", "plain"})


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or one layer of the bars: a value for each moment, None where there was nothing."""

    name: str
    values: Sequence[float | None]
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing with its axis. `link` stands before a moment's time in the address of its calls (empty: none).

    `centred` says that a moment stands in the middle of its step.
    """

    drawn: Markup
    top: float
    link: str
    centred: bool


def figure(starts: Sequence[datetime], rows: Rows, title: str, formatted: Format, plot: Plot) -> Markup:
    """The chart with title, legend and axes."""
    legend = Markup("").join(
        Markup('<span class="key"><span class="swatch tone-{}"></span>{}</span>').format(tone_class(one.tone), one.name) for one, _ in rows
    )
    levels = Markup("").join(Markup("<span>{}</span>").format(formatted(plot.top * part)) for part in (1.0, 0.5, 0.0))
    grid = Markup("").join(
        Markup('<line class="grid" x1="0" x2="{:g}" y1="{:g}" y2="{:g}"/>').format(WIDTH, y, y) for y in (0.0, HEIGHT / 2, HEIGHT)
    )
    return Markup(
        '<figure class="chart"><figcaption><span class="chart-title">{}</span><span class="legend">{}</span></figcaption>'
        '<div class="plot"><div class="levels" aria-hidden="true">{}</div>'
        '<svg viewBox="0 0 {:g} {:g}" preserveAspectRatio="none" role="{}" aria-label="{}"><title>{}</title><desc>{}</desc>{}{}{}</svg>'
        '<div class="moments">{}</div></div></figure>'
    ).format(
        title,
        legend,
        levels,
        WIDTH,
        HEIGHT,
        "group" if plot.link else "img",
        title,
        title,
        _described(starts, rows, formatted),
        grid,
        plot.drawn,
        _hits(starts, rows, formatted, plot),
        _moments(starts),
    )


def _hits(starts: Sequence[datetime], rows: Rows, formatted: Format, plot: Plot) -> Markup:
    """An invisible strip for each moment that says its values."""
    count = len(starts)
    step = WIDTH / count if plot.centred or count < 2 else WIDTH / (count - 1)
    shift = 0.0 if plot.centred or count < 2 else -step / 2
    made = []
    for place, start in enumerate(starts):
        said = ", ".join(f"{one.name} {formatted(values[place])}" for one, values in rows)
        strip = Markup('<rect class="hit" x="{:.2f}" y="0" width="{:.2f}" height="{:g}"><title>{} UTC: {}</title></rect>').format(
            place * step + shift, step, HEIGHT, _utc(start).strftime("%Y-%m-%d %H:%M"), said
        )
        if plot.link:
            # Hundreds of stops for the Tab key help nobody: the calls are a filter away.
            strip = Markup('<a href="{}" tabindex="-1">{}</a>').format(plot.link + _utc(start).strftime("%Y-%m-%dT%H:%M:%SZ"), strip)
        made.append(strip)
    return Markup("").join(made)


def _moments(starts: Sequence[datetime]) -> Markup:
    """A few of the moments, as the labels of the axis."""
    wanted = min(_X_LABELS, len(starts))
    places = sorted({round(number * (len(starts) - 1) / max(1, wanted - 1)) for number in range(wanted)})
    span_s = (_utc(starts[-1]) - _utc(starts[0])).total_seconds()
    short_form, kind = ("%H:%M", "hour") if span_s <= _DAY_AND_A_HALF_S else ("%d %b", "day")
    return Markup("").join(
        Markup('<time datetime="{}" data-short="{}">{}</time>').format(
            _utc(starts[place]).strftime("%Y-%m-%dT%H:%M:%SZ"), kind, _utc(starts[place]).strftime(short_form)
        )
        for place in places
    )


def _described(starts: Sequence[datetime], rows: Rows, formatted: Format) -> str:
    """The chart in words, for those who hear it."""
    parts = [f"{_utc(starts[0]):%Y-%m-%d %H:%M} to {_utc(starts[-1]):%Y-%m-%d %H:%M} UTC"]
    for one, values in rows:
        there = [value for value in values if value is not None]
        if there:
            parts.append(f"{one.name}: {formatted(min(there))} to {formatted(max(there))}, last {formatted(there[-1])}")
    return "; ".join(parts)


def nothing(title: str) -> Markup:
    """A chart of which there is nothing to show."""
    return Markup(
        '<figure class="chart none"><figcaption><span class="chart-title">{}</span></figcaption>'
        '<p class="soft">Nothing was recorded here.</p></figure>'
    ).format(title)


def paths(values: Sequence[float | None], top: float, width: float, height: float, margin: float) -> str:
    """Path data through the values, broken where there is none; a value alone becomes a dot."""
    parts: list[str] = []
    for run in _runs(values):
        points = [_point(place, value, len(values), top, (width, height, margin)) for place, value in run]
        parts.append("M" + "L".join(points) if len(points) > 1 else f"M{points[0]}h0.01")
    return "".join(parts)


def area(values: Sequence[float | None], top: float, width: float, height: float, margin: float) -> str:
    """The same closed down to the ground."""
    parts: list[str] = []
    for run in _runs(values):
        points = [_point(place, value, len(values), top, (width, height, margin)) for place, value in run]
        if len(points) > 1:
            first, last = points[0].split(",")[0], points[-1].split(",")[0]
            parts.append(f"M{first},{height:g}L{'L'.join(points)}L{last},{height:g}Z")
    return "".join(parts)


def _runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Values without a gap between them, with their places."""
    found = [(place, value) for place, value in enumerate(values) if value is not None]
    runs: list[list[tuple[int, float]]] = [[found[0]]] if found else []
    for (before, _), (place, value) in pairwise(found):
        if place == before + 1:
            runs[-1].append((place, value))
        else:
            runs.append([(place, value)])
    return runs


def _point(place: int, value: float, count: int, top: float, box: tuple[float, float, float]) -> str:
    width, height, margin = box
    x = width / 2 if count == 1 else place / (count - 1) * width
    return f"{x:.2f},{height - margin - min(1.0, value / top) * (height - 2 * margin):.2f}"


def fitted(values: Sequence[float | None], count: int) -> list[float | None]:
    """So many values, those that cannot be drawn as gaps."""
    kept = [drawable(value) for value in values[:count]]
    return kept + [None] * (count - len(kept))


def drawable(value: float | None) -> float | None:
    """A number between 0 and one that can still be added up; None for everything else."""
    number = known(value)
    return None if number is None or number < 0 else min(number, _HUGE)


def tone_class(tone: Any) -> str:
    """A class name of our list, whatever was given."""
    return tone if tone in _TONES else "plain"


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
