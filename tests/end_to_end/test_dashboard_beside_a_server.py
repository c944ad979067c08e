"""`mount_dashboard` on real servers, on every supported FastMCP: over HTTP with uvicorn, and in FastMCP's app in this process."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier

pytest.importorskip("jinja2")

from fastmcp_feedback import add_feedback_tools, instrument, mount_dashboard
from fastmcp_feedback.instrumentation import DatabaseSink, InstrumentationMiddleware, MemorySink
from fastmcp_feedback.web import TOKEN_ENV_VAR
from support.asgi import Answer, get
from support.servers import http_server
from support.waiting import DEADLINE_S

TOKEN: Final = "a token of twenty letters"
PEOPLE: Final = {
    "reader": {"client_id": "app", "sub": "ann", "scopes": ["feedback:read"]},
    "boss": {"client_id": "app", "sub": "bob", "scopes": ["feedback:read", "feedback:payloads"]},
    "guest": {"client_id": "app", "sub": "cyd", "scopes": ["read"]},
}


def workshop(sink: Any, **options: Any) -> tuple[FastMCP[Any], InstrumentationMiddleware]:
    """A server with one tool that works and one that fails, recorded in full."""
    app: FastMCP[Any] = FastMCP("workshop", **options)
    recorder = instrument(app, [sink], mode="full")

    @app.tool
    def paint(colour: str) -> str:
        return f"painted {colour}"

    @app.tool
    def burn() -> str:
        raise ValueError("no fire")

    return app, recorder


async def work(app: FastMCP[Any], recorder: InstrumentationMiddleware) -> None:
    """One call of each tool, stored."""
    async with Client(app) as client:
        await client.call_tool("paint", {"colour": "ultramarine"})
        await client.call_tool("burn", {}, raise_on_error=False)
    await recorder.flush(DEADLINE_S)


async def fetch(url: str, **headers: str) -> Answer:
    """A request over the network, as a browser's."""
    named = {"Accept": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}

    def ask() -> Answer:
        try:
            with urlopen(Request(url, headers=named), timeout=DEADLINE_S) as found:
                return Answer(found.status, _lower(found.headers), found.read())
        except HTTPError as refused:
            with refused:
                return Answer(refused.code, _lower(refused.headers), refused.read())

    return await asyncio.to_thread(ask)


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


@pytest.mark.parametrize("kind", ["file", "memory"])
async def test_the_dashboard_shows_what_its_server_records(tmp_path: Path, kind: str) -> None:
    """Over HTTP beside `/mcp`, from the recorder's own database, with the recorder's state; `/mcp` goes on as before."""
    app, recorder = workshop(DatabaseSink(f"sqlite:///{tmp_path}/calls.db" if kind == "file" else "sqlite:///:memory:"))
    mount_dashboard(app, auth=TOKEN)
    async with http_server(app) as url:
        root = url.removesuffix("/mcp") + "/feedback"
        bearer = {"authorization": f"Bearer {TOKEN}"}
        before = await fetch(root, **bearer)
        async with Client(url) as client:
            await client.call_tool("paint", {"colour": "ultramarine"})
        await recorder.flush(DEADLINE_S)
        page, slash = await fetch(root, **bearer), await fetch(root + "/", **bearer)
        twin = json.loads((await fetch(root + "/index.json", **bearer)).body)
        style = await fetch(re.findall(r'href="(/[^"]+\.css)"', page.text)[0].join((url.removesuffix("/mcp"), "")), **bearer)
        closed = [await fetch(root + path) for path in ("", "/", "/index.json", "/static/app.js", "/calls")]
    await recorder.aclose()

    # A file is made by the first call; memory is there.
    assert (before.status, "first call" in before.text) == ((503, True) if kind == "file" else (200, False))
    assert (page.status, slash.status, style.status) == (200, 200, 200)
    assert [tool["tool"] for tool in twin["tools"]] == ["paint"]
    assert (twin["recorder"]["mode"], twin["recorder"]["healthy"]) == ("full", True)
    assert [sink["written"] for sink in twin["recorder"]["sinks"]] == [1]
    assert {(answer.status, answer.text) for answer in closed} == {(404, "Not Found")}


@asynccontextmanager
async def in_process(app: FastMCP[Any]) -> AsyncIterator[Any]:
    """FastMCP's own HTTP app in this process, its lifespan running."""
    asgi = app.http_app()
    async with asgi.router.lifespan_context(asgi):
        yield asgi


async def test_every_link_works_below_the_path(tmp_path: Path) -> None:
    """Nothing points outside of where it is mounted."""
    app, recorder = workshop(DatabaseSink(f"sqlite:///{tmp_path}/calls.db"))
    add_feedback_tools(app, instrumentation=recorder)
    mount_dashboard(app, "/admin/health/", auth=lambda _: True, payloads=True)
    await work(app, recorder)
    async with in_process(app) as asgi:
        found = {"/admin/health"}
        seen: set[str] = set()
        while found - seen:
            link = min(found - seen)
            seen.add(link)
            answer = await get(asgi, link)
            assert answer.status in {200, 303}, link
            links = re.findall(r'(?:href|src|action|data-href)="([^"#]+)"', answer.text)
            assert [one for one in links if not one.startswith("/admin/health")] == [], link
            plain = {one.replace("&amp;", "&") for one in links if "since=2" not in one}
            found |= {one for one in plain if one.partition("?")[0] not in {other.partition("?")[0] for other in found}}
    await recorder.aclose()

    assert len(seen) > 10


@pytest.mark.parametrize(
    ("who", "status", "shown"), [("boss", 200, True), ("reader", 200, False), ("guest", 404, False), ("nobody", 404, False)]
)
async def test_the_servers_own_auth_decides(tmp_path: Path, who: str, status: int, *, shown: bool) -> None:
    """Without `auth` on a server with auth: who holds the scope, and payloads for who holds that one."""
    app, recorder = workshop(DatabaseSink(f"sqlite:///{tmp_path}/calls.db"), auth=StaticTokenVerifier(PEOPLE))
    mount_dashboard(app)
    await work(app, recorder)
    async with in_process(app) as asgi:
        bearer = {"authorization": f"Bearer {who}"}
        page = await get(asgi, "/feedback/calls", **bearer)
        calls = json.loads((await get(asgi, "/feedback/calls.json?tool=paint", **bearer)).body)["calls"] if status == 200 else []
        texts = [(await get(asgi, f"/feedback/calls/{call['id']}", **bearer)).text for call in calls]
    await recorder.aclose()

    assert page.status == status
    assert [("ultramarine" in text) for text in texts] == ([shown] if status == 200 else [])


async def test_without_any_auth_a_token_is_made_up_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Closed by default: who can read the server's log can sign in."""
    app, recorder = workshop(DatabaseSink(f"sqlite:///{tmp_path}/calls.db"))
    with caplog.at_level(logging.WARNING, "fastmcp_feedback"):
        mount_dashboard(app)
    await work(app, recorder)
    token = re.findall(r"its token is (\S+)", caplog.text)[0]
    async with in_process(app) as asgi:
        found = [(await get(asgi, "/feedback", authorization=f"Bearer {one}")).status for one in (token, token[:-1], "")]
    await recorder.aclose()

    assert found == [200, 404, 404]


async def test_the_environment_may_hold_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it need not stand in the code."""
    monkeypatch.setenv(TOKEN_ENV_VAR, TOKEN)
    app, recorder = workshop(DatabaseSink(f"sqlite:///{tmp_path}/calls.db"))
    mount_dashboard(app)
    await work(app, recorder)
    async with in_process(app) as asgi:
        assert (await get(asgi, "/feedback", authorization=f"Bearer {TOKEN}")).status == 200
    await recorder.aclose()


async def test_a_named_database_is_read_instead(tmp_path: Path) -> None:
    """For a server whose calls go elsewhere."""
    app, recorder = workshop(DatabaseSink(f"sqlite:///{tmp_path}/calls.db"))
    await work(app, recorder)
    await recorder.aclose()
    other: FastMCP[Any] = FastMCP("other")
    instrument(other, [MemorySink()])
    mount_dashboard(other, auth=TOKEN, database_url=f"sqlite:///{tmp_path}/calls.db")
    async with in_process(other) as asgi:
        twin = json.loads((await get(asgi, "/feedback/index.json", authorization=f"Bearer {TOKEN}")).body)

    assert {tool["tool"] for tool in twin["tools"]} == {"paint", "burn"}


async def test_a_dashboard_of_a_mounted_server_is_served_by_its_parent(tmp_path: Path) -> None:
    """Its routes come along."""
    app, recorder = workshop(DatabaseSink(f"sqlite:///{tmp_path}/calls.db"))
    await work(app, recorder)
    mount_dashboard(app, auth=TOKEN)
    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(app)
    async with in_process(parent) as asgi:
        assert (await get(asgi, "/feedback", authorization=f"Bearer {TOKEN}")).status == 200
        assert (await get(asgi, "/feedback")).status == 404
    await recorder.aclose()


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"auth": "short"}, ValueError, "at least 16"),
        ({"auth": 5}, TypeError, "a token, a function or None"),
        ({"path": "/", "auth": TOKEN}, ValueError, "path of its own"),
        ({"app": object(), "auth": TOKEN}, TypeError, "takes a FastMCP server, got object"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments: dict[str, Any], error: type[Exception], said: str) -> None:
    """At once, with what is allowed."""
    with pytest.raises(error, match=said):
        mount_dashboard(**{"app": FastMCP("studio"), **arguments})
