"""Exceptions reduced to facts, on a real server of whatever FastMCP version is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

from fastmcp_feedback.capture.exceptions import describe_exception
from support.raising_server import Describing, masked, mounted, plain
from support.versions import IS_V2, IS_V3, IS_V4

ARGS = {"width": "wide", "depth": 1}
# tool, arguments, error type, beginning of the message, kind, refused arguments, families that must be there
CASES: list[tuple[str, dict[str, Any], str, str, str | None, tuple[str, ...], tuple[str, ...]]] = [
    ("boom", {}, "ValueError", "bad s3cr3t", None, (), ("builtins.ValueError",)),
    ("boom_sync", {}, "ValueError", "bad s3cr3t", None, (), ("builtins.ValueError",)),
    ("own", {}, "ToolError", "choose another scene", None, (), ("fastmcp.exceptions.ToolError",)),
    ("own_from", {}, "ToolError", "choose another scene", None, (), ("fastmcp.exceptions.ToolError", "builtins.ConnectionError")),
    ("own_in_fastmcps_words", {}, "ToolError", "Error calling tool 'x'", None, (), ("builtins.ConnectionResetError",)),
    ("own_validation", {}, "ValidationError", "no such colour", "bad_arguments", (), ("fastmcp.exceptions.ValidationError",)),
    ("implicit", {}, "RuntimeError", "cannot draw", None, (), ("builtins.RuntimeError", "builtins.ConnectionResetError")),
    ("bug_in_handler", {}, "AttributeError", "'ConnectionResetError' object", None, (), ("builtins.AttributeError",)),
    ("group", {}, "ExceptionGroup", "two", None, (), ("builtins.ExceptionGroup", "builtins.ConnectionError", "builtins.ValueError")),
    ("body_model", {}, "ValidationError", "1 validation error for Size", None, (), ("builtins.ValueError",)),
    ("body_adapter", {}, "ValidationError", "1 validation error for int", None, (), ("builtins.ValueError",)),
    ("draw", ARGS, "ValidationError", "3 validation errors", "bad_arguments", ("width", "colours", "depth"), ("builtins.ValueError",)),
    ("draw_sync", ARGS, "ValidationError", "2 validation errors", "bad_arguments", ("width", "depth"), ("builtins.ValueError",)),
    ("calls_wrongly", {}, "ValidationError", "2 validation errors", None, (), ()),
    ("calls_unknown", {}, "NotFoundError", "Unknown tool", None, (), ("fastmcp.exceptions.NotFoundError",)),
    ("nowhere", {}, "NotFoundError", "Unknown tool", "unknown_tool", (), ("fastmcp.exceptions.NotFoundError",)),
]
if not IS_V2:
    TIMEOUT = "MCPError" if IS_V4 else "McpError"
    CASES.append(("too_slow", {}, TIMEOUT, "Tool 'too_slow' execution timed out", None, (), (f"mcp.shared.exceptions.{TIMEOUT}",)))
if IS_V4:  # FastMCP 3 lets a sync tool overrun its limit
    CASES.append(("too_slow_sync", {}, "MCPError", "Tool 'too_slow_sync' execution timed out", None, (), ()))


@pytest.mark.parametrize("build", [plain, masked, mounted])
async def test_what_a_call_raises_is_described(build: Callable[[], tuple[FastMCP[Any], Describing, str]]) -> None:
    """Cause, message, refusal, names of refused arguments and families, however the tool is reached."""
    app, describing, prefix = build()
    async with Client(app) as client:
        for tool, args, type_name, message, kind, names, families in CASES:
            describing.facts.clear()
            with pytest.raises(Exception, match=r"."):
                await client.call_tool(prefix + tool, args)
            facts = describing.facts[-1]  # a call inside a tool comes before the tool's own
            assert (facts.type_name, facts.kind) == (type_name, kind), facts
            assert facts.message.startswith(message), facts
            assert sorted(facts.bad_arguments) == sorted(names), facts
            assert set(families) <= set(facts.families), facts


async def test_a_handlers_bug_is_not_blamed_on_what_it_handled() -> None:
    """An AttributeError raised while a connection error was handled has no such cause."""
    app, describing, _ = plain()
    async with Client(app) as client:
        with pytest.raises(ToolError):
            await client.call_tool("bug_in_handler", {})

    assert not any("Connection" in family for family in describing.facts[0].families)


@pytest.mark.skipif(IS_V2 or IS_V3, reason="a cancellation reaches the tool on FastMCP 4 only")
async def test_a_cancellation_is_described() -> None:
    """By its own name, without a message."""
    app, describing, _ = plain()
    started = asyncio.Event()

    @app.tool
    async def waits() -> str:
        started.set()
        await asyncio.Event().wait()
        return "never"

    task = asyncio.ensure_future(app.call_tool("waits", {}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert describing.facts[0].type_name == "CancelledError"
    assert describing.facts[0].kind is None


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_messages_are_bounded_and_never_raise() -> None:
    """Sixteen times what is kept, at least 8,192 characters; an error without a text says so."""
    assert len(describe_exception(ValueError("x" * 10**6), limit_chars=100).message) == 8192
    assert len(describe_exception(ValueError("x" * 10**6), limit_chars=1000).message) == 16_000
    assert describe_exception(Unprintable(), limit_chars=100).message == "<unprintable Unprintable>"


def test_chains_that_go_round_or_on_for_ever_are_cut() -> None:
    """Eight exceptions are enough to know whose fault it was."""
    first, second = ValueError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    long: Exception = TimeoutError("root")
    for number in range(50):
        outer = ValueError(str(number))
        outer.__cause__ = long
        long = outer

    assert describe_exception(first, limit_chars=100).families == ("builtins.ValueError", "builtins.KeyError", "builtins.LookupError")
    assert "builtins.TimeoutError" not in describe_exception(long, limit_chars=100).families
    assert len(describe_exception(ExceptionGroup("many", [ValueError("x")] * 1000), limit_chars=100).families) <= 64


class Response:
    status_code = 503


class Answered(Exception):
    response = Response()


class OfAws(Exception):
    def __init__(self, code: str, status: int) -> None:
        self.response = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}


class RpcError(Exception):
    pass


class Code:
    name = "UNAVAILABLE"


class OfGrpc(RpcError):
    def code(self) -> Code:
        return Code()


class Hostile(Exception):
    @property
    def response(self) -> Any:
        raise RuntimeError("not now")


class WithStatus(Exception):
    status = 404


class WithTextCode(Exception):
    code = "404"


@pytest.mark.parametrize(
    ("exc", "status"),
    [
        (Answered(), 503),
        (OfAws("NoSuchKey", 404), 404),
        (OfAws("ThrottlingException", 400), 429),
        (OfGrpc(), 503),
        (WithStatus(), 404),
        (WithTextCode(), None),
        (Hostile(), None),
        (ValueError("503"), None),
        (SystemExit(2), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_http_status_is_found_where_clients_keep_it(exc: BaseException, status: int | None) -> None:
    """On the exception, its response, AWS's dict, gRPC's code; foreign properties that raise are no status."""
    assert describe_exception(exc, limit_chars=100).status_code == status


def test_the_nearest_status_of_a_chain_counts() -> None:
    """The author's own error around a client's."""
    outer = RuntimeError("cannot draw")
    outer.__cause__ = Answered()

    assert describe_exception(outer, limit_chars=100).status_code == 503
