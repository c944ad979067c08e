"""Where pages read and where a change of status goes: a database by its URL, or that of the server's own recorder."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Final

from ..contain import contain
from ..jsonsafe import clean_text
from ..query.known import known_tools, known_versions
from ..query.reader import NotReadable, Reader, open_reader
from ..shaping.redact import Redactor
from ..store import DatabaseSink
from ..store.default_database import database_url
from ..store.feedback_store import FeedbackStore
from ..store.location import locate
from ..store.schema import DEFAULT_PREFIX

_READERS: Final = 4  # connections to one SQLite file; each answers one question at a time
_CHOICES_S: Final = 60.0
_CONFIRMING: Final = ("in_progress", "resolved")

FindRecorder = Callable[[], Any]


class Source:
    """Read-only readers that stay open, and the one change that pages make: a report's status.

    Args:
        url: A database URL or file; None: the recorder's database, else the default one.
        find_recorder: Gives the middleware of the server that the dashboard stands beside, or None.
        prefix: Begins the tables' names.
    """

    def __init__(self, url: str | None = None, find_recorder: FindRecorder = lambda: None, prefix: str = DEFAULT_PREFIX) -> None:
        self._url = url
        self._find_recorder = find_recorder
        self._prefix = prefix
        self._stack = AsyncExitStack()
        self._readers: list[Reader] = []
        self._opening = asyncio.Lock()
        self._choosing = asyncio.Lock()
        self._turn = 0
        self._writing: DatabaseSink | None = None
        self._has_tables: DatabaseSink | None = None
        self._choices: Mapping[str, list[str]] = {}
        self._choices_until_s = 0.0

    @property
    def recorder(self) -> Any:
        """The middleware whose server this stands beside, or None."""
        return self._find_recorder()

    async def reader(self) -> Reader:
        """One of a few open readers, in turn.

        Raises:
            NotReadable: there is nothing to read yet; its hint says what to do.
        """
        sink = self._recorders_sink()
        if sink is not None and not _has_file(sink):
            return await self._recorders_reader(sink)
        url = self._read_url(sink)
        path = locate(url).path
        if path is not None and not path.exists():  # it may have been there before
            raise NotReadable(f"there is no database at {path}", "call a tool of the recorded server: the first call makes it")
        if len(self._readers) < _READERS:
            async with self._opening:
                if len(self._readers) < _READERS:
                    self._readers.append(await self._stack.enter_async_context(open_reader(url, self._read_prefix(sink))))
        self._turn += 1
        return self._readers[self._turn % len(self._readers)]

    async def set_status(self, report_id: str, status: str, note: str | None, *, by: str | None) -> bool:
        """Set a report's status, the note without secrets; False when there is no such report.

        `in_progress` and `resolved` say that a maintainer has confirmed the report.
        """
        recorder = self.recorder
        clean = _clean if recorder is None else recorder.clean_report
        (said,) = await clean([note], [])
        return await self._store().set_status(report_id, status, note=said, by=by, verified=status in _CONFIRMING)

    def retention(self) -> str | None:
        """How long the recorder beside us keeps calls; None when that is not known here."""
        sink = self._recorders_sink()
        if sink is None:
            return None
        return "for ever" if sink.retention is None else str(sink.retention).removesuffix(", 0:00:00")

    async def choices(self, reader: Reader) -> Mapping[str, list[str]]:
        """Names of tools and versions that the filter offers; asked again after a minute."""
        async with self._choosing:
            if time.monotonic() >= self._choices_until_s:
                self._choices = {"tools": await known_tools(reader), "versions": await known_versions(reader)}
                self._choices_until_s = time.monotonic() + _CHOICES_S
        return self._choices

    async def aclose(self) -> None:
        """Close what was opened."""
        self._readers.clear()
        with contain("closing the dashboard's database"):
            await self._stack.aclose()
            if self._writing is not None:
                await self._writing.aclose()

    async def _recorders_reader(self, sink: DatabaseSink) -> Reader:
        """The recorder's own sink: in memory, or a server with connections for questions of its own."""
        if self._has_tables is not sink:
            if (await sink.backend.inspect()).release is None:
                raise NotReadable(
                    f"{sink.url} holds no recorded calls", "call a tool of the recorded server: the first call makes the tables"
                )
            self._has_tables = sink
        return Reader(sink)

    def _store(self) -> FeedbackStore:
        sink = self._recorders_sink()
        if sink is not None:
            return FeedbackStore(sink)
        if self._writing is None:
            self._writing = DatabaseSink(self._read_url(None), prefix=self._prefix, create_tables=False)
        return FeedbackStore(self._writing)

    def _recorders_sink(self) -> DatabaseSink | None:
        if self._url is not None:
            return None
        return next((sink for sink in getattr(self.recorder, "sinks", ()) if isinstance(sink, DatabaseSink)), None)

    def _read_url(self, sink: DatabaseSink | None) -> str:
        return database_url(self._url) if sink is None else sink.url

    def _read_prefix(self, sink: DatabaseSink | None) -> str:
        return self._prefix if sink is None else sink.prefix


def _has_file(sink: DatabaseSink) -> bool:
    """Is it an SQLite file, which we can open for ourselves? A server's URL is shown without its password."""
    return sink.owns_resource and sink.dialect == "sqlite" and locate(sink.url).path is not None


_redactors: list[Redactor] = []


async def _clean(texts: Sequence[str | None], call_ids: Sequence[str]) -> list[str | None]:  # noqa: ARG001 - as the recorder's
    """A note without secrets, where no recorder runs beside the dashboard."""
    if not _redactors:
        _redactors.append(Redactor())
    return [None if text is None else _redactors[0].redact_text(clean_text(text)) for text in texts]
