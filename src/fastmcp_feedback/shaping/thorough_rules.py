"""The rules of the thorough classifier as data: name, meaning, an example that fails by it, one that it leaves alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `failing` is decided by it, `fine` is ok.

    `kind` is `fails`, `spares` (the rule says ok, so that no later one is asked about `failing`) or `opens` (the rule
    shows what stands inside to the other rules).
    """

    name: str
    about: str
    failing: Any
    fine: Any
    kind: str = "fails"


# In the order in which they are tried.
RULES: Final = (
    # -- the checks of the default
    Rule(
        "status",
        "`status` or `state` says `error`, `failed` or `failure`",
        {"status": "error", "message": "no such queue"},
        {"status": "done"},
    ),
    Rule("flag", "`ok` or `success` is exactly `False`", {"success": False, "message": "queue is full"}, {"success": None, "jobs": 3}),
    Rule(
        "is_error", "the tool marked its result as an error", {"isError": True, "content": ["busy"]}, {"isError": False, "content": ["3"]}
    ),
    Rule(
        "flag_true",
        "`ok` or `success` is exactly `True`: ok",
        {"ok": True, "error": "answered from the cache"},
        {"ok": True},
        kind="spares",
    ),
    Rule("error_text", "`error` holds a text that says something", {"error": "no such queue"}, {"error": "none", "jobs": 3}),
    # -- dicts
    Rule(
        "flag_words", "a flag in another spelling or type", {"Success": "false", "Message": "queue is full"}, {"Success": "true", "jobs": 3}
    ),
    Rule(
        "status_words",
        "a status in other words, with a message",
        {"status": "rate_limited", "message": "slow down"},
        {"status": "rate_limited"},
    ),
    Rule(
        "problem",
        "an RFC 9457 problem document",
        {"type": "about:blank", "title": "Gone", "status": 410},
        {"type": "https://schema.example/Film", "title": "Gone", "year": 2012},
    ),
    Rule(
        "error_object",
        "an error key holds an object, a list, or a true",
        {"error": {"code": 7, "message": "queue is full"}},
        {"error": {"mean": 0.2, "deviation": 0.1}},
    ),
    Rule("error_key", "an error text under another key", {"errorMessage": "queue is full"}, {"error_rate": 0.2, "error_count": 3}),
    Rule(
        "error_list",
        "a list or map of errors and no result beside it",
        {"errors": [{"message": "unknown field 'size'"}], "data": None},
        {"errors": [{"row": 3, "message": "bad date"}], "imported": 98},
    ),
    Rule(
        "validation_list",
        "a validation list of pydantic or FastAPI",
        {"detail": [{"loc": ["body", "size"], "msg": "field required", "type": "missing"}]},
        {"details": [{"name": "size", "value": 3}]},
    ),
    Rule(
        "http_status",
        "an HTTP status of 400 to 599 beside a message",
        {"statusCode": 503, "message": "come back later"},
        {"url": "https://shop.example", "status": 404, "headers": {}},
    ),
    Rule(
        "error_code",
        "a code that names an error, beside a message",
        {"code": "QUOTA_EXCEEDED", "message": "3 of 3 used"},
        {"code": "EUR", "rate": 1.1},
    ),
    Rule(
        "error_kind",
        "a type or name of an error beside a message",
        {"name": "QueueError", "message": "queue is full"},
        {"name": "QueueError", "description": "raised when a queue is full"},
    ),
    Rule(
        "exit_code",
        "an exit code other than 0 beside error output",
        {"exit_code": 2, "stdout": "", "stderr": "bad flag -z"},
        {"exit_code": 0, "stdout": "3", "stderr": "bad flag -z ignored"},
    ),
    Rule(
        "batch_failed",
        "a batch in which nothing worked",
        {"results": [{"ok": False, "error": "locked"}, {"ok": False, "error": "gone"}]},
        {"results": [{"ok": True}, {"ok": False, "error": "gone"}]},
    ),
    # -- what stands inside
    Rule(
        "message_only",
        "a message that reads as a failure, and nothing beside it",
        {"message": "Queue not found", "request_id": "r-1"},
        {"message": "Queue created"},
    ),
    Rule(
        "envelope",
        "`data`, `response`, `result`, ... hold a dict that says that and why it failed",
        {"data": {"success": False, "error": "locked"}, "meta": {"ms": 3}},
        {"data": {"status": "failed", "id": 3}, "meta": {"ms": 3}},
    ),
    Rule("json_text", "JSON inside a text: the rules apply to it", ['{"error": "locked"}'], ['{"error": null, "jobs": 3}'], kind="opens"),
    # -- texts
    Rule(
        "text_traceback",
        "a stack trace",
        "Traceback (most recent call last):\n  ...\nKeyError: 'x'",
        "Traceback is a word for a stack trace.",
    ),
    Rule("text_error", "`Error: ...`, `ValueError: ...`, `Input error`", "Error: queue is full", "Error rate: 0.3 %"),
    Rule(
        "text_error_doing",
        "`Error fetching ...`, `An error occurred`",
        "Error fetching queue 3: locked",
        "Error handling is explained in chapter 3.",
    ),
    Rule("text_failed", "`Failed to ...`, `Upload failed: ...`", "Failed to open queue 3", "Failed states are weak states."),
    Rule("text_unable", "`Unable to ...`, `Could not ...`, `Cannot ...`", "Could not open queue 3", "Could not be happier with the queue."),
    Rule("text_errno", "`ENOENT`, `[Errno 2]` and the like", "ENOENT: no such file or directory, open 'a'", "ENO is a short name."),
    Rule("text_http", "an HTTP status that says failure", "HTTP 503 from the queue", "HTTP 200 from the queue"),
    Rule("text_network", "a connection that failed", "connect ECONNREFUSED 127.0.0.1:7000", "Connect 4 is a game."),
    Rule("text_exit", "an exit code other than 0", "Command exited with code 3", "Command exited with code 0"),
    Rule("text_shell", "what shells and commands say", "sh: 1: quux: not found", "sh: a shell; ash: another one, found in small systems"),
    Rule("text_markup", "an error page or an `<error>` element", "<error>queue is full</error>", "<p>An error page is shown when ...</p>"),
    Rule("text_refused", "a refusal in stock words", "Permission denied (publickey).", "Forbidden fruit is the sweetest."),
    Rule("text_invalid", "`Invalid ...`, `Unknown ...`, `Missing ...`", "Unknown queue: 'x'", "Unknown Country is a film of 1998."),
    Rule("text_required", "what an argument must be", "limit must be greater than 0", "The cake must be eaten today."),
    Rule(
        "text_not_ready",
        "something is not connected, not configured, ...",
        "Queue is not configured",
        "The claim is not supported by evidence.",
    ),
    Rule("text_absent", "the one thing asked for is not there", "Queue 'x' does not exist", "No queues found."),
    Rule(
        "text_python", "Python's own messages without their type", "'NoneType' object has no attribute 'get'", "An object has attributes."
    ),
)
