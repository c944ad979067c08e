from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any, Final
from urllib.parse import quote

import pytest

from fastmcp_feedback.store.schema import EMBEDDINGS, EVENTS, FEEDBACK, LINKS, TOOL_CALLS, Table
from fastmcp_feedback.web.app import Dashboard
from fastmcp_feedback.web.pages.privacy import FIELDS
from support.asgi import get

LISTS: Final = ("/", "/calls", "/failures", "/conversations", "/feedback", "/flailing", "/privacy")
REPORT: Final = "/feedback/fb-7k3m9qx2rt50"


async def places(dashboard: Dashboard) -> list[str]:
    """An address of every page."""
    failed = (await get(dashboard, "/calls.json?outcome=failed&tool=render_preview")).json()["calls"][0]
    failure = (await get(dashboard, "/failures.json")).json()["failures"][0]
    return [
        *LISTS, REPORT, "/tool?tool=render_preview", f"/calls/{failed['id']}", f"/failure?fingerprint={failure['fingerprint']}",
        f"/conversation?conversation={quote(failed['conversation'])}",
    ]  # fmt: skip


class _Tags(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def values(self, tag: str, name: str) -> list[str]:
        return [value for one, attrs in self.found if one == tag and (value := attrs.get(name)) is not None]


async def test_every_page_is_made_with_one_filter_bar(dashboard: Dashboard) -> None:
    """Twelve addresses, one bar each, and nothing inline that the Content-Security-Policy would stop."""
    for place in await places(dashboard):
        answer = await get(dashboard, place)
        tags = _Tags(answer.text)

        assert answer.status == 200, place
        assert answer.text.count('<form class="filter"') == 1, place
        assert [attrs for _, attrs in tags.found if "style" in attrs or any(name.startswith("on") for name in attrs)] == [], place
        assert [attrs for tag, attrs in tags.found if tag == "style" or (tag == "script" and "src" not in attrs)] == [], place


async def test_every_page_has_a_twin_in_json(dashboard: Dashboard) -> None:
    """By the address and by the Accept header, with the filter in it."""
    for place in await places(dashboard):
        path, _, query = place.partition("?")
        by_name = await get(dashboard, f"{'/index' if path == '/' else path}.json?{query}")
        by_header = await get(dashboard, place, accept="application/json")

        assert by_name.headers["content-type"] == "application/json", place
        assert set(by_name.json()) == set(by_header.json()), place
        assert isinstance(by_name.json()["filter"], dict), place


async def test_every_link_of_every_page_leads_to_a_page(dashboard: Dashboard) -> None:
    """Nothing on a page points into the void, or away."""
    seen: set[str] = set()
    for place in await places(dashboard):
        tags = _Tags((await get(dashboard, place)).text)
        links = {*tags.values("a", "href"), *tags.values("tr", "data-href"), *tags.values("link", "href"), *tags.values("script", "src")}
        # A few of each kind: lists of calls lead to the same page again and again.
        kinds = {re.sub(r"[0-9a-f-]{8,}|=[^&]*", "", link): link for link in sorted(links)}
        for link in set(kinds.values()) - seen:
            seen.add(link)
            if not link.startswith("#"):
                answer = await get(dashboard, link)
                if answer.status == 303:  # "Clear" on the page of one tool
                    answer = await get(dashboard, answer.headers["location"])
                assert answer.status == 200, (place, link)


@pytest.mark.parametrize(("place", "rows"), [("calls", "calls"), ("conversations", "conversations"), ("feedback", "reports")])
async def test_lists_go_on_page_by_page_without_gaps_or_repeats(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch, place: str, rows: str
) -> None:
    """The links for older ones lead through all of them, in both forms."""
    monkeypatch.setattr("fastmcp_feedback.web.pages.feedback._REPORTS", 2)
    monkeypatch.setattr("fastmcp_feedback.web.pages.conversation._CONVERSATIONS", 20)
    found: list[str] = []
    pages = 0
    target: str | None = f"/{place}?since="
    while target is not None:
        page = (await get(dashboard, target, accept="application/json")).json()
        found += [row["key" if place == "conversations" else "id"] for row in page[rows]]
        older = [link for link in _Tags((await get(dashboard, target)).text).values("a", "href") if "cursor=" in link]
        assert older == ([page["next"]] if page["next"] else [])
        target = page["next"]
        pages += 1

    assert len(found) == len(set(found)) > 5
    assert pages > 2
    if place == "calls":
        assert len(found) == (await get(dashboard, "/privacy.json")).json()["kinds"][0]["rows"]


async def test_a_page_without_what_it_needs_sends_to_the_list(dashboard: Dashboard) -> None:
    """Clearing the filter of one tool leads to all tools, in the same time."""
    answer = await get(dashboard, "/tool?since=24h&tool=")

    assert (answer.status, answer.headers["location"]) == (303, "/?since=24h")


@pytest.mark.parametrize(
    ("target", "status", "said"),
    [
        ("/calls?outcome=late", 400, "ok, soft_error, error, failed"),
        ("/calls?cursor=x", 400, "is not a time"),
        ("/calls?since=x", 400, "2026-10-02T08:00"),
        ("/calls?since=1h&span=x", 400, "seconds"),
        ("/calls?colour=red", 400, "unknown filter"),
        ("/feedback?status=new", 400, "in_progress"),
        ("/nothing/here", 404, "no such page"),
        ("/calls/00000000", 404, "pruned"),
        ("/feedback/fb-000000000000", 404, "deleted"),
        ("/feedback/nothing", 404, "deleted"),
        ("/failure?fingerprint=f1-none", 404, "longer time"),
        ("/conversation?conversation=none", 404, "pruned"),
    ],
)
async def test_a_question_that_has_no_answer_gets_a_page_that_helps(dashboard: Dashboard, target: str, status: int, said: str) -> None:
    """In HTML and in JSON; it says what is allowed or where to look."""
    path, _, query = target.partition("?")
    page, twin = await get(dashboard, target), await get(dashboard, f"{path}.json?{query}")

    assert (page.status, twin.status) == (status, status)
    assert said in page.text
    assert said in twin.json()["error"] + twin.json()["hint"]


async def test_a_step_of_a_chart_leads_to_its_calls(dashboard: Dashboard) -> None:
    """`since` with `span` is that step and nothing else."""
    times = (await get(dashboard, "/index.json")).json()
    step = max(range(len(times["starts"])), key=lambda place: times["over_time"]["ok"][place])
    start = times["starts"][step]
    page = (await get(dashboard, f"/calls.json?since={quote(start)}&span={times['step_s']}")).json()

    assert page["calls"]
    assert all(start <= call["started_at"] < page["filter"]["until"] for call in page["calls"])


async def test_the_pages_speak_of_what_was_recorded(dashboard: Dashboard) -> None:
    """A failing call shows its arguments, its failure, its conversation; a report its calls and its like."""
    failed = (await get(dashboard, "/calls.json?outcome=error&tool=update_scene")).json()["calls"][0]
    call: dict[str, Any] = (await get(dashboard, f"/calls/{failed['id']}.json")).json()
    report = (await get(dashboard, f"{REPORT}.json")).json()
    board = (await get(dashboard, "/feedback.json?text=frame&status=open")).json()

    assert call["arguments"]["opacity"] == 80
    assert (call["fault"], call["bad_arguments"], call["payloads"]) == ("caller", ["opacity"], "shown")
    assert {one["tool"] for one in report["calls"]} >= {"render_preview"}
    assert [one["title"] for one in board["reports"]] == ["Export loses the frame rate"]


@pytest.mark.parametrize(
    "narrowing",
    [{"user": "user"}, {"client": "client"}, {"conversation": "conversation"}, {"server_version": "server_version"}, {"tool": "tool"}],
)
async def test_the_board_is_narrowed_by_the_same_words(dashboard: Dashboard, narrowing: dict[str, str]) -> None:
    """A report is found by what its page says about it, and others are not."""
    report = (await get(dashboard, f"{REPORT}.json")).json()
    ((word, name),) = narrowing.items()
    value = {**report["report"], **report}[name]
    found = (await get(dashboard, f"/feedback.json?{word}={quote(value)}")).json()["reports"]
    none = (await get(dashboard, f"/feedback.json?{word}=nobody")).json()["reports"]

    assert report["report"]["id"] in {one["id"] for one in found}
    assert none == []


@pytest.mark.parametrize("table", [TOOL_CALLS, EVENTS, FEEDBACK, LINKS, EMBEDDINGS], ids=lambda table: table.name)
def test_the_privacy_page_tells_of_every_column(table: Table) -> None:
    """A new column has to be explained there."""
    told = {word for names, _ in FIELDS for word in names.split(", ")}

    assert set(table.column_names) - told == set()
