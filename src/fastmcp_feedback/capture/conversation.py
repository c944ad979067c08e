"""Which calls belong together: the conversation key, and ids of traces.

A key reads `basis[@user][+user][/value]`, where users and values are digests: a key holds nothing that a client wrote
and nobody's name, it needs no redaction, and it has the same length whatever was sent. The verified user is part of it,
so nobody else's session header or baggage ever gives the same key.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import unquote
from weakref import WeakKeyDictionary

from ..raw import CallContext

SESSION: Final = "session"
PROCESS: Final = "process"
BAGGAGE: Final = "baggage"
USER: Final = "user"

_BAGGAGE_KEY: Final = "gen_ai.conversation.id"
_MAX_BAGGAGE_CHARS: Final = 8192  # the W3C limit
_MAX_TRACEPARENT_CHARS: Final = 192
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
_NO_TRACE: Final = "0" * 32
_NO_SPAN: Final = "0" * 16
_UNKNOWN_VERSION: Final = "ff"

_stream_keys: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


class _Process:
    """This process's key; a forked child gets one of its own."""

    key: str = ""

    @classmethod
    def renew(cls) -> None:
        """Choose a new key."""
        cls.key = f"{os.getpid()}-{uuid.uuid4().hex[:16]}"


_Process.renew()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Process.renew)


def process_key() -> str:
    """The key of this process: one on every call over stdio, another one in every other process."""
    return _Process.key


@lru_cache(maxsize=4096)
def digest(*parts: str | None) -> str:
    """80 bits over the parts, as 20 hex digits; different parts never run together."""
    return blake2b(json.dumps(parts).encode(), digest_size=10).hexdigest()


def make_key(basis: str, user: str | None, value: str | None) -> str:
    """The key of a conversation. `user` is the digest of the verified caller, `value` what else tells it apart."""
    head = basis if user is None else f"{basis}@{user}"
    if value is None:
        return head
    return f"{head}/{value if basis == PROCESS else digest(value)}"


def conversation_for(base: CallContext, user_sub: str | None) -> tuple[str | None, str | None]:
    """Key and basis of a call whose identity resolver named a verified user.

    The resolver's user is mixed into the key, unless it is the one that the call's own access token names. A call
    without any other basis is grouped by that user.

    >>> from fastmcp_feedback.raw import CallContext
    >>> call = CallContext(conversation_key="session/8f14e45f", conversation_basis="session")
    >>> alice, bob = conversation_for(call, "alice"), conversation_for(call, "bob")
    >>> alice[1], alice == conversation_for(call, "alice"), alice[0] == bob[0]
    ('session', True, False)
    >>> conversation_for(call, None)
    ('session/8f14e45f', 'session')
    """
    key, basis = base.conversation_key, base.conversation_basis
    if not user_sub or user_sub == base.verified_user:
        return key, basis
    user = digest(user_sub)
    if key is None or basis is None:
        return f"{USER}+{user}", USER
    head, slash, value = key.partition("/")
    return f"{head}+{user}{slash}{value}", basis


def stream_key(connection: Any) -> str:
    """A key for one connection object (an SSE stream), for as long as it lives."""
    key = _stream_keys.get(connection)
    if key is None:
        key = _stream_keys[connection] = uuid.uuid4().hex
    return key


def conversation_in_baggage(baggage: Any) -> str | None:
    """`gen_ai.conversation.id` of a W3C baggage text, percent-decoded; None when it is not there.

    >>> conversation_in_baggage("user=7,gen_ai.conversation.id=a%20b;ttl=1")
    'a b'
    """
    if not isinstance(baggage, str) or _BAGGAGE_KEY not in baggage:
        return None
    for member in baggage[:_MAX_BAGGAGE_CHARS].split(","):
        key, _, rest = member.partition("=")
        if key.strip() == _BAGGAGE_KEY:
            value = unquote(rest.partition(";")[0].strip())
            return value or None
    return None


def trace_parent(text: Any) -> tuple[str, str] | None:
    """Trace id and span id of a `traceparent`, or None when it is malformed or empty.

    >>> trace_parent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    ('4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7')
    """
    if not isinstance(text, str) or len(text) > _MAX_TRACEPARENT_CHARS:
        return None
    found = _TRACEPARENT.match(text)
    if found is None or text.startswith(_UNKNOWN_VERSION):
        return None
    trace_id, span_id = found.groups()
    return None if trace_id == _NO_TRACE or span_id == _NO_SPAN else (trace_id, span_id)
