"""One recorded call made again, and what came out differently."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fastmcp import Client

from ..instrumentation import InstrumentationMiddleware, MemorySink
from ..records import ToolCallRecord
from ..shaping.classify import ResultClassifier
from .app_name import ServerError
from .arguments import describe_lost, is_cut, lost_arguments
from .classifiers import classifier, classifier_name
from .differences import Difference, differences
from .schema import misfits
from .servers import Server, Target, connect

# What stands before a tool's own message when the call went through a proxy or FastMCP's wrapper.
_WRAPPERS: Final = re.compile(r"(?:isError: )?(?:Error calling tool '[^']{0,255}'(?:: )?)?")
_SHOWN_TOOLS: Final = 20


class CannotReplay(Exception):
    """The call cannot be made again; the text says why, `hint` what to do."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recorded call (a row of the database), the call made again, and what differs.

    `differences` is None where one of the results is not there to compare; `notes` say what else is to know.
    """

    recorded: Mapping[str, Any]
    again: ToolCallRecord
    differences: Sequence[Difference] | None
    notes: Sequence[str]

    @property
    def same_failure(self) -> bool:
        """Did both fail, and with the same words?"""
        before, now = self.recorded, self.again
        if before["ok"] or now.ok:
            return False
        if before["fingerprint"] is not None and before["fingerprint"] == now.fingerprint:
            return True
        return _own_words(before["error_message"]) == _own_words(now.error_message)

    @property
    def verdict(self) -> str:
        """One sentence."""
        before, now = bool(self.recorded["ok"]), self.again.ok
        if before and now:
            if self.differences is None:
                return "It succeeds, as it did."
            places = len(self.differences)
            return "It succeeds with the same result." if not places else f"It succeeds; the result differs in {places} place(s)."
        if before:
            return "It succeeded then and fails now."
        if now:
            return "It failed then and succeeds now."
        return "It fails in the same way." if self.same_failure else "It fails in another way."


async def replay_call(call: Mapping[str, Any], target: Target, confirm: Callable[[str], bool], *, timeout_s: float = 60.0) -> Replayed:
    """Call the tool of a recorded call again with the same arguments.

    Args:
        call: The row, as `query.calls.find_call` gives it.
        target: The server to call.
        confirm: Asked, with a question, before a tool is called that is not marked read-only.
        timeout_s: Seconds that the start and the call may take, each.

    Raises:
        CannotReplay: arguments are not there as they were, the tool is gone, or `confirm` said no.
        ServerError: the server cannot be had.
    """
    lost = lost_arguments(call)
    if lost:
        hint = (
            "record with mode full to replay" if lost[0].reason == "not recorded" else "make-test writes a test with placeholders for them"
        )
        raise CannotReplay(f"call {call['id']} cannot be made again: {describe_lost(lost)}", hint)
    async with connect(target, timeout_s) as server:
        tool = server.tools.get(call["tool"])
        if tool is None:
            names = sorted(server.tools)
            shown = ", ".join(names[:_SHOWN_TOOLS]) + (" ..." if len(names) > _SHOWN_TOOLS else "")
            raise CannotReplay(f"the server has no tool {call['tool']!r} (any more)", f"it has: {shown}" if names else "it has no tools")
        notes = _schema_notes(tool, call)
        if not _read_only(tool) and not confirm(f"{call['tool']!r} is not marked read-only. Call it again?"):
            raise CannotReplay("nothing was called")
        again = await _call(server, call, timeout_s)
    return Replayed(call, again, _compare(call, again), [*notes, *_result_notes(call)])


def _read_only(tool: Any) -> bool:
    annotations = tool.annotations
    if annotations is None:
        return False
    return getattr(annotations, "read_only_hint", None) is True or _camel(annotations, "readOnlyHint") is True


def _camel(model: Any, name: str) -> Any:
    return getattr(model, name, None) if name in type(model).model_fields else None


def _schema_notes(tool: Any, call: Mapping[str, Any]) -> list[str]:
    schema = getattr(tool, "input_schema", None) or _camel(tool, "inputSchema") or {}
    found = misfits(schema, call["args"])
    if not found:
        return []
    changed = call["category"] != "bad_arguments"
    head = "the tool's arguments have changed since" if changed else "the arguments do not fit the tool, as they did not then"
    return [f"{head}: {'; '.join(found)}"]


def _result_notes(call: Mapping[str, Any]) -> list[str]:
    if is_cut(call["result"]):
        return ["the recorded result was too large and was truncated: results are not compared"]
    if call["outcome"] != "error" and call["result"] is None:
        return ["the result was not recorded: results are not compared"]
    if classifier_name(call) is None:
        return ["a classifier of the server's own took the recorded result for a failure; `ok` here is what the default one says"]
    return []


async def _call(server: Server, call: Mapping[str, Any], timeout_s: float) -> ToolCallRecord:
    sink = MemorySink()
    recorder = InstrumentationMiddleware([sink], mode="full", result_classifier=_classifier(server, call))
    server.app.add_middleware(recorder)
    try:
        async with asyncio.timeout(timeout_s), Client(server.app) as client:
            await client.call_tool(call["tool"], call["args"], raise_on_error=False)
    except TimeoutError:
        raise ServerError(f"{call['tool']} did not answer within {timeout_s:g} s", "a slow tool needs a larger --timeout") from None
    finally:
        server.app.middleware.remove(recorder)
        await recorder.aclose()
    if not sink.calls:
        raise ServerError(f"the server did not take the call of {call['tool']}")
    return sink.calls[-1]  # calls that the tool itself made end before it


def _classifier(server: Server, call: Mapping[str, Any]) -> ResultClassifier | None:
    """The server's own when it is recorded in this process, else the one that explains the recorded outcome."""
    for middleware in server.app.middleware:
        if isinstance(middleware, InstrumentationMiddleware):
            return middleware.options.result_classifier
    return classifier(classifier_name(call))


def _compare(call: Mapping[str, Any], again: ToolCallRecord) -> list[Difference] | None:
    before, after = call["result"], again.result
    if before is None or after is None or is_cut(before) or is_cut(after):
        return None
    return differences(before, after)


def _own_words(message: str | None) -> str:
    return _WRAPPERS.sub("", message or "", count=1).strip()
