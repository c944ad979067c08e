"""Reports in the database of a `DatabaseSink`, whichever kind it is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from ..ids import utc_now
from ..records import CallLink
from . import feedback_sql, feedback_words
from .codec import STAMPS
from .database_sink import DatabaseSink
from .feedback_sql import Owner, Which
from .schema import EMBEDDINGS, FEEDBACK

_SPACE: Final = re.compile(r"\s+")
MAX_DUPLICATES: Final = 100


class FeedbackStore:
    """Writes and reads reports. Every method may raise `SinkUnavailable`, whose text says why."""

    def __init__(self, sink: DatabaseSink) -> None:
        self.sink = sink
        self.words = feedback_words.Words(sink)

    def _stamp(self, moment: datetime) -> Any:
        return STAMPS[self.sink.dialect](moment)

    async def add(self, row: Mapping[str, Any], owner: Owner) -> tuple[dict[str, Any], bool]:
        """Store a report or count it on an equal one that is open; the row that it became, and whether it is new.

        `row` holds the columns that are known; the others are filled in here.
        """
        moment = utc_now()
        full: dict[str, Any] = dict.fromkeys(FEEDBACK.column_names)
        full |= {"status": "open", "verified": False, "report_count": 1, "notes": None, "extra": None} | dict(row)
        full |= {"content_hash": content_hash(full), "user_sub": owner.user_sub, "conversation_key": owner.conversation_key}
        full |= dict.fromkeys(("created_at", "updated_at", "last_reported_at"), self._stamp(moment))
        prefix, dialect = self.sink.prefix, self.sink.dialect
        asked = feedback_sql.insert(prefix, dialect, full, owner)
        # The report first: whether its words can be found is no condition of its being stored.
        await self.sink.backend.execute(asked)
        found = await self.sink.ask(*feedback_sql.folded(prefix, full["id"], full["content_hash"], owner))
        new = found[0]["id"] == full["id"]
        if new:
            await self.words.add(full["id"], full["title"], full["description"])
        return found[0], new

    async def get(self, report_id: str) -> dict[str, Any] | None:
        """All columns of a report, or None."""
        found = await self.sink.ask(feedback_sql.by_ids(self.sink.prefix, [report_id]))
        return found[0] if found else None

    async def get_all(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The reports with these ids, by id."""
        found = await self.sink.ask(feedback_sql.by_ids(self.sink.prefix, ids)) if ids else []
        return {row["id"]: row for row in found}

    async def duplicates(self, report_id: str) -> list[dict[str, Any]]:
        """Reports of others that were folded into this one, oldest first, at most a hundred."""
        return await self.sink.ask(feedback_sql.duplicates(self.sink.prefix, report_id, MAX_DUPLICATES))

    async def page(self, which: Which, limit: int, before: tuple[datetime, str] | None = None) -> list[dict[str, Any]]:
        """Reports, the newest first; `before` is the last one of the page before."""
        bound = None if before is None else (self._stamp(before[0]), before[1])
        chosen = replace(which, since=None if which.since is None else self._stamp(which.since), before=bound)
        return await self.sink.ask(feedback_sql.page(self.sink.prefix, chosen, limit))

    async def counts(self, column: str, since: datetime | None = None) -> dict[str | None, tuple[int, int]]:
        """Value -> reports, and how often they were made."""
        asked = feedback_sql.counts(self.sink.prefix, column, None if since is None else self._stamp(since))
        rows = await self.sink.ask(asked)
        return {row["value"]: (int(row["reports"]), int(row["times"] or 0)) for row in rows}

    async def count_since(self, owner: Owner, since: datetime) -> dict[str, int]:
        """How many reports this user and this conversation have made since then."""
        found = {}
        for column, value in (("user_sub", owner.user_sub), ("conversation_key", owner.conversation_key)):
            if value is not None:
                (row,) = await self.sink.ask(feedback_sql.count_since(self.sink.prefix, column, value, self._stamp(since))) or [{"n": 0}]
                found[column] = int(row["n"])
        return found

    async def set_status(self, report_id: str, status: str, *, note: str | None, by: str | None, verified: bool) -> bool:
        """Set the status of a report and of those folded into it; False when there is none of that id."""
        moment = utc_now()
        entry = {"at": moment.isoformat(timespec="seconds"), "status": status, "note": note, "by": by}
        asked = feedback_sql.set_status(
            self.sink.prefix, self.sink.dialect, report_id, status, entry, self._stamp(moment), verified=verified
        )
        (changed,) = await self.sink.backend.execute([asked])
        return changed > 0

    async def delete(self, report_id: str) -> int:
        """Remove a report, those folded into it, and everything that holds their words; how many went."""
        if await self.get(report_id) is None:
            return 0
        ids = [report_id, *(row["id"] for row in await self.duplicates(report_id))]
        prefix = self.sink.prefix
        asked = feedback_sql.delete(prefix, ids) + await self.words.delete(ids)
        tables = (await self.sink.backend.inspect()).tables
        if EMBEDDINGS.name in tables:
            asked += feedback_sql.delete_vectors(prefix, ids)
        await self.sink.backend.execute(asked)
        return len(ids)

    async def similar(self, text: str, *, limit: int, but: str | None = None) -> list[tuple[str, float]]:
        """Ids of reports whose words are like the text's, the likest first, with a score in 0..1."""
        return await self.words.similar(text, limit=limit, but=but)

    async def link(self, ref: str, links: Sequence[CallLink]) -> None:
        """Attach calls to a report."""
        await self.sink.write_links(ref, links)


def content_hash(row: Mapping[str, Any]) -> str:
    """Equal for reports that say the same about the same tool, apart from case and spacing; agents and people apart."""
    parts = [row["type"], row["tool"] or "", row["submitter_kind"] or "", row["title"], row["description"]]
    text = "\x1f".join(_SPACE.sub(" ", str(part)).strip().casefold() for part in parts)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
