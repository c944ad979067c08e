"""The text of `make-test`: readable, safe whatever was recorded, honest about what is missing."""

from __future__ import annotations

import ast
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.replay.app_name import ServerError
from fastmcp_feedback.replay.make_test import NothingToTest, write_tests
from support.strategies import hostile_text, json_values

WHEN = datetime(2026, 10, 2, 12, 0, 3, tzinfo=UTC)


def failed(**changes: Any) -> dict[str, Any]:
    """A row of a call that failed."""
    row: dict[str, Any] = {
        "id": "25568541-cf28-472c-9537-3151d7d21be7", "tool": "render", "started_at": WHEN, "ok": False, "outcome": "soft_error",
        "error_type": "SoftError", "error_message": "status=failed: out of memory", "args": {"scene": "big"},
        "result": {"status": "failed", "error": "out of memory"}, "fault": "server", "category": "other",
    }  # fmt: skip
    return row | changes


def body(text: str, name: str) -> list[ast.stmt]:
    """The statements of a written test, without its docstring."""
    (found,) = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name]
    return found.body[1:]


def test_a_test_reads_like_one_written_by_hand() -> None:
    """Named by tool and failure, arguments as a literal, one assertion that says what was recorded."""
    text = write_tests([failed()], "studio.server:mcp")

    assert "from studio.server import mcp as app\n" in text
    assert text.endswith(
        'def test_render_does_not_fail_with_status_failed_out_of_memory() -> None:\n'
        '    """Recorded as call 25568541-cf28-472c-9537-3151d7d21be7, 2026-10-02 12:00:03 UTC."""\n'
        '    recorded = "status=failed: out of memory"\n'
        '    arguments: dict[str, Any] = {"scene": "big"}\n'
        '\n'
        '    made = call("render", arguments)\n'
        '\n'
        '    assert made.ok, f"recorded: {recorded}; now: {made.error_message}"\n'
    )  # fmt: skip


@given(
    st.lists(
        st.tuples(hostile_text, hostile_text, hostile_text, st.dictionaries(hostile_text, json_values, max_size=3)), min_size=1, max_size=4
    )
)
def test_recorded_text_only_becomes_literals(rows: list[tuple[str, str, str, dict[str, Any]]]) -> None:
    """Ids, tools, messages and arguments that try to become code are data, and names stay distinct."""
    calls = [failed(id=call_id, tool=tool, error_message=message, args=args) for call_id, tool, message, args in rows]
    tree = ast.parse(write_tests(calls, "studio:app"))
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]

    assert len({test.name for test in tests}) == len(rows)
    assert {type(node) for node in tree.body[1:]} <= {ast.Import, ast.ImportFrom, ast.FunctionDef}
    for test, (_, tool, _, args) in zip(tests, rows, strict=True):
        assert [type(node) for node in test.body] == [ast.Expr, ast.Assign, ast.AnnAssign, ast.Assign, ast.Assert]
        assigned = {ast.unparse(node.target): node.value for node in test.body if isinstance(node, ast.AnnAssign)}
        assert ast.literal_eval(assigned["arguments"]) == args  # type: ignore[arg-type]  # it has a value
        made = test.body[3]
        assert isinstance(made, ast.Assign)
        assert isinstance(made.value, ast.Call)
        assert ast.literal_eval(made.value.args[0]) == tool


@pytest.mark.parametrize("args", [None, {"_truncated": True, "size": 90_000, "preview": "{"}, {"deep": "[TRUNCATED]"}])
def test_arguments_that_are_not_there_make_a_skipped_test(args: Any) -> None:
    """It says what to write instead of pretending to reproduce anything."""
    text = write_tests([failed(args=args)])

    assert "import pytest\n" in text
    assert 'pytest.skip("write the arguments first: ' in text
    assert "from your_server import app" in text


def test_the_classifier_that_saw_the_failure_is_used_again() -> None:
    """A failure that only the thorough classifier sees; one that only the host's own can see is compared by result."""
    thorough = write_tests([failed(result=["Error: no such table: scenes"], error_message="text: Error: no such table")])
    own = write_tests([failed(result={"answer": 42}, error_message="42 is too much")])

    assert "recording(app, result_classifier=thorough_classifier())" in thorough
    assert 'assert made.result != {"answer": 42}' in own
    assert "thorough" not in own


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({"fault": "caller"}, "# The caller was at fault."),
        ({"fault": "upstream"}, "# A service behind the tool was at fault"),
        ({"error_type": "CancelledError", "outcome": "error"}, "# The call was ended from outside"),
    ],
)
def test_a_failure_that_a_test_may_not_show_says_so(changes: dict[str, Any], remark: str) -> None:
    """When the server is not, or not alone, to be mended."""
    assert remark in write_tests([failed(**changes)])


def test_a_call_that_did_not_fail_is_refused() -> None:
    """There is nothing to reproduce."""
    with pytest.raises(NothingToTest, match="did not fail"):
        write_tests([failed(ok=True, outcome="ok")])


@pytest.mark.parametrize("app", ["studio", "studio:", "stu dio:app", "studio:app; x", "a/b-c.py:app", "import:app", "studio.class:app"])
def test_a_server_that_cannot_be_imported_is_refused(app: str) -> None:
    """The name goes into the code, so it must be names and nothing else."""
    with pytest.raises(ServerError):
        write_tests([failed()], app)
