"""The working parts behind `Redactor`. Importing them compiles the rules, so the first redactor does, not the first import."""

from __future__ import annotations

from .head import redact_head
from .jsonroad import JsonRoad
from .lost import lost, noted
from .patterns import compile_patterns
from .pii import chosen
from .scan import TextRules
from .walk import Walk

__all__ = ["JsonRoad", "TextRules", "Walk", "chosen", "compile_patterns", "lost", "noted", "redact_head"]
