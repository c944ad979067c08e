"""What the recorder does for reports: clean their texts, and find what is like them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from .. import contain
from ..raw import RawCall
from ..shaping.redact.carry import CarryOver
from ..shaping.redact.sealed import SealedCarryOver

if TYPE_CHECKING:
    from ..capture.running import CallLog
    from ..shaping.redaction import Redaction

FEEDBACK: Final = "feedback"
MAX_SIMILAR: Final = 100
_THREAD_CHARS: Final = 2000  # longer texts are cleaned on a thread


class ReportSupport:
    """Part of `InstrumentationMiddleware`."""

    sinks: list[Any]
    call_log: CallLog
    _redaction: Redaction

    @property
    def has_vectors(self) -> bool:
        """Is there an `EmbeddingSink` among the sinks?"""
        return self._vectors() is not None

    async def similar(
        self, text: str, *, source_types: Iterable[str] | None = None, k: int = 10, min_score: float | None = None
    ) -> list[dict[str, Any]]:
        """What is like this text, the likest first: reports, errors, events, texts of language models.

        By the vectors of an `EmbeddingSink`; without one by the words of stored reports. Never raises.

        Args:
            text: What to compare with.
            source_types: Only these: `feedback`, `call_error`, `event`, `llm`.
            k: At most so many, at most 100.
            min_score: Leave out what is less like it: 1 is equal.

        Returns:
            Dicts with source_type, source_id, text, score (1 - cosine distance, in 0..1) and created_at.
        """
        wanted = None if source_types is None else ({source_types} if isinstance(source_types, str) else set(source_types))
        with contain.contain("similar"):
            return await self._find(str(text), wanted, max(0, min(int(k), MAX_SIMILAR)), min_score)
        return []

    async def similar_feedback(
        self, ref: str, *, source_types: Iterable[str] | None = (FEEDBACK,), k: int = 10, min_score: float | None = None
    ) -> list[dict[str, Any]]:
        """What is like a stored report, without itself: by default other reports. Otherwise as `similar`."""
        with contain.contain("similar_feedback"):
            text = await self._text_of(str(ref))
            if text:
                found = await self.similar(text, source_types=source_types, k=k + 1, min_score=min_score)
                return [hit for hit in found if (hit["source_type"], hit["source_id"]) != (FEEDBACK, str(ref))][: max(0, k)]
        return []

    async def clean_report(self, texts: Sequence[str | None], call_ids: Sequence[str]) -> list[str | None]:
        """The texts without secrets, and without what redaction removed from the arguments of these calls."""
        carried = self._carried(set(call_ids))

        def work() -> list[str | None]:
            return [None if text is None else self._clean(text, carried) for text in texts]

        return await asyncio.to_thread(work) if sum(len(text or "") for text in texts) > _THREAD_CHARS else work()

    def _clean(self, text: str, carried: Sequence[CarryOver | SealedCarryOver]) -> str:
        cleaned = self._redaction.text(text)
        for one in carried:
            cleaned = one.apply_text(cleaned)
        return cleaned

    def _carried(self, ids: set[str]) -> list[CarryOver | SealedCarryOver]:
        """What those calls lost, as far as they are in memory; of a call that runs it is worked out now."""
        sealed: list[SealedCarryOver] = []
        found: list[CarryOver | SealedCarryOver] = []
        for call in self.call_log.newest_first():
            if call.id not in ids:
                continue
            if isinstance(call.carry, SealedCarryOver):
                sealed.append(call.carry)
            elif call.carry is None and not call.ended:
                found.append(self._carry_of_running(call))
            elif isinstance(call.carry, CarryOver):
                found.append(call.carry)
        if sealed:
            found.append(SealedCarryOver.union(sealed))
        return [one for one in found if one]

    def _carry_of_running(self, call: RawCall) -> CarryOver:
        lost: list[str] = []
        self._redaction.payload(call.args, lost, full=False, needed=True)
        return CarryOver.from_values(lost)

    # -- what is like what

    def _vectors(self) -> Any:
        return next((sink for sink in self.sinks if hasattr(sink, "find_similar")), None)

    def _database(self) -> Any:
        return next((sink for sink in self.sinks if hasattr(sink, "write_links")), None)

    def _store(self) -> Any:
        database = self._database()
        if database is None:
            return None
        from ..store.feedback_store import FeedbackStore  # noqa: PLC0415 - there is a database, so its part is loaded

        return FeedbackStore(database)

    async def _find(self, text: str, wanted: set[str] | None, k: int, min_score: float | None) -> list[dict[str, Any]]:
        if k == 0 or not text.strip():
            return []
        vectors = self._vectors()
        if vectors is not None:
            found: list[dict[str, Any]] = await vectors.find_similar(text, source_types=wanted, k=k, min_score=min_score)
            return found
        store = self._store()
        if store is None or (wanted is not None and FEEDBACK not in wanted):
            return []
        scores = dict(await store.similar(text, limit=k))
        rows = await store.get_all(list(scores))
        return [
            {
                "source_type": FEEDBACK,
                "source_id": one,
                "text": report_text(rows[one]["title"], rows[one]["description"]),
                "score": score,
                "created_at": rows[one]["created_at"],
            }
            for one, score in scores.items()
            if one in rows and (min_score is None or score >= min_score)
        ]

    async def _text_of(self, ref: str) -> str:
        vectors = self._vectors()
        if vectors is not None:
            stored: str | None = await vectors.stored_text(FEEDBACK, ref)
            if stored:
                return stored
        store = self._store()
        row = await store.get(ref) if store is not None else None
        return report_text(row["title"], row["description"]) if row is not None else ""


def report_text(title: str, description: str) -> str:
    """A report as one text: what is embedded and compared."""
    return f"{title}\n{description}"
