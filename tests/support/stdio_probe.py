"""A server over stdio that answers with what the adapter saw of the call. Run it as a script."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from fastmcp import FastMCP

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.capturing import Probe

probe = Probe()
app: FastMCP[Any] = FastMCP("stdio")
app.add_middleware(probe)


@app.tool
def seen() -> dict[str, Any]:
    """The running call as it was seen."""
    context = probe.last.context
    return {
        "session_id": context.session_id,
        "request_id": context.request_id,
        "key": context.conversation_key,
        "basis": context.conversation_basis,
        "client": probe.last.client,
    }


if __name__ == "__main__":
    app.run(show_banner=False)
