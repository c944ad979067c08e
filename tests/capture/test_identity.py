"""Who calls, from real bearer tokens over HTTP."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import AsyncExitStack
from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server.auth.providers.jwt import JWTVerifier, RSAKeyPair, StaticTokenVerifier

from fastmcp_feedback.capture.adapter import conversation_for
from fastmcp_feedback.capture.identity import default_identity_resolver
from support.by_hand import post_once
from support.capturing import Probe, Seen, call_directly, client, proxy_of
from support.servers import http_server
from support.versions import IS_V4

USERS = 100
ISSUER = "https://issuer.example"
MODES = [pytest.param(True, id="legacy"), *([pytest.param(False, id="modern")] if IS_V4 else [])]


def tokens(*users: str, **more: Any) -> dict[str, dict[str, Any]]:
    """Tokens for the verifier; the token of alice is `token-alice`."""
    return {f"token-{user}": {"client_id": "desktop", "scopes": ["read"], "sub": user, **more} for user in users}


def server(probe: Probe, auth: Any) -> FastMCP[Any]:
    """A server that asks for a token, with one tool that says whose call it believes to serve."""
    app: FastMCP[Any] = FastMCP("app", auth=auth)
    app.add_middleware(probe)

    @app.tool
    async def t(who: str = "") -> str:
        await asyncio.sleep(0)
        return who

    return app


def bearer(url: str, token: str, *, legacy: bool, **headers: str) -> Any:
    """A client with a bearer token, and with these headers on every request."""
    transport = StreamableHttpTransport(url, headers={key.replace("_", "-"): value for key, value in headers.items()}, auth=token)
    return client(transport, legacy=legacy)


@pytest.fixture(scope="module")
def keys() -> RSAKeyPair:
    """The issuer's keys; making them takes a while."""
    return RSAKeyPair.generate()


@pytest.mark.parametrize("legacy", MODES)
async def test_a_signed_token_names_user_client_and_scopes(probe: Probe, keys: RSAKeyPair, legacy: bool) -> None:
    """Columns from the verified claims; the token itself is nowhere."""
    app = server(probe, JWTVerifier(public_key=keys.public_key, issuer=ISSUER, audience="app"))
    token = keys.create_token(
        subject="alice",
        issuer=ISSUER,
        audience="app",
        scopes=["read", "write"],
        additional_claims={"client_id": "desktop", "email": "alice@example.org"},
    )
    async with http_server(app) as url, bearer(url, token, legacy=legacy, user_agent="made-up/1.0") as c:
        await c.call_tool("t", {})

    identity = probe.last.identity
    assert identity["user_sub"] == "alice"
    assert identity["client_id"] == "desktop"
    assert identity["scopes"] == ["read", "write"]
    assert identity["caller_kind"] == "user"
    assert identity["transport"] == "streamable-http"
    assert identity["user_agent"] == "made-up/1.0"
    assert identity["client_name"]
    assert probe.last.verified_user == probe.last.context.verified_user == "alice"
    assert token not in repr(identity) + repr(probe.last.context)
    assert "example.org" not in repr(identity)


@pytest.mark.parametrize(
    ("claims", "kind"),
    [
        ({"gty": "client-credentials"}, "service"),
        ({"idtyp": "app"}, "service"),
        ({"idtyp": "user"}, "user"),
        ({"preferred_username": "al"}, "user"),
        ({}, None),
    ],
)
async def test_the_kind_of_caller_is_told_only_by_clear_claims(probe: Probe, claims: dict[str, Any], kind: str | None) -> None:
    """A token that does not say leaves the column empty."""
    app = server(probe, StaticTokenVerifier(tokens("alice", **claims)))
    async with http_server(app) as url, bearer(url, "token-alice", legacy=True) as c:
        await c.call_tool("t", {})

    assert probe.last.identity.get("caller_kind") == kind


async def test_a_token_without_a_subject_names_the_client_alone(probe: Probe) -> None:
    """Nobody is made up; two such clients are still two conversations."""
    app = server(probe, StaticTokenVerifier({f"t{n}": {"client_id": f"machine-{n}", "scopes": []} for n in range(2)}))
    async with http_server(app, stateless=True) as url:
        for n in range(2):
            async with bearer(url, f"t{n}", legacy=True) as c:
                await c.call_tool("t", {})

    first, second = probe.calls
    assert "user_sub" not in first.identity
    assert first.identity["client_id"] == "machine-0"
    assert (first.context.conversation_basis, first.context.verified_user) == ("user", None)
    assert first.key != second.key


async def test_without_auth_there_is_only_the_client(probe: Probe) -> None:
    """The resolver is of use on a server without auth, too."""
    async with client(server(probe, None)) as c:
        await c.call_tool("t", {})

    assert set(probe.last.identity) == {"client_name", "client_version", "protocol_version"}


async def test_a_direct_call_has_no_identity(probe: Probe) -> None:
    """The host's own code calls: an empty answer, and no error."""
    await call_directly(server(probe, None), "t", {})

    assert probe.last.identity == {}
    assert probe.last.verified_user is None


def test_every_call_gets_a_dict_of_its_own() -> None:
    """The recorder may add to it."""

    class NoContext:
        fastmcp_context = None

    first, second = default_identity_resolver(NoContext()), default_identity_resolver(NoContext())

    assert first == second == {}
    assert first is not second


# -- many users at once


def assert_nobody_is_mixed_up(calls: list[Seen], expected_calls: int) -> dict[str, set[str]]:
    """Every call bears the identity of its caller, and no conversation holds two callers. Gives keys by user."""
    keys_of: dict[str, set[str]] = defaultdict(set)
    users_of: dict[str, set[str]] = defaultdict(set)
    assert len(calls) == expected_calls
    for seen in calls:
        who = seen.arguments["who"]
        assert (seen.identity["user_sub"], seen.verified_user, seen.context.verified_user) == (who, who, who)
        keys_of[who].add(seen.key)
        users_of[seen.key].add(who)
    assert {len(users) for users in users_of.values()} == {1}
    return keys_of


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("legacy", MODES)
@pytest.mark.parametrize("stateless", [False, True], ids=["sessions", "stateless"])
async def test_a_hundred_interleaved_users_keep_their_identity_and_conversation(probe: Probe, legacy: bool, stateless: bool) -> None:
    """Real tokens, calls in flight at once: each user has one conversation, which is nobody else's."""
    users = [f"user-{n}" for n in range(USERS)]
    app = server(probe, StaticTokenVerifier(tokens(*users)))
    together = asyncio.Barrier(USERS)

    async def use(url: str, user: str) -> None:
        async with bearer(url, f"token-{user}", legacy=legacy) as c:
            for _ in range(2):
                await together.wait()
                answer = await c.call_tool("t", {"who": user})
                assert answer.data == user

    async with http_server(app, stateless=stateless) as url:
        await asyncio.gather(*(use(url, user) for user in users))

    keys_of = assert_nobody_is_mixed_up(probe.calls, 2 * USERS)
    assert {len(keys) for keys in keys_of.values()} == {1}
    assert {seen.context.conversation_basis for seen in probe.calls} == {"session" if legacy and not stateless else "user"}


@pytest.mark.parametrize("legacy", MODES)
async def test_forged_headers_and_baggage_never_join_two_verified_users(probe: Probe, legacy: bool) -> None:
    """Whatever two users copy from each other, their keys differ; each user's own conversations stay apart, too."""
    users = ["alice", "bob"]
    app = server(probe, StaticTokenVerifier(tokens(*users)))
    async with http_server(app, stateless=True) as url:
        for user in users:
            async with bearer(url, f"token-{user}", legacy=legacy, mcp_session_id="shared") as c:
                await c.call_tool("t", {"who": user})
                for chat in ("one", "two", "one"):
                    await c.call_tool("t", {"who": user}, meta={"baggage": f"gen_ai.conversation.id={chat}"})

    keys_of = assert_nobody_is_mixed_up(probe.calls, 8)
    assert {len(keys) for keys in keys_of.values()} == {3}
    assert {seen.context.session_id for seen in probe.calls} == {"shared"}
    assert {seen.context.conversation_basis for seen in probe.calls} == {"user", "baggage"}


async def test_an_anonymous_caller_cannot_write_a_verified_users_key(probe: Probe) -> None:
    """Whatever an anonymous caller puts into its baggage, the key is not the verified user's."""
    app = server(probe, StaticTokenVerifier(tokens("alice")))
    async with http_server(app, stateless=True) as url, bearer(url, "token-alice", legacy=True) as c:
        await c.call_tool("t", {}, meta={"baggage": "gen_ai.conversation.id=chat"})
    verified = probe.last.key
    forged = verified.removeprefix("baggage")
    anonymous = server(probe, None)
    async with http_server(anonymous, stateless=True) as url, client(url, legacy=True) as c:
        for value in ("chat", forged, verified, forged.partition("/")[2]):
            await c.call_tool("t", {}, meta={"baggage": f"gen_ai.conversation.id={value}"})

    forgeries = [seen.key for seen in probe.calls[1:]]
    assert verified not in forgeries
    assert len(set(forgeries)) == 4


async def test_another_users_session_is_refused_or_kept_apart(probe: Probe) -> None:
    """A session id that was really issued, used with another user's token: at most another conversation."""
    app = server(probe, StaticTokenVerifier(tokens("alice", "bob")))
    async with http_server(app) as url, bearer(url, "token-alice", legacy=True) as alice:
        await alice.call_tool("t", {"who": "alice"})
        session = probe.last.context.session_id
        assert session is not None
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {"who": "bob"}}}
        status = await post_once(url, body, {"authorization": "Bearer token-bob", "mcp-session-id": session})

    if status == 200:
        assert_nobody_is_mixed_up(probe.calls, 2)
    else:
        assert (status, len(probe.calls)) == (404, 1)


# -- servers behind servers


@pytest.mark.parametrize("legacy", MODES)
async def test_a_backend_in_the_same_process_never_takes_one_user_for_another(probe: Probe, legacy: bool) -> None:
    """FastMCP 4 carries the caller along; before, a backend's session may be somebody else's, so nobody is named."""
    backend = server(probe, None)
    held: list[Any] = []
    stack = AsyncExitStack()
    front: FastMCP[Any] = FastMCP("front", auth=StaticTokenVerifier(tokens("alice", "bob")))

    @front.tool
    async def ask(who: str) -> str:
        if not held:
            held.append(await stack.enter_async_context(client(backend, legacy=legacy)))
        await held[0].call_tool("t", {"who": who})
        return who

    async with http_server(front) as url, stack:
        for who in ("alice", "bob"):
            async with bearer(url, f"token-{who}", legacy=legacy) as c:
                await c.call_tool("ask", {"who": who})

    if IS_V4:
        assert_nobody_is_mixed_up(probe.calls, 2)
    else:
        assert [seen.verified_user for seen in probe.calls] == [None, None]
        assert [seen.context.conversation_key for seen in probe.calls] == [None, None]


async def test_a_proxied_backend_never_takes_one_user_for_another(probe: Probe) -> None:
    """The same for a proxy, which opens a session for every request."""
    front = proxy_of(server(probe, None))
    front.auth = StaticTokenVerifier(tokens("alice", "bob"))
    async with http_server(front) as url:
        for who in ("alice", "bob"):
            async with bearer(url, f"token-{who}", legacy=True) as c:
                await c.call_tool("t", {"who": who})

    if IS_V4:
        assert_nobody_is_mixed_up(probe.calls, 2)
    else:
        assert [seen.verified_user for seen in probe.calls] == [None, None]


# -- a host's own resolver


@pytest.mark.parametrize("legacy", MODES)
async def test_the_resolvers_user_changes_no_key_when_the_token_names_the_same(probe: Probe, legacy: bool) -> None:
    """The default resolver and no resolver give the same conversation."""
    app = server(probe, StaticTokenVerifier(tokens("alice")))
    async with http_server(app) as url, bearer(url, "token-alice", legacy=legacy) as c:
        await c.call_tool("t", {})

    context = probe.last.context
    unchanged = (context.conversation_key, context.conversation_basis)
    assert conversation_for(context, "alice") == conversation_for(context, None) == unchanged
    assert conversation_for(context, "mallory")[0] != unchanged[0]
