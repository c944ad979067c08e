"""Small promises that were broken once."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP

from fastmcp_feedback.instrumentation import InstrumentationMiddleware
from fastmcp_feedback.shaping.redact import linear
from fastmcp_feedback.testing import recording
from support.studio import call


@pytest.mark.parametrize("option", ["capture_llm_text", "events_inherit_identity", "call_reference"])
def test_a_switch_takes_true_or_false_only(option: str) -> None:
    """`"no"` is not False."""
    with pytest.raises(ValueError, match=f"{option}='no': must be True or False"):
        InstrumentationMiddleware([], **{option: "no"})


async def test_a_removed_value_is_gone_from_its_neighbours_too() -> None:
    """Beside the secret key in the same arguments and result, and in an event's key."""
    app: FastMCP[Any] = FastMCP("studio")

    @app.tool
    async def login(password: str, command: str) -> dict[str, str]:
        return {"token": "tok-99-abcdef", "curl": "curl -H 'x: tok-99-abcdef'"}

    async with recording(app) as sink, Client(app) as client:
        await call(client, "login", password="s3cr3t-w0rd", command="login s3cr3t-w0rd")
    (recorded,) = sink.calls
    assert recorded.args == {"password": "[REDACTED]", "command": "login [REDACTED]"}
    assert recorded.result == {"token": "[REDACTED]", "curl": "curl -H 'x: [REDACTED]'"}


async def test_an_integer_of_many_digits_costs_no_record() -> None:
    """Python refuses to write more than 4,300 digits; the record says how large it was."""
    app: FastMCP[Any] = FastMCP("studio")

    @app.tool
    async def ping() -> str:
        return "pong"

    async with recording(app, identity_resolver=lambda _context: {"huge": 10**5000}) as sink, Client(app) as client:
        await call(client, "ping")
    assert sink.calls[0].identity == {"huge": "<integer of 16610 bits>"}


@pytest.mark.parametrize("pattern", ["(a|a)*$", "(foo|foo)*$", "(?:ab?|a)*c", "(?:ab|abc?)+X", r"(?:\d{1,3}){1,20}X", "(?:a?){25}b"])
def test_a_pattern_that_can_match_one_text_in_many_ways_is_objected_to(pattern: str) -> None:
    """Each would take for ever on a few hundred characters."""
    assert linear.objection(pattern, 0) is not None


@pytest.mark.parametrize("pattern", [r"ACME-[0-9]{6}", r"\d{1,3}(?:\.\d{1,3}){3}", "(?:foo|bar)+x", "(?:[a-z]{2,10}-)+[0-9]+"])
def test_a_pattern_with_one_way_to_match_is_taken(pattern: str) -> None:
    """Repeats with separators and alternatives that begin differently are linear."""
    assert linear.objection(pattern, 0) is None


async def test_a_fault_that_a_hook_makes_from_the_message_holds_no_secret() -> None:
    """A hook's answer is stored and shown: it goes through redaction as the message does."""
    app: FastMCP[Any] = FastMCP("studio")
    secret = "ghp_" + "a1B2" * 9

    @app.tool
    async def boom() -> str:
        raise ValueError("lost")

    async with recording(app, fault_hook=lambda _record, _exc: f"auth {secret}") as sink, Client(app) as client:
        await call(client, "boom")
    assert [record.failure.fault for record in sink.calls if record.failure] == ["auth [REDACTED]"]
