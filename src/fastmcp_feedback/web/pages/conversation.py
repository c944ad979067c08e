"""Conversations, and one of them as a time line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from ...query.story import ConversationSummary, list_conversations, tell_story
from ..asked import read_cursor, write_cursor
from ..views import NotThere, View, Visit

_CONVERSATIONS: Final = 50
_MAX_ENTRIES: Final = 500


@dataclass(frozen=True, slots=True)
class ConversationsView(View):
    """A page of conversations, the newest first; `cursor` is that of the next page."""

    template: ClassVar[str] = "conversations.html"
    here: ClassVar[str] = "/conversations"

    conversations: tuple[ConversationSummary, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Moment:
    """One entry of the time line. `kind` is call, event, llm_call or report; `after_ms` counts from the beginning."""

    at: datetime
    after_ms: float
    kind: str
    id: str
    title: str
    call_id: str | None
    outcome: str | None
    duration_ms: float | None
    text: str | None


@dataclass(frozen=True, slots=True)
class ConversationView(View):
    """One conversation, oldest first. `truncated` says that only its newest entries are here."""

    template: ClassVar[str] = "conversation.html"
    here: ClassVar[str] = "/conversations"

    key: str
    basis: str | None
    started_at: datetime
    ended_at: datetime
    calls: int
    failed: int
    users: tuple[str, ...]
    clients: tuple[str, ...]
    entries: tuple[Moment, ...]
    truncated: bool


async def conversations(visit: Visit) -> ConversationsView:
    """Those with a call that the filter leaves."""
    before = read_cursor(visit.asked.own.get("cursor"))
    found = await list_conversations(visit.reader, visit.asked.which, limit=_CONVERSATIONS + 1, before=before)
    shown = tuple(found[:_CONVERSATIONS])
    return ConversationsView(shown, write_cursor(shown[-1].ended_at, shown[-1].key) if len(found) > _CONVERSATIONS else None)


async def conversation(visit: Visit) -> ConversationView:
    """The conversation that the filter names, or that of the call with this id."""
    key = visit.asked.which.conversation
    story = None if key is None else await tell_story(visit.reader, key, limit=_MAX_ENTRIES)
    if story is None:
        raise NotThere("there is no such conversation", "it may have been pruned; the list of conversations shows what is there")
    entries = tuple(
        Moment(
            entry.at, (entry.at - story.started_at).total_seconds() * 1000, entry.kind, entry.id, entry.title, entry.call_id,
            entry.outcome, entry.duration_ms, entry.text,
        )
        for entry in story.entries
    )  # fmt: skip
    return ConversationView(
        story.key, story.basis, story.started_at, story.ended_at, story.calls, story.failed, story.users, story.clients, entries,
        story.truncated,
    )  # fmt: skip
