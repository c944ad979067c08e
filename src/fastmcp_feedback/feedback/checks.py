"""What a caller sent, checked. What a model can mend is said in one sentence: the field, what was wrong, what is allowed."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from fastmcp.exceptions import ToolError

from ..jsonsafe import clean_text
from . import names

_SHOWN_CHARS: Final = 40
MAX_SEARCH_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Draft:
    """A report as its submitter wrote it: checked, not yet redacted."""

    type: str
    title: str
    description: str
    submitter: str | None
    contact_info: str | None
    tool: str | None
    severity: str | None
    calls: tuple[str, ...]


def draft(
    *, type: str, title: str, description: str, submitter: str | None, contact_info: str | None,  # noqa: A002 - the field's name
    tool: str | None, severity: str | None, calls: Sequence[str] | None,
) -> Draft:  # fmt: skip
    """All fields of a report.

    Raises:
        ToolError: one of them cannot be used; the text says which, and what is allowed.
    """
    return Draft(
        type=choice("type", type, names.TYPES),
        title=text("title", title, names.MAX_TITLE_CHARS),
        description=text("description", description, names.MAX_DESCRIPTION_CHARS),
        submitter=optional_text("submitter", submitter, names.MAX_SHORT_CHARS),
        contact_info=optional_text("contact_info", contact_info, names.MAX_SHORT_CHARS),
        tool=optional_text("tool", tool, names.MAX_SHORT_CHARS),
        severity=None if severity is None or not severity.strip() else choice("severity", severity, names.SEVERITIES),
        calls=_references(calls),
    )


def choice(field: str, value: str, allowed: Sequence[str]) -> str:
    """One of a few words, whatever its case.

    Raises:
        ToolError: it is another word.
    """
    plain = value.strip().lower().replace("-", "_").replace(" ", "_")
    if plain not in allowed:
        raise ToolError(f"{field}: {_shown(value)} is not allowed; use one of {', '.join(allowed)}")
    return plain


def optional_choice(field: str, value: str | None, allowed: Sequence[str]) -> str | None:
    """The same, where it may be missing."""
    return None if value is None or not value.strip() else choice(field, value, allowed)


def text(field: str, value: str, limit_chars: int) -> str:
    """Text that says something, as it can be stored.

    Raises:
        ToolError: it is empty or too long.
    """
    plain = clean_text(value).strip() if len(value) <= limit_chars * 4 else value
    if not plain:
        raise ToolError(f"{field}: must not be empty; write 1 to {limit_chars} characters")
    if len(plain) > limit_chars:
        raise ToolError(f"{field}: has {len(plain)} characters; at most {limit_chars} are allowed")
    return plain


def optional_text(field: str, value: str | None, limit_chars: int) -> str | None:
    """The same; blank text is none."""
    return None if value is None or not value.strip() else text(field, value, limit_chars)


def number(field: str, value: int, low: int, high: int) -> int:
    """A number in a range.

    Raises:
        ToolError: it is not.
    """
    if not low <= value <= high:
        raise ToolError(f"{field}: must be between {low} and {high}, got {value}")
    return value


def feedback_id(value: str) -> str:
    """The id of a report, as it was quoted.

    Raises:
        ToolError: it does not look like one.
    """
    found = names.read_id(value)
    if found is None:
        raise ToolError(f"feedback_id: {_shown(value)} is no id of a report; an id looks like fb-7k3m9qx2rt5w")
    return found


def unknown_id(value: str) -> ToolError:
    """There is no report of that id."""
    return ToolError(f"feedback_id: there is no report {value}; list_feedback shows the reports that you may see")


def _references(calls: Sequence[str] | None) -> tuple[str, ...]:
    found = tuple(one.strip() for one in calls or () if one.strip())
    if len(found) > names.MAX_CALLS:
        raise ToolError(f"calls: has {len(found)} references; at most {names.MAX_CALLS} are allowed")
    for one in found:
        if len(one) > names.MAX_SHORT_CHARS:
            raise ToolError(f"calls: {_shown(one)} is no reference to a call; use those that a result's _meta holds, or leave calls out")
    return found


def _shown(value: str) -> str:
    """What was sent, short and harmless, so that the message stays one line."""
    return repr(clean_text(value[: _SHOWN_CHARS * 2])[:_SHOWN_CHARS] + ("..." if len(value) > _SHOWN_CHARS else ""))


# -- pages


def cursor(row: dict[str, Any]) -> str:
    """What the next page begins after."""
    return base64.urlsafe_b64encode(f"{row['created_at'].isoformat()}~{row['id']}".encode()).decode().rstrip("=")


def read_cursor(value: str | None) -> tuple[datetime, str] | None:
    """The moment and id in a cursor.

    Raises:
        ToolError: it is no cursor of ours.
    """
    if value is None or not value.strip():
        return None
    try:
        plain = base64.urlsafe_b64decode(value.strip() + "=" * (-len(value.strip()) % 4)).decode()
        moment, _, last = plain.partition("~")
        found = datetime.fromisoformat(moment)
    except (ValueError, binascii.Error) as exc:
        raise ToolError(f"cursor: {_shown(value)} is no cursor; use the one of the page before, or none") from exc
    if found.tzinfo is None or not last:
        raise ToolError(f"cursor: {_shown(value)} is no cursor; use the one of the page before, or none")
    return found, last
