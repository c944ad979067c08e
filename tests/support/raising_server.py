"""Servers whose tools raise in every way, and a middleware that describes what it sees."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.server.middleware import Middleware
from pydantic import BaseModel, TypeAdapter

from fastmcp_feedback.capture.exceptions import describe_exception
from fastmcp_feedback.raw import ExceptionFacts

from .versions import IS_V2


@dataclass(eq=False)
class Describing(Middleware):
    """Keeps the facts of what calls raise."""

    facts: list[ExceptionFacts] = field(default_factory=list)

    async def __call__(self, context: Any, call_next: Any) -> Any:
        """Describe and raise on, as the recorder does."""
        if context.method != "tools/call":
            return await call_next(context)
        try:
            return await call_next(context)
        except BaseException as exc:
            self.facts.append(describe_exception(exc, limit_chars=500))
            raise


class Passing(Middleware):
    """A middleware of the host's own, between the recorder and the tool."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Pass on."""
        return await call_next(context)


class Size(BaseModel):
    width: int


def call(app: Any, tool: str, args: dict[str, Any]) -> Any:
    """A tool's own call of another tool, without a client."""
    return app._call_tool_middleware(tool, args) if IS_V2 else app.call_tool(tool, args)


def add_failing_tools(app: FastMCP[Any]) -> None:  # noqa: C901 - one small tool after the other
    """Tools that raise in every way."""

    @app.tool
    async def boom() -> str:
        raise ValueError("bad s3cr3t")

    @app.tool
    def boom_sync() -> str:
        raise ValueError("bad s3cr3t")

    @app.tool
    async def own() -> str:
        raise ToolError("choose another scene")

    @app.tool
    async def own_from() -> str:
        raise ToolError("choose another scene") from ConnectionResetError("gone")

    @app.tool
    async def own_in_fastmcps_words() -> str:
        raise ToolError("Error calling tool 'x'") from ConnectionResetError("gone")

    @app.tool
    async def own_validation() -> str:
        raise ValidationError("no such colour")

    @app.tool
    async def implicit() -> str:
        try:
            raise ConnectionResetError("gone")
        except OSError:
            raise RuntimeError("cannot draw")  # noqa: B904 - without `from`: the chain is the point

    @app.tool
    async def bug_in_handler() -> str:
        try:
            raise ConnectionResetError("gone")
        except OSError as exc:
            answer: Any = exc
            return str(answer.no_such_attribute)

    @app.tool
    async def group() -> str:
        raise ExceptionGroup("two", [ConnectionResetError("gone"), ValueError("x")])

    @app.tool
    async def body_model() -> str:
        return str(Size.model_validate({"width": "wide"}))

    @app.tool
    def body_adapter() -> int:
        return TypeAdapter(int).validate_python("wide")


def add_strict_tools(app: FastMCP[Any]) -> None:
    """Tools with arguments, and tools that call others wrongly."""

    @app.tool
    async def draw(width: int, colours: list[int]) -> str:
        return "drawn"

    @app.tool
    def draw_sync(ctx: Context, width: int) -> str:
        return "drawn"

    @app.tool
    async def calls_unknown() -> str:
        await call(app, "nowhere", {})
        return "called"

    @app.tool
    async def calls_wrongly() -> str:
        await call(app, "draw", {"width": "wide"})
        return "called"

    if not IS_V2:

        @app.tool(timeout=0.05)
        async def too_slow() -> str:
            await asyncio.sleep(5)
            return "late"

        @app.tool(timeout=0.05)
        def too_slow_sync() -> str:
            time.sleep(0.1)
            return "late"


def plain(**options: Any) -> tuple[FastMCP[Any], Describing, str]:
    """A server, its describer, and the prefix of its tools."""
    app: FastMCP[Any] = FastMCP("drawing", **options)
    describing = Describing()
    app.add_middleware(describing)
    app.add_middleware(Passing())
    add_failing_tools(app)
    add_strict_tools(app)
    return app, describing, ""


def masked() -> tuple[FastMCP[Any], Describing, str]:
    """The same with masked error details."""
    return plain(mask_error_details=True)


def mounted() -> tuple[FastMCP[Any], Describing, str]:
    """The same, described by a parent."""
    child = plain()[0]
    parent: Any = FastMCP("parent")
    describing = Describing()
    parent.add_middleware(describing)
    if IS_V2:
        parent.mount(child, prefix="ch")
    else:
        parent.mount(child, namespace="ch")
    return parent, describing, "ch_"
