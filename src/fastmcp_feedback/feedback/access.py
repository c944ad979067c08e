"""Who reports or asks, and what they may see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import get_context

from ..capture import adapter
from ..capture.middleware import CaptureMiddleware
from ..capture.request import in_docket, in_http_request
from ..raw import RawCall
from ..store.feedback_sql import Owner

MANAGING: Final = ("update_feedback_status", "delete_feedback")
READING: Final = ("list_feedback", "get_feedback")
# Words by which agents name themselves as submitters; the start of a word, lower case.
_AGENT_WORDS: Final = (
    "agent", "ai", "assistant", "automation", "bot", "claude", "chatgpt", "codex", "copilot", "cursor", "gemini", "gpt", "llama", "llm",
    "mistral", "model", "qwen", "robot", "system",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a feedback tool. `remote` says that the call came over HTTP, where anybody may stand at the other end."""

    owner: Owner
    remote: bool
    scopes: frozenset[str] = frozenset()
    name: str | None = None
    caller_kind: str | None = None
    client_id: str | None = None
    session_id: str | None = None
    server_version: str | None = None
    agent_names: tuple[str, ...] = ()

    def owns(self, row: dict[str, Any]) -> bool:
        """Did they write this report?"""
        if self.owner.user_sub is not None:
            return bool(row["user_sub"] == self.owner.user_sub)
        key = self.owner.conversation_key
        return key is not None and row["user_sub"] is None and row["conversation_key"] == key

    def kind(self, submitter: str | None) -> str:
        """`agent`, `human` or `unknown`: what the token says, else how the submitter calls itself."""
        if self.caller_kind == "service":
            return "agent"
        if submitter is None:
            return "unknown"
        words = submitter.lower().replace("-", " ").replace("_", " ").split()
        known = {word for name in self.agent_names for word in (name.lower(), *name.lower().replace("-", " ").split()[:1])}
        if submitter.lower() in known or any(word.strip("()[]:,.") in (*_AGENT_WORDS, *known) for word in words):
            return "agent"
        return "human"


@dataclass(frozen=True, slots=True)
class Rules:
    """The host's decision: the scope that lets callers manage over HTTP, and the tools it named on its own."""

    manage_scope: str | None
    named: frozenset[str]

    def allows(self, tool: str, *, remote: bool, scopes: Iterable[str]) -> bool:
        """May a caller use what is protected in this tool?"""
        if not remote:
            return True
        if self.manage_scope is not None:
            return self.manage_scope in scopes
        return tool in self.named

    def require(self, tool: str, caller: Caller) -> None:
        """Let nobody else through.

        Raises:
            ToolError: the caller may not use this tool.
        """
        if not self.allows(tool, remote=caller.remote, scopes=caller.scopes):
            wanted = (
                f"an access token with the scope {self.manage_scope!r}"
                if self.manage_scope
                else "a right that this server does not give out"
            )
            raise ToolError(f"{tool} is for the maintainers of this server: over HTTP it needs {wanted}")


def current_call(recorder: CaptureMiddleware | None) -> RawCall | None:
    """The running call as the recorder knows it."""
    call = recorder.call_log.current.get() if recorder is not None else None
    return call if call is not None and not call.ended else None


def mark_internal(recorders: Iterable[CaptureMiddleware], tools: Iterable[str]) -> None:
    """Calls of these tools are the recorder's own; so is the running one, under whatever name its server was mounted.

    Their arguments are not kept: only the stored report is cleaned of what its linked calls lost, and only it can be deleted.
    """
    for recorder in recorders:
        if not recorder.internal_tools.issuperset(tools):
            recorder.mark_internal(tools, meta_only=True)
        call = current_call(recorder)
        if call is not None:
            call.internal, call.mode = True, "meta"


def caller_of(recorder: CaptureMiddleware | None) -> Caller:
    """Who makes the running call: by the recorder's identity resolver, else by FastMCP's verified access token."""
    ctx = _context()
    token = adapter.access_token(getattr(ctx, "request_context", None))
    call = current_call(recorder)
    if call is not None:
        context = call.context
    else:
        context = adapter.call_context(SimpleNamespace(fastmcp_context=ctx, message=None, method="tools/call"))
    user = call.user_sub if call is not None and call.user_sub is not None else context.verified_user
    client_id = getattr(token, "client_id", None)
    about = adapter.client_info(SimpleNamespace(fastmcp_context=ctx)) if ctx is not None else {}
    return Caller(
        owner=Owner(user, context.conversation_key),
        remote=in_http_request() or in_docket(),
        scopes=frozenset(str(scope) for scope in getattr(token, "scopes", None) or ()),
        name=user or client_id,
        caller_kind=call.caller_kind if call is not None else None,
        client_id=(call.client_id if call is not None else None) or client_id or context.client_id,
        session_id=context.session_id,
        server_version=(call.server_version if call is not None else None) or (recorder.options.server_version if recorder else None),
        agent_names=tuple(about[name] for name in ("client_name",) if name in about),
    )


def _context() -> Any:
    try:
        return get_context()
    except RuntimeError:  # the host's own code calls
        return None
