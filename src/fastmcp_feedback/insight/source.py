"""Where the tools read: the server's own recorder, or a database by its URL."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from fastmcp.exceptions import ToolError

from ..instrumentation import InstrumentationMiddleware
from ..query.moments import FilterError
from ..query.reader import NotReadable, Reader, open_reader
from ..sink import SinkUnavailable
from ..store import DatabaseSink
from ..store.default_database import database_url
from ..store.location import locate
from ..store.schema import DEFAULT_PREFIX

_FLUSH_S: Final = 1.0


class Source:
    """Opens a reader for each question, so nothing is held between questions.

    `tools` are the names of the tools that ask: their calls are marked as the recorder's own.
    """

    def __init__(
        self,
        app: Any,
        tools: list[str],
        url: str | None = None,
        instrumentation: InstrumentationMiddleware | None = None,
        prefix: str = DEFAULT_PREFIX,
    ) -> None:
        self._app = app
        self._tools = tools
        self._url = url
        self._given = instrumentation
        self._prefix = prefix
        self._recorder()

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[Reader]:
        """A reader that sees what was recorded until now.

        Raises:
            ToolError: there is nothing to read, or the question was wrong; the text says what to do.
        """
        recorder = self._recorder()
        try:
            if recorder is not None:
                _mark_running(recorder)
                await recorder.flush(_FLUSH_S)
            sink = _database_of(recorder)
            if self._url is None and sink is not None:
                yield Reader(sink)
                return
            async with open_reader(database_url(self._url), self._prefix) as reader:
                yield reader
        except FilterError as exc:
            raise ToolError(str(exc)) from exc
        except NotReadable as exc:
            raise ToolError(f"{exc}: {exc.hint}") from exc
        except SinkUnavailable as exc:
            raise ToolError(f"the database cannot be read now: {exc}") from exc

    @property
    def db_option(self) -> str:
        """` --db FILE` for the command line; nothing for other databases, whose URL may hold a password."""
        sink = _database_of(self._recorder())
        path = locate(sink.url if self._url is None and sink is not None else database_url(self._url)).path
        return "" if path is None else f" --db {shlex.quote(str(path.absolute()))}"

    def _recorder(self) -> InstrumentationMiddleware | None:
        """The recorder of the server, also one that was added later; it knows these tools from now on."""
        found = self._given or next((one for one in self._app.middleware if isinstance(one, InstrumentationMiddleware)), None)
        if found is not None and not found.internal_tools.issuperset(self._tools):
            found.mark_internal(self._tools)
        return found


def _database_of(recorder: InstrumentationMiddleware | None) -> DatabaseSink | None:
    if recorder is None:
        return None
    return next((sink for sink in recorder.sinks if isinstance(sink, DatabaseSink)), None)


def _mark_running(recorder: InstrumentationMiddleware) -> None:
    """The running call is one of these tools, whatever name it was mounted under."""
    call = recorder.call_log.current.get()
    if call is not None:
        call.internal = True
