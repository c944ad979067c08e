"""Two made-up weeks of a busy studio server, the same for the same seed: for tests and pictures of the dashboard."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from fastmcp_feedback.records import CallLink, Derived, EventRecord, Failure, ToolCallRecord
from fastmcp_feedback.store import DatabaseSink
from fastmcp_feedback.store.codec import STAMPS
from fastmcp_feedback.store.feedback_sql import Owner
from fastmcp_feedback.store.feedback_store import FeedbackStore
from fastmcp_feedback.store.schema import FEEDBACK

DAYS: Final = 14
VERSIONS: Final = ("2.3.0", "2.4.0")
# Name, how often, median ms, share of failures.
TOOLS: Final = (
    ("render_preview", 30, 900.0, 0.06), ("list_assets", 26, 24.0, 0.002), ("get_scene", 24, 12.0, 0.01), ("update_scene", 16, 48.0, 0.03),
    ("search_docs", 12, 130.0, 0.0), ("upload_asset", 8, 420.0, 0.05), ("create_scene", 7, 65.0, 0.02), ("export_video", 4, 5200.0, 0.12),
    ("apply_style", 3, 210.0, 0.01),
)  # fmt: skip
REFUSED: Final = (
    "1 validation error for update_scene\nopacity\n  Input should be less than or equal to 1 "
    "[type=less_than_equal, input_value=80, input_type=int]"
)
FAILURES: Final[dict[str, tuple[tuple[str, str, str, str, tuple[str, ...]], ...]]] = {
    "render_preview": (
        ("upstream", "timeout", "ReadTimeout", "the render farm did not answer within 30 s", ()),
        ("server", "reported", "SoftError", "status=failed: out of memory at 4096 x 4096", ()),
    ),
    "update_scene": (("caller", "bad_arguments", "ValidationError", REFUSED, ("opacity",)),),
    "upload_asset": (("upstream", "rate_limited", "HTTPStatusError", "Client error '429 Too Many Requests' from the asset store", ()),),
    "export_video": (
        ("server", "exception", "KeyError", "'frame_rate'", ()),
        ("server", "cancelled", "CancelledError", "the client went away after 60 s", ()),
    ),
}  # fmt: skip
OTHER_FAILURE: Final = ("server", "tool_error", "ToolError", "scene is locked by another user", ())
WORDS: Final = ("amber", "basalt", "cedar", "dune", "ember", "fjord", "grove", "harbour", "juniper", "lagoon", "quartz", "tundra")
PEOPLE: Final = ("ana", "bo", "chidi", "dilek", "emi", "farid", "greta", "hugo")
CLIENTS: Final = ("desk-app", "editor-plugin", "batch-runner")
REPORTS: Final = (
    ("bug", "high", "render_preview", "Previews above 4k never come back",
     "A preview of 4096 x 4096 fails with out of memory each time. 2048 works. I expected either a smaller picture or a clear limit."),
    ("improvement", "medium", "update_scene", "Opacity is refused without saying the range",
     "I passed 80 for opacity and was told it is not allowed. The description of the tool should say that it is 0 to 1."),
    ("bug", "critical", "export_video", "Export loses the frame rate",
     "export_video raises KeyError 'frame_rate' for scenes made from a template. Scenes made by hand work."),
    ("feature", "low", "list_assets", "List assets by date", "I have to read every page to find what was uploaded today."),
    ("question", None, "search_docs", "Which version do the answers speak of?",
     "The first answer was the right page, but it does not say its version."),
    ("bug", "medium", "upload_asset", "Uploads are refused in the evening",
     "429 from the asset store after about 20 uploads, every evening."),
)  # fmt: skip


@dataclass
class Studio:
    """What was made, in the order of time."""

    calls: list[ToolCallRecord] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)


def made(now: datetime, calls: int = 2400, *, seed: int = 11) -> Studio:
    """About so many calls that ended shortly before `now`."""
    rng = random.Random(seed)
    studio = Studio()
    while len(studio.calls) < calls:
        day = DAYS * len(studio.calls) / calls
        hour = min(23.4, max(0.2, rng.gauss(14, 3.5)))
        began = now - timedelta(days=DAYS) + timedelta(days=int(day), hours=hour - 8)
        for record in _conversation(rng, min(began, now - timedelta(minutes=rng.uniform(1, 90))), now):
            if isinstance(record, ToolCallRecord):
                studio.calls.append(record)
            else:
                studio.events.append(record)
    return studio


def _conversation(rng: random.Random, clock: datetime, now: datetime) -> Iterator[ToolCallRecord | EventRecord]:
    who = rng.choices(PEOPLE, [8, 7, 6, 5, 4, 3, 2, 1])[0]
    given = {
        "user_sub": who,
        "client_id": CLIENTS[len(who) % 3],
        "server_version": VERSIONS[clock > now - timedelta(days=4)],
        "session_id": f"{rng.getrandbits(64):016x}",
    }
    for _ in range(2 + int(rng.expovariate(1 / 7))):
        (name, _, median_ms, failing) = rng.choices(TOOLS, [tool[1] for tool in TOOLS])[0]
        newest = given["server_version"] == VERSIONS[-1]
        failing *= 2.4 if newest and name == "render_preview" else 1
        scene = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}"
        fails = rng.random() < failing
        for _ in range(rng.choice((1, 2, 4)) if fails and name in {"update_scene", "render_preview"} else 1):
            took_ms = median_ms * rng.lognormvariate(0, 0.55) * (1.5 if newest and name == "render_preview" else 1)
            record = _call(rng, name, scene, clock, took_ms, given, fails=fails)
            if clock > now:
                return
            yield record
            clock += timedelta(milliseconds=took_ms, seconds=1 + rng.expovariate(1 / 9))
        if name in {"render_preview", "search_docs"}:
            yield from _told(rng, record, given)


def _call(rng: random.Random, name: str, scene: str, at: datetime, took_ms: float, given: dict[str, Any], *, fails: bool) -> ToolCallRecord:
    why = rng.choice(FAILURES.get(name, (OTHER_FAILURE,))) if fails else None
    args: dict[str, Any] = {"scene": scene, "size": {"width": 1024, "height": 1024}, "layers": ["sky", "water"][: rng.randrange(1, 3)]}
    args |= {"opacity": 80 if why and why[1] == "bad_arguments" else 0.8, "api_key": "[REDACTED:api_key]"} if name == "update_scene" else {}
    soft = why is not None and why[2] == "SoftError"
    result: Any = (
        {"status": "failed", "error": "out of memory"} if soft else None if why else {"scene": scene, "status": "done", "frames": 24}
    )
    failure = None if why is None else Failure(why[0], why[1], f"f1-{uuid.uuid5(uuid.NAMESPACE_DNS, name + why[2]).hex[:12]}", why[4])
    return ToolCallRecord(
        tool=name, started_at=at, duration_ms=took_ms, ok=why is None, mode="full",
        outcome="ok" if why is None else "soft_error" if soft else "error",
        id=str(uuid.UUID(int=rng.getrandbits(128), version=4)), error_type=why[2] if why else None, error_message=why[3] if why else None,
        caller_kind="user", args_size=len(repr(args)), result_size=None if why and not soft else rng.randrange(60, 9000),
        args=args, result=result,
        identity={"sub": given["user_sub"], "scopes": ["studio:write"]},
        _derived=Derived(failure=failure, conversation_key=f"session/{given['session_id']}", conversation_basis="session"), **given,
    )  # fmt: skip


def _told(rng: random.Random, record: ToolCallRecord, given: dict[str, Any]) -> Iterator[EventRecord]:
    at = record.started_at + timedelta(milliseconds=record.duration_ms / 2)
    derived = record.derived
    common: dict[str, Any] = {"call_id": record.id, "_derived": derived, **given}
    if record.tool == "search_docs":
        attrs = {"model": "rank-small", "provider": "example", "input_tokens": rng.randrange(400, 3000), "output_tokens": 120,
                 "duration_ms": record.duration_ms * 0.7, "ok": True}  # fmt: skip
        yield EventRecord("llm.call", at, id=str(uuid.UUID(int=rng.getrandbits(128), version=4)), attrs=attrs, **common)
    elif rng.random() < 0.3:
        attrs = {"farm": "north", "queued": rng.randrange(9)}
        yield EventRecord(
            "farm.queued", at, id=str(uuid.UUID(int=rng.getrandbits(128), version=4)), key=record.args["scene"], attrs=attrs, **common
        )


async def fill(url: str, now: datetime, *, calls: int = 2400, seed: int = 11) -> Studio:
    """Write it all to a fresh database: calls, events, reports with their evidence."""
    studio = made(now, calls, seed=seed)
    sink = DatabaseSink(url, create_tables=True)
    try:
        await sink.write([*studio.calls, *studio.events])
        store = FeedbackStore(sink)
        for place, report in enumerate(REPORTS):
            await _report(sink, store, studio, place, report)
    finally:
        await sink.aclose()
    return studio


async def _report(sink: DatabaseSink, store: FeedbackStore, studio: Studio, place: int, report: tuple[Any, ...]) -> None:
    kind, severity, tool, title, text = report
    failed = [call for call in studio.calls if call.tool == tool and call.ok == (kind in {"question", "feature"})]
    about = failed[-1 - place] if len(failed) > place else [*studio.calls[: place + 1], *failed][-1]
    report_id = f"fb-7k3m9qx2rt5{place}"
    row = {
        "id": report_id, "type": kind, "severity": severity, "tool": tool, "title": title, "description": text,
        "submitter": about.user_sub, "submitter_kind": ("agent", "human")[place % 2], "session_id": about.session_id,
        "client_id": about.client_id, "server_version": about.server_version,
    }  # fmt: skip
    await store.add(row, Owner(about.user_sub, about.conversation_key))
    before = [call for call in studio.calls if call.conversation_key == about.conversation_key and call.started_at <= about.started_at][-3:]
    links = [CallLink(one.id, "session", one.tool, one.started_at, ok=one.ok, position=n) for n, one in enumerate(before)]
    await store.link(report_id, links)
    stamp = STAMPS[sink.dialect](about.started_at + timedelta(minutes=1))
    sql = f'UPDATE "{sink.prefix}{FEEDBACK.name}" SET created_at = :at, updated_at = :at, last_reported_at = :at WHERE id = :id'
    await sink.backend.execute([(sql, {"at": stamp, "id": report_id})])
    if place == 3:
        await store.set_status(report_id, "closed", note="Planned for the next quarter.", by="greta", verified=False)
