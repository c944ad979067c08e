"""Recorded JSON as folded, coloured markup: made on the server, escaped, limited in size whatever it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from markupsafe import Markup, escape

MAX_NODES: Final = 5000
MAX_DEPTH: Final = 40
_MAX_TEXT_CHARS: Final = 20_000
_MAX_COPIED_CHARS: Final = 100_000
_OPEN_DEPTH: Final = 2
_OPEN_ITEMS: Final = 30
_KINDS: Final = {str: "s", bool: "b", int: "n", float: "n"}


def json_view(value: Any) -> Markup:
    """Markup of any JSON value: objects and lists fold, the outer ones stand open.

    Beyond 5,000 values or 40 levels the rest is only counted.

    >>> str(json_view({"a": "<b>"})).partition("</span>: ")[2]
    '<span class="s">&#34;&lt;b&gt;&#34;</span></li></ul></details>'
    """
    return Markup("").join(_View().parts(value, 0))


class _View:
    """One drawing; counts what it has shown."""

    def __init__(self) -> None:
        self.left = MAX_NODES

    def parts(self, value: Any, depth: int) -> Iterator[Markup]:
        self.left -= 1
        if isinstance(value, dict | list) and value:
            yield from self._folded(value, depth)
        else:
            yield _plain(value)

    def _folded(self, value: dict[str, Any] | list[Any], depth: int) -> Iterator[Markup]:
        first, last = "{}" if isinstance(value, dict) else "[]"
        if depth >= MAX_DEPTH:
            yield Markup('<span class="cut">{}{} more{}</span>').format(first, len(value), last)
            return
        is_open = " open" if (depth < _OPEN_DEPTH and len(value) <= _OPEN_ITEMS) or depth == 0 else ""
        yield Markup('<details{}><summary>{}<span class="count">{}</span>{}</summary><ul>').format(is_open, first, len(value), last)
        items = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for place, (key, item) in enumerate(items):
            if self.left <= 0:
                yield Markup('<li class="cut">and {} more</li>').format(len(value) - place)
                break
            yield Markup("<li>") if key is None else Markup('<li><span class="k">{}</span>: ').format(_quoted(str(key)))
            yield from self.parts(item, depth + 1)
            yield Markup("</li>")
        yield Markup("</ul></details>")


def _plain(value: Any) -> Markup:
    if isinstance(value, str) and len(value) > _MAX_TEXT_CHARS:
        more = len(value) - _MAX_TEXT_CHARS
        return Markup('<span class="s">{}</span> <span class="cut">and {} more characters</span>').format(
            _quoted(value[:_MAX_TEXT_CHARS]), f"{more:,}"
        )
    text = "null" if value is None else "{}" if value == {} else "[]" if value == [] else _written(value)
    return Markup('<span class="{}">{}</span>').format(_KINDS.get(type(value), "x"), text)


def _written(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _quoted(text: str) -> str:
    """JSON text in which only what cannot be seen is written as an escape."""
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(character if character.isprintable() else _escaped(character) for character in shown)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode() if ord(character) > 0xFF else f"\\u{ord(character):04x}"


def plain_text(value: Any) -> Markup:
    r"""Recorded text with what cannot be seen made visible, line breaks kept: nothing recorded can turn what follows around.

    >>> str(plain_text("a" + chr(27) + "[31m" + chr(0x202E)))
    'a\\x1b[31m\\u202e'
    """
    return escape(visible("" if value is None else str(value)))


def visible(text: str) -> str:
    """The same, not yet escaped: for what is escaped elsewhere."""
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    return character if character.isprintable() or character in "\n\t" else character.encode("unicode_escape").decode()


def json_text(value: Any) -> str:
    """The value as text to copy; empty when it is too long to stand in a page twice.

    >>> print(json_text({"size": 3}))
    {
      "size": 3
    }
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    text = "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)
    return text if len(text) <= _MAX_COPIED_CHARS else ""
