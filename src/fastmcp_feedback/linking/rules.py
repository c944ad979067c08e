"""The rules that link calls to a report. Pure: candidates in, links out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..records import CallLink

SESSION = "session"  # a real MCP session id: the only basis that is not bounded by the window
MIN_REFERENCE_CHARS = 8


def user_mark(user_sub: str | None, conversation_key: str | None) -> str | None:
    """Who verifiedly called: the resolver's user, else the digest of the access token inside the conversation key.

    >>> user_mark("alice", "process/1"), user_mark(None, "session@3fa9/77"), user_mark(None, "process/1")
    ('alice', '3fa9', None)
    """
    if user_sub is not None:
        return user_sub
    head = (conversation_key or "").partition("/")[0]
    return head.partition("@")[2].partition("+")[0] or None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A call that may be linked: from memory or from the database."""

    call_id: str
    tool: str
    started_at: datetime
    ok: bool
    conversation_key: str | None
    conversation_basis: str | None
    user_sub: str | None

    @property
    def user(self) -> str | None:
        """Who verifiedly made the call."""
        return user_mark(self.user_sub, self.conversation_key)


@dataclass(frozen=True, slots=True)
class Reporter:
    """Who reports, from where, and in which call (which is never linked to its own report)."""

    conversation_key: str | None = None
    conversation_basis: str | None = None
    user_sub: str | None = None
    call_id: str | None = None

    @property
    def user(self) -> str | None:
        """Who verifiedly reports."""
        return user_mark(self.user_sub, self.conversation_key)


def choose(
    candidates: Iterable[Candidate], reporter: Reporter, *, n: int, window: timedelta, quoted: Sequence[str], now: datetime
) -> list[CallLink]:
    """At most `n` links: quoted calls first, then the conversation's newest, then the user's within the window.

    A link needs equal verified users when either side has one. Without a real MCP session id the window bounds every
    rule. Links come back in chronological order.
    """
    oldest = now - window
    allowed: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.call_id != reporter.call_id and candidate.user == reporter.user:
            allowed.setdefault(candidate.call_id, candidate)
    newest_first = sorted(allowed.values(), key=lambda c: (c.started_at, c.call_id), reverse=True)
    bounded = reporter.conversation_basis != SESSION
    chosen: dict[str, tuple[Candidate, str]] = {}
    for rule, found in (
        ("reference", [c for c in newest_first if _quoted(c, quoted) and (not bounded or c.started_at >= oldest)]),
        ("session", [c for c in newest_first if _same_conversation(c, reporter) and (not bounded or c.started_at >= oldest)]),
        ("user_window", [c for c in newest_first if reporter.user is not None and c.started_at >= oldest]),
    ):
        for candidate in found:
            if len(chosen) >= n:
                break
            chosen.setdefault(candidate.call_id, (candidate, rule))
    ordered = sorted(chosen.values(), key=lambda pair: (pair[0].started_at, pair[0].call_id))
    return [
        CallLink(call_id=c.call_id, rule=rule, tool=c.tool, started_at=c.started_at, ok=c.ok, position=position)
        for position, (c, rule) in enumerate(ordered)
    ]


def _quoted(candidate: Candidate, quoted: Sequence[str]) -> bool:
    return any(
        candidate.call_id == reference or (len(reference) >= MIN_REFERENCE_CHARS and candidate.call_id.startswith(reference))
        for reference in quoted
    )


def _same_conversation(candidate: Candidate, reporter: Reporter) -> bool:
    return reporter.conversation_key is not None and candidate.conversation_key == reporter.conversation_key
