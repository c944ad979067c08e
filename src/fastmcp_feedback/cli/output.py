"""How commands speak: tables for people, JSON for machines, one line and a hint for mistakes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
PIPED_WIDTH: Final = 160


class CliError(Exception):
    """What a person reads instead of a traceback."""

    def __init__(self, text: str, hint: str = "", code: int = 1) -> None:
        super().__init__(text)
        self.hint = hint
        self.code = code


def console() -> Console:
    """Where results go. Piped output is wide and without colours."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=PIPED_WIDTH, color_system=None)


def fail(error: CliError) -> int:
    """Print the error on stderr and give the exit code."""
    line = f"fastmcp-feedback: {plain(str(error))}"
    print(f"{line}\n  hint: {plain(error.hint)}" if error.hint else line, file=sys.stderr)
    return error.code


def plain(value: Any) -> str:
    """Text that a terminal only shows: control characters become visible, so nothing recorded can steer it.

    >>> plain("a" + chr(27) + "[31mb").startswith("a" + chr(92) + "x1b")
    True
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), str(value))


def table(title: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]]) -> Table:
    """A table; columns are (heading, `left` or `right`). Cells are shown as they are, never read as markup."""
    made = Table(title=title, title_justify="left", pad_edge=False, box=None, header_style="bold")
    for heading, side in columns:
        made.add_column(heading, justify="right" if side == "right" else "left", overflow="fold", no_wrap=side == "right")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text("" if cell is None else plain(cell)) for cell in row))
    return made


def print_json(value: Any) -> None:
    """JSON on stdout, times as ISO 8601."""
    print(json.dumps(value, indent=2, ensure_ascii=True, default=_default))


def _default(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def outcome_text(outcome: str) -> Text:
    """An outcome in its colour."""
    return Text(plain(outcome), style={"ok": "green", "soft_error": "yellow", "error": "red"}.get(outcome, ""))


def milliseconds(value: float | None) -> str:
    """A duration, short.

    >>> milliseconds(0.512), milliseconds(1234.0), milliseconds(61000)
    ('0.512 ms', '1.23 s', '61.0 s')
    """
    if value is None:
        return ""
    if value < 1000:
        return f"{value:.3g} ms"
    return f"{value / 1000:.3g} s" if value < 10_000 else f"{value / 1000:.1f} s"


def count(value: float) -> str:
    """A count, possibly estimated from samples.

    >>> count(12.0), count(1234567)
    ('12', '1,234,567')
    """
    return f"{value:,.0f}"


def moment(value: datetime | None) -> str:
    """A time on the reader's clock, to the second."""
    return "" if value is None else value.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def share(value: float) -> str:
    """A share of 0 to 1 in percent; what is not zero never looks like it.

    >>> share(0.0), share(0.004), share(0.25)
    ('0%', '<1%', '25%')
    """
    return "<1%" if 0 < value < 0.01 else f"{value:.0%}"


def error_text(error_type: str | None, message: str | None) -> str:
    """An error in one line; a soft error speaks for itself."""
    first = (message or "").split("\n", 1)[0]
    if error_type is None:
        return ""
    return first if error_type == "SoftError" else f"{error_type}: {first}" if first else error_type
