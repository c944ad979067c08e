"""What the tests of capture share: a middleware that asks the adapter, and the versions' differences in one place."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastmcp.server.middleware import Middleware

from fastmcp_feedback.capture import adapter
from fastmcp_feedback.capture.identity import default_identity_resolver
from fastmcp_feedback.raw import CallContext

_running: ContextVar[Any] = ContextVar("probe_running", default=None)


@dataclass
class Seen:
    """One call as the adapter saw it."""

    tool: str
    arguments: Any
    context: CallContext
    identity: dict[str, Any]
    client: dict[str, str]
    verified_user: str | None
    payload: Any = None
    is_error: bool = False
    parent: Seen | None = None


@dataclass
class Probe(Middleware):
    """Records what the adapter says about every call, by the same rules as the recorder."""

    calls: list[Seen] = field(default_factory=list)

    async def __call__(self, context: Any, call_next: Any) -> Any:
        """Ask before and after the call."""
        if not adapter.is_tool_call(context):
            return await call_next(context)
        running = _running.get()
        if running is not None and adapter.dispatched_by_mount(Probe.__call__.__code__):
            return await call_next(context)
        seen = Seen(
            context.message.name,
            dict(context.message.arguments or {}),
            adapter.call_context(context),
            default_identity_resolver(context),
            adapter.client_info(context),
            adapter.verified_user(context),
            parent=running,
        )
        self.calls.append(seen)
        token = _running.set(seen)
        try:
            result = await call_next(context)
        finally:
            _running.reset(token)
        seen.payload, seen.is_error, _ = adapter.result_payload(result)
        return result

    @property
    def tools(self) -> list[str]:
        """The names of the calls, in the order in which they began."""
        return [seen.tool for seen in self.calls]


@pytest.fixture
def probe() -> Probe:
    """A probe that has seen nothing."""
    return Probe()
