"""What an address asks for: the filter, parsed as on the command line, and what only this page knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from ..query.filters import Filter
from ..query.moments import FilterError, parse_moment

FILTER_NAMES: Final = tuple(field.name for field in fields(Filter))
USUAL_SINCE: Final = "7d"
_KEPT: Final = ("since", "until", "user", "client", "server_version", "internal")
"""What stays in links from one page to another: the window and whose calls; a tool or a failure is another question."""
_MAX_CHARS: Final = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """The filter, the words that it was made from, and the page's own words."""

    which: Filter
    words: dict[str, str]
    own: dict[str, str]

    @property
    def narrowed(self) -> bool:
        """Does the filter leave anything out?"""
        return self.which != Filter(internal=self.which.internal)

    def linked(self, path: str, /, **more: str | None) -> str:
        """The address of another page, in the same window of time; None and what is not in `more` is left out.

        >>> read({"since": "24h", "tool": "render"}, ()).linked("/calls", outcome="failed")
        '/calls?since=24h&outcome=failed'
        """
        kept: dict[str, str | None] = {name: self.words[name] for name in _KEPT if name in self.words}
        return address(path, {**kept, **more})

    def again(self, path: str, /, **more: str | None) -> str:
        """The address of the same page with something changed: the next page of a list."""
        return address(path, {**self.words, **self.own, **more})


def address(path: str, words: Mapping[str, str | None]) -> str:
    """A path with a query; values that are None are left out.

    >>> address("/tool", {"tool": "a&b", "since": None})
    '/tool?tool=a%26b'
    """
    given = {name: value for name, value in words.items() if value is not None}
    return f"{path}?{urlencode(given, errors='surrogatepass')}" if given else path


def read(values: Mapping[str, str], own_names: Iterable[str], *, usual_since: str | None = None, now: datetime | None = None) -> Asked:
    """Take the words of an address apart. Without `since` and `until` it is the usual window; an empty `since` means all time.

    Raises:
        FilterError: a word that is not known or not allowed; the text says what is.
    """
    own_names = frozenset(own_names)
    for name, value in values.items():
        if len(value) > _MAX_CHARS:
            raise FilterError(f"{name[:40]} has {len(value)} characters, at most {_MAX_CHARS} are allowed")
    own = {name: value for name, value in values.items() if name in own_names and value.strip()}
    words = {name: value.strip() for name, value in values.items() if name not in own_names}
    _take_span(words)
    if usual_since is not None and "since" not in words and not words.get("until"):
        words["since"] = usual_since
    which = Filter.parse(words, now)
    return Asked(which, {name: value for name, value in words.items() if value or name == "since"}, own)


def read_cursor(value: str | None) -> tuple[datetime, str] | None:
    """Moment and id of the last row of the page before.

    Raises:
        FilterError: it is no cursor.
    """
    if not value:
        return None
    moment, _, last = value.partition("~")
    return parse_moment(moment), last


def write_cursor(moment: datetime, last: str) -> str:
    """What `read_cursor` takes."""
    return f"{moment.isoformat()}~{last}"


def _take_span(words: dict[str, str]) -> None:
    """`since` with `span`, a number of seconds, is one step of a chart: it becomes `since` and `until`."""
    span = words.pop("span", "")
    if not span or not words.get("since"):
        return
    try:
        words["until"] = (parse_moment(words["since"]) + timedelta(seconds=int(span))).isoformat()
    except (ValueError, OverflowError) as exc:
        raise FilterError(f"span {span!r} is no number of seconds") from exc
