"""`add_insight_tools`: the tools added to a server."""

from __future__ import annotations

import inspect
from typing import Any, Final

from ..instrumentation import InstrumentationMiddleware
from ..store.location import locate
from ..store.schema import DEFAULT_PREFIX
from .access import Rules
from .source import Source
from .tools import Insight

TOOLS: Final = (
    "tool_health",
    "list_failures",
    "list_calls",
    "get_call",
    "get_conversation",
    "find_flailing",
    "list_reports",
    "get_report",
    "compare_versions",
)
_READ_ONLY: Final = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


def add_insight_tools(
    app: Any,
    scope: str | None = None,
    database_url: str | None = None,
    *,
    instrumentation: InstrumentationMiddleware | None = None,
    prefix: str = "insight",
    separator: str = "_",
    table_prefix: str = DEFAULT_PREFIX,
    payloads: bool = False,
    trusted_http: bool = False,
) -> list[str]:
    """Add read-only tools to a FastMCP server that tell a coding agent which tools fail, and why.

    Over stdio and in memory callers see everything but arguments and results. Over HTTP they see numbers only, until their verified
    token holds `scope`; then they see everything.

    Args:
        app: The FastMCP server.
        scope: The scope of an access token whose holder sees recorded words, users, arguments and results.
        database_url: Where to read. By default the DatabaseSink of the recorder, else the default database.
        instrumentation: The recorder; by default the one that `instrument(app)` added, before or after.
        prefix: Stands before each tool's name; empty for none.
        separator: Between prefix and name.
        table_prefix: Begins the tables' names, as in `DatabaseSink`.
        payloads: Callers over stdio and in memory see arguments and results, too.
        trusted_http: Callers over HTTP count as local ones: something in front of the server decides who gets through.

    Returns:
        The names of the tools.

    Raises:
        TypeError: `app` is not a FastMCP server.
        ValueError: `database_url` is not the URL of a supported database.

    >>> from fastmcp import FastMCP
    >>> from fastmcp_feedback import add_insight_tools
    >>> add_insight_tools(FastMCP("studio"), database_url="sqlite:///calls.db")[:2]
    ['insight_tool_health', 'insight_list_failures']
    """
    if not callable(getattr(app, "add_middleware", None)):
        raise TypeError(f"add_insight_tools takes a FastMCP server, got {type(app).__name__}")
    if database_url is not None and "://" in database_url:
        locate(database_url)
    names = [f"{prefix}{separator}{name}" if prefix else name for name in TOOLS]
    insight = Insight(Source(app, names, database_url, instrumentation, table_prefix), Rules(scope, payloads, trusted_http))
    for name, method in zip(names, TOOLS, strict=True):
        tool = getattr(insight, method)
        app.tool(tool, name=name, description=inspect.getdoc(tool), annotations=_READ_ONLY)
    return names
