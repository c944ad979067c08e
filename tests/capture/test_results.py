"""What of a tool's result is recorded."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import Audio, File, Image

from fastmcp_feedback.capture.adapter import result_payload, with_meta
from support.capturing import Probe, client
from support.versions import IS_V2, IS_V4

types: Any = import_module("mcp_types" if IS_V4 else "mcp.types")
ToolResult: Any = import_module("fastmcp.tools.tool" if IS_V2 else "fastmcp.tools.base").ToolResult

PNG = b"\x89PNG made up"


@pytest.fixture
def app(probe: Probe) -> FastMCP[Any]:
    """A server with a tool for every kind of result."""
    server: FastMCP[Any] = FastMCP("results")
    server.add_middleware(probe)
    kinds: dict[str, Any] = {
        "mapping": {"n": 1, "deep": {"list": [1, None]}},
        "number": 7,
        "text": "plain",
        "nothing": None,
        "image": Image(data=PNG, format="png"),
        "sound": Audio(data=PNG, format="wav"),
        "file": File(data=PNG, name="report", format="pdf"),
        "mixed": ["first", Image(data=PNG, format="png"), "last"],
    }
    for name, value in kinds.items():
        options: dict[str, Any] = {} if name == "mapping" else {"output_schema": None}
        server.tool(_returning(value), name=name, **options)
    return server


def _returning(value: Any) -> Any:
    def tool():  # type: ignore[no-untyped-def]  # an annotation would choose the result's form  # noqa: ANN202
        return value

    return tool


@pytest.mark.parametrize(
    ("tool", "payload"),
    [
        ("mapping", {"n": 1, "deep": {"list": [1, None]}}),
        ("number", ["7"]),
        ("text", ["plain"]),
        ("nothing", []),
        ("image", [{"type": "image"}]),
        ("sound", [{"type": "audio"}]),
        ("file", [{"type": "resource"}]),
        ("mixed", ["first", {"type": "image"}, "last"]),
    ],
)
async def test_the_payload_is_structured_content_else_texts_and_kinds(app: FastMCP[Any], probe: Probe, tool: str, payload: Any) -> None:
    """Data of images, sounds and files is never part of it."""
    async with client(app) as c:
        await c.call_tool(tool, {})

    assert result_payload(probe.last.result) == (payload, False, True)


async def test_a_scalar_keeps_the_form_in_which_fastmcp_wraps_it(probe: Probe) -> None:
    """With an output schema the structured content of a number is a dict, and that is what counts."""
    app: FastMCP[Any] = FastMCP("scalar")
    app.add_middleware(probe)

    @app.tool
    def number() -> int:
        return 7

    async with client(app) as c:
        await c.call_tool("number", {})

    assert result_payload(probe.last.result)[0] == {"result": 7}


@pytest.mark.skipif(IS_V2, reason="FastMCP 2 raises where a later version marks the result")
async def test_a_result_that_the_tool_marked_as_an_error_says_so(probe: Probe) -> None:
    """`is_error` is read without the deprecated spelling."""
    app: FastMCP[Any] = FastMCP("marked")
    app.add_middleware(probe)

    @app.tool(output_schema=None)
    def marked() -> Any:
        return ToolResult(content="disk full", is_error=True)

    async with client(app) as c:
        with pytest.raises(ToolError):
            await c.call_tool("marked", {})

    assert result_payload(probe.last.result) == (["disk full"], True, True)


def test_the_protocols_own_result_type_is_read_in_its_spelling() -> None:
    """Camel case before FastMCP 4, snake case from there on; neither warns."""
    content: list[Any] = [types.TextContent(type="text", text="boom")]
    options: dict[str, Any] = {"is_error": True} if IS_V4 else {"isError": True}

    assert result_payload(types.CallToolResult(content=content, **options)) == (["boom"], True, True)


@pytest.mark.skipif(not IS_V4, reason="Only protocol 2026-07-28 lets a tool ask for input")
def test_a_tool_that_asks_for_input_is_no_failure() -> None:
    """The question itself is not content."""
    from fastmcp.tools.base import InputRequiredToolResult

    asks = InputRequiredToolResult(types.InputRequiredResult(request_state="opaque"))

    assert result_payload(asks) == ([{"type": "input_required"}], False, True)
    assert with_meta(asks, {"ours": 1}) is asks


@pytest.mark.skipif(IS_V4 or not hasattr(types, "CreateTaskResult"), reason="A later FastMCP keeps this type in an extension")
def test_a_background_tasks_ticket_names_the_task() -> None:
    """The submission is the call; what the task answers later is not."""
    now = datetime.now(UTC)
    task = types.Task(taskId="task-1", status="working", createdAt=now, lastUpdatedAt=now, ttl=60000)

    assert result_payload(types.CreateTaskResult(task=task)) == ([{"type": "task", "task_id": "task-1"}], False, True)


class Ticket:
    """Some middleware's own answer."""


@pytest.mark.parametrize("odd", [None, 5, "text", Ticket(), {"content": []}, [1]])
def test_anything_else_is_one_item_that_names_its_type(odd: Any) -> None:
    """A middleware of the host may answer anything; the recorder says what it was."""
    assert result_payload(odd) == ([{"type": type(odd).__name__}], False, True)


def test_meta_is_added_to_a_copy() -> None:
    """The tool's own object, which a cache may keep, stays as it is; content and other entries are kept."""
    result = ToolResult(content="text", structured_content={"n": 1}, meta={"theirs": 1})

    changed = with_meta(result, {"ours": 2})

    assert result.meta == {"theirs": 1}
    assert changed.meta == {"theirs": 1, "ours": 2}
    assert changed.content == result.content
    assert changed.structured_content == {"n": 1}


@pytest.mark.parametrize("odd", [None, "text", Ticket()])
def test_meta_is_not_added_to_what_is_no_tool_result(odd: Any) -> None:
    """Such an answer passes through untouched."""
    assert with_meta(odd, {"ours": 1}) is odd
