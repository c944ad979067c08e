"""A secret planted anywhere in a call is nowhere in any outlet: JSON lines, callback, database, spool, our own logs."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastmcp_feedback.instrumentation import CallbackSink, DatabaseSink, JsonLinesSink, MemorySink, instrument
from fastmcp_feedback.sink import Record, SinkUnavailable
from fastmcp_feedback.testing import assert_no_secret, contained_errors, recording

SECRET = "Zq7" + "rT9w-Kx2v" + "B8nM4cL6"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
WAYS: dict[str, Any] = {
    "under a secret key": {"password": SECRET},
    "deep under a secret key": {"config": [{"db": {"api-key": SECRET}}]},
    "camel case": {"clientSecret": SECRET},
    "in a URL": {"url": f"https://user:{SECRET}@db.example/x"},
    "in a header": {"headers": {"Authorization": f"Bearer {SECRET}"}},
    "as text": {"note": f"password={SECRET} and more"},
    "json in text": {"body": json.dumps({"token": SECRET})},
    "command line": {"command": f"deploy --password {SECRET} --fast"},
    "a known shape": {"note": f"use {TOKEN} please"},
}


class Away:
    """A sink that is never there: with a spool everything goes to disk."""

    owns_resource = True

    async def write(self, _records: Sequence[Record]) -> None:
        raise SinkUnavailable(f"cannot connect with password={SECRET}")


async def drive(app: FastMCP[Any], arguments: dict[str, Any]) -> None:
    """A call that fails with its secret in the error, and one that returns it."""
    for fail in (True, False):
        try:
            await app.call_tool("leaky", {"payload": arguments, "fail": fail})
        except Exception:  # noqa: BLE001 - the tool is meant to fail
            continue


def leaky_server() -> FastMCP[Any]:
    """A server that repeats what it was told, everywhere."""
    app: FastMCP[Any] = FastMCP("leaky")

    @app.tool
    async def leaky(payload: dict[str, Any], fail: bool) -> dict[str, Any]:
        if fail:
            raise ValueError(f"cannot use {payload} with {SECRET if SECRET in json.dumps(payload) else TOKEN}")
        return {"status": "failed", "error": f"refused: {json.dumps(payload)}", "echo": payload}

    return app


def through_every_outlet(arguments: dict[str, Any], folder: Path, mode: str) -> None:
    """Record the calls into every kind of sink and look for the secret in each."""
    memory, lines, seen = MemorySink(), io.StringIO(), list[Record]()
    app = leaky_server()
    sinks = [
        memory, JsonLinesSink(lines), JsonLinesSink(path=folder / "calls.jsonl"), CallbackSink(seen.extend),
        DatabaseSink(f"sqlite:///{folder / 'calls.db'}"), Away(),
    ]  # fmt: skip

    def enrich(_tool: str, args: Any, result: Any, _context: Any) -> dict[str, Any]:
        return {"args": args, "result": result}

    mw = instrument(
        app, sinks, mode=mode, spool=folder / "spool", enricher=enrich, retry_for=0.0, flush_interval=0.0,
        identity_resolver=lambda context: {"user_sub": "u1", "seen": context.message.arguments},
    )  # fmt: skip

    async def main() -> None:
        await drive(app, arguments)
        await mw.flush(10)
        await mw.aclose()

    asyncio.run(main())
    secrets = [SECRET, TOKEN]
    assert len(memory.calls) == 2
    for outlet in (memory, lines.getvalue(), seen, folder / "calls.jsonl", folder / "calls.db", folder / "spool"):
        assert_no_secret(outlet, secrets)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["meta", "full"])
def test_a_secret_is_in_no_outlet(way: str, mode: str, tmp_path: Path, contained: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    """Whatever way it came in; the error text, identity and extra repeat it, and our own warnings about the sink too."""
    with caplog.at_level(logging.DEBUG, logger="fastmcp_feedback"):
        through_every_outlet(WAYS[way], tmp_path, mode)
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("fastmcp_feedback")]
    assert_no_secret("\n".join(ours), [SECRET, TOKEN])
    assert contained


nested = st.recursive(
    st.sampled_from(list(WAYS.values())),
    lambda inner: st.lists(inner | st.text(max_size=5), max_size=3) | st.dictionaries(st.text("abcdef ", max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=nested)
def test_a_secret_at_any_place_of_any_value_is_in_no_outlet(value: Any, contained: list[Any]) -> None:
    """Any nesting of the ways above."""
    with tempfile.TemporaryDirectory() as folder, contained_errors() as errors:
        through_every_outlet({"value": value}, Path(folder), "full")
    assert {where for where, _ in errors} == {"sink Away-5"}
    assert len(contained) >= len(errors)


async def test_assert_no_secret_finds_what_is_there(tmp_path: Path) -> None:
    """The helper itself fails on a leak, in records, in text and in files, and never shows the value."""
    app: FastMCP[Any] = FastMCP("open")

    @app.tool
    def say(text: str) -> str:
        return text

    async with recording(app) as sink:
        await app.call_tool("say", {"text": "the open word is sesame-4711"})
    file = tmp_path / "out.jsonl"
    file.write_text(json.dumps(sink.calls[0].to_dict()))
    for outlet in (sink, file, "sesame-4711"):
        with pytest.raises(AssertionError, match="secret number 1") as failure:
            assert_no_secret(outlet, ["elsewhere-1", "sesame-4711"])
        assert "sesame" not in str(failure.value)
    with pytest.raises(FileNotFoundError):
        assert_no_secret(tmp_path / "nothing", ["x"])
