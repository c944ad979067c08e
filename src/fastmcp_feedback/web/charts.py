"""Charts as inline SVG, made on the server: pure functions from numbers to markup.

A drawing is stretched to the width it gets, so all text stands beside it as HTML and stays readable on a phone. Colours
come from classes (`tone-...`), never from a style attribute: the pages' Content-Security-Policy allows none. Values that
are missing, negative or no numbers leave a gap; nothing that was recorded can break a page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from markupsafe import Markup, escape

from .drawing import HEIGHT, WIDTH, Format, Plot, Series, Tone, area, drawable, figure, fitted, nothing, paths, tone_class
from .figures import milliseconds, short

__all__ = ["Bar", "Bucket", "Series", "bar_list", "latency_chart", "line_chart", "nice_top", "outcome_chart", "sparkline", "stacked_bars"]


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a list of bars. `note` stands behind the number; `href` makes the label a link."""

    label: str
    value: float | None
    note: str = ""
    href: str | None = None
    tone: Tone = "plain"


class Bucket(Protocol):
    """What the latency chart reads: `query.latency.TimeBucket` has it."""

    @property
    def start(self) -> datetime:
        """Where the step begins."""

    @property
    def p50_ms(self) -> float | None:
        """Half of the calls took no longer."""

    @property
    def p95_ms(self) -> float | None:
        """95 of 100 calls took no longer."""

    @property
    def p99_ms(self) -> float | None:
        """99 of 100 calls took no longer."""


def sparkline(values: Sequence[float | None], *, label: str, tone: Tone = "plain") -> Markup:
    """A line without axes, as high as a line of text. `label` says in words what it shows.

    >>> "<title>calls a day: 1 to 3, last 2</title>" in sparkline([1, 3, 2], label="calls a day")
    True
    """
    kept = [drawable(value) for value in values]
    there = [value for value in kept if value is not None]
    if not there:
        return Markup('<span class="spark none" title="{}: nothing recorded"></span>').format(label)
    top = max(there) or 1.0
    said = f"{label}: {short(min(there))} to {short(max(there))}, last {short(there[-1])}"
    line = paths(kept, top, 100.0, 24.0, 2.0)
    ground = area(kept, top, 100.0, 24.0, 2.0)
    return Markup(
        '<svg class="spark tone-{}" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label="{}"><title>{}</title>'
        '<path class="area" d="{}"/><path class="line" d="{}"/></svg>'
    ).format(tone_class(tone), said, said, ground, line)


def line_chart(
    starts: Sequence[datetime], series: Sequence[Series], *, title: str, formatted: Format = milliseconds, link: str = ""
) -> Markup:
    """Lines over time with axes and a legend; every moment says its values when pointed at.

    Args:
        starts: The moments, oldest first, in equal steps.
        series: The lines; those longer or shorter than `starts` are cut or filled with gaps.
        title: What is shown, in a few words.
        formatted: How a value is written.
        link: What stands before a moment's ISO time in the address of its calls; empty for no links.
    """
    rows = [(one, fitted(one.values, len(starts))) for one in series]
    if not any(value is not None for _, values in rows for value in values):
        return nothing(title)
    top = nice_top(max(value for _, values in rows for value in values if value is not None))
    drawn = Markup("").join(
        Markup('<path class="line tone-{}" d="{}"/>').format(tone_class(one.tone), paths(values, top, WIDTH, HEIGHT, 0.0))
        for one, values in rows
    )
    return figure(starts, rows, title, formatted, Plot(drawn, top, link, centred=False))


def stacked_bars(starts: Sequence[datetime], series: Sequence[Series], *, title: str, formatted: Format = short, link: str = "") -> Markup:
    """Bars over time, each made of layers, the first at the bottom. Arguments as for `line_chart`."""
    rows = [(one, fitted(one.values, len(starts))) for one in series]
    totals = [sum(values[place] or 0.0 for _, values in rows) for place in range(len(starts))]
    if not any(totals):
        return nothing(title)
    top = nice_top(max(totals))
    step = WIDTH / len(starts)
    shapes = []
    for place in range(len(starts)):
        y = HEIGHT
        for one, values in rows:
            height = (values[place] or 0.0) / top * HEIGHT
            if height <= 0:
                continue
            height = max(height, 0.6)  # one failure among a million calls is still seen
            y -= height
            shapes.append(
                Markup('<rect class="tone-{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/>').format(
                    tone_class(one.tone), place * step + step * 0.1, max(0.0, y), step * 0.8, height
                )
            )
    return figure(starts, rows, title, formatted, Plot(Markup("").join(shapes), top, link, centred=True))


def latency_chart(buckets: Sequence[Bucket], *, title: str = "Latency", link: str = "") -> Markup:
    """p50, p95 and p99 over time, from the answer of `query.latency.over_time`."""
    lines = [
        Series("p99", [bucket.p99_ms for bucket in buckets], "p99"),
        Series("p95", [bucket.p95_ms for bucket in buckets], "p95"),
        Series("p50", [bucket.p50_ms for bucket in buckets], "p50"),
    ]
    return line_chart([bucket.start for bucket in buckets], lines, title=title, link=link)


def outcome_chart(
    starts: Sequence[datetime],
    *,
    ok: Sequence[float],
    soft_errors: Sequence[float],
    errors: Sequence[float],
    title: str = "Calls by outcome",
    link: str = "",
) -> Markup:
    """How calls ended, over time: failures at the bottom, where their height can be compared."""
    layers = [Series("errors", errors, "error"), Series("soft errors", soft_errors, "soft"), Series("ok", ok, "ok")]
    return stacked_bars(starts, layers, title=title, link=link)


def bar_list(bars: Iterable[Bar], *, title: str, formatted: Format = short) -> Markup:
    """Labels with horizontal bars and numbers, in the order given."""
    rows = list(bars)
    sizes = [drawable(bar.value) for bar in rows]
    top = max((value for value in sizes if value is not None), default=0.0)
    if not rows:
        return nothing(title)
    items = []
    for bar, value in zip(rows, sizes, strict=True):
        width = 100.0 * value / top if value and top else 0.0
        label = Markup('<a href="{}">{}</a>').format(bar.href, bar.label) if bar.href else escape(bar.label)
        note = Markup('<span class="bar-note soft">{}</span>').format(bar.note) if bar.note else ""
        items.append(
            Markup(
                '<li><span class="bar-label">{}</span><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
                '<rect class="track" width="100" height="8"/><rect class="tone-{}" width="{:.2f}" height="8"/></svg>'
                '<span class="bar-value">{}</span>{}</li>'
            ).format(label, tone_class(bar.tone), width, formatted(value), note)
        )
    return Markup('<ul class="bars" aria-label="{}">{}</ul>').format(title, Markup("").join(items))


def nice_top(value: float) -> float:
    """The end of an axis for values up to this one: 1, 1.5, 2, 3, 4, 5 or 8 times a power of ten, so that its half is a short number.

    >>> nice_top(0.9), nice_top(37), nice_top(0)
    (1.0, 40.0, 1.0)
    """
    if not value > 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    top = next((step * power for step in (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0) if step * power >= value), 10.0 * power)
    return top if top > 0 else value  # the smallest floats have no power of ten
