"""Formats that no single vendor owns."""

from __future__ import annotations

from typing import Final

from .model import Kind

_F = "generic"

KINDS: Final = (
    Kind("jwt", _F, ("eyJ",), "s14 '.' s4 '.' s0-4096 x0", "https://www.rfc-editor.org/rfc/rfc7519"),
    Kind("paseto", _F, ("v1.", "v2.", "v3.", "v4."), "'local.' s40 x0", "https://github.com/paseto-standard/paseto-spec"),
    Kind("paseto-public", _F, ("v1.", "v2.", "v3.", "v4."), "'public.' s40 x0", "https://github.com/paseto-standard/paseto-spec"),
    Kind("jwe-direct", _F, ("eyJ",), "s14 '..' s8 '.' s1 '.' s10", "https://www.rfc-editor.org/rfc/rfc7516"),
    Kind("django-secret-key", _F, ("django-insecure-",), "m10", "https://docs.djangoproject.com/en/stable/ref/settings/#secret-key"),
)  # fmt: skip
