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
    ("tool, started_at, duration_ms, ok, outcome, args_size, result_size", "what happened when, how long it took, how large it was"),
    ("fault, category, fingerprint, bad_arguments", "what kind of failure it was: names of arguments, no values"),
    ("server_version, trace_id, span_id, parent_call_id", "the server's version and traces"),
    ("id, mode, sample_rate, internal", "random ids; how much was recorded, and for how many calls it stands"),
    ("extra, attrs", "what the server itself added, secrets removed; texts of language models only where the server asks for them"),
    ("kind, key, occurred_at, call_id", "events: what it was, the server's own word for it, when and in which call"),
    ("title, description, submitter, contact_info, notes", "what people and agents wrote in reports, secrets removed"),
    (
        "type, status, severity, verified, submitter_kind, report_count, duplicate_of",
        "what a report is about, how it stands, how often it came",
    ),
    ("created_at, updated_at, last_reported_at, content_hash", "when reports were made and changed; a fingerprint of their words"),
    ("feedback_ref, position, rule, linked_at", "which calls led to a report, and by which rule"),
    (
        "embedding, text, text_hash, source_type, source_id, model, dim",
        "only with an embedder: vectors and the redacted text they stand for",
    ),
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
