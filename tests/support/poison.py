"""A database in which every text tries to be something else: markup, script, an escape of a terminal."""

from __future__ import annotations

import json
import sqlite3
from typing import Final

from fastmcp_feedback.store.schema import EVENTS, FEEDBACK, LINKS, TOOL_CALLS

MARK: Final = "zzx"
# Markup, breakers of attributes in both quotes and none, of comments, scripts and text areas; a template; an address that
# runs; a terminal's escapes of both kinds, turned text, a NUL that is none, and a lone surrogate as JSON writes it.
EVIL: Final = (
    f'{MARK}"><{MARK} a=1>\' {MARK}=1 onload=alert(1) x="</title></script></textarea></style>--><script>{MARK}()</script>'
    f"<img src=x onerror={MARK}()><a href=javascript:{MARK}()>{{{{ 7*191 }}}}{{% raw %}}&lt;&#x3c;javascript:{MARK}()"
    "\x1b[31m\x1b]0;title\x07\x9b31m\x7f\u202e\u2066\u2028\x85\r\b"
)
KEPT: Final = {"id", "call_id", "feedback_ref", "parent_call_id", "duplicate_of", "content_hash"}
"""What leads from one row to another."""


def poison(url: str) -> None:
    """Put it into every stored field that holds text or JSON, in every row."""
    payload = json.dumps(
        {EVIL: [EVIL, {EVIL: EVIL}, 1], "note": EVIL, "by": EVIL, "at": EVIL, "status": EVIL, "model": EVIL, "title": EVIL}
    )
    con = sqlite3.connect(url.removeprefix("sqlite:///"))
    for table in (TOOL_CALLS, EVENTS, FEEDBACK, LINKS):
        values = {
            column.name: payload if column.kind == "json" else EVIL for column in table.columns if is_poisoned(column.name, column.kind)
        }
        if table is FEEDBACK:
            values["notes"] = f"[{payload}]"
        if table is TOOL_CALLS:
            values["bad_arguments"] = json.dumps([EVIL])
        assignments = ", ".join(f'"{name}" = :{name}' for name in values)
        assert con.execute(f'UPDATE "ffb_{table.name}" SET {assignments}', values).rowcount > 0
    con.commit()
    con.close()


def is_poisoned(name: str, kind: str) -> bool:
    """Is this a field that a recorder or a reporter fills?"""
    return kind in {"key", "text", "json"} and name not in KEPT
