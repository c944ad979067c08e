"""The specified soft-error classifier: each row of its table, the detail, paths, arguments, and odd values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.instrumentation import DEFAULT_RESULT_CLASSIFIER, soft_error_classifier
from fastmcp_feedback.shaping.classify import MAX_MESSAGE_CHARS

TABLE: list[tuple[Any, str | None]] = [
    # 1: a status key holds a failing status
    ({"status": "error"}, "status=error"),
    ({"status": "FAILED", "message": "no space"}, "status=FAILED: no space"),
    ({"state": "Failure", "reason": "no space"}, "state=Failure: no space"),
    ({"status": "done", "state": "failed"}, "state=failed"),
    ({"status": "failed", "ok": True}, "status=failed"),
    ({"status": " failed "}, None),
    ({"status": ["failed"]}, None),
    ({"status": True}, None),
    # 2: a flag key is exactly False
    ({"ok": False}, "ok=False"),
    ({"success": False, "detail": "no space"}, "success=False: no space"),
    ({"ok": True, "success": False}, "success=False"),
    ({"ok": 0}, None),
    ({"ok": "false"}, None),
    # 3: isError or is_error is True
    ({"isError": True}, "isError"),
    ({"is_error": True, "message": "no space"}, "isError: no space"),
    ({"isError": True, "ok": True}, "isError"),
    ({"isError": True, "content": ["no", "space"]}, "isError: no space"),
    ({"isError": True, "content": "no space"}, "isError: no space"),
    ({"isError": True, "content": [{"type": "text", "text": "no space"}, {"type": "image"}]}, "isError: no space"),
    ({"isError": True, "content": ["no space"], "reason": "full"}, "isError: full"),
    ({"isError": True, "content": [{"type": "image"}, ["x"], 3]}, "isError"),
    ({"isError": 1}, None),
    ({"isError": "true"}, None),
    # 4: a flag key is exactly True
    ({"ok": True, "error": "answered from the cache"}, None),
    ({"success": True, "error": "answered from the cache"}, None),
    # 5: an error key holds a non-blank string
    ({"error": "no space"}, "error: no space"),
    ({"error": "  no space\n"}, "error: no space"),
    ({"error": "  "}, None),
    ({"error": ""}, None),
    ({"error": None}, None),
    ({"error": True}, None),
    ({"error": {"message": "no space"}}, None),
    ({"error": ["no space"]}, None),
    ({"Error": "no space"}, None),
    # 6: none of the above, and results other than dicts
    ({}, None),
    ({"rows": [{"status": "failed"}]}, None),
    (["Error: no space"], None),
    ("Error: no space", None),
    (None, None),
    (7, None),
]


@pytest.mark.parametrize(("result", "message"), TABLE, ids=repr)
def test_the_first_check_that_applies_decides(result: Any, message: str | None) -> None:
    """Each row of the table, with the neighbours that it must not take in."""
    assert DEFAULT_RESULT_CLASSIFIER("render", result) == message


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"error": "a", "message": "b"}, "ok=False: a"),
        ({"error": "", "message": "b"}, "ok=False: b"),
        ({"error": None, "detail": "c"}, "ok=False: c"),
        ({"error": [], "reason": "d"}, "ok=False: d"),
        ({"error": ["a"], "message": "b"}, "ok=False: b"),
        ({"error": {"code": 7, "message": "b"}}, "ok=False: b"),
        ({"error": {"reason": "d", "detail": "c"}}, "ok=False: c"),
        ({"error": {"code": 7}, "message": "b"}, "ok=False: b"),
        ({"error": {"message": {"reason": "two levels down"}}}, "ok=False"),
        ({"error": {"message": ["a"]}, "reason": "d"}, "ok=False: d"),
        ({"error": 507}, "ok=False: 507"),
    ],
    ids=repr,
)
def test_the_detail_is_the_first_value_that_says_something(result: dict[str, Any], message: str) -> None:
    """Message keys in order; a dict is searched one level down; lists are skipped."""
    assert DEFAULT_RESULT_CLASSIFIER("render", {"ok": False, **result}) == message


def test_the_examples_of_the_specification_hold() -> None:
    """The four assertions that users were given."""
    classify = soft_error_classifier(extra_statuses=("unknown_target",))

    assert classify("render", {"status": "unknown_target", "error": "no such object"}) == "status=unknown_target: no such object"
    assert classify("render", {"status": "failed", "error": {"code": 7, "message": "disk full"}}) == "status=failed: disk full"
    assert classify("render", {"error": {"code": 1}}) is None
    assert DEFAULT_RESULT_CLASSIFIER("t", {"isError": True, "content": ["boom"]}) == "isError: boom"


def test_every_argument_replaces_its_part() -> None:
    """Statuses, keys and messages are the host's to choose; `()` turns the error check off."""
    classify = soft_error_classifier(
        statuses=("Kaputt",), status_keys=("zustand",), flag_keys=("gut",), error_keys=("fehler",), message_keys=("text",)
    )

    assert classify("t", {"zustand": "kaputt", "text": "a"}) == "zustand=kaputt: a"
    assert classify("t", {"gut": False, "text": "a", "error": "b"}) == "gut=False: a"
    assert classify("t", {"fehler": "a"}) == "fehler: a"
    assert classify("t", {"status": "error", "ok": False, "error": "b"}) is None
    assert soft_error_classifier(error_keys=())("t", {"error": "a"}) is None
    assert soft_error_classifier(extra_statuses=["Lost"])("t", {"status": "lost"}) == "status=lost"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"snapshot": {"error": " lost "}}, "snapshot.error: lost"),
        ({"snapshot.error": "literal", "snapshot": {"error": "lost"}}, "snapshot.error: literal"),
        ({"snapshot.error": "", "snapshot": {"error": "lost"}}, None),
        ({"snapshot": "error"}, None),
        ({"snapshot": {}}, None),
        ({"snapshot": [{"error": "lost"}]}, None),
    ],
    ids=repr,
)
def test_error_keys_take_dotted_paths(result: dict[str, Any], message: str | None) -> None:
    """A key that literally contains the dot wins; a missing or non-dict step counts as absent."""
    assert soft_error_classifier(error_keys=("snapshot.error",))("t", result) == message


def test_message_keys_take_dotted_paths() -> None:
    """Also inside the dict that is searched one level down."""
    classify = soft_error_classifier(message_keys=("error", "cause.text"))

    assert classify("t", {"ok": False, "cause": {"text": "lost"}}) == "ok=False: lost"
    assert classify("t", {"ok": False, "error": {"cause": {"text": "deep"}}}) == "ok=False: deep"


@pytest.mark.parametrize("option", ["statuses", "status_keys", "flag_keys", "extra_statuses", "error_keys", "message_keys"])
@pytest.mark.parametrize("value", ["error", b"error", 7, None, (7,), ("",), (None,)], ids=repr)
def test_wrong_arguments_are_refused_at_construction(option: str, value: Any) -> None:
    """A bare string would be taken letter by letter; the message names the option and what to write."""
    with pytest.raises(ValueError, match=option):
        soft_error_classifier(**{option: value})


def test_a_bare_string_is_answered_with_the_tuple_to_write() -> None:
    """The hint can be copied."""
    with pytest.raises(ValueError, match=r"such as \('error',\)"):
        soft_error_classifier(error_keys="error")


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("value", [Unprintable(), 10**5000, b"\xff", {1, 2}, object], ids=["unprintable", "huge", "bytes", "set", "class"])
def test_odd_values_never_raise(value: Any) -> None:
    """What cannot be shown is no detail; the call has failed all the same."""
    answer = DEFAULT_RESULT_CLASSIFIER("t", {"ok": False, "error": value, 7: "a key that is no string"})

    assert answer is not None
    assert answer.startswith("ok=False")


@pytest.mark.parametrize(
    "result", [{"error": "x" * 10**6}, {"ok": False, "message": "x" * 10**6}, {"isError": True, "content": ["x" * 10**4] * 500}]
)
def test_messages_are_bounded(result: Any) -> None:
    """A megabyte of text ends up as what a record can keep, and a little more."""
    answer = DEFAULT_RESULT_CLASSIFIER("t", result)

    assert answer is not None
    assert 10_000 < len(answer) < MAX_MESSAGE_CHARS + 100


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["status", "ok", "success", "isError", "error", "message", "content", "text"]) | st.text(max_size=8),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_json_value_is_answered(result: Any) -> None:
    """The answer is None or a non-empty string, and the result is left as it was."""
    before = repr(result)
    answer = DEFAULT_RESULT_CLASSIFIER("t", result)

    assert answer is None or (isinstance(answer, str) and answer)
    assert repr(result) == before
