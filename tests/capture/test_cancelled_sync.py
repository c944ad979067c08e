"""A sync tool cannot be stopped; whether its client still waits can be known."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware

from fastmcp_feedback.capture.adapter import was_cancelled
from support.by_hand import posting
from support.servers import http_server
from support.versions import IS_V2
from support.waiting import DEADLINE_S, until

CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "slow", "arguments": {}}}
CANCEL = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}


class Asking(Middleware):
    """Asks when a tool's result comes back."""

    def __init__(self) -> None:
        self.answers: list[bool] = []

    async def on_call_tool(self, context: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Ask right after the call."""
        result = await call_next(context)
        self.answers.append(was_cancelled())
        return result


@pytest.mark.skipif(IS_V2, reason="FastMCP 2 runs sync tools on the loop and reads the cancellation after the result")
@pytest.mark.parametrize("cancel", [True, False])
async def test_a_cancelled_sync_tool_is_told_from_one_that_is_waited_for(cancel: bool) -> None:
    """The result comes back in both cases; only one of them has a client that waits for it."""
    asking, started, release = Asking(), threading.Event(), threading.Event()
    app: FastMCP[Any] = FastMCP("app")
    app.add_middleware(asking)

    @app.tool
    def slow() -> str:
        started.set()
        release.wait(DEADLINE_S)
        return "done"

    async with http_server(app) as url, posting(url) as post:
        call = asyncio.create_task(post(CALL))
        await until(started.is_set)
        if cancel:
            assert (await post(CANCEL))[0] == 202
            status, answer = await call
            assert "cancelled" in answer
        release.set()
        await until(lambda: asking.answers)
        status, _ = await call

    assert asking.answers == [cancel]
    assert status == 200


def test_outside_of_a_loop_nothing_was_cancelled() -> None:
    """The question has an answer everywhere."""
    assert was_cancelled() is False
