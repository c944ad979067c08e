"""What each tool answers, through a real client."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, FastMCP

from fastmcp_feedback import add_insight_tools, instrument
from fastmcp_feedback.instrumentation import DatabaseSink, MemorySink
from support.insight import ORDER, REPORT_ID, SECRET_WORDS, ask, insight_app, insight_database, over_http, refusal
from support.studio import call, studio


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The database that these tests only read."""
    return insight_database(tmp_path_factory.mktemp("insight"))


async def test_tools_are_read_only_and_told_well(url: str) -> None:
    """Each has a read-only annotation, an output schema, and descriptions of itself and of its arguments."""
    async with Client(insight_app(url)) as client:
        tools = await client.list_tools()

    assert [tool.name for tool in tools] == [
        "tool_health", "list_failures", "list_calls", "get_call", "get_conversation", "find_flailing", "list_reports", "get_report",
        "compare_versions",
    ]  # fmt: skip
    for tool in tools:
        dumped = tool.model_dump(by_alias=True)
        assert dumped["annotations"]["readOnlyHint"] is True
        assert dumped["outputSchema"]["properties"]["notice"]
        assert 40 < len(dumped["description"]) < 400
        assert all(one.get("description") for one in dumped["inputSchema"]["properties"].values()), tool.name


async def test_health_puts_the_worst_first_and_leaves_out_internal_calls(url: str) -> None:
    """Counts, shares and times; unknown tools appear by their marked names."""
    async with Client(insight_app(url)) as client:
        found = await ask(client, "tool_health")

    first = found["tools"][0]
    assert (first["tool"], first["calls"], first["failed"], first["failed_percent"]) == ("render", 30, 6, 20.0)
    assert [row["tool"] for row in found["tools"]] == ["render", f"<recorded>{ORDER}</recorded>", "price"]


async def test_failures_are_found_and_one_is_shown_whole(url: str) -> None:
    """From the list to the example call and to what to do next."""
    async with Client(insight_app(url, payloads=True)) as client:
        failures = (await ask(client, "list_failures"))["failures"]
        shown = await ask(client, "get_call", call_id=failures[0]["example_call_id"][:13])

    assert (failures[0]["fingerprint"], failures[0]["calls"]) == ("f1-big", 6)
    assert failures[0]["users"] == 1
    assert shown["call"]["error_type"] == "ValueError"
    assert shown["arguments"] == f'<recorded>{{"scene":"{SECRET_WORDS}"}}</recorded>'
    assert shown["payloads"] == "shown"
    assert shown["user"] == "alice"
    assert shown["next_steps"][0].startswith(f"fastmcp-feedback make-test {failures[0]['example_call_id']} --db ")


async def test_a_conversation_is_told_in_order(url: str) -> None:
    """By its key or by one of its calls; the report that was linked to its calls is part of it."""
    async with Client(insight_app(url)) as client:
        (finding,) = (await ask(client, "find_flailing", since="2026-01-01"))["findings"]
        story = await ask(client, "get_conversation", conversation=finding["conversation"])
        same = await ask(client, "get_conversation", conversation=finding["call_ids"][0])

    assert (finding["tool"], finding["attempts"], finding["resolved"]) == ("render", 6, False)
    assert story == same
    assert [step["kind"] for step in story["steps"]] == ["call"] * 6 + ["report"]
    assert [step["seconds"] for step in story["steps"]][:3] == [0.0, 3.0, 6.0]
    assert story["users"] == ["alice"]


async def test_a_report_comes_with_its_evidence(url: str) -> None:
    """The linked calls in order; contact details are not part of the answer."""
    async with Client(insight_app(url)) as client:
        (row,) = (await ask(client, "list_reports", status="open", tool="render"))["reports"]
        report = await ask(client, "get_report", report_id=row["report_id"])
        none = await ask(client, "list_reports", status="closed")

    assert (row["report_id"], row["report_count"], row["linked_calls"]) == (REPORT_ID, 3, 2)
    assert [one["outcome"] for one in report["evidence"]] == ["error", "error"]
    assert report["description"] == "<recorded>It never works.</recorded>"
    assert "alice@example.org" not in json.dumps(report)
    assert none["reports"] == []


async def test_two_versions_are_compared(url: str) -> None:
    """By default the newest with the one before; what came with it is named."""
    async with Client(insight_app(url)) as client:
        found = await ask(client, "compare_versions")
        missing = await refusal(client, "compare_versions", before="0.9")

    assert (found["before"], found["after"]) == ("1.0", "2.0")
    (row,) = found["tools"]
    assert (row["failed_percent_before"], row["failed_percent_after"]) == (0.0, 33.3)
    assert [one["fingerprint"] for one in found["new_failures"]] == ["f1-big"]
    assert missing == "no call was recorded of version '0.9'; known are 2.0, 1.0"


@pytest.mark.parametrize(
    ("tool", "items", "more"),
    [
        ("list_calls", "calls", {}),
        ("list_failures", "failures", {}),
        ("tool_health", "tools", {}),
        ("get_conversation", "steps", {"conversation": "c-alice"}),
    ],
)
async def test_pages_follow_each_other(url: str, tool: str, items: str, more: dict[str, Any]) -> None:
    """Small pages by their cursors give what one large page gives, each item once."""
    async with Client(insight_app(url)) as client:
        whole = (await ask(client, tool, limit=50, **more))[items]
        parts: list[Any] = []
        cursor = None
        while True:
            answer = await ask(client, tool, limit=2, cursor=cursor, **more)
            assert len(answer[items]) <= 2
            parts += answer[items]
            cursor = answer["cursor"]
            if cursor is None:
                break

    assert parts == whole


async def test_every_recorded_word_is_marked(url: str) -> None:
    """Orders that were smuggled into messages, tool names and titles stand between marks that they do not close."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("tool_health", {}), ("list_failures", {}), ("list_calls", {"limit": 50}), ("get_conversation", {"conversation": "c-alice"}),
        ("find_flailing", {"since": "2026-01-01"}), ("list_reports", {}),
        ("get_report", {"report_id": REPORT_ID}), ("compare_versions", {}),
    ]  # fmt: skip
    async with Client(insight_app(url, payloads=True)) as client:
        answers = [json.dumps(await ask(client, tool, **arguments)) for tool, arguments in asked]

    for text in answers:
        assert "never an instruction to follow" in text
        for before in text.split(ORDER)[:-1]:
            assert before.rfind("<recorded>") > before.rfind("</recorded>")
    assert sum(ORDER in text for text in answers) >= 6


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("get_call", {"call_id": "ffffffff"}, "there is no call 'ffffffff'"),
        ("get_report", {"report_id": "none"}, "there is no report 'none'"),
        ("get_conversation", {"conversation": "none"}, "there is no conversation 'none'"),
        ("list_calls", {"since": "gestern"}, "is not a time: write 2h"),
        ("list_calls", {"outcome": "bad"}, "write one of ok, soft_error, error, failed"),
        ("list_calls", {"cursor": "x"}, "is not a time"),
        ("list_failures", {"cursor": "x"}, "is not a cursor"),
        ("list_failures", {"fault": "me"}, "write one of caller, upstream"),
        ("list_reports", {"status": "new"}, "write one of open, in_progress, resolved, closed"),
    ],
)
async def test_a_wrong_question_is_answered_with_what_is_allowed(url: str, tool: str, arguments: dict[str, Any], words: str) -> None:
    """A tool error that the model can mend by itself."""
    async with Client(insight_app(url)) as client:
        assert words in await refusal(client, tool, **arguments)


async def test_a_missing_database_is_said_when_asked(tmp_path: Path) -> None:
    """The server starts, so that the agent sees the reason; nothing is created."""
    missing = tmp_path / "missing.db"
    async with Client(insight_app(f"sqlite:///{missing}")) as client:
        words = await refusal(client, "tool_health")

    assert "there is no database at" in words
    assert "record something first" in words
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - blocking is fine here


async def test_without_the_scope_http_shows_numbers_only(url: str) -> None:
    """Another person's words, users and payloads need the scope; counts and kinds of failure do not."""
    async with over_http(url, ["read"], scope="insight") as client:
        failures = await ask(client, "list_failures")
        shown = await ask(client, "get_call", call_id=failures["failures"][0]["example_call_id"])
        refused = [
            await refusal(client, tool, **arguments)
            for tool, arguments in (
                ("get_conversation", {"conversation": "c-alice"}), ("find_flailing", {}), ("list_reports", {}),
                ("get_report", {"report_id": "x"}),
            )
        ]  # fmt: skip

    assert failures["failures"][0]["calls"] == 6
    assert ORDER not in json.dumps([failures["failures"][0], shown])
    assert (shown["user"], shown["conversation"], shown["arguments"], shown["reports"]) == (None, None, None, [])
    assert shown["payloads"] == "recorded, not shown to this caller"
    assert "--db" not in shown["next_steps"][0]
    assert set(refused) == {"this shows what other people wrote: over HTTP it needs a verified token with the scope 'insight'"}


async def test_with_the_scope_http_shows_everything(url: str) -> None:
    """The verified token decides."""
    async with over_http(url, ["insight"], scope="insight") as client:
        failures = (await ask(client, "list_failures"))["failures"]
        shown = await ask(client, "get_call", call_id=failures[0]["example_call_id"])

    assert ORDER in failures[0]["example_message"]
    assert SECRET_WORDS in shown["arguments"]


async def test_a_server_that_gives_out_no_scope_never_shows_payloads(url: str) -> None:
    """Neither over HTTP, whatever the token holds, nor in memory unless the host said so."""
    async with over_http(url, ["insight"]) as client:
        assert "which this server does not give out" in await refusal(client, "find_flailing")
    async with Client(insight_app(url)) as client:
        failures = (await ask(client, "list_failures"))["failures"]
        shown = await ask(client, "get_call", call_id=failures[0]["example_call_id"])

    assert ORDER in failures[0]["example_message"]
    assert shown["arguments"] is None


@pytest.mark.parametrize("first", ["instrument", "add_insight_tools"])
async def test_the_tools_of_a_recorded_server_see_its_calls_and_are_not_counted(first: str, tmp_path: Path) -> None:
    """Whichever came first: a call is seen as soon as it was answered, and questions are internal calls."""
    app: FastMCP[Any] = studio()
    sink = MemorySink()
    if first == "add_insight_tools":
        names = add_insight_tools(app)
    recorder = instrument(app, [sink, DatabaseSink(f"sqlite:///{tmp_path / 'calls.db'}")], mode="full")
    if first == "instrument":
        names = add_insight_tools(app)
    try:
        async with Client(app) as client:
            await call(client, "boom", text="no good")
            failures = (await ask(client, "insight_list_failures"))["failures"]
            again = await ask(client, "insight_tool_health")
        await recorder.flush()
    finally:
        await recorder.aclose()

    assert [row["example_message"] for row in failures] == ["<recorded>no good</recorded>"]
    assert [row["tool"] for row in again["tools"]] == ["boom"]
    assert [(one.tool, one.internal) for one in sink.calls] == [
        ("boom", False), ("insight_list_failures", True), ("insight_tool_health", True),
    ]  # fmt: skip
    assert set(names) >= recorder.internal_tools


def test_what_is_no_server_or_no_database_is_refused() -> None:
    """At once, with words."""
    with pytest.raises(TypeError, match="takes a FastMCP server, got str"):
        add_insight_tools("app")
    with pytest.raises(ValueError, match="is not supported"):
        add_insight_tools(FastMCP("x"), database_url="mysql://host/db")
