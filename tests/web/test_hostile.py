"""Whatever stands in the database, a page shows it and does nothing that it says."""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest_asyncio

from fastmcp_feedback.records import EventRecord
from fastmcp_feedback.store import DatabaseSink
from fastmcp_feedback.store.schema import EVENTS, FEEDBACK, LINKS, TOOL_CALLS, Table
from fastmcp_feedback.web.app import Dashboard
from fastmcp_feedback.web.gates import AskGate, OpenGate
from fastmcp_feedback.web.source import Source
from support.asgi import get
from support.busy_studio import fill
from support.poison import EVIL, KEPT, MARK, is_poisoned, poison
from support.recorded import a_call

OWN_TAGS: Final = re.compile(
    r"html|head|meta|title|link|script|body|a|header|svg|path|span|nav|div|button|kbd|main|form|label|select|option|input|details|summary|"
    r"datalist|section|h[123]|p|table|caption|thead|tbody|tr|th|td|time|dl|dt|dd|ul|ol|li|code|pre|strong|small|rect|line|g|text|desc|"
    r"figure|figcaption|footer|dialog|textarea"
)


def test_every_kind_of_field_is_poisoned() -> None:
    """Nothing that a recorder or a reporter may fill with text escapes the test."""

    def left(table: Table) -> set[str]:
        return {
            column.name for column in table.columns if not is_poisoned(column.name, column.kind) and column.kind in {"key", "text", "json"}
        }

    assert left(TOOL_CALLS) | left(EVENTS) | left(FEEDBACK) | left(LINKS) == KEPT


@pytest_asyncio.fixture
async def poisoned(tmp_path: Path) -> AsyncIterator[Dashboard]:
    """A dashboard over a busy server whose every field is hostile."""
    url = f"sqlite:///{tmp_path}/calls.db"
    now = datetime.now(UTC)
    await fill(url, now, calls=200)
    sink = DatabaseSink(url)
    began = now - timedelta(hours=2)
    tries = [a_call(n, started_at=began + timedelta(seconds=n), outcome="error", conversation="one", args={"a": 1}) for n in range(6)]
    await sink.write([*tries, *(EventRecord(kind, began, call_id=tries[0].id) for kind in ("x", "llm.call", "feedback.submitted"))])
    await sink.aclose()
    poison(url)
    source = Source(url)
    yield Dashboard(source, OpenGate(payloads=True))
    await source.aclose()


class _Page(HTMLParser):
    """Everything that a browser would act on."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.shown = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.shown += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


async def addresses(dashboard: Dashboard) -> list[str]:
    """Every page, with what is hostile in its address."""
    evil, one = quote(EVIL), quote(EVIL.replace("/", ""))
    call = (await get(dashboard, "/calls.json?since=")).json()["calls"]
    report = (await get(dashboard, "/feedback.json")).json()["reports"][0]["id"]
    first = min(call, key=lambda found: not found["id"].startswith("0000000"))
    return [
        "/", "/calls", "/failures", "/conversations", "/feedback", "/flailing", "/privacy", f"/calls/{first['id']}", f"/feedback/{report}",
        f"/tool?tool={evil}", f"/failure?fingerprint={evil}", f"/conversation?conversation={evil}",
        f"/calls?user={evil}&text={evil}", f"/calls?since={evil}", f"/calls?outcome={evil}", f"/calls?{evil}=1", f"/calls?cursor={evil}",
        f"/feedback?status={evil}", f"/calls/{one}", f"/feedback/{one}", f"/calls?since=1h&span={evil}",
    ]  # fmt: skip


def harmful(text: str) -> list[str]:
    """Characters that steer what shows them."""
    return sorted({f"U+{ord(one):04X}" for one in text if unicodedata.category(one) in {"Cc", "Cf", "Zl", "Zp"} and one not in "\n\t"})


async def test_no_page_does_what_a_record_says(poisoned: Dashboard) -> None:
    """Only our own elements and attributes, no address that runs, no character that steers; and it is shown."""
    for address in await addresses(poisoned):
        answer = await get(poisoned, address)
        page = _Page(answer.text)

        assert answer.status in {200, 400, 404}, (address, answer.status)
        assert [tag for tag in page.tags if not OWN_TAGS.fullmatch(tag)] == [], address
        assert page.tags.count("script") == 1, address
        names = {name for name, _ in page.attributes}
        assert [name for name in names if name.startswith("on") or MARK in name or name in {"style", "srcdoc"}] == [], address
        links = [value or "" for name, value in page.attributes if name in {"href", "src", "action", "data-href"}]
        assert [link for link in links if not link.startswith(("/", "#")) or link.startswith("//")] == [], address
        # A field's value is what the address said, to be sent again.
        assert {name: harmful(value or "") for name, value in page.attributes if harmful(value or "") and name != "value"} == {}, address
        assert harmful(page.shown) == [], address
        assert "1337" not in page.shown, address  # 7 * 191: nothing recorded is a template


async def test_what_is_hostile_is_shown_all_the_same(poisoned: Dashboard) -> None:
    """The test above is about pages that do hold it."""
    for address in (await addresses(poisoned))[:12]:
        assert MARK in _Page((await get(poisoned, address)).text).shown or address == "/privacy", address


async def test_no_twin_holds_a_character_that_steers_a_terminal(poisoned: Dashboard) -> None:
    """JSON in ASCII, of the type that no browser shows as a page; every field is in it."""
    for address in await addresses(poisoned):
        path, _, query = address.partition("?")
        answer = await get(poisoned, f"{'/index' if path == '/' else path}.json?{query}")
        text = answer.body.decode("ascii")

        assert answer.headers["content-type"] in {"application/json", "text/plain; charset=utf-8"}, address
        assert [one for one in harmful(text) if one != "U+007F"] == [], address


async def test_payloads_leave_no_trace_for_who_may_not_see_them(poisoned: Dashboard) -> None:
    """Neither in HTML nor in JSON, on any page."""
    con = sqlite3.connect(str((await poisoned.source.reader()).url).removeprefix("sqlite:///"))
    secret = json.dumps({"secret": "only for the payload scope"})
    con.execute("UPDATE ffb_tool_calls SET args = ?, result = ?", (secret, secret))
    con.execute(
        "UPDATE ffb_events SET kind = 'llm.call', attrs = ?", (json.dumps({"prompt": "only for", "completion": "the payload scope"}),)
    )
    con.commit()
    con.close()
    closed = Dashboard(poisoned.source, AskGate(lambda _: True))
    shown = 0
    for address in await addresses(poisoned):
        path, _, query = address.partition("?")
        for target in (address, f"{'/index' if path == '/' else path}.json?{query}"):
            assert "the payload scope" not in (await get(closed, target)).text.replace("hold the payload scope", ""), target
            shown += "the payload scope" in (await get(poisoned, target)).text
    assert shown >= 4


def everything(value: Any) -> list[str]:
    """All texts in a JSON value."""
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *everything(item))]
    return [text for item in value for text in everything(item)] if isinstance(value, list) else [str(value)]


async def test_the_twin_gives_texts_as_they_are(poisoned: Dashboard) -> None:
    """Escaping is the page's business; a program gets what was recorded."""
    call = (await get(poisoned, "/calls.json?since=")).json()["calls"][0]

    assert EVIL in everything((await get(poisoned, f"/calls/{call['id']}.json")).json())
