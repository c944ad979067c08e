"""Redaction: secrets by key, by shape and by context; carried forward through one call's records."""

from __future__ import annotations

from .redactor import REDACTED, Redactor

__all__ = ["REDACTED", "Redactor"]
