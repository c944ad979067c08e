"""An answer of the server behind a proxy that breaks the protocol is that server's fault."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import fastmcp.server
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport

from fastmcp_feedback.instrumentation import MemorySink, instrument

# Speaks the protocol by hand, so that it can break it: `content` has to be a list.
UPSTREAM = """
import json, sys
results = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}},
    "tools/list": {"tools": [{"name": "report", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": "not a list"},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": results.get(request["method"], {})}), flush=True)
"""


def _proxy_of(client: Client[Any]) -> FastMCP[Any]:
    make = getattr(fastmcp.server, "create_proxy", None) or getattr(FastMCP, "as_proxy")  # noqa: B009 - FastMCP 2 has only this
    proxy: FastMCP[Any] = make(client)
    return proxy


async def test_a_malformed_answer_is_not_blamed_on_the_caller(tmp_path: Path) -> None:
    """The caller's arguments were fine; pydantic's complaint names fields of the answer."""
    script = tmp_path / "upstream.py"
    script.write_text(UPSTREAM)
    sink = MemorySink()
    app = _proxy_of(Client(StdioTransport(sys.executable, [str(script)], keep_alive=False)))
    recorder = instrument(app, [sink])
    async with Client(app) as client:
        with contextlib.suppress(Exception):  # FastMCP 4 answers with an error of the protocol, 2 and 3 with a result
            await client.call_tool("report", {}, raise_on_error=False)
    await recorder.aclose()
    (call,) = sink.calls
    assert call.outcome == "error"
    assert call.failure is not None
    assert (call.failure.fault, call.failure.category, call.failure.bad_arguments) == ("upstream", "unavailable", ())
