"""Conversation keys, baggage and trace parents, as pure functions."""

from __future__ import annotations

import gc
import os
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.capture.conversation import (
    conversation_for,
    conversation_in_baggage,
    digest,
    make_key,
    process_key,
    stream_key,
    trace_parent,
)
from fastmcp_feedback.raw import CallContext
from fastmcp_feedback.shaping.redact import Redactor

BASES = st.sampled_from(["session", "process", "baggage", "user"])
TEXT = st.text(max_size=300)
DIGEST_CHARS = 20
MAYBE_USER = st.none() | st.text(min_size=1, max_size=40)


def key_for(basis: str, token_user: str | None, resolver_user: str | None, value: str) -> str | None:
    """The key of a call with these callers."""
    token = digest(token_user) if token_user is not None else None
    base = CallContext(conversation_key=make_key(basis, token, value), conversation_basis=basis, verified_user=token_user)
    return conversation_for(base, resolver_user)[0]


@given(BASES, BASES, MAYBE_USER, MAYBE_USER, MAYBE_USER, MAYBE_USER, TEXT, TEXT)
def test_keys_are_equal_only_for_equal_callers_and_values(  # the parts of two calls
    basis: str,
    other_basis: str,
    token_user: str | None,
    other_token_user: str | None,
    resolver_user: str | None,
    other_resolver_user: str | None,
    value: str,
    other_value: str,
) -> None:
    """No text that a client chooses makes up for a different basis or user."""
    one = key_for(basis, token_user, resolver_user, value)
    two = key_for(other_basis, other_token_user, other_resolver_user, other_value)
    callers = {user for user in (token_user, resolver_user) if user is not None}
    other_callers = {user for user in (other_token_user, other_resolver_user) if user is not None}
    if one == two:
        assert (basis, callers, value) == (other_basis, other_callers, other_value)


@given(st.sampled_from(["session", "baggage"]), MAYBE_USER, MAYBE_USER, st.text(min_size=DIGEST_CHARS + 1, max_size=5000))
def test_a_key_is_short_and_shows_nothing_that_a_client_sent(
    basis: str, token_user: str | None, resolver_user: str | None, value: str
) -> None:
    """Neither the value nor a name stands in it, so that nothing in it has to be redacted or cut."""
    key = key_for(basis, token_user, resolver_user, value)

    assert key is not None
    assert re.fullmatch(r"(session|baggage)(@[0-9a-f]{20})?(\+[0-9a-f]{20})?/[0-9a-f]{20}", key)


def test_the_default_redaction_leaves_keys_alone() -> None:
    """A redacted key would join every conversation whose key looks like a secret."""
    redactor = Redactor()
    for basis in ("session", "baggage", "process"):
        for token_user, resolver_user in ((None, None), ("alice", None), (None, "alice"), ("alice", "al")):
            key = key_for(basis, token_user, resolver_user, "8f14e45fceea167a5a36dedd4bea2543")
            assert key is not None
            assert redactor.redact_text(key) == key


def test_a_call_without_a_basis_is_grouped_by_the_resolvers_user() -> None:
    """What a host's own resolver says counts as verified."""
    key, basis = conversation_for(CallContext(), "alice")

    assert basis == "user"
    assert (key, basis) == conversation_for(CallContext(), "alice")
    assert key != conversation_for(CallContext(), "bob")[0]
    assert conversation_for(CallContext(), None) == (None, None)


@given(st.text(min_size=1, max_size=100).filter(lambda text: bool(text.strip()) and "\ufffd" not in text))
def test_a_quoted_conversation_id_comes_back(value: str) -> None:
    """Percent-encoding is undone, wherever the member stands and whatever properties follow."""
    try:
        quoted = quote(value, safe="")
    except UnicodeEncodeError:
        return
    assert conversation_in_baggage(f"a=1, gen_ai.conversation.id = {quoted};ttl=3 ,b=2") == value


@given(st.text(max_size=400))
def test_any_baggage_is_survived(text: str) -> None:
    """A client may send anything; the answer is text or nothing."""
    for baggage in (text, f"gen_ai.conversation.id={text}", f"{text},gen_ai.conversation.id"):
        found = conversation_in_baggage(baggage)
        assert found is None or (isinstance(found, str) and found)


@pytest.mark.parametrize(
    "baggage",
    [None, 7, {}, "", "gen_ai.conversation.id", "gen_ai.conversation.id=", "my.gen_ai.conversation.id=x", "a=gen_ai.conversation.id"],
)
def test_baggage_without_a_conversation_is_none(baggage: object) -> None:
    """A name inside another name, or an empty value, is no conversation."""
    assert conversation_in_baggage(baggage) is None


def test_baggage_beyond_the_limit_is_not_searched() -> None:
    """The W3C limit is 8192 characters."""
    assert conversation_in_baggage("a=" + "x" * 8200 + ",gen_ai.conversation.id=late") is None


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        "",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-4bf92f3577b34da6a3ce929d0e0e4736-{'0' * 16}-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" + "x" * 200,
    ],
)
def test_a_malformed_trace_parent_is_none(text: object) -> None:
    """Lower-case hex, a known version and ids that are not zero, or nothing."""
    assert trace_parent(text) is None


def test_a_trace_parent_of_a_later_version_is_read() -> None:
    """Later versions may only add fields."""
    assert trace_parent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more") is not None


class Connection:
    """Stands for a connection."""


def test_a_stream_keeps_its_key_for_as_long_as_it_lives() -> None:
    """Two streams never share one, and a closed one is forgotten."""
    from fastmcp_feedback.capture.conversation import _stream_keys

    gc.collect()
    one, two = Connection(), Connection()

    assert stream_key(one) == stream_key(one) != stream_key(two)
    before = len(_stream_keys)
    del two
    gc.collect()
    assert len(_stream_keys) == before - 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_a_key_of_its_own() -> None:
    """Workers that a server forks serve different clients."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - the child only writes and leaves
        os.write(writer, process_key().encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        theirs = stream.read()
    os.waitpid(child, 0)

    assert theirs
    assert theirs != process_key()


def test_digests_do_not_run_together() -> None:
    """Parts are told apart, and none is not the empty text."""
    assert len({digest("a", "b"), digest("ab"), digest("ab", None), digest("ab", ""), digest(None, "ab")}) == 5
