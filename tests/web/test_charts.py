from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.web.charts import Bar, Series, bar_list, latency_chart, line_chart, nice_top, outcome_chart, sparkline, stacked_bars
from fastmcp_feedback.web.drawing import Tone
from fastmcp_feedback.web.figures import milliseconds, share, short, size

ANY_NUMBER = st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.integers(-5, 10_000).map(float)
ANY_VALUES = st.lists(ANY_NUMBER, max_size=30)
ANY_TEXT = st.text(max_size=30)
NOON = datetime(2026, 10, 2, 12, tzinfo=UTC)


def hours(count: int) -> list[datetime]:
    """Moments an hour apart."""
    return [NOON + timedelta(hours=number) for number in range(count)]


def drawn(markup: str) -> ET.Element:
    """The markup as a tree: it is well formed, and holds neither a style, a script, nor a number that is none."""
    tree = ET.fromstring(f"<body>{markup}</body>")
    for node in tree.iter():
        assert node.tag != "script"
        for name, value in node.attrib.items():
            assert name != "style"
            assert not name.startswith("on")
            if name in {"d", "x", "y", "width", "height", "x1", "x2", "y1", "y2"}:
                assert "nan" not in value
                assert "inf" not in value
                assert "-" not in value.removeprefix("-")
    return tree


def printable(text: str) -> str:
    """XML has no control characters; a page's templates show them as escapes before they reach a chart."""
    return "".join(character for character in text if character.isprintable())


@given(ANY_VALUES, ANY_TEXT.map(printable))
def test_a_spark_line_takes_any_values(values: list[float | None], label: str) -> None:
    """Whatever the numbers and the label, the markup is sound and says the label."""
    tree = drawn(sparkline(values, label=label))

    assert any((node.text or node.get("title") or "").startswith(label) for node in tree.iter())


@given(ANY_VALUES, ANY_VALUES, ANY_TEXT.map(printable))
def test_lines_and_bars_take_any_values(first: list[float | None], second: list[float | None], name: str) -> None:
    """Lists of different lengths, empty ones, NaN and huge numbers all give sound markup."""
    layers = [Series(name, first, "p50"), Series("b", second, "error")]

    for markup in (line_chart(hours(len(first)), layers, title=name), stacked_bars(hours(len(first)), layers, title=name)):
        drawn(markup)


@given(st.lists(st.tuples(ANY_TEXT.map(printable), ANY_NUMBER), max_size=10))
def test_a_list_of_bars_takes_any_values(rows: list[tuple[str, float | None]]) -> None:
    """Every label stands in the list, and no bar is longer than its track."""
    tree = drawn(bar_list([Bar(label, value) for label, value in rows], title="tools"))

    widths = [float(node.get("width", "0")) for node in tree.iter("rect") if node.get("class") != "track"]
    assert len(widths) == len(rows)
    assert all(0 <= width <= 100 for width in widths)


@given(st.floats(min_value=0, max_value=1e18))
def test_an_axis_ends_at_or_above_its_values(value: float) -> None:
    """The end is finite, not below the value, and at most ten times of it."""
    top = nice_top(value)

    assert math.isfinite(top)
    assert top >= value or math.isclose(top, value)
    assert value < 1e-300 or top <= 10 * value


@given(st.floats(min_value=0, max_value=1e15) | st.sampled_from([math.nan, math.inf, -math.inf]))
def test_numbers_are_short(value: float) -> None:
    """No recorded number makes a column wide."""
    for text in (short(value), milliseconds(value), size(value)):
        assert 0 < len(text) <= 9


@given(st.floats(min_value=0, max_value=1))
def test_shares_tell_none_and_all_from_nearly(value: float) -> None:
    """Four characters and the sign; 0% and 100% are said only of exactly none and all."""
    text = share(value)

    assert len(text) <= 5
    assert (text == "0%") == (value == 0)
    assert (text == "100%") == (value == 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.5, "0.5"), (999, "999"), (999.6, "1k"), (1000, "1k"), (1049, "1.05k"), (999_499, "999k"), (999_999, "1M"), (1e9, "1G")],
)
def test_counts_round_over_a_border(value: float, text: str) -> None:
    """A number that rounds to a thousand is written with the next prefix."""
    assert short(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 ms"),
        (0.04, "0.04 ms"),
        (9.96, "10 ms"),
        (999, "999 ms"),
        (999.9, "1 s"),
        (12_345, "12 s"),
        (180_000, "3 min"),
        (2e8, "2.3 d"),
    ],
)
def test_durations_choose_their_unit(value: float, text: str) -> None:
    """Two digits, and the unit that makes them readable."""
    assert milliseconds(value) == text


def test_texts_in_charts_are_escaped() -> None:
    """Names that were recorded are text, never markup."""
    nasty = '"><script>alert(1)</script>'

    for markup in (
        sparkline([1.0], label=nasty),
        line_chart(hours(2), [Series(nasty, [1.0, 2.0])], title=nasty, link=f"/calls?tool={nasty}&since="),
        stacked_bars(hours(1), [Series(nasty, [1.0])], title=nasty),
        bar_list([Bar(nasty, 1.0, note=nasty, href=nasty)], title=nasty),
    ):
        assert "<script" not in markup


def test_a_tone_that_does_not_exist_is_plain() -> None:
    """A class name is never taken from outside the list."""
    tone = cast("Tone", "no-such tone")

    assert "no-such" not in sparkline([1.0], label="calls", tone=tone)


def test_a_gap_breaks_the_line() -> None:
    """Between two stretches of values there is no line, and a value alone is a dot."""
    tree = drawn(line_chart(hours(4), [Series("p50", [1.0, 2.0, None, 3.0], "p50")], title="Latency"))

    (path,) = [node.get("d", "") for node in tree.iter("path")]
    assert path.count("M") == 2
    assert path.endswith("h0.01")


def test_a_chart_tells_its_values_in_words() -> None:
    """A description for those who hear the page, a title for every moment, axis labels beside the drawing."""
    tree = drawn(outcome_chart(hours(3), ok=[5, 6, 7], soft_errors=[0, 1, 0], errors=[0, 0, 2]))

    assert [node.text for node in tree.iter("desc")] == [
        "2026-10-02 12:00 to 2026-10-02 14:00 UTC; errors: 0 to 2, last 2; soft errors: 0 to 1, last 0; ok: 5 to 7, last 7"
    ]
    assert [node.text for node in tree.iter("title")][1] == "2026-10-02 12:00 UTC: errors 0, soft errors 0, ok 5"
    assert [node.text for node in tree.iter("time")] == ["12:00", "13:00", "14:00"]


def test_a_single_failure_among_many_calls_is_seen() -> None:
    """Its layer is never thinner than a fraction of a pixel."""
    tree = drawn(outcome_chart(hours(1), ok=[1_000_000], soft_errors=[0], errors=[1]))

    (height,) = [float(node.get("height", "0")) for node in tree.iter("rect") if node.get("class") == "tone-error"]
    assert height >= 0.5


def test_nothing_recorded_is_said() -> None:
    """An empty chart is a sentence, not an empty frame."""
    assert "Nothing was recorded here." in latency_chart([])
