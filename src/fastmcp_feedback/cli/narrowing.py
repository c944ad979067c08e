"""The options that choose calls, the same for every command that has them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from cyclopts import Parameter

from ..query.filters import Filter
from .reading import Since, parse

Limit = Annotated[int, Parameter(name=["-n", "--number"], help="How many at most.")]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Options of the command line; `parse` makes a filter of them."""

    since: Since = None
    until: Annotated[str | None, Parameter(help="Only before then.")] = None
    tool: Annotated[str | None, Parameter(help="Only this tool.")] = None
    outcome: Annotated[str | None, Parameter(help="ok, soft_error, error, or failed for both kinds of failure.")] = None
    fault: Annotated[str | None, Parameter(help="caller, upstream, server or cancelled.")] = None
    user: Annotated[str | None, Parameter(help="Only this verified user.")] = None
    conversation: Annotated[str | None, Parameter(help="Only the conversation with this key.")] = None
    client: Annotated[str | None, Parameter(help="Only this client id.")] = None
    server_version: Annotated[str | None, Parameter(help="Only calls under this version of the server.")] = None
    text: Annotated[str | None, Parameter(help="Only errors whose message holds this.")] = None
    fingerprint: Annotated[str | None, Parameter(help="Only failures with this fingerprint.")] = None
    internal: Annotated[bool, Parameter(negative="", help="The recorder's own tools, too.")] = False


def chosen(which: Which | None) -> Filter:
    """The filter that the options mean."""
    given = asdict(which or Which())
    return parse(**{**given, "internal": "true" if given["internal"] else None})


def narrowed(which: Which | None) -> bool:
    """Did the options leave anything out?"""
    return which is not None and which != Which()


def nothing(which: Which | None, what: str = "call") -> str:
    """What to say when there is nothing to show."""
    return f"No recorded {what} matches." if narrowed(which) else f"No {what} was recorded yet."
