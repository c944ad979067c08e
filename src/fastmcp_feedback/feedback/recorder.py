"""What feedback asks of the recorder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..records import CallLink


class Recorder(Protocol):
    """The part of `InstrumentationMiddleware` that reports need."""

    async def capture_recent_calls(self, ctx: Any = None, n: int = 20, *, calls: Sequence[str] = ()) -> list[CallLink]:
        """The calls that led to here."""
        ...

    async def link_feedback(self, ref: str, links: Sequence[CallLink]) -> bool:
        """Attach calls to a report."""
        ...

    async def feedback_context(self, ref: str) -> list[dict[str, Any]]:
        """The calls attached to a report."""
        ...

    def record_event(self, kind: str, *, key: Any = None, attrs: Any = None) -> bool:
        """Record that something happened."""
        ...

    async def clean_report(self, texts: Sequence[str | None], call_ids: Sequence[str]) -> list[str | None]:
        """Texts without secrets, and without what the arguments of these calls lost."""
        ...

    @property
    def has_vectors(self) -> bool:
        """Can it compare by meaning?"""
        ...

    async def similar(self, text: str, *, source_types: Any = None, k: int = 10, min_score: float | None = None) -> list[dict[str, Any]]:
        """What is like this text."""
        ...

    async def flush(self, timeout: float = 30) -> bool:  # noqa: ASYNC109 - the contract's name
        """Wait until what was recorded is written."""
        ...
