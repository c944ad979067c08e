"""`fastmcp-feedback mcp`."""

from __future__ import annotations

import asyncio
from typing import Annotated

from cyclopts import App, Parameter

from ..store.default_database import database_url
from .output import CliError
from .proxying import parse_address
from .reading import Database


def mcp(
    *,
    db: Database = None,
    payloads: Annotated[bool, Parameter(negative="", help="Show recorded arguments and results, too.")] = False,
    prefix: Annotated[str, Parameter(help="What the tables' names begin with.")] = "ffb_",
    http: Annotated[str | None, Parameter(help="Serve HTTP at HOST:PORT instead of stdio.")] = None,
    token: Annotated[str | None, Parameter(help="What HTTP clients must send as a bearer token; needed beyond this machine.")] = None,
) -> int:
    """Serve a recorded database to coding agents as an MCP server of read-only tools."""
    from ..insight.standalone import InsightOptions, OptionError, serve  # noqa: PLC0415 - the other commands need no server

    options = InsightOptions(database_url(db), payloads, prefix, parse_address(http) if http else None, token)
    try:
        asyncio.run(serve(options))
    except OptionError as exc:
        raise CliError(str(exc), code=2) from exc
    except KeyboardInterrupt:
        return 130
    return 0


def register(app: App) -> None:
    """Add the command."""
    app.command(mcp)
