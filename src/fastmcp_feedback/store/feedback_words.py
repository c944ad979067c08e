"""Full-text search over reports: candidates by the database's own index, ranked here by BM25.

SQLite: an FTS5 table beside the reports. PostgreSQL: a GIN index over `to_tsvector`. Where neither may be made, the
newest reports are the candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..contain import contain
from ..sink import SinkUnavailable
from .database_sink import DatabaseSink
from .ddl import quoted
from .ranking import Ranking, words_of
from .schema import FEEDBACK
from .statements import Statement

CANDIDATES: Final = 200
_NEWEST: Final = 2000
_MAX_TERMS: Final = 48
_TOKENS: Final = "porter unicode61 remove_diacritics 2"


class Words:
    """The searchable words of one database's reports."""

    def __init__(self, sink: DatabaseSink) -> None:
        self._sink = sink
        self._table = quoted(sink.prefix + FEEDBACK.name)
        self._index = quoted(sink.prefix + "feedback_words")
        self._indexed: bool | None = None

    async def add(self, report_id: str, title: str, description: str) -> None:
        """Make a new report findable. Fails silently: the search then takes the newest reports."""
        with contain("indexing a report"):
            if await self._prepared() and self._sink.dialect == "sqlite":
                sql = (
                    f"INSERT INTO {self._index} (id, title, description) SELECT :id, :title, :description "  # noqa: S608 - values bound
                    f"WHERE NOT EXISTS (SELECT 1 FROM {self._index} WHERE id = :id)"
                )
                await self._sink.backend.execute([(sql, {"id": report_id, "title": title, "description": description})])

    async def delete(self, ids: Sequence[str]) -> list[Statement]:
        """Statements that forget these reports."""
        if self._sink.dialect != "sqlite" or not await self._prepared():
            return []
        return [(f"DELETE FROM {self._index} WHERE id = :id", {"id": one}) for one in ids]  # noqa: S608 - value bound

    async def similar(self, text: str, *, limit: int, but: str | None = None) -> list[tuple[str, float]]:
        """Ids of the reports with the likest words, the likest first, with a score in 0..1."""
        wanted = words_of(text)
        if not wanted:
            return []
        rows = await self._candidates(list(dict.fromkeys(wanted))[:_MAX_TERMS], but)
        ranking = Ranking([(row["id"], row["title"], row["description"]) for row in rows])
        return ranking.best(text, limit)

    async def _candidates(self, terms: list[str], but: str | None) -> list[dict[str, Any]]:
        values: dict[str, Any] = {"but": but or "", "limit": CANDIDATES}
        if not await self._prepared():
            values["limit"] = _NEWEST
            sql = f"SELECT id, title, description FROM {self._table} WHERE {_SHOWN} ORDER BY created_at DESC LIMIT :limit"  # noqa: S608
        elif self._sink.dialect == "sqlite":
            values["terms"] = " OR ".join(f'"{term}"' for term in terms)
            sql = (
                f"SELECT f.id, f.title, f.description FROM {self._index} JOIN {self._table} f ON f.id = {self._index}.id "  # noqa: S608
                f"WHERE {self._index} MATCH :terms AND f.{_SHOWN} ORDER BY bm25({self._index}, 0.0, 2.0, 1.0) LIMIT :limit"
            )
        else:
            values["terms"] = " | ".join(f"'{term}'" for term in terms)
            sql = (
                f"SELECT id, title, description FROM {self._table} "  # noqa: S608
                f"WHERE {_VECTOR} @@ to_tsquery('english', :terms) AND {_SHOWN} "
                f"ORDER BY ts_rank({_VECTOR}, to_tsquery('english', :terms), 1) DESC LIMIT :limit"
            )
        return await self._sink.ask((sql, values))

    async def _prepared(self) -> bool:
        """Is there an index? Makes it, and fills it with what is there, where tables may be made."""
        if self._indexed is None:
            try:
                self._indexed = await self._prepare()
            except SinkUnavailable as exc:
                # Away for the moment, or a build without FTS5, or a user who may not create: the reports are still there.
                if "fts5" in str(exc).lower() or "permission" in str(exc).lower():
                    self._indexed = False
                return False
        return self._indexed

    async def _prepare(self) -> bool:
        backend = self._sink.backend
        if not getattr(backend, "create_tables", False):
            return self._sink.dialect == "postgresql"  # there the index only makes it faster
        await backend.prepare()
        if self._sink.dialect == "sqlite":
            columns = "id UNINDEXED, title, description"
            fill = (
                f"INSERT INTO {self._index} (id, title, description) SELECT id, title, description FROM {self._table} "  # noqa: S608
                f"WHERE id NOT IN (SELECT id FROM {self._index})"
            )
            made = f"CREATE VIRTUAL TABLE IF NOT EXISTS {self._index} USING fts5({columns}, tokenize='{_TOKENS}')"
            await backend.execute([(made, {}), (fill, {})])
        else:
            name = quoted(f"ix_{self._sink.prefix}feedback_words")
            await backend.execute([(f"CREATE INDEX IF NOT EXISTS {name} ON {self._table} USING gin ({_VECTOR})", {})])
        return True


_SHOWN: Final = "id <> :but AND duplicate_of IS NULL"
_VECTOR: Final = "to_tsvector('english', title || ' ' || description)"
