"""The structure walk: secret keys, pairs of name and value, flags in argument lists, and text everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .keys import PLAIN, STRONG
from .lost import collect
from .values import STATUSES, is_placeholder, looks_like_password, looks_random

TRUNCATED: Final = "[TRUNCATED]"
NAME_FIELDS: Final = (
    "name",
    "key",
    "field",
    "header",
    "id",
    "variable",
    "label",
    "Name",
    "Key",
    "k",
    "param",
    "parameter",
    "property",
    "env",
)
VALUE_FIELDS: Final = ("value", "Value", "defaultValue")
_MAX_FIELDS: Final = 12
_MAX_NAME: Final = 64
_SCHEMA: Final = frozenset(
    (
        "type",
        "description",
        "title",
        "format",
        "minLength",
        "maxLength",
        "pattern",
        "properties",
        "required",
        "items",
        "enum",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "nullable",
        "readOnly",
        "writeOnly",
        "deprecated",
        "additionalProperties",
        "minimum",
        "maximum",
        "const",
        "default",
        "examples",
    )
)
_SCHEMA_PARTS: Final = frozenset(("default", "const", "enum", "examples", "example"))
_TYPES: Final = frozenset(("string", "number", "integer", "boolean", "object", "array", "null"))
_REFERENCES: Final = frozenset(
    (
        "valueFrom",
        "secretKeyRef",
        "configMapKeyRef",
        "$ref",
        "Ref",
        "Fn::GetAtt",
        "fromSecret",
        "secretRef",
        "valueFromSecret",
        "secret_ref",
        "from_secret",
        "existingSecret",
    )
)


class Walk:
    """One redaction of one value. `text` and `rank` are the redactor's own methods, so that a subclass is honoured."""

    __slots__ = ("_found", "_max_depth", "_path", "_rank", "_replacement", "_report", "_text")

    def __init__(
        self,
        text: Callable[[str], str],
        rank: Callable[[str], int],
        replacement: str,
        max_depth: int,
        found: list[str] | None = None,
        report: Callable[[tuple[str, ...], str, int], None] | None = None,
    ) -> None:
        self._text = text
        self._rank = rank
        self._replacement = replacement
        self._max_depth = max_depth
        self._found = found
        self._report = report
        self._path: list[str] = []

    @property
    def path(self) -> tuple[str, ...]:
        """The keys and places that lead to the value under work."""
        return tuple(self._path)

    def value(self, value: Any, depth: int = 0) -> Any:
        """The redacted copy of a value."""
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, (bool, float)):
            return value
        if isinstance(value, int):
            return self._number(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._bytes(bytes(value))
        if isinstance(value, Mapping):
            return TRUNCATED if depth > self._max_depth else self._mapping(value, depth)
        if isinstance(value, (list, tuple, set, frozenset)):
            return TRUNCATED if depth > self._max_depth else self._items(list(value), depth)
        return self._foreign(value)

    def under(self, key: str, value: Any, rank: int) -> Any:
        """The redacted copy of a value that stands under a key of this rank."""
        self._path.append(key)
        return value if value is None else self._secret(value, rank, 0)

    def _number(self, value: int) -> Any:
        if -999_999_999 < value < 999_999_999:
            return value
        text = str(int(value))
        changed = self._text(text)
        return value if changed == text else changed

    def _bytes(self, value: bytes) -> bytes:
        text = value.decode("utf-8", "surrogateescape")
        changed = self._text(text)
        return value if changed == text else changed.encode("utf-8", "surrogateescape")

    def _foreign(self, value: Any) -> Any:
        """Any other type stays as it is, unless its text gives a secret away."""
        try:
            text = str(value)
        except Exception:  # noqa: BLE001 - a foreign __str__; there is no text to leak then
            return value
        changed = self._text(text)
        return value if changed == text else changed

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
        named = self._named(value)
        kubernetes = value.get("kind") == "Secret"
        out: dict[Any, Any] = {}
        for key, item in list(value.items()):
            name = _key_text(key)
            rank = PLAIN if name is None else self._rank(name)
            if kubernetes and key in ("data", "stringData") and isinstance(item, Mapping):
                rank = STRONG
            if item is named and key in VALUE_FIELDS and named is not None:
                rank = STRONG
            if name is not None:
                self._path.append("(key)")
                key = self._key(key, out)  # noqa: PLW2901 - from here on the key without a secret
                self._path.pop()
            self._path.append(str(key))
            out[key] = self._secret(item, rank, depth) if rank and item is not None else self.value(item, depth + 1)
            self._path.pop()
        return out

    def _key(self, key: Any, taken: dict[Any, Any]) -> Any:
        """The key without a secret; two keys that become alike stay two."""
        if isinstance(key, bytes):
            return self._bytes(key)
        changed = self._text(key) if isinstance(key, str) else key
        if changed == key or changed not in taken:
            return changed
        count = 2
        while f"{changed} ({count})" in taken:
            count += 1
        return f"{changed} ({count})"

    def _named(self, value: Mapping[Any, Any]) -> Any:
        """The value of `{"name": "X-Api-Key", "value": ...}` and its like, when the name is secret."""
        if not 2 <= len(value) <= _MAX_FIELDS:
            return None
        for key in VALUE_FIELDS:
            item = value.get(key)
            if item is None or isinstance(item, bool):
                continue
            if any(
                isinstance(name := value.get(field), str) and len(name) <= _MAX_NAME and self._pair_is_secret(name, item)
                for field in NAME_FIELDS
                if field != key
            ):
                return item
            if value.get("type") == "password" and isinstance(item, (str, int)):
                return item
        return None

    def _pair_is_secret(self, name: str, item: Any) -> bool:
        rank = PLAIN if name[:1] in "-[" else self._rank(name)
        if rank == STRONG:
            return True
        return rank != PLAIN and isinstance(item, str) and looks_random(item.encode("utf-8", "replace"))

    def _secret(self, item: Any, rank: int, depth: int) -> Any:
        """The value of a secret key: gone whole, unless it is plainly no secret."""
        if rank != STRONG:
            return self._weak(item, depth)
        if isinstance(item, str):
            text = item.strip()
            if text.lower() in STATUSES or (text and is_placeholder(text.encode("utf-8", "replace"))):
                return item
        elif isinstance(item, Mapping):
            if _is_schema(item):
                return {
                    key: self._secret(part, STRONG, depth + 1) if key in _SCHEMA_PARTS and part is not None else self.value(part, depth + 2)
                    for key, part in item.items()
                }
            if item and all(key in _REFERENCES for key in item):
                return self.value(item, depth + 1)
        return self._gone(item, "secret-key")

    def _weak(self, item: Any, depth: int) -> Any:
        """The value of a key that may hold a secret (`pin`, `auth`, `x_key`): gone when it looks like one."""
        key = self._path[-1].lower()
        if key.endswith("pin"):
            text = str(item) if isinstance(item, (int, str)) and not isinstance(item, bool) else ""
            return self._gone(item, "secret-key") if text.isdigit() and 4 <= len(text) <= 10 else self.value(item, depth + 1)
        if isinstance(item, str):
            data = item.encode("utf-8", "replace")
            if looks_random(data) or (not key.endswith(("key", "keys", "code", "signature")) and looks_like_password(data)):
                return self._gone(item, "secret-key")
        elif isinstance(item, Mapping) and key in {"tokens", "creds"}:
            return {name: self._weak(part, depth + 1) for name, part in item.items()}
        elif isinstance(item, (list, tuple)) and key in {"tokens", "keys", "creds"}:
            return [self._weak(part, depth + 1) for part in item]
        return self.value(item, depth + 1)

    def _gone(self, item: Any, rule: str) -> str:
        if self._found is not None:
            collect(item, self._found)
        if self._report is not None:
            self._report(tuple(self._path), rule, len(item) if isinstance(item, (str, bytes)) else len(str(item)))
        return self._replacement

    def _items(self, items: list[Any], depth: int) -> list[Any]:
        if len(items) == 2 and self._is_pair(items):
            self._path.append("1")
            out = [self.value(items[0], depth + 1), self._gone(items[1], "secret-key")]
            self._path.pop()
            return out
        shown: list[Any] = []
        secret = False
        for at, item in enumerate(items):
            self._path.append(str(at))
            if secret and isinstance(item, (str, bytes)) and item[:1] not in ("-", b"-") and item:
                shown.append(self._gone(item, "command-flag"))
            else:
                shown.append(self.value(item, depth + 1))
            secret = self._is_flag(item)
            self._path.pop()
        return shown

    def _is_flag(self, item: Any) -> bool:
        """Is this `--password` or `-password`, so that the next argument is the secret?"""
        if not isinstance(item, str) or len(item) > _MAX_NAME or not item.startswith("-") or "=" in item or " " in item:
            return False
        return self._rank(item.lstrip("-")) == STRONG

    def _is_pair(self, items: Sequence[Any]) -> bool:
        """`["Authorization", "Bearer x"]`: a header as a pair; a list of two names is none."""
        name = _key_text(items[0])
        if (
            name is None
            or len(name) > _MAX_NAME
            or name[:1] in "-["
            or self._rank(name) != STRONG
            or not isinstance(items[1], (str, bytes))
        ):
            return False
        data = items[1].encode("utf-8", "replace") if isinstance(items[1], str) else items[1]
        return looks_random(data) or looks_like_password(data) or b" " in data or b"=" in data


def _key_text(key: Any) -> str | None:
    if isinstance(key, str):
        return key
    return key.decode("utf-8", "replace") if isinstance(key, bytes) else None


def _is_schema(item: Mapping[Any, Any]) -> bool:
    """A JSON Schema of a secret, not the secret."""
    kind = item.get("type")
    named = kind in _TYPES if isinstance(kind, str) else isinstance(kind, list) and bool(kind)
    return (named or "anyOf" in item or "$ref" in item) and all(key in _SCHEMA for key in item)
