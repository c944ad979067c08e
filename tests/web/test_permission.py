"""Who may look: everything else is 404, with the same headers."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final

import pytest
import pytest_asyncio

from fastmcp_feedback.web import rendering
from fastmcp_feedback.web.app import Dashboard
from fastmcp_feedback.web.gates import COOKIE, AskGate, OpenGate, ScopeGate, TokenGate
from fastmcp_feedback.web.routes import PAGES
from fastmcp_feedback.web.sign_in import STYLE_SOURCE
from fastmcp_feedback.web.source import Source
from support.asgi import Answer, get, send

if TYPE_CHECKING:
    from starlette.requests import Request

TOKEN: Final = "a token of twenty letters"
VALUES: Final = {"call_id": "00000000", "report_id": "fb-7k3m9qx2rt50"}
# Every address that there is, and some that there are not.
PATHS: Final = (
    *(re.sub(r"\{(\w+)\}", lambda found: VALUES[found[1]], page.path) for page in PAGES),
    *(f"/static/{name}" for name in rendering.static_files()), "/logout", "/static/", "/no-such-page", "/index.json", "/feedback.json",
)  # fmt: skip
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


class Holder:
    """A verified access token."""

    def __init__(self, *scopes: str, name: str = "boss") -> None:
        self.scopes = scopes
        self.claims = {"sub": name}


async def verify(token: str) -> Holder | None:
    """The server's own auth."""
    if token == "breaks":
        raise RuntimeError("the key server is away")
    return {"reader": Holder("feedback:read"), "boss": Holder("feedback:read", "feedback:payloads"), "guest": Holder("read")}.get(token)


@pytest_asyncio.fixture
async def source(studio_url: str) -> AsyncIterator[Source]:
    """The database of the busy studio."""
    found = Source(studio_url)
    yield found
    await found.aclose()


def gates() -> dict[str, Any]:
    """Every kind of gate that lets only some in."""
    return {
        "token": TokenGate(TOKEN),
        "scope": ScopeGate("feedback:read", verify, payload_scope="feedback:payloads"),
        "function": AskGate(lambda request: request.headers.get("x-user") == "boss"),
        "failing function": AskGate(lambda request: True if request.url.path == "" else 1 / 0 > 0),
    }


@pytest.mark.parametrize("kind", ["token", "scope", "function"])
@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic Og=="}, {"cookie": f"{COOKIE}=1.x.y"}])
async def test_without_permission_there_is_nothing_at_any_address(source: Source, kind: str, headers: dict[str, str]) -> None:
    """Every route, every method: 404 and not a word of what was recorded."""
    dashboard = Dashboard(source, gates()[kind])
    for path in PATHS:
        for method in METHODS:
            answer = await send(dashboard, method, path, headers={"accept": "text/html", **headers})
            assert (answer.status, answer.text) == (404, "Not Found"), (method, path)
        posted = await send(dashboard, "POST", path, headers=headers, form={"status": "closed", "csrf": ""})
        assert (posted.status, posted.text) == (404, "Not Found"), path


async def test_a_host_function_that_fails_lets_nobody_in(source: Source, contained: list[tuple[str, BaseException]]) -> None:
    """Its error is kept from the server and counted."""
    answer = await get(Dashboard(source, gates()["failing function"]), "/")

    assert answer.status == 404
    assert [where for where, _ in contained] == ["the dashboard's auth function"]


async def test_auth_that_fails_lets_nobody_in(source: Source, contained: list[tuple[str, BaseException]]) -> None:
    """The same for a verifier that is away."""
    answer = await get(Dashboard(source, gates()["scope"]), "/", authorization="Bearer breaks")

    assert answer.status == 404
    assert len(contained) == 1


@pytest.mark.parametrize("answered", [None, 1, "yes", object()])
async def test_only_true_lets_in(source: Source, answered: Any) -> None:
    """A function that returns something else has not decided."""
    assert (await get(Dashboard(source, AskGate(lambda _: answered)), "/")).status == 404


async def test_an_async_function_may_decide(source: Source) -> None:
    """It is awaited."""

    async def ask(request: Request) -> bool:
        return request.headers["x-user"] == "boss"

    dashboard = Dashboard(source, AskGate(ask))

    assert [(await get(dashboard, "/", x_user=who)).status for who in ("boss", "guest")] == [200, 404]


async def test_the_token_lets_in(source: Source) -> None:
    """In a header, at every page."""
    dashboard = Dashboard(source, TokenGate(TOKEN))

    assert (await get(dashboard, "/", authorization=f"Bearer {TOKEN}")).status == 200
    assert (await get(dashboard, "/", authorization=f"Bearer {TOKEN[:-1]}")).status == 404


@pytest.mark.parametrize(("who", "status"), [("reader", 200), ("boss", 200), ("guest", 404), ("nobody", 404)])
async def test_a_scope_lets_in(source: Source, who: str, status: int) -> None:
    """Only who holds it."""
    assert (await get(Dashboard(source, gates()["scope"]), "/", authorization=f"Bearer {who}")).status == status


@pytest.mark.parametrize(("who", "payloads"), [("reader", "hidden"), ("boss", "shown")])
async def test_payloads_are_for_holders_of_the_payload_scope(source: Source, who: str, payloads: str) -> None:
    """On a call, on a failure, in events: in HTML and in JSON."""
    dashboard = Dashboard(source, gates()["scope"])
    bearer = {"authorization": f"Bearer {who}"}
    failed = (await get(dashboard, "/calls.json?outcome=error&tool=update_scene", **bearer)).json()["calls"][0]
    failure = (await get(dashboard, "/failures.json?tool=update_scene", **bearer)).json()["failures"][0]["fingerprint"]
    call = (await get(dashboard, f"/calls/{failed['id']}.json", **bearer)).json()
    group = (await get(dashboard, f"/failure.json?fingerprint={failure}", **bearer)).json()
    page = await get(dashboard, f"/calls/{failed['id']}", **bearer)

    assert call["payloads"] == payloads
    assert (call["arguments"] is None, group["arguments"] is None) == (payloads == "hidden",) * 2
    assert ('class="n">80<' in page.text) == (payloads == "shown")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8377"},
        {"host": ""},
        {"host": "[::1"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "localhost@evil.example"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://[::1"},
    ],
)
async def test_other_names_and_other_sites_get_nothing(source: Source, headers: dict[str, str]) -> None:
    """DNS that points another name at this machine, and pages of other sites that ask for ours."""
    answer = await send(Dashboard(source, OpenGate()), "GET", "/", headers={"accept": "text/html", **headers})

    assert (answer.status, answer.text) == (404, "Not Found")


@pytest.mark.parametrize("host", ["127.0.0.1:8377", "localhost:1", "localhost", "[::1]:8377", "127.1.2.3"])
async def test_names_of_this_machine_are_ours(source: Source, host: str) -> None:
    """With any port, and with its own origin."""
    assert (await send(Dashboard(source, OpenGate()), "GET", "/", headers={"host": host, "origin": f"http://{host}"})).status == 200


async def test_named_hosts_are_the_only_ones(source: Source) -> None:
    """With `hosts` a token does not help at another name."""
    dashboard = Dashboard(source, TokenGate(TOKEN), hosts=["dash.example", "second.example:8443"])
    bearer = {"authorization": f"Bearer {TOKEN}"}
    found = [
        (await send(dashboard, "GET", "/", headers={"host": host, **bearer})).status
        for host in ("dash.example", "DASH.example:443", "second.example", "other.example", "127.0.0.1:8377")
    ]

    assert found == [200, 200, 200, 404, 200]


def policy(answer: Answer) -> dict[str, str]:
    """The Content-Security-Policy, taken apart."""
    parts = (part.strip().partition(" ") for part in answer.headers["content-security-policy"].split(";"))
    return {name: value for name, _, value in parts}


@pytest.mark.parametrize("path", ["/", "/index.json", "/login", "/no-such-page", "/static/app.js", "/calls?outcome=x", "/tool"])
async def test_every_answer_forbids_what_no_page_needs(dashboard: Dashboard, path: str) -> None:
    """Nothing from elsewhere, inline only the style of the form for signing in; in no frame, no guessing of types, no caches."""
    answer = await get(dashboard, path)
    rules = policy(answer)

    assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert {rules[name] for name in ("script-src", "img-src", "connect-src", "form-action")} == {"'self'"}
    assert rules["style-src"] == f"'self' {STYLE_SOURCE}"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"


async def test_a_web_socket_is_closed(dashboard: Dashboard) -> None:
    """No page speaks over one."""
    sent: list[dict[str, Any]] = []

    async def sending(message: dict[str, Any]) -> None:
        sent.append(message)

    await dashboard({"type": "websocket", "path": "/", "headers": []}, None, sending)

    assert [message["type"] for message in sent] == ["websocket.close"]
