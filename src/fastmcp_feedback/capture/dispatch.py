"""Tells a mounted child's dispatch of the running call from a call that a tool's body makes.

Nothing that FastMCP passes along tells: names are suffixes of each other in both cases, arguments are new objects, and
context variables are the same. What differs is the stack: below a call of the body stands the tool that runs it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import CodeType, FrameType
from typing import Any, Final

from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.tools import Tool

_LOOPS: Final = frozenset({"asyncio", "anyio", "uvloop", "concurrent", "contextvars", "threading"})


def _code_of(places: tuple[str, ...], cls: str, method: str) -> CodeType | None:
    for place in places:
        try:
            found = getattr(getattr(import_module(place), cls), method).__code__
        except (ImportError, AttributeError):
            continue
        return found if isinstance(found, CodeType) else None
    return None


_FUNCTION_RUN: Final = _code_of(("fastmcp.tools.function_tool", "fastmcp.tools.tool"), "FunctionTool", "run")
_TRANSFORMED_RUN: Final = _code_of(("fastmcp.tools.tool_transform",), "TransformedTool", "run")
_CALL_TOOL: Final = _code_of(("fastmcp",), "FastMCP", "call_tool")


def dispatched_by_mount(entry: CodeType) -> bool:
    """Was the middleware's `__call__` (whose code `entry` is) reached from its own `__call__`, without a tool between?

    Call it from inside that `__call__`, and only while a call is already running: it looks at the stack, which costs
    some microseconds. A frame of `FunctionTool.run`, of a transformed tool's custom function or of a host's own `Tool`
    class means that a body calls. A task of its own means so too, unless a middleware of the host started it.
    """
    frame = _next_entry(sys._getframe(1), entry)  # noqa: SLF001 - the only way to see who calls
    if frame is None:
        return False
    owner = _self_of(frame)
    outermost: FrameType = frame
    above = frame.f_back
    while above is not None:
        code = above.f_code
        if code is entry:
            if _self_of(above) is owner:
                return True
        elif _runs_a_body(above, code):
            return False
        elif _module(above) in _LOOPS:
            break
        outermost = above
        above = above.f_back
    return outermost is not frame and _inside_a_call(outermost)


def _next_entry(frame: FrameType | None, entry: CodeType) -> FrameType | None:
    while frame is not None and frame.f_code is not entry:
        frame = frame.f_back
    return frame


def _runs_a_body(frame: FrameType, code: CodeType) -> bool:
    """Does this frame run what a tool's author wrote?"""
    if code is _FUNCTION_RUN:
        return True
    if code is _TRANSFORMED_RUN:
        tool = _self_of(frame)
        return getattr(tool, "fn", None) is not getattr(tool, "forwarding_fn", None)
    if code.co_varnames[:1] != ("self",) or _module(frame) == "fastmcp":
        return False
    return isinstance(_self_of(frame), Tool)


def _inside_a_call(outermost: FrameType) -> bool:
    """Did a middleware start this task in the midst of a dispatch, as `asyncio.wait_for` does before Python 3.12?"""
    if outermost.f_code is _CALL_TOOL:
        return outermost.f_locals.get("run_middleware") is False
    owner = _self_of(outermost)
    if isinstance(owner, Middleware):
        return True
    return isinstance(owner, FastMCP) and outermost.f_code.co_name == "_call_tool"


def _self_of(frame: FrameType) -> Any:
    return frame.f_locals.get("self")


def _module(frame: FrameType) -> str:
    name = frame.f_globals.get("__name__", "")
    return str(name).partition(".")[0]
