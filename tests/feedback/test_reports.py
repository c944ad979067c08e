"""What becomes of a report: checked, cleaned, folded, limited, shown, triaged, removed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import pytest

from fastmcp_feedback import add_feedback_tools
from fastmcp_feedback.feedback.names import new_id, read_id
from fastmcp_feedback.instrumentation import DatabaseSink, MemorySink, Redactor, instrument
from fastmcp_feedback.store.feedback_sql import Owner
from fastmcp_feedback.store.feedback_store import FeedbackStore
from support.databases import Database
from support.reporting import BUG, SCOPE, Workshop, call, client_of, in_memory, over_http, refusal

EVIL: Final = "'); DROP TABLE ffb_feedback; --<script>alert(1)</script> %_!\" \\ :id $1"


def on_file(tmp_path: Path) -> str:
    """The URL of this test's database."""
    return f"sqlite:///{tmp_path}/reports.db"


@pytest.mark.parametrize(
    ("tool", "changes", "field", "allowed"),
    [
        ("submit_feedback", {"type": "praise"}, "type", "bug, feature, improvement, question"),
        ("submit_feedback", {"title": " \n "}, "title", "1 to 200"),
        ("submit_feedback", {"title": "x" * 201}, "title", "at most 200"),
        ("submit_feedback", {"description": ""}, "description", "1 to 10000"),
        ("submit_feedback", {"description": "x" * 1_000_000}, "description", "at most 10000"),
        ("submit_feedback", {"severity": "awful"}, "severity", "low, medium, high, critical"),
        ("submit_feedback", {"submitter": "x" * 201}, "submitter", "at most 200"),
        ("submit_feedback", {"contact_info": "x" * 201}, "contact_info", "at most 200"),
        ("submit_feedback", {"tool": "x" * 201}, "tool", "at most 200"),
        ("submit_feedback", {"calls": ["x"] * 21}, "calls", "at most 20"),
        ("submit_feedback", {"calls": ["x" * 201]}, "calls", "_meta"),
        ("submit_feedback", {"title": 7}, "title", "string"),
        ("list_feedback", {"status": "done"}, "status", "open, in_progress, resolved, closed"),
        ("list_feedback", {"type": "praise"}, "type", "bug, feature"),
        ("list_feedback", {"limit": 0}, "limit", "1 and 100"),
        ("list_feedback", {"cursor": "no cursor"}, "cursor", "page before"),
        ("get_feedback", {"feedback_id": "7"}, "feedback_id", "looks like fb-"),
        ("get_feedback", {"feedback_id": "fb-000000000000"}, "feedback_id", "no report fb-000000000000"),
        ("get_feedback_statistics", {"days": 0}, "days", "1 and 3650"),
        ("update_feedback_status", {"feedback_id": "fb-000000000000", "status": "done"}, "status", "open, in_progress"),
        ("update_feedback_status", {"feedback_id": "fb-000000000000", "status": "open"}, "feedback_id", "no report"),
        ("delete_feedback", {"feedback_id": "fb-000000000000"}, "feedback_id", "no report"),
    ],
)
async def test_bad_input_is_an_error_that_names_the_field(
    tmp_path: Path, tool: str, changes: dict[str, Any], field: str, allowed: str
) -> None:
    """It says what is allowed in one short line, and nothing is stored."""
    sink = MemorySink()
    async with in_memory(Workshop([sink], on_file(tmp_path))) as client:
        said = await refusal(client, tool, **{**(BUG if tool == "submit_feedback" else {}), **changes})
        assert field in said
        assert allowed in said
        assert len(said) < 500
        assert (await call(client, "get_feedback_statistics"))["total"] == 0
    assert sink.events == []


async def test_sql_and_html_in_every_field_are_only_text(database: Database) -> None:
    """They come back as they were sent, and nothing else happens."""
    sink = database.sink()
    async with in_memory(Workshop([sink])) as client:
        report = {"title": EVIL, "description": EVIL, "submitter": EVIL, "contact_info": EVIL, "tool": EVIL}
        answer = await call(client, "submit_feedback", type="bug", **report, calls=[EVIL])
        found = await call(client, "get_feedback", feedback_id=answer["feedback_id"])
        assert (found["report"]["title"], found["description"], found["contact_info"]) == (EVIL, EVIL, EVIL)
        assert [row["id"] for row in (await call(client, "list_feedback", search=EVIL, tool=EVIL))["feedback"]] == [answer["feedback_id"]]
        for word in ("%", "_", "!", "' OR 1=1 --"):
            expected = 1 if word in EVIL else 0
            assert len((await call(client, "list_feedback", search=word))["feedback"]) == expected
        changed = await call(client, "update_feedback_status", feedback_id=answer["feedback_id"], status="in_progress", note=EVIL)
        assert changed["status"] == "in_progress"
        again = await call(client, "get_feedback", feedback_id=answer["feedback_id"])
        assert [(note["status"], note["note"]) for note in again["notes"]] == [("in_progress", EVIL)]
        assert again["report"]["verified"]
        assert (await call(client, "delete_feedback", feedback_id=answer["feedback_id"]))["removed"] == 1
        assert (await call(client, "list_feedback"))["feedback"] == []


async def test_secrets_are_taken_out_of_every_text(tmp_path: Path) -> None:
    """Those that look like some, and those that a linked call's arguments lost: also of a call that still runs."""
    workshop = Workshop([DatabaseSink(on_file(tmp_path))])
    went_on = asyncio.Event()

    @workshop.app.tool
    async def deploy(password: str) -> str:
        went_on.set()
        await workshop.go_on.wait()
        return "done"

    async with in_memory(workshop) as client:
        await call(client, "ping", api_key="plain-hunter-22")
        running = asyncio.create_task(client.call_tool("deploy", {"password": "swordfish-7-up"}))
        await went_on.wait()
        words = "with plain-hunter-22 or swordfish-7-up or token=abcdef123456"
        report = {"title": words, "description": words * 60, "submitter": words, "contact_info": words, "tool": words}
        answer = await call(client, "submit_feedback", type="bug", **report)
        events = await workshop.recorder.events_for(answer["feedback_id"])
        shown = [await call(client, "get_feedback", feedback_id=answer["feedback_id"]), events]
        for secret in ("hunter", "swordfish", "abcdef123456"):
            assert secret not in str(shown)
        assert shown[0]["report"]["title"] == "with [REDACTED] or [REDACTED] or token=[REDACTED]"
        workshop.go_on.set()
        await running
    assert "hunter" not in (tmp_path / "reports.db").read_bytes().decode("utf-8", "replace")


async def test_the_hosts_redactor_cleans_reports_too(tmp_path: Path) -> None:
    """What it takes out of calls it takes out of reports."""
    workshop = Workshop(None, on_file(tmp_path))
    workshop.mw = instrument(workshop.app, [], redactor=Redactor(pii=("email",)))
    add_feedback_tools(workshop.app, on_file(tmp_path), instrumentation=workshop.mw, prefix="clean")
    async with in_memory(workshop) as client:
        answer = await call(client, "clean_submit_feedback", **{**BUG, "description": "ask ada@example.org"})
        found = await call(client, "clean_get_feedback", feedback_id=answer["feedback_id"])
        assert found["description"] == "ask [REDACTED]"


async def test_a_report_made_again_is_counted(database: Database) -> None:
    """Case and spacing do not matter; the evidence of both is kept; a closed report is not woken up."""
    async with in_memory(Workshop([database.sink()])) as client:
        await call(client, "ping")
        first = await call(client, "submit_feedback", **BUG)
        await call(client, "ping")
        again = await call(client, "submit_feedback", **{**BUG, "title": "  render   HANGS "})
        assert (again["feedback_id"], again["count"], again["linked_calls"]) == (first["feedback_id"], 2, 2)
        assert len((await call(client, "list_feedback"))["feedback"]) == 1
        counted = await call(client, "get_feedback_statistics")
        assert (counted["total"], counted["reported_times"]) == (1, 2)
        await call(client, "update_feedback_status", feedback_id=first["feedback_id"], status="resolved")
        new = await call(client, "submit_feedback", **BUG)
        assert (new["feedback_id"] != first["feedback_id"], new["count"]) == (True, 1)
        assert [similar["status"] for similar in new["similar"]] == ["resolved"]


async def test_equal_reports_of_two_people_are_one_report_with_a_count(tmp_path: Path) -> None:
    """Each keeps an id, evidence and contact of their own; the list shows one, and triage reaches both."""
    workshop = Workshop([DatabaseSink(on_file(tmp_path))], tokens=True, manage_scope=SCOPE)
    async with over_http(workshop) as url, client_of(url, "alice") as alice, client_of(url, "bob") as bob, client_of(url, "boss") as boss:
        first = await call(alice, "submit_feedback", **BUG)
        second = await call(bob, "submit_feedback", **BUG, contact_info="bob@example.org")
        assert (second["duplicate_of"], second["count"]) == (first["feedback_id"], 2)
        listed = (await call(boss, "list_feedback"))["feedback"]
        assert [(row["id"], row["count"]) for row in listed] == [(first["feedback_id"], 2)]
        await call(boss, "update_feedback_status", feedback_id=first["feedback_id"], status="resolved", note="mended")
        found = await call(bob, "get_feedback", feedback_id=second["feedback_id"])
        assert (found["report"]["status"], found["contact_info"], found["withheld"]) == ("resolved", "bob@example.org", False)
        assert (await call(boss, "delete_feedback", feedback_id=first["feedback_id"]))["removed"] == 2


async def test_agents_and_people_are_kept_apart(tmp_path: Path) -> None:
    """By how they call themselves; what an agent says is a claim until a maintainer confirms it."""
    async with in_memory(Workshop([MemorySink()], on_file(tmp_path))) as client:
        kinds = {}
        for submitter in ("Claude Code", "review-bot", "AI assistant", "Ada Lovelace", "Mr. Cursorius", None):
            answer = await call(client, "submit_feedback", **BUG, submitter=submitter)
            found = (await call(client, "get_feedback", feedback_id=answer["feedback_id"]))["report"]
            assert not found["verified"]
            kinds[submitter] = found["submitter_kind"]
        assert kinds == {
            "Claude Code": "agent",
            "review-bot": "agent",
            "AI assistant": "agent",
            "Ada Lovelace": "human",
            "Mr. Cursorius": "human",
            None: "unknown",
        }
        assert (await call(client, "get_feedback_statistics"))["by_submitter_kind"] == {"agent": 1, "human": 1, "unknown": 1}


async def test_a_conversation_may_not_make_endless_reports(tmp_path: Path) -> None:
    """The refusal says how many are allowed and what to do instead; repeated ones count, refused ones do not."""
    async with in_memory(Workshop(None, on_file(tmp_path), max_per_hour=3)) as client:
        for _ in range(3):
            await call(client, "submit_feedback", **BUG)
        said = await refusal(client, "submit_feedback", **BUG)
        assert "this conversation may make 3 in an hour" in said
        assert (await call(client, "get_feedback_statistics"))["reported_times"] == 3


async def test_a_user_has_one_allowance_over_all_conversations(tmp_path: Path) -> None:
    """Also when the reports came to other workers: those are counted in the database."""
    workshop = Workshop(None, on_file(tmp_path), tokens=True, max_per_hour=1)
    store = FeedbackStore(DatabaseSink(on_file(tmp_path)))
    async with over_http(workshop) as url, client_of(url, "alice") as alice, client_of(url, "bob") as bob:
        for n in range(2):
            row = {"id": new_id(), "type": "bug", "title": f"t{n}", "description": "d"}
            await store.add(row, Owner("alice", f"session/{n}"))
        assert "this user may make 2 in an hour" in await refusal(alice, "submit_feedback", **BUG)
        assert (await call(bob, "submit_feedback", **BUG))["success"]
    await store.sink.aclose()


async def test_pages_follow_each_other_without_gap(database: Database) -> None:
    """The newest first; the last page has no cursor; filters and search hold on every page."""
    async with in_memory(Workshop([database.sink()], max_per_hour=None)) as client:
        ids = []
        for n in range(7):
            kind = "bug" if n % 2 else "question"
            answer = await call(client, "submit_feedback", type=kind, title=f"Number {n}", description="Counting.", tool="ping")
            ids.append(answer["feedback_id"])
        seen, cursor, pages = [], None, 0
        while cursor is not None or pages == 0:
            page = await call(client, "list_feedback", limit=3, cursor=cursor, search="number counting", tool="ping")
            seen += [row["id"] for row in page["feedback"]]
            cursor, pages = page["next_cursor"], pages + 1
        assert (seen, pages) == (ids[::-1], 3)
        assert len((await call(client, "list_feedback", type="bug", status="open"))["feedback"]) == 3
        assert (await call(client, "list_feedback", search="seventeen"))["feedback"] == []


async def test_deleting_leaves_no_word_behind(tmp_path: Path) -> None:
    """Report, links, event and search index: all of it goes."""
    sink = DatabaseSink(on_file(tmp_path))
    async with in_memory(Workshop([sink])) as client:
        await call(client, "ping")
        answer = await call(client, "submit_feedback", **{**BUG, "title": "Unmistakable xylophone"})
        await call(client, "delete_feedback", feedback_id=answer["feedback_id"])
        other = await call(client, "submit_feedback", **{**BUG, "title": "Another xylophone"})
        assert other["similar"] == []
        assert await sink.read_context(answer["feedback_id"]) == []
        assert await sink.read_events(answer["feedback_id"]) == []


async def test_a_database_that_is_away_is_said_so(tmp_path: Path, contained: Any) -> None:
    """Nothing is stored half, and the server goes on."""
    (tmp_path / "reports.db").write_text("this is no database", encoding="utf-8")
    async with in_memory(Workshop(None, on_file(tmp_path))) as client:
        said = await refusal(client, "submit_feedback", **BUG)
        assert "nothing was changed" in said
        assert await call(client, "ping") == {"result": "pong"}


def test_ids_are_short_and_never_guessed() -> None:
    """Sixty random bits in fifteen characters; read back however they were quoted."""
    ids = {new_id() for _ in range(2000)}
    assert len(ids) == 2000
    assert {len(one) for one in ids} == {15}
    assert all(read_id(f"({one.upper()}).") == one for one in ids)
    assert [read_id(text) for text in ("", "fb-", "fb-123", "fb-0123456789abc", "xx-0123456789ab")] == [None] * 5
