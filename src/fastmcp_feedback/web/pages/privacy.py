"""What is stored about people, for how long, and what never is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from ...query.holdings import Holding, holdings
from ..views import View, Visit

FIELDS: Final = (
    ("args, result", "what a tool was given and what it answered, only in mode full, secrets removed"),
    ("error_type, error_message", "why a call failed, secrets removed"),
    ("user_sub, caller_kind, identity", "the verified user, as the server's identity resolver tells it"),
    ("client_id, session_id, request_id", "the client and the protocol's own ids"),
    ("conversation_key, conversation_basis", "which calls belong together, and how that is known"),
    ("tool, started_at, duration_ms, outcome, args_size, result_size", "what happened when, how long it took, how large it was"),
    ("fault, category, fingerprint, bad_arguments", "what kind of failure it was: names of arguments, no values"),
    ("server_version, trace_id, span_id, parent_call_id", "the server's version and traces"),
    ("extra, attrs", "what the server itself added, secrets removed"),
    ("title, description, submitter, contact_info, notes", "what people and agents wrote in reports, secrets removed"),
)
"""Columns and what stands in them."""


@dataclass(frozen=True, slots=True)
class PrivacyView(View):
    """What the database holds. `retention` is None where it is not known: it is set where calls are recorded."""

    template: ClassVar[str] = "privacy.html"
    here: ClassVar[str] = "/privacy"

    database: str
    kinds: tuple[Holding, ...]
    with_payloads: int
    with_user: int
    modes: tuple[tuple[str, int], ...]
    mode_now: str | None
    retention: str | None
    payloads_shown: bool
    fields: tuple[tuple[str, str], ...]


async def privacy(visit: Visit) -> PrivacyView:
    """Count it."""
    found = await holdings(visit.reader)
    return PrivacyView(
        database=visit.reader.url,
        kinds=found.kinds,
        with_payloads=found.with_payloads,
        with_user=found.with_user,
        modes=found.modes,
        mode_now=getattr(visit.source.recorder, "mode", None),
        retention=visit.source.retention(),
        payloads_shown=visit.grant.payloads,
        fields=FIELDS,
    )
