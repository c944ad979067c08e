"""`fastmcp-feedback serve`: the dashboard over a recorded database."""

from __future__ import annotations

import asyncio
import socket
from typing import Annotated, Any

from cyclopts import App, Parameter

from ..addresses import is_loopback
from ..store.default_database import database_url
from ..web import TOKEN_ENV_VAR
from .output import CliError, plain
from .reading import Database


def serve(
    *,
    db: Database = None,
    host: Annotated[str, Parameter(help="The address to listen at; beyond this machine a token is needed.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="The port; 0 takes a free one.")] = 8377,
    token: Annotated[str | None, Parameter(env_var=TOKEN_ENV_VAR, help="What visitors have to sign in with.")] = None,
    payloads: Annotated[bool, Parameter(negative="", help="Show recorded arguments and results.")] = False,
    name: Annotated[
        list[str] | None, Parameter(help="A host name that it is reached by; others are refused. May be repeated.", negative="")
    ] = None,
) -> int:
    """Serve the dashboard: tool health, failures, calls, conversations, reports."""
    from ..web.gates import OpenGate, TokenGate  # noqa: PLC0415 - the other commands need no web server

    if not is_loopback(host) and not token:
        raise CliError(
            f"--host {host} can be reached from other machines, and everybody there could read what was recorded",
            f"choose a token: --token, or the environment variable {TOKEN_ENV_VAR}; or listen at 127.0.0.1",
            2,
        )
    try:
        from ..web.app import Dashboard  # noqa: PLC0415 - needs the extra
        from ..web.source import Source  # noqa: PLC0415 - see above

        gate = TokenGate(token, payloads=payloads) if token else OpenGate(payloads=payloads)
        dashboard = Dashboard(Source(database_url(db)), gate, hosts=name, welcome=bool(token))
        with _listener(host, port) as listener:
            _say_where(listener, host, token)
            asyncio.run(_run(dashboard, listener))
    except ImportError as exc:
        raise CliError(str(exc)) from exc
    except ValueError as exc:
        raise CliError(str(exc), code=2) from exc
    except OSError as exc:
        raise CliError(f"cannot listen at {host}:{port}: {exc.strerror or exc}", "choose another one with --port") from exc
    return 0


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host.strip("[]"), port))
        made.listen(128)
    except (OSError, OverflowError) as exc:
        made.close()
        raise exc if isinstance(exc, OSError) else ValueError(f"--port {port} is no port: 0 to 65535") from exc
    return made


def _say_where(listener: socket.socket, host: str, token: str | None) -> None:
    port = listener.getsockname()[1]
    shown = f"[{host.strip('[]')}]" if ":" in host else host
    print(f"Dashboard: http://{plain(shown)}:{port}{'/login' if token else ''} (Ctrl-C ends it)", flush=True)


async def _run(dashboard: Any, listener: socket.socket) -> None:
    import uvicorn  # noqa: PLC0415 - comes with FastMCP

    config = uvicorn.Config(dashboard, log_level="warning", lifespan="off", server_header=False, timeout_graceful_shutdown=2)
    try:
        await uvicorn.Server(config).serve(sockets=[listener])
    finally:
        await dashboard.source.aclose()


def register(app: App) -> None:
    """Add the command."""
    app.command(serve)
