"""Who may see and manage reports: real tokens over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from fastmcp_feedback import add_feedback_tools, create_feedback_server
from fastmcp_feedback.feedback.tools import TOOLS
from support.reporting import BUG, SCOPE, Workshop, call, client_of, in_memory, over_http, refusal

MANAGING: Final = {"update_feedback_status", "delete_feedback"}
OTHER: Final = {"type": "feature", "title": "Export to paper", "description": "Printing would help.", "contact_info": "bob@example.org"}


@asynccontextmanager
async def people(tmp_path: Path, **options: Any) -> AsyncIterator[dict[str, Any]]:
    """Clients of one server with the tokens of alice, bob and their boss."""
    workshop = Workshop([], f"sqlite:///{tmp_path}/reports.db", tokens=True, **options)
    async with over_http(workshop) as url, AsyncExitStack() as stack:
        yield {who: await stack.enter_async_context(client_of(url, who)) for who in ("alice", "bob", "boss")}


async def listed(client: Any) -> set[str]:
    """The feedback tools that a client is shown."""
    return {tool.name for tool in await client.list_tools()} & set(TOOLS)


async def test_managing_tools_are_hidden_and_refused_without_the_scope(tmp_path: Path) -> None:
    """Over HTTP only a token that holds `manage_scope` finds and uses them."""
    async with people(tmp_path, manage_scope=SCOPE) as who:
        report = await call(who["alice"], "submit_feedback", **BUG)
        assert await listed(who["alice"]) == set(TOOLS) - MANAGING
        assert await listed(who["boss"]) == set(TOOLS)
        for client in (who["alice"], who["bob"]):
            asked = {"feedback_id": report["feedback_id"]}
            assert SCOPE in await refusal(client, "update_feedback_status", **asked, status="closed")
            assert SCOPE in await refusal(client, "delete_feedback", **asked)
        assert (await call(who["alice"], "get_feedback", feedback_id=report["feedback_id"]))["report"]["status"] == "open"
        assert (await call(who["boss"], "update_feedback_status", feedback_id=report["feedback_id"], status="closed"))["success"]
        assert (await call(who["boss"], "delete_feedback", feedback_id=report["feedback_id"]))["removed"] == 1


async def test_without_a_scope_nobody_manages_over_http(tmp_path: Path) -> None:
    """The default lets nobody do it."""
    async with people(tmp_path) as who:
        report = await call(who["alice"], "submit_feedback", **BUG)
        assert await listed(who["boss"]) == set(TOOLS) - MANAGING
        assert "does not give out" in await refusal(who["boss"], "delete_feedback", feedback_id=report["feedback_id"])


async def test_tools_named_by_the_host_are_open_to_all(tmp_path: Path) -> None:
    """Whoever names a tool without a scope wants it used."""
    async with people(tmp_path, tools=["submit_feedback", "get_feedback", "update_feedback_status"]) as who:
        report = await call(who["bob"], "submit_feedback", **OTHER)
        assert await listed(who["alice"]) == {"submit_feedback", "get_feedback", "update_feedback_status"}
        assert (await call(who["alice"], "update_feedback_status", feedback_id=report["feedback_id"], status="resolved"))["success"]
        found = await call(who["alice"], "get_feedback", feedback_id=report["feedback_id"])
        assert (found["description"], found["contact_info"]) == (OTHER["description"], OTHER["contact_info"])


async def test_a_scope_binds_named_tools_too(tmp_path: Path) -> None:
    """`tools` then only chooses which tools there are."""
    async with people(tmp_path, tools=["submit_feedback", "delete_feedback"], manage_scope=SCOPE) as who:
        report = await call(who["bob"], "submit_feedback", **OTHER)
        assert SCOPE in await refusal(who["alice"], "delete_feedback", feedback_id=report["feedback_id"])


async def test_other_peoples_words_are_shown_with_the_scope_only(tmp_path: Path) -> None:
    """Not in lists, not by id, not by searching, not among similar reports."""
    async with people(tmp_path, manage_scope=SCOPE) as who:
        report = await call(who["bob"], "submit_feedback", **OTHER, submitter="Bob Brown")
        same = await call(who["alice"], "submit_feedback", **{**OTHER, "contact_info": None, "title": "Export on paper please"})
        answers = [
            same,
            await call(who["alice"], "list_feedback", search="paper"),
            await call(who["alice"], "get_feedback", feedback_id=report["feedback_id"]),
            await call(who["alice"], "get_feedback_statistics"),
        ]
        for word in (OTHER["title"], "bob@example.org", "Bob Brown"):
            assert word not in str(answers)
        assert same["similar"] == [{"id": report["feedback_id"], "title": None, "status": "open", "count": 1}]
        assert [row["id"] for row in answers[1]["feedback"]] == [same["feedback_id"]]
        assert (answers[2]["withheld"], answers[2]["report"]["status"], answers[2]["calls"]) == (True, "open", [])
        everything = await call(who["boss"], "list_feedback", search="paper")
        assert {row["title"] for row in everything["feedback"]} == {OTHER["title"], "Export on paper please"}
        whole = await call(who["boss"], "get_feedback", feedback_id=report["feedback_id"])
        assert (whole["contact_info"], whole["withheld"]) == (OTHER["contact_info"], False)


async def test_a_submitter_sees_their_own_report_whole(tmp_path: Path) -> None:
    """From any of their connections; their name is that of the token."""
    async with people(tmp_path, manage_scope=SCOPE) as who:
        report = await call(who["bob"], "submit_feedback", **OTHER)
        found = await call(who["bob"], "get_feedback", feedback_id=report["feedback_id"].upper())
        assert (found["contact_info"], found["report"]["submitter"]) == (OTHER["contact_info"], "bob")


async def test_strangers_without_token_see_nothing_of_each_other(tmp_path: Path) -> None:
    """Nothing tells whose report it is, so nobody is shown it."""
    workshop = Workshop(None, f"sqlite:///{tmp_path}/reports.db")
    async with over_http(workshop, stateless=True) as url, client_of(url) as client:
        report = await call(client, "submit_feedback", **OTHER)
        assert (await call(client, "list_feedback"))["feedback"] == []
        assert (await call(client, "get_feedback", feedback_id=report["feedback_id"]))["withheld"]


async def test_over_http_sessions_are_people(tmp_path: Path) -> None:
    """Without tokens the session tells whose report it is."""
    workshop = Workshop(None, f"sqlite:///{tmp_path}/reports.db")
    async with over_http(workshop) as url, client_of(url, legacy=True) as one, client_of(url, legacy=True) as other:
        report = await call(one, "submit_feedback", **OTHER)
        assert [row["id"] for row in (await call(one, "list_feedback"))["feedback"]] == [report["feedback_id"]]
        assert (await call(other, "list_feedback"))["feedback"] == []


async def test_in_memory_everything_is_allowed(tmp_path: Path) -> None:
    """Over stdio and in memory the caller is the one who started the server."""
    async with in_memory(Workshop(None, f"sqlite:///{tmp_path}/reports.db", manage_scope=SCOPE)) as client:
        assert await listed(client) == set(TOOLS)
        report = await call(client, "submit_feedback", **OTHER)
        assert (await call(client, "delete_feedback", feedback_id=report["feedback_id"]))["success"]


async def test_the_tools_say_honestly_what_they_do(tmp_path: Path) -> None:
    """Hints, schemas of answers, flat arguments."""
    async with in_memory(Workshop(None, f"sqlite:///{tmp_path}/reports.db")) as client:
        tools = {tool.name: tool.model_dump(by_alias=True) for tool in await client.list_tools() if tool.name in TOOLS}
    hints = {name: (tool["annotations"]["readOnlyHint"], tool["annotations"]["destructiveHint"]) for name, tool in tools.items()}
    assert hints == {
        "submit_feedback": (False, False),
        "list_feedback": (True, False),
        "get_feedback": (True, False),
        "get_feedback_statistics": (True, False),
        "update_feedback_status": (False, False),
        "delete_feedback": (False, True),
    }
    for tool in tools.values():
        assert tool["outputSchema"]["type"] == "object"
        assert len(tool["description"]) < 300
        assert "MUST" not in tool["description"]
        assert all(field.get("type") != "object" for field in tool["inputSchema"]["properties"].values())
        assert all("description" in field for field in tool["inputSchema"]["properties"].values())


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"tools": ["submit"]}, "submit"),
        ({"tools": []}, "no choice"),
        ({"database_url": "mysql://db/x"}, "not supported"),
        ({"max_per_hour": 0}, "max_per_hour"),
    ],
)
def test_wrong_options_are_refused_at_once(options: dict[str, Any], problem: str) -> None:
    """With the name of what is wrong."""
    with pytest.raises(ValueError, match=problem):
        create_feedback_server(**options)


def test_only_servers_get_tools() -> None:
    """And only notifiers that notify."""
    with pytest.raises(TypeError, match="FastMCP server"):
        add_feedback_tools("app")
    with pytest.raises(TypeError, match="notify"):
        create_feedback_server(notifiers=[object()])
