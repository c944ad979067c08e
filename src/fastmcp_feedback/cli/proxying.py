"""`fastmcp-feedback proxy`."""

from __future__ import annotations

import asyncio
import logging
import sys
from importlib.metadata import version
from typing import Annotated, Final

from cyclopts import App, Parameter

from ..store.default_database import database_url
from .output import CliError, fail

TOKEN_ENV_VAR: Final = "FASTMCP_FEEDBACK_PROXY_TOKEN"  # noqa: S105 - its name


def proxy(
    *command: Annotated[str, Parameter(allow_leading_hyphen=True, help="The server to run, after --.")],
    db: Annotated[str | None, Parameter(help="Database file or URL to record to.")] = None,
    mode: Annotated[str, Parameter(help="meta: no payloads; full: redacted arguments and results, too.")] = "meta",
    name: Annotated[str, Parameter(help="The proxy's own name.")] = "fastmcp-feedback-proxy",
    url: Annotated[str | None, Parameter(help="A remote server instead of a command.")] = None,
    header: Annotated[list[str] | None, Parameter(help="`Name: value` to send to the remote server; may be repeated.", negative="")] = None,
    http: Annotated[str | None, Parameter(help="Serve HTTP at HOST:PORT instead of stdio.")] = None,
    token: Annotated[
        str | None,
        Parameter(env_var=TOKEN_ENV_VAR, help="What HTTP clients must send as a bearer token; needed beyond this machine."),
    ] = None,
) -> int:
    """Record any MCP server, in any language, by standing between it and its client."""
    _need_fastmcp_4()
    from ..proxy.serve import ProxyOptions, run  # noqa: PLC0415 - the other commands need no server
    from ..proxy.telling import ProxyError  # noqa: PLC0415 - see above

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="fastmcp-feedback: %(message)s")
    if mode not in {"meta", "full"}:
        raise CliError(f"--mode {mode!r} does not exist: write meta or full", code=2)
    try:
        options = ProxyOptions(
            database_url=database_url(db),
            command=command,
            url=url,
            headers=parse_headers(header or []),
            mode=mode,
            name=name,
            http=parse_address(http) if http else None,
            token=token,
        )
        return asyncio.run(run(options))
    except (ProxyError, ValueError) as exc:
        return fail(CliError(str(exc), code=getattr(exc, "code", 2)))
    except KeyboardInterrupt:
        return 130


def _need_fastmcp_4() -> None:
    installed = version("fastmcp")
    if int(installed.split(".")[0]) < 4:
        raise CliError(f"the proxy needs FastMCP 4, {installed} is installed", 'pip install "fastmcp>=4"')


def parse_headers(lines: list[str]) -> dict[str, str]:
    """`Name: value` lines as a dict."""
    found = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise CliError(f"--header {name!r} is not of the form `Name: value`", code=2)
        found[name.strip()] = value.strip()
    return found


def parse_address(text: str) -> tuple[str, int]:
    """`HOST:PORT` taken apart."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise CliError(f"--http {text!r} is not an address: write HOST:PORT, such as 127.0.0.1:8000", code=2)
    return (host or "127.0.0.1").strip("[]"), int(port)


def register(app: App) -> None:
    """Add the command."""
    app.command(proxy)
