"""A classifier for servers that report failures in every way that servers do: in texts, objects, lists and codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from ..jsonsafe import loads
from . import thorough_batches as batches
from . import thorough_codes as codes
from . import thorough_dicts as dicts
from . import thorough_texts as texts
from .classify import DEFAULT_RESULT_CLASSIFIER, Verdict
from .thorough_keys import Parts
from .thorough_rules import RULES

_JSON_CHARS: Final = 32_768  # a longer text is data, not the report of a failure
_TEXT_ITEMS: Final = 4
_WRAPPERS: Final = frozenset({"result", "content", "text", "output", "response", "data"})
_ENVELOPES: Final = ("data", "response", "result", "output", "payload", "body")

Check = Callable[[Parts], str | None]
# Rule -> check, and the roles of keys without which it has nothing to say.
_DICT_CHECKS: Final[dict[str, tuple[Check, frozenset[str]]]] = {
    "flag_words": (dicts.flag_words, frozenset({"flag", "bad_flag"})),
    "status_words": (dicts.status_words, frozenset({"status", "batch"})),
    "problem": (codes.problem_document, frozenset({"error_kind"})),
    "error_object": (dicts.error_object, frozenset({"error"})),
    "error_key": (dicts.error_key, frozenset({"error", "error_text"})),
    "error_list": (dicts.error_list, frozenset({"errors"})),
    "validation_list": (dicts.validation_list, frozenset({"message"})),
    "http_status": (codes.http_status, frozenset({"http", "status", "code"})),
    "error_code": (codes.error_code, frozenset({"code"})),
    "error_kind": (codes.error_kind, frozenset({"error_kind", "tasktype"})),
    "exit_code": (codes.exit_code, frozenset({"exit"})),
    "batch_failed": (batches.batch_failed, frozenset({"batch", "worked"})),
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Which rule took a result for a failure, and the message that the record gets."""

    rule: str
    message: str


class ThoroughClassifier:
    """What `thorough_classifier` makes: call it with `(tool, result)`. Immutable, usable from any thread."""

    __slots__ = ("_base", "_checks", "_exempt", "_rules", "_text_rules")

    def __init__(self, rules: frozenset[str], exempt_tools: frozenset[str]) -> None:
        self._rules = rules
        self._exempt = exempt_tools
        self._checks = tuple((name, *entry) for name, entry in _DICT_CHECKS.items() if name in rules)
        self._text_rules = rules & frozenset(texts.RULES)
        base = DEFAULT_RESULT_CLASSIFIER
        steps = (base.status, base.flag, base.is_error, base.flag_true, base.error_text)
        self._base = tuple(step for step in steps if step.__name__ in rules)

    def __call__(self, tool: str, result: Any) -> str | None:
        """The failure's message, or None when no rule applies."""
        found = self._find(tool, result)
        return None if found is None else found[1]

    def explain(self, result: Any, tool: str = "") -> Explanation | None:
        """The rule that decides, with the message; None for a result that is ok.

        >>> thorough_classifier().explain({"result": "Error: no such column: nme"})
        Explanation(rule='text_error', message='text: Error: no such column: nme')
        """
        found = self._find(tool, result)
        return None if found is None else Explanation(*found)

    def _find(self, tool: str, result: Any) -> tuple[str, str] | None:
        if tool in self._exempt:
            return None
        return self._value(result, 0)

    def _value(self, value: Any, depth: int) -> tuple[str, str] | None:
        if isinstance(value, dict):
            return self._dict(value, depth)
        if isinstance(value, str):
            return self._text(value, depth)
        if isinstance(value, list) and value:
            return self._list(value, depth)
        return None

    # -- dicts

    def _dict(self, result: dict[Any, Any], depth: int) -> tuple[str, str] | None:
        if len(result) == 1 and isinstance(wrapped := result.get("result"), (str, list)):  # how FastMCP wraps a text or a list
            return self._value(wrapped, depth + 1) if depth <= _MAX_DEPTH else None
        for step in self._base:
            verdict = step(result)
            if verdict is not None and not _is_noise(verdict, result):
                return None if verdict[1] is None else (verdict[0], verdict[1])
        parts = Parts(result)
        if not parts.by_role and len(result) > 1:
            return None
        roles = parts.by_role.keys()
        for rule, check, needs in self._checks:
            if not needs.isdisjoint(roles) and (message := check(parts)) is not None:
                return rule, message
        return self._inside(parts, depth)

    def _inside(self, parts: Parts, depth: int) -> tuple[str, str] | None:
        """What stands inside: FastMCP's `{"result": ...}`, the envelope of an API, or a message with nothing beside it."""
        if depth > _MAX_DEPTH:
            return None
        result = parts.result
        if len(result) == 1:
            key, value = next(iter(result.items()))
            if (
                key in _WRAPPERS
                and not (key == "data" and isinstance(value, dict))
                and (found := self._value(value, depth + 1)) is not None
            ):
                return found
        if "message_only" in self._rules and (said := dicts.message_only(parts)):
            rule = texts.find(said, self._text_rules)
            if rule is not None:
                return "message_only", _said(said)
        if "envelope" in self._rules:
            for key in _ENVELOPES:
                inner = result.get(key)
                if isinstance(inner, dict) and inner and (message := self._envelope(inner)) is not None:
                    return "envelope", f"{key}.{message}"
        return None

    def _envelope(self, inner: dict[Any, Any]) -> str | None:
        """An envelope's content has failed when it says so and says why; a bare status is a record that was asked for."""
        verdict = DEFAULT_RESULT_CLASSIFIER.check(inner)
        if verdict is not None:
            return verdict[1] if verdict[0] != "status" or DEFAULT_RESULT_CLASSIFIER.detail(inner) else None
        return dicts.error_object(Parts(inner))

    # -- lists and texts

    def _list(self, items: list[Any], depth: int) -> tuple[str, str] | None:
        first = items[0]
        if isinstance(first, dict) and isinstance(first.get("text"), str) and len(first) <= 4:
            items = [item.get("text") for item in items[: _TEXT_ITEMS + 1] if isinstance(item, dict)]
            first = items[0]
        if isinstance(first, str):
            if len(items) > _TEXT_ITEMS:
                return None
            strings = [item[: texts.HEAD_CHARS] for item in items[1:] if isinstance(item, str)]
            return self._text(f"{first} {' '.join(strings)}" if strings and len(first) < texts.HEAD_CHARS else first, depth)
        if "batch_failed" in self._rules and (said := batches.items_failed(items)):
            return "batch_failed", dicts.labelled("all failed", said)
        return None

    def _text(self, text: str, depth: int) -> tuple[str, str] | None:
        if len(text) <= _JSON_CHARS and depth <= _MAX_DEPTH and "json_text" in self._rules:
            body = text.strip()
            if body.startswith("```"):
                body = body.strip("`").removeprefix("json").strip()
            if body[:1] in {"{", "["} and body[-1:] in {"}", "]"}:
                try:
                    value = loads(body)
                except ValueError:
                    if body[0] == "{":
                        return None
                else:
                    return self._value(value, depth + 1)
        rule = texts.find(text, self._text_rules)
        return None if rule is None else (rule, _said(text))


_MAX_DEPTH: Final = 2


def _is_noise(verdict: Verdict, result: dict[Any, Any]) -> bool:
    """An `error` that is always there and says `none`."""
    return verdict[0] == "error_text" and dicts.said_nothing(result["error"])


def _said(text: str) -> str:
    return dicts.labelled("text", text[:_MESSAGE_CHARS])


_MESSAGE_CHARS: Final = 4096


def thorough_classifier(*, exempt_tools: Iterable[str] = (), **switches: bool) -> ThoroughClassifier:
    """Make a classifier that also finds failures in texts, error objects, lists of errors, codes and failed batches.

    It begins with the checks of `soft_error_classifier()`. Work is bounded whatever the result's size: only the heads
    of texts and the first keys and items are looked at.

    Args:
        exempt_tools: Tools whose results are always ok, such as a log search.
        **switches: A rule's name and False to leave it out; the names are in `docs/outcomes.md`.

    Returns:
        A function `(tool, result) -> str | None` with a method `explain(result, tool="")` that names the rule.

    Raises:
        ValueError: no such rule, or `exempt_tools` is a bare string.
        TypeError: a switch is neither True nor False.

    >>> classify = thorough_classifier(exempt_tools=("search_logs",), exit_code=False)
    >>> classify("query", {"result": "Error: no such column: nme"})
    'text: Error: no such column: nme'
    >>> classify("search_logs", {"result": "Error: no such column: nme"})
    """
    known = frozenset(rule.name for rule in RULES)
    unknown = sorted(switches.keys() - known)
    if unknown:
        raise ValueError(f"thorough_classifier has no rule {unknown[0]!r}; its rules are {', '.join(sorted(known))}")
    for name, switch in switches.items():
        if not isinstance(switch, bool):
            raise TypeError(f"{name}={switch!r}: must be True or False")
    if isinstance(exempt_tools, (str, bytes)):
        raise ValueError(f"exempt_tools={exempt_tools!r}: must be a collection of tool names, such as ({exempt_tools!r},)")
    return ThoroughClassifier(frozenset(name for name in known if switches.get(name, True)), frozenset(exempt_tools))
