"""Many open dashboards cost the database no more than one, and none of them sees what is old."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from fastmcp_feedback.query.calls import list_calls
from fastmcp_feedback.store.feedback_store import FeedbackStore
from fastmcp_feedback.web.app import Dashboard
from fastmcp_feedback.web.gates import OpenGate
from support.asgi import get, send
from support.waiting import until

REPORT = "/feedback/fb-7k3m9qx2rt50"


class Held:
    """Stands before a function that reads, counts its uses, and lets it go on when told to."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.uses = 0
        self.go_on = asyncio.Event()

    async def __call__(self, *args: Any, **options: Any) -> Any:
        self.uses += 1
        found = await self.inner(*args, **options)
        await self.go_on.wait()
        return found


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    """The question for the pages of calls."""
    found = Held(list_calls)
    monkeypatch.setattr("fastmcp_feedback.web.pages.call.list_calls", found)
    return found


async def test_readers_of_the_same_page_share_one_question(dashboard: Dashboard, held: Held) -> None:
    """Those of another page, or with other rights, ask for themselves; whoever comes afterwards asks again."""
    closed = Dashboard(dashboard.source, OpenGate(payloads=False))
    same = [asyncio.create_task(get(dashboard, "/calls?tool=get_scene")) for _ in range(20)]
    others = [asyncio.create_task(get(one, target)) for one, target in ((dashboard, "/calls?tool=x"), (closed, "/calls?tool=get_scene"))]
    await until(lambda: held.uses >= 3)
    held.go_on.set()
    answers = await asyncio.gather(*same, *others)
    await get(dashboard, "/calls?tool=get_scene")

    assert {answer.status for answer in answers} == {200}
    assert len({answer.text for answer in answers[:20]}) == 1
    assert held.uses == 4


async def test_a_reader_who_goes_away_takes_nothing_from_the_others(
    dashboard: Dashboard, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even the first one, whose question it was."""
    asking = Held(dashboard._views.ask)
    asking.go_on.set()
    monkeypatch.setattr(dashboard._views, "ask", asking)
    first = asyncio.create_task(get(dashboard, "/calls"))
    await until(lambda: held.uses == 1)
    second = asyncio.create_task(get(dashboard, "/calls"))
    await until(lambda: asking.uses == 2)
    first.cancel()
    held.go_on.set()

    assert (await second).status == 200
    assert held.uses == 1


async def test_a_question_that_fails_fails_for_all_and_is_asked_again(dashboard: Dashboard) -> None:
    """With the same page that says why."""
    found = await asyncio.gather(*(get(dashboard, "/calls/00000000") for _ in range(3)))

    assert {answer.status for answer in [*found, await get(dashboard, "/calls/00000000")]} == {404}


async def test_who_changed_something_sees_it(own_dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that was put before the change is not theirs."""
    held = Held(FeedbackStore.get)
    found = re.search(r'name="csrf" value="(\w+)"', (await get(own_dashboard, REPORT)).text)
    assert found is not None

    def slow(store: FeedbackStore, report_id: str) -> Any:
        return held(store, report_id)

    monkeypatch.setattr(FeedbackStore, "get", slow)
    early = asyncio.create_task(get(own_dashboard, f"{REPORT}.json"))
    await until(lambda: held.uses == 1)
    await send(own_dashboard, "POST", REPORT, form={"csrf": found[1], "status": "closed"})
    late = asyncio.create_task(get(own_dashboard, f"{REPORT}.json"))
    await until(lambda: held.uses == 2)
    held.go_on.set()

    assert [(await task).json()["report"]["status"] for task in (early, late)] == ["open", "closed"]
