"""The rules of linking, on made-up candidates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.linking.rules import Candidate, Reporter, choose

NOW: Final = datetime(2026, 10, 2, 12, tzinfo=UTC)
WINDOW: Final = timedelta(minutes=15)
RULES: Final = ("reference", "session", "user_window")


def made(call_id: str, minutes_ago: float = 1, *, key: str | None = "session/1", user: str | None = None, ok: bool = True) -> Candidate:
    """A call so many minutes before now."""
    basis = key.partition("@")[0].partition("/")[0] if key is not None else None
    return Candidate(call_id, "paint", NOW - timedelta(minutes=minutes_ago), ok, key, basis, user)


def chosen(candidates: list[Candidate], reporter: Reporter, n: int = 20, quoted: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Ids and rules of the links."""
    return [(link.call_id, link.rule) for link in choose(candidates, reporter, n=n, window=WINDOW, quoted=quoted, now=NOW)]


SESSION: Final = Reporter("session/1", "session")
PROCESS: Final = Reporter("process/1", "process")


def test_a_conversation_s_calls_come_in_the_order_of_time() -> None:
    """The newest n of them, positions from 0; other conversations are none of it."""
    calls = [made("a", 3), made("b", 1), made("c", 2), made("x", key="session/2"), made("y", key=None)]
    assert chosen(calls, SESSION) == [("a", "session"), ("c", "session"), ("b", "session")]
    links = choose(calls, SESSION, n=2, window=WINDOW, quoted=(), now=NOW)
    assert [(link.call_id, link.position) for link in links] == [("c", 0), ("b", 1)]


def test_only_a_real_session_reaches_beyond_the_window() -> None:
    """Without one the window bounds every rule, that of quoted calls too."""
    old_in_session, old_in_process = made("old-quoted", 60), made("old-quoted", 60, key="process/1")
    assert chosen([old_in_session], SESSION) == [("old-quoted", "session")]
    assert chosen([old_in_process], PROCESS) == []
    assert chosen([old_in_process], PROCESS, quoted=("old-quoted",)) == []
    assert chosen([old_in_session], SESSION, quoted=("old-quoted",)) == [("old-quoted", "reference")]
    edge = made("edge", 15, key="process/1")
    assert chosen([edge], PROCESS) == [("edge", "session")]


def test_a_user_s_other_calls_within_the_window_come_last() -> None:
    """They fill what the conversation leaves, and never reach beyond the window, even from a session."""
    calls = [made("s", 60, user="ann"), made("u", 2, key="session/2", user="ann"), made("old", 16, key="session/2", user="ann")]
    reporter = Reporter("session/1", "session", "ann")
    assert chosen(calls, reporter) == [("s", "session"), ("u", "user_window")]
    assert chosen(calls, reporter, n=1) == [("s", "session")]


def test_quoted_calls_come_first_whatever_else_there_is() -> None:
    """By the whole id or its first eight characters at least."""
    calls = [made("25568541-cf28", 9), made("b", 2), made("c", 1)]
    assert chosen(calls, SESSION, n=1, quoted=("25568541-cf28",)) == [("25568541-cf28", "reference")]
    assert chosen(calls, SESSION, n=2, quoted=("25568541",)) == [("25568541-cf28", "reference"), ("c", "session")]
    assert chosen(calls, SESSION, n=1, quoted=("2556854", "")) == [("c", "session")]


@pytest.mark.parametrize("reporter_user", ["bob", None])
def test_no_call_of_another_user_is_linked(reporter_user: str | None) -> None:
    """Not by quoting it, not from the same conversation."""
    reporter = Reporter("session/1", "session", reporter_user)
    assert chosen([made("anns-call-1", user="ann")], reporter, quoted=("anns-call-1",)) == []


def test_a_known_user_links_no_anonymous_call() -> None:
    """Users have to be equal when either side has one."""
    assert chosen([made("anonymous-1")], Reporter("session/1", "session", "ann"), quoted=("anonymous-1",)) == []


def test_the_token_s_user_counts_where_no_resolver_named_one() -> None:
    """It is part of the conversation key; the same user's other sessions are within reach, another's are not."""
    reporter = Reporter("session@3fa9/1", "session")
    calls = [made("other-session", 1, key="session@3fa9/2"), made("other-user", 1, key="session@77aa/1"), made("nobody", 1)]
    assert chosen(calls, reporter) == [("other-session", "user_window")]


def test_the_reporting_call_is_never_linked() -> None:
    """Not even when it is quoted."""
    assert chosen([made("reporting-1")], Reporter("session/1", "session", None, "reporting-1"), quoted=("reporting-1",)) == []


users = st.sampled_from([None, "ann", "bob"])
keys = st.sampled_from([None, "session/1", "session/2", "process/1", "session@3fa9/1", "session@3fa9/2", "process@3fa9/1", "user@3fa9"])
ids = st.sampled_from([f"{n:08x}-call" for n in range(12)])
candidates = st.lists(st.builds(made, ids, st.integers(-1, 40), key=keys, user=users, ok=st.booleans()), max_size=25)
reporters = st.builds(
    lambda key, user, call_id: Reporter(key, key.partition("@")[0].partition("/")[0] if key else None, user, call_id), keys, users, ids
)


@given(candidates, reporters, st.integers(0, 8), st.lists(ids.map(lambda i: i[:9]), max_size=3))
def test_whatever_the_calls_the_promises_hold(calls: list[Candidate], reporter: Reporter, n: int, quoted: list[str]) -> None:
    """Users, window, reporting call, order, positions, the rule's own condition, and that nothing better was left out."""
    links = choose(calls, reporter, n=n, window=WINDOW, quoted=quoted, now=NOW)
    first = {call.call_id: call for call in reversed(calls)}
    assert len(links) <= n
    assert len({link.call_id for link in links}) == len(links)
    assert [link.position for link in links] == list(range(len(links)))
    assert [link.started_at for link in links] == sorted(link.started_at for link in links)
    for link in links:
        call = next(c for c in calls if c.call_id == link.call_id and c.user == reporter.user)
        assert link.call_id != reporter.call_id
        assert (link.tool, link.rule in RULES) == ("paint", True)
        inside = call.started_at >= NOW - WINDOW
        assert inside or (reporter.conversation_basis == "session" and link.rule != "user_window")
        if link.rule == "reference":
            assert any(call.call_id.startswith(reference) for reference in quoted)
        elif link.rule == "session":
            assert call.conversation_key == reporter.conversation_key
        else:
            assert reporter.user is not None
    if len(links) < n:  # with room left, every call of the conversation within the window is there
        missing = set(first) - {link.call_id for link in links} - {reporter.call_id}
        for call in (first[call_id] for call_id in missing):
            fits = (
                call.user == reporter.user and reporter.conversation_key is not None and call.conversation_key == reporter.conversation_key
            )
            assert not (fits and call.started_at >= NOW - WINDOW)
