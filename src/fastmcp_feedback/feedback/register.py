"""`add_feedback_tools` and `create_feedback_server`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware

from ..capture import adapter
from ..capture.middleware import CaptureMiddleware
from ..capture.request import in_http_request
from ..jsonsafe import clean_text
from ..shaping.redact import Redactor
from ..store.default_database import database_url as default_database
from ..store.location import locate
from ..store.schema import DEFAULT_PREFIX
from .access import MANAGING, Rules, mark_internal
from .desk import Desk
from .limits import DEFAULT_PER_HOUR, Limits
from .notices import Notices
from .tools import ANNOTATIONS, TOOLS, Tools

if TYPE_CHECKING:
    from ..store.feedback_store import FeedbackStore

_THREAD_CHARS: Final = 4000  # longer texts are redacted on a thread


def add_feedback_tools(
    app: Any,
    database_url: str | None = None,
    *,
    instrumentation: Any = None,
    prefix: str = "",
    separator: str = "_",
    table_prefix: str = DEFAULT_PREFIX,
    tools: Iterable[str] | None = None,
    manage_scope: str | None = None,
    max_per_hour: int | None = DEFAULT_PER_HOUR,
    notifiers: Sequence[Any] = (),
) -> list[str]:
    """Add tools to a FastMCP server that take reports from its users and agents, and let maintainers work on them.

    With `instrumentation` every report is linked to the calls that led to it. Reports are kept in the instrumentation's own
    `DatabaseSink` if it has one, else in `database_url`, else in the default database.

    Over stdio and in memory the caller is trusted. Over HTTP callers see their own reports, and counts; what other people
    wrote, `contact_info`, `update_feedback_status` and `delete_feedback` need `manage_scope`, or to be named in `tools`.

    Args:
        app: The FastMCP server.
        database_url: Where reports are kept when the instrumentation has no database.
        instrumentation: What `instrument(app, ...)` returned.
        prefix: Stands before each tool's name; empty for none.
        separator: Between prefix and name.
        table_prefix: Begins the tables' names, as in `DatabaseSink`.
        tools: The tools to add, by their names without prefix; None adds all six. A tool that is named here shows everything
            to every caller, unless `manage_scope` is given.
        manage_scope: The scope of an access token whose holder may see and manage all reports over HTTP.
        max_per_hour: Reports that one conversation may make in an hour, a user twice as many; None for no limit.
        notifiers: Told of every report, such as `Webhook` and `GitHubIssues`; none by default.

    Returns:
        The names of the tools.

    Raises:
        TypeError: `app` is not a FastMCP server.
        ValueError: an unknown tool, or `database_url` is not the URL of a supported database.

    >>> from fastmcp import FastMCP
    >>> from fastmcp_feedback import add_feedback_tools
    >>> add_feedback_tools(FastMCP("studio"), "sqlite:///:memory:", prefix="studio")[0]
    'studio_submit_feedback'
    """
    if not callable(getattr(app, "add_middleware", None)):
        raise TypeError(f"add_feedback_tools takes a FastMCP server, got {type(app).__name__}")
    chosen = _chosen(tools)
    if database_url is not None and "://" in database_url:
        locate(database_url)
    full = {name: f"{prefix}{separator}{name}" if prefix else name for name in chosen}
    rules = Rules(manage_scope, frozenset() if tools is None else frozenset(chosen))
    desk = Desk(
        open_store=_Opener(database_url, instrumentation, table_prefix),
        recorder=instrumentation,
        clean=_clean_alone if instrumentation is None else instrumentation.clean_report,
        rules=rules,
        limits=Limits(max_per_hour),
        announce=Notices(notifiers).put,
    )
    own = list(full.values())

    def entered() -> None:
        found = [one for one in getattr(app, "middleware", ()) if isinstance(one, CaptureMiddleware)]
        given = [instrumentation] if isinstance(instrumentation, CaptureMiddleware) else []
        mark_internal({id(one): one for one in (*found, *given)}.values(), own)

    entered()
    made = Tools(desk, entered)
    for name in chosen:
        method = getattr(made, name)
        annotations = ANNOTATIONS[name] | ({"openWorldHint": True} if notifiers and name == "submit_feedback" else {})
        app.tool(method, name=full[name], description=inspect.getdoc(method), annotations=annotations)
    app.add_middleware(_HideManaging(rules, {full[name]: name for name in chosen if name in MANAGING}))
    return own


def create_feedback_server(
    name: str = "feedback", database_url: str | None = None, *, instructions: str | None = None, auth: Any = None, **options: Any
) -> FastMCP[Any]:
    """A server with nothing but the feedback tools.

    Args:
        name: The server's name.
        database_url: Where reports are kept; by default the default database.
        instructions: What clients are told about the server.
        auth: FastMCP's auth provider.
        **options: Those of `add_feedback_tools`.

    >>> from fastmcp_feedback import create_feedback_server
    >>> create_feedback_server("complaints", "sqlite:///:memory:").name
    'complaints'
    """
    app: FastMCP[Any] = FastMCP(name, instructions=instructions or "Takes reports about problems, wishes and questions.", auth=auth)
    add_feedback_tools(app, database_url, **options)
    return app


def _chosen(tools: Iterable[str] | None) -> list[str]:
    """The tools to add, in the usual order.

    Raises:
        ValueError: one of them does not exist, or none is named.
    """
    if tools is None:
        return list(TOOLS)
    named = [tools] if isinstance(tools, str) else list(tools)
    unknown = sorted(set(named) - set(TOOLS))
    if unknown or not named:
        raise ValueError(f"tools: {', '.join(map(repr, unknown)) or 'nothing'} is no choice; the tools are {', '.join(TOOLS)}")
    return [name for name in TOOLS if name in named]


class _Opener:
    """The store, opened when it is first needed."""

    def __init__(self, url: str | None, recorder: Any, table_prefix: str) -> None:
        self._url = url
        self._recorder = recorder
        self._prefix = table_prefix
        self._store: FeedbackStore | None = None

    def __call__(self) -> FeedbackStore:
        if self._store is None:
            from ..store.database_sink import DatabaseSink  # noqa: PLC0415 - drivers load when the first report comes
            from ..store.feedback_store import FeedbackStore  # noqa: PLC0415 - see above

            found = next((sink for sink in getattr(self._recorder, "sinks", ()) if isinstance(sink, DatabaseSink)), None)
            self._store = FeedbackStore(found or DatabaseSink(default_database(self._url), prefix=self._prefix, create_tables=True))
        return self._store


_alone: list[Redactor] = []


async def _clean_alone(texts: Sequence[str | None], call_ids: Sequence[str]) -> list[str | None]:  # noqa: ARG001 - no recorder, no calls
    """Texts without secrets, for a server that is not instrumented."""
    if not _alone:
        _alone.append(Redactor())

    def work() -> list[str | None]:
        return [None if text is None else _alone[0].redact_text(clean_text(text)) for text in texts]

    return await asyncio.to_thread(work) if sum(len(text or "") for text in texts) > _THREAD_CHARS else work()


class _HideManaging(Middleware):
    """Leaves the managing tools out of the list for callers who may not use them."""

    def __init__(self, rules: Rules, managing: dict[str, str]) -> None:
        self._rules = rules
        self._managing = managing

    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        """Filter what the server lists."""
        tools = await call_next(context)
        if not self._managing or not in_http_request():
            return tools
        token = adapter.access_token(getattr(context.fastmcp_context, "request_context", None))
        scopes = getattr(token, "scopes", None) or ()
        return [tool for tool in tools if self._shown(tool.name, scopes)]

    def _shown(self, name: str, scopes: Iterable[str]) -> bool:
        base = self._managing.get(name)
        return base is None or self._rules.allows(base, remote=True, scopes=scopes)
