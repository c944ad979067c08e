"""One filter for every question: parsed the same from a command line, a URL or a tool's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from .moments import FilterError, parse_moment

OUTCOMES: Final = ("ok", "soft_error", "error")
FAULTS: Final = ("caller", "upstream", "server", "cancelled")
_MAX_CHARS: Final = 255
_COLUMNS: Final = {
    "tool": "tool", "outcome": "outcome", "fault": "fault", "user": "user_sub", "conversation": "conversation_key",
    "client": "client_id", "server_version": "server_version", "fingerprint": "fingerprint",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Filter:
    """Which calls are meant. Times are UTC, `since` included, `until` not; None means all.

    `outcome` may also be `failed` (soft errors and errors); `text` is looked for in error messages, whatever the case.
    Calls of the recorder's own tools are left out unless `internal` is set.

    >>> Filter.parse({"tool": "render", "outcome": "failed"}).tool
    'render'
    """

    since: datetime | None = None
    until: datetime | None = None
    tool: str | None = None
    outcome: str | None = None
    fault: str | None = None
    user: str | None = None
    conversation: str | None = None
    client: str | None = None
    server_version: str | None = None
    text: str | None = None
    fingerprint: str | None = None
    internal: bool = False

    @classmethod
    def parse(cls, values: Mapping[str, str | None], now: datetime | None = None) -> Filter:
        """A filter from texts; empty ones count as not given.

        Raises:
            FilterError: an unknown name, or a value that is not allowed; the text says what is.
        """
        known = {f.name for f in fields(cls)}
        parsed: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                raise FilterError(f"unknown filter {name!r}; known are {', '.join(sorted(known))}")
            if value is None or value == "":
                continue
            if name in {"since", "until"}:
                parsed[name] = parse_moment(value, now)
            elif name == "internal":
                parsed[name] = _boolean(value)
            else:
                parsed[name] = _word(name, value)
        made = cls(**parsed)
        if made.since is not None and made.until is not None and made.since >= made.until:
            raise FilterError("since must be before until")
        return made

    def texts(self) -> dict[str, str]:
        """The filter as texts that `parse` takes: for URLs and cursors."""
        found: dict[str, str] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, datetime):
                found[f.name] = value.isoformat()
            elif value is True:
                found[f.name] = "true"
            elif value:
                found[f.name] = value
        return found

    def where(self, stamp: Callable[[datetime], Any]) -> tuple[str, dict[str, Any]]:
        """An SQL condition over the calls table with named parameters; `stamp` makes a database's form of a time."""
        parts: list[str] = [] if self.internal else ["NOT internal"]
        bound: dict[str, Any] = {}
        for name, operator in (("since", ">="), ("until", "<")):
            moment = getattr(self, name)
            if moment is not None:
                parts.append(f"started_at {operator} :{name}")
                bound[name] = stamp(moment)
        for name, column in _COLUMNS.items():
            value = getattr(self, name)
            if name == "outcome" and value == "failed":
                parts.append("outcome <> 'ok'")
            elif value is not None:
                parts.append(f"{column} = :{name}")
                bound[name] = value
        if self.text is not None:
            parts.append("lower(error_message) LIKE :text ESCAPE '!'")
            bound["text"] = "%" + self.text.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%"
        return " AND ".join(parts) or "1 = 1", bound


def _word(name: str, value: str) -> str:
    allowed = {"outcome": (*OUTCOMES, "failed"), "fault": FAULTS}.get(name)
    if allowed is not None and value not in allowed:
        raise FilterError(f"{name} {value!r} does not exist; write one of {', '.join(allowed)}")
    if len(value) > _MAX_CHARS:
        raise FilterError(f"{name} has {len(value)} characters, at most {_MAX_CHARS} are allowed")
    return value


def _boolean(value: str) -> bool:
    if value.lower() in {"1", "true", "yes"}:
        return True
    if value.lower() in {"0", "false", "no"}:
        return False
    raise FilterError(f"internal is true or false, not {value!r}")
