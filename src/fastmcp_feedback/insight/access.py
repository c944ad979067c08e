"""Who may see what of the records of others."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import get_access_token

from ..capture.request import in_http_request


class Access(IntEnum):
    """What a caller of these tools sees; each level includes those before it."""

    NUMBERS = 0  # names of tools, counts, times, kinds of failure
    TEXTS = 1  # and recorded words, users, conversations, reports
    PAYLOADS = 2  # and arguments and results


@dataclass(frozen=True, slots=True)
class Rules:
    """The host's decision. `trusted_http`: whoever gets through to the server over HTTP counts as local."""

    scope: str | None = None
    local_payloads: bool = False
    trusted_http: bool = False

    def access(self) -> Access:
        """What the caller of the running tool may see."""
        if self.scope is not None:
            token = get_access_token()
            if token is not None and self.scope in token.scopes:
                return Access.PAYLOADS
        if in_http_request() and not self.trusted_http:
            return Access.NUMBERS
        return Access.PAYLOADS if self.local_payloads else Access.TEXTS

    def require(self, wanted: Access) -> Access:
        """The caller's access.

        Raises:
            ToolError: it is not enough.
        """
        found = self.access()
        if found < wanted:
            raise ToolError(_REFUSED.format(f"the scope {self.scope!r}" if self.scope else "a scope, which this server does not give out"))
        return found


_REFUSED: Final = "this shows what other people wrote: over HTTP it needs a verified token with {}"
