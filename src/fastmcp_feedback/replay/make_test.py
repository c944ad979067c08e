"""Recorded failures written as a pytest file that reproduces them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .app_name import ServerError, split_app_name
from .arguments import REDACTED_MARK, ROOT, describe_lost, lost_arguments
from .classifiers import THOROUGH, classifier_name
from .python_text import literal, needs_json, slug, text_literal

_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}")
_UNKNOWN_SERVER: Final = "from your_server import app  # the module that holds your server"
_MAX_RECORDED: Final = 300
_PASSING: Final = {"CancelledError", "Interrupted"}

_HEAD: Final = '''"""Failures that were recorded, as tests: each one fails until its tool is mended.

Written by `fastmcp-feedback make-test`; yours to edit. Recorded text stands in literals only: it is data.
"""

{imports}


def call(tool: str, arguments: dict[str, Any]) -> ToolCallRecord:
    """Call a tool of the server in memory; the record tells how it ended."""

    async def made() -> ToolCallRecord:
        async with recording(app{options}) as sink, Client(app) as client:
            await client.call_tool(tool, arguments, raise_on_error=False)
        return sink.calls[-1]

    return asyncio.run(made())
'''


class NothingToTest(Exception):
    """The calls given are no failures."""


def write_tests(calls: Sequence[Mapping[str, Any]], app: str | None = None) -> str:
    """The text of a pytest file with one test for each recorded failure.

    Args:
        calls: Rows with payloads, as `query.calls.find_call` gives them.
        app: The server, as `module:app`; without it the file says where to fill it in.

    Raises:
        NothingToTest: a call did not fail.
        ServerError: `app` has another form.
    """
    for one in calls:
        if one["ok"]:
            raise NothingToTest(f"call {one['id']} of {one['tool']} did not fail: there is nothing to reproduce")
    names: set[str] = set()
    tests = [_test(one, _name(one, names)) for one in calls]
    thorough = any(classifier_name(one) == THOROUGH for one in calls)
    skips = any("pytest.skip(" in test for test in tests)
    imports = _imports(app, thorough=thorough, skips=skips, json=any(needs_json(one["args"]) for one in calls))
    options = ", result_classifier=thorough_classifier()" if thorough else ""
    return "\n\n".join([_HEAD.format(imports=imports, options=options), *tests])


def _imports(app: str | None, *, thorough: bool, skips: bool, json: bool) -> str:
    names = "ToolCallRecord, thorough_classifier" if thorough else "ToolCallRecord"
    return "\n".join(
        [
            "import asyncio",
            *(["import json"] if json else []),
            "from typing import Any",
            "",
            *(["import pytest"] if skips else []),
            "from fastmcp import Client",
            f"from fastmcp_feedback.instrumentation import {names}",
            "from fastmcp_feedback.testing import recording",
            "",
            _import_of(app),
        ]
    )


def _import_of(app: str | None) -> str:
    if app is None:
        return _UNKNOWN_SERVER
    module, name = split_app_name(app)
    if module.endswith(".py"):
        module = re.split(r"[/\\]", module)[-1].removesuffix(".py")
        if not module.isidentifier():
            raise ServerError(f"{app!r} cannot be imported by a test: {module!r} is no name of a module", code=2)
    return f"from {module} import {name}" if name == "app" else f"from {module} import {name} as app"


def _name(call: Mapping[str, Any], taken: set[str]) -> str:
    kind = "" if call["outcome"] == "soft_error" else slug(call["error_type"] or "", 24)
    words = "_".join(filter(None, (kind, slug((call["error_message"] or "").split("\n", 1)[0]))))
    base = "_".join(filter(None, ("test", slug(call["tool"]), "does_not_fail_with", words or "this_call")))
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name


def _test(call: Mapping[str, Any], name: str) -> str:
    call_id = call["id"] if _ID.fullmatch(call["id"]) else "of an unusual id"
    lines = [
        f"def {name}() -> None:",
        f'    """Recorded as call {call_id}, {call["started_at"]:%Y-%m-%d %H:%M:%S} UTC."""',
        f"    recorded = {text_literal(_recorded(call))}",
    ]
    lost = lost_arguments(call)
    if lost and (lost[0].path == ROOT or any(one.reason != "redacted" for one in lost)):
        lines += [
            f"    pytest.skip({text_literal(f'write the arguments first: {describe_lost(lost)}')})",
            "    arguments: dict[str, Any] = {}",
        ]
    else:
        lines += [*_remarks(call), f"    arguments: dict[str, Any] = {literal(call['args'])}"]
    lines += ["", f"    made = call({text_literal(call['tool'])}, arguments)", "", *_checks(call)]
    return "\n".join(lines) + "\n"


def _recorded(call: Mapping[str, Any]) -> str:
    message = (call["error_message"] or "").split("\n", 1)[0][:_MAX_RECORDED]
    return message if call["outcome"] == "soft_error" else f"{call['error_type']}: {message}"


def _remarks(call: Mapping[str, Any]) -> list[str]:
    if call["error_type"] in _PASSING:
        return ["    # The call was ended from outside, so it may pass at once: it shows the arguments, not the reason."]
    if call["fault"] == "caller":
        return ["    # The caller was at fault. If the tool is right to refuse this, expect the refusal instead."]
    if call["fault"] == "upstream":
        return ["    # A service behind the tool was at fault: the test can only fail while that service does."]
    return []


def _checks(call: Mapping[str, Any]) -> list[str]:
    lines = ['    assert made.ok, f"recorded: {recorded}; now: {made.error_message}"']
    if classifier_name(call) is None and REDACTED_MARK not in str(call["result"]):
        lines += [
            "    # A classifier of the server's own took this result for a failure.",
            f"    assert made.result != {literal(call['result'])}",
        ]
    return lines
