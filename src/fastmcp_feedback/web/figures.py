"""How numbers look on a page: short, with a unit, the same in tables and charts."""

from __future__ import annotations

import math
from typing import Final

NOTHING: Final = "\N{EN DASH}"
_THOUSANDS: Final = ("", "k", "M", "G", "T", "P", "E")


def known(value: float | None) -> float | None:
    """The value, or None when it is no number that can be shown."""
    return None if value is None or not math.isfinite(value) else float(value)


def short(value: float | None) -> str:
    """A count in at most four digits.

    >>> short(12.0), short(1234), short(999_999), short(2_500_000), short(0.25), short(None) == NOTHING
    ('12', '1.23k', '1M', '2.5M', '0.25', True)
    """
    number = known(value)
    if number is None:
        return NOTHING
    if abs(number) < 1000:
        return _digits(number) if abs(number) < 999.5 else f"{math.copysign(1, number):.0f}k"
    return _with_prefix(number, 1000.0, _THOUSANDS)


def milliseconds(value: float | None) -> str:
    """A duration given in milliseconds.

    >>> milliseconds(0.512), milliseconds(84.3), milliseconds(1234.0), milliseconds(61_000), milliseconds(7_200_000)
    ('0.51 ms', '84 ms', '1.2 s', '61 s', '2 h')
    """
    number = known(value)
    if number is None:
        return NOTHING
    for limit, divisor, unit in ((1000.0, 1.0, "ms"), (120_000.0, 1000.0, "s"), (7_200_000.0, 60_000.0, "min"), (1.728e8, 3.6e6, "h")):
        if abs(number) < limit * 0.9995:
            return f"{_two(number / divisor)} {unit}"
    return f"{short(round(number / 8.64e7, 1))} d" if abs(number) >= 1.728e8 else f"{_two(number / 3.6e6)} h"


def share(value: float | None) -> str:
    """A share of 0 to 1 in percent; what is neither none nor all never looks like it.

    >>> share(0.0), share(0.0004), share(0.034), share(0.25), share(0.9999), share(1.0)
    ('0%', '<0.1%', '3.4%', '25%', '>99%', '100%')
    """
    number = known(value)
    if number is None:
        return NOTHING
    if 0 < number < 0.001:
        return "<0.1%"
    if 0.995 <= number < 1:
        return ">99%"
    return f"{number * 100:.1f}%".replace(".0%", "%") if number < 0.0995 else f"{number:.0%}"


def size(value: float | None) -> str:
    """A number of bytes.

    >>> size(512), size(1400), size(3_200_000), size(None) == NOTHING
    ('512 B', '1.4 kB', '3.2 MB', True)
    """
    number = known(value)
    if number is None:
        return NOTHING
    if abs(number) < 999.5:
        return f"{number:.0f} B"
    text = _with_prefix(number, 1000.0, ("", " k", " M", " G", " T", " P", " E"), two=True)
    return f"{text}B"


def _with_prefix(number: float, base: float, prefixes: tuple[str, ...], *, two: bool = False) -> str:
    power = min(len(prefixes) - 1, int(math.log(abs(number), base)))
    scaled = number / base**power
    if abs(scaled) >= 999.5 and power < len(prefixes) - 1:
        power, scaled = power + 1, scaled / base
    elif abs(scaled) >= 999.5:
        return f"{scaled:.2g}{prefixes[power]}"
    elif abs(scaled) < 1:  # a logarithm just above what it should be
        power, scaled = power - 1, scaled * base
    return f"{_two(scaled) if two else _digits(scaled)}{prefixes[power]}"


def _digits(number: float) -> str:
    """Three significant digits, no needless zeros, never an exponent for ordinary values."""
    if number == 0:
        return "0"
    text = f"{number:.3g}"
    return "<0.01" if "e-" in text and number > 0 else text


def _two(number: float) -> str:
    """Two significant digits below ten, whole numbers above."""
    if number == 0:
        return "0"
    if abs(number) >= 9.95:
        return f"{number:.0f}"
    return "<0.01" if 0 < number < 0.01 else f"{number:.2g}"
