"""Soft errors: results that were returned, not raised, and still say that the call failed.

A result classifier is `(tool, result) -> str | None`; None means ok, a string is the failure's message. The one made
here looks only at what a result says about itself at its top: a status, a flag, FastMCP's error mark, an error text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

ResultClassifier: TypeAlias = Callable[[str, Any], str | None]

# More than any record keeps: the rest of the road (redaction, cutting) must not depend on how long a text a tool returns.
MAX_MESSAGE_CHARS: Final = 65_536
_MAX_CONTENT_ITEMS: Final = 64

# What `check` answers: the rule that decided (its key in docs/outcomes.md) and the message, None for "ok".
Verdict: TypeAlias = tuple[str, str | None]


class SoftErrorClassifier:
    """What `soft_error_classifier` makes: call it with `(tool, result)`. Immutable, usable from any thread."""

    __slots__ = ("_error_paths", "_flag_keys", "_message_paths", "_status_keys", "_statuses")

    # Cheap enough to run on the caller's time, on the result itself, which then need not be decoded again.
    inline = True

    def __init__(
        self,
        statuses: Iterable[str],
        status_keys: Iterable[str],
        flag_keys: Iterable[str],
        error_keys: Iterable[str],
        message_keys: Iterable[str],
    ) -> None:
        self._statuses = frozenset(status.lower() for status in statuses)
        self._status_keys = tuple(status_keys)
        self._flag_keys = tuple(flag_keys)
        self._error_paths = tuple((path, _steps(path)) for path in error_keys)
        self._message_paths = tuple((path, _steps(path)) for path in message_keys)

    def __call__(self, tool: str, result: Any) -> str | None:  # noqa: ARG002 - the signature of every classifier
        """The failure's message, or None when the result says nothing of a failure."""
        if not isinstance(result, dict):
            return None
        verdict = self.check(result)
        return None if verdict is None else verdict[1]

    def check(self, result: dict[Any, Any]) -> Verdict | None:
        """The rule that decides and its message (None: ok), or None when no rule applies."""
        return self.status(result) or self.flag(result) or self.is_error(result) or self.flag_true(result) or self.error_text(result)

    # Each rule alone, in the order in which they are tried; the thorough classifier can leave some out.

    def status(self, result: dict[Any, Any]) -> Verdict | None:
        """A status key holds a failing status."""
        for key in self._status_keys:
            value = result.get(key)
            if isinstance(value, str) and value.lower() in self._statuses:
                return "status", _labelled(f"{key}={value}", self.detail(result))
        return None

    def flag(self, result: dict[Any, Any]) -> Verdict | None:
        """A flag key is exactly False."""
        for key in self._flag_keys:
            if result.get(key) is False:
                return "flag", _labelled(f"{key}=False", self.detail(result))
        return None

    def is_error(self, result: dict[Any, Any]) -> Verdict | None:
        """The tool marked its result as an error."""
        if result.get("isError") is True or result.get("is_error") is True:
            return "is_error", _labelled("isError", self.detail(result) or content_text(result.get("content")))
        return None

    def flag_true(self, result: dict[Any, Any]) -> Verdict | None:
        """A flag key is exactly True: ok, whatever else there is."""
        for key in self._flag_keys:
            if result.get(key) is True:
                return "flag_true", None
        return None

    def error_text(self, result: dict[Any, Any]) -> Verdict | None:
        """An error key holds a non-blank string."""
        for path, steps in self._error_paths:
            value = _find(result, path, steps)
            if isinstance(value, str) and (text := value[:MAX_MESSAGE_CHARS].strip()):
                return "error_text", f"{path}: {text}"
        return None

    def detail(self, result: dict[Any, Any]) -> str:
        """The first non-empty value of the message keys; a dict there is searched one level down. Empty: none."""
        for path, steps in self._message_paths:
            value = _find(result, path, steps)
            text = self._inner_detail(value) if isinstance(value, dict) else _scalar(value)
            if text:
                return text
        return ""

    def _inner_detail(self, inner: dict[Any, Any]) -> str:
        for path, steps in self._message_paths:
            text = _scalar(_find(inner, path, steps))
            if text:
                return text
        return ""


def soft_error_classifier(
    *,
    statuses: Iterable[str] = ("error", "failed", "failure"),
    status_keys: Iterable[str] = ("status", "state"),
    flag_keys: Iterable[str] = ("ok", "success"),
    extra_statuses: Iterable[str] = (),
    error_keys: Iterable[str] = ("error",),
    message_keys: Iterable[str] = ("error", "message", "detail", "reason"),
) -> SoftErrorClassifier:
    """Make a classifier that finds failures in what a dict result says of itself.

    Results other than dicts are ok. The first check that applies decides: a failing status, a flag that is exactly
    `False`, `isError` / `is_error`, a flag that is exactly `True` (ok), an error key with a non-blank string.

    Args:
        statuses: Values that mean failure at a status key, whatever their case.
        status_keys: Keys that hold a status.
        flag_keys: Keys that hold a success boolean.
        extra_statuses: Added to `statuses`.
        error_keys: Keys whose non-blank string is a failure on its own; dotted paths (`"snapshot.error"`) lead into
            dicts, and a key that literally contains the dot wins. `()` turns the check off.
        message_keys: Keys, or dotted paths, that are searched for the message's detail.

    Returns:
        A function `(tool, result) -> str | None`.

    Raises:
        ValueError: an argument is a bare string, or holds something that is not a non-empty string.

    >>> classify = soft_error_classifier(extra_statuses=("unknown_target",))
    >>> classify("render", {"status": "unknown_target", "error": "no such object"})
    'status=unknown_target: no such object'
    """
    return SoftErrorClassifier(
        (*_strings("statuses", statuses), *_strings("extra_statuses", extra_statuses)),
        _strings("status_keys", status_keys),
        _strings("flag_keys", flag_keys),
        _strings("error_keys", error_keys),
        _strings("message_keys", message_keys),
    )


def _strings(option: str, value: Iterable[str]) -> tuple[str, ...]:
    """The option's strings; a bare string would silently be taken letter by letter."""
    if isinstance(value, (str, bytes)):
        raise ValueError(f"{option}={value!r}: must be a collection of strings, such as ({value!r},)")
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(f"{option}={value!r}: must be a collection of strings; () for none") from None
    for item in found:
        if not isinstance(item, str) or not item:
            raise ValueError(f"{option}: {item!r} is not a non-empty string")
    return found


def _steps(path: str) -> tuple[str, ...]:
    """The keys of a dotted path; none when there is nothing to descend into."""
    steps = tuple(path.split("."))
    return steps if len(steps) > 1 and all(steps) else ()


def _find(result: dict[Any, Any], path: str, steps: tuple[str, ...]) -> Any:
    """The value at a path; None when a step is missing or no dict. A key that contains the dots itself wins."""
    if not steps or path in result:
        return result.get(path)
    value: Any = result
    for step in steps:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def _scalar(value: Any) -> str:
    """A value as a detail: empty for None, lists, blank text, and what cannot be shown."""
    if isinstance(value, str):
        text = value[:MAX_MESSAGE_CHARS]
        return "" if text.isspace() else text
    if value is None or isinstance(value, (dict, list, tuple, set, frozenset)):
        return ""
    try:
        return str(value)[:MAX_MESSAGE_CHARS]
    except Exception:  # noqa: BLE001 - a foreign __str__, or an integer too long to print: there is no detail
        return ""


def _labelled(label: str, detail: str) -> str:
    label = label[:MAX_MESSAGE_CHARS]
    return f"{label}: {detail}" if detail else label


def content_text(content: Any) -> str:
    """The text of content items: strings, or dicts with a `text`; joined by spaces, bounded."""
    if isinstance(content, str):
        return _scalar(content)
    if not isinstance(content, (list, tuple)):
        return ""
    texts: list[str] = []
    room = MAX_MESSAGE_CHARS
    for item in content[:_MAX_CONTENT_ITEMS]:
        text = item.get("text") if isinstance(item, dict) else item
        if isinstance(text, str) and text.strip():
            texts.append(text[:room])
            room -= len(texts[-1]) + 1
            if room <= 0:
                break
    return " ".join(texts)


DEFAULT_RESULT_CLASSIFIER: Final = soft_error_classifier()
