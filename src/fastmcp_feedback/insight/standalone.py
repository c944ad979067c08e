"""A server of its own over a recorded database: `fastmcp-feedback mcp`."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from typing import Any, Final

import uvicorn
from fastmcp import FastMCP

from ..addresses import is_loopback
from ..proxy.guard import Guard
from ..store.location import hide_password, locate
from ..store.schema import DEFAULT_PREFIX
from .recorded_text import NOTICE
from .register import add_insight_tools

INSTRUCTIONS: Final = f"""\
Answers questions about recorded tool calls of an MCP server: what fails, why, for whom, since when. Read-only.
A good order: tool_health (which tools fail), list_failures (why), get_call with an example_call_id (one of them whole), then mend the
server's code; get_call names a command that writes a failing test first. find_flailing and list_reports show what callers struggle with.
{NOTICE}"""


class OptionError(ValueError):
    """The server cannot be started like that; the text is one line for a person."""


@dataclass(frozen=True, slots=True)
class InsightOptions:
    """Where to read, and how to serve."""

    database_url: str
    payloads: bool = False
    table_prefix: str = DEFAULT_PREFIX
    http: tuple[str, int] | None = None
    token: str | None = None


def insight_server(options: InsightOptions) -> FastMCP[Any]:
    """The server. The database need not be there yet: until then the tools say what is missing.

    Raises:
        OptionError: not a database that is supported.
    """
    try:
        locate(options.database_url)
    except ValueError as exc:
        raise OptionError(str(exc)) from exc
    app: FastMCP[Any] = FastMCP("fastmcp-feedback", instructions=INSTRUCTIONS)
    add_insight_tools(
        app,
        database_url=options.database_url,
        prefix="",
        table_prefix=options.table_prefix,
        payloads=options.payloads,
        trusted_http=True,  # the guard in front decides
    )
    return app


async def serve(options: InsightOptions) -> None:
    """Serve over stdio, or over HTTP behind the guard, until the client or the process ends.

    Raises:
        OptionError: see `insight_server`; or an address that others can reach, without a token.
    """
    app = insight_server(options)
    for name in ("fastmcp", "mcp"):  # stdout belongs to the protocol, and a refused question is an answer
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if options.http is None:
        await app.run_stdio_async(show_banner=False)
        return
    host, port = options.http
    if not is_loopback(host) and not options.token:
        raise OptionError(f"{host} can be reached by others: give a --token that clients have to send")
    guarded = Guard(app.http_app(), host=host, token=options.token)
    config = uvicorn.Config(guarded, host=host, port=port, log_level="warning", lifespan="on", timeout_graceful_shutdown=3)
    sys.stderr.write(f"fastmcp-feedback mcp: http://{host}:{port}/mcp, reading {hide_password(options.database_url)}\n")
    sys.stderr.flush()
    await uvicorn.Server(config).serve()
