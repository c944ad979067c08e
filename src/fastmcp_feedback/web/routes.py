"""The pages and their addresses: a new page is one entry here, a module in `pages/` and a template."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from .asked import USUAL_SINCE
from .pages import call, conversation, failure, feedback, flailing, overview, privacy, tool
from .views import View, Visit


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    `path` may hold one `{name}`, which becomes part of `Visit.path`. `own` are words of its address beside the filter,
    `since` the usual beginning of its window (None: all time). A page that `needs` a word of the filter sends who comes
    without it to the page `otherwise`. `changes` takes a form and gives the path to show next.
    """

    path: str
    view: Callable[[Visit], Coroutine[Any, Any, View]]
    own: tuple[str, ...] = ()
    since: str | None = None
    needs: str | None = None
    otherwise: str = "/"
    changes: Callable[[Visit, dict[str, str]], Awaitable[str]] | None = None

    def match(self, path: str) -> dict[str, str] | None:
        """The values in this path; None when it is another page's.

        >>> Page("/calls/{call_id}", call.call).match("/calls/abc")
        {'call_id': 'abc'}
        """
        head, brace, name = self.path.partition("{")
        if not brace:
            return {} if path == self.path else None
        found = re.fullmatch(re.escape(head) + r"([^/]+)", path)
        return None if found is None else {name[:-1]: found[1]}


PAGES: Final = (
    Page("/", overview.overview, since=USUAL_SINCE),
    Page("/tool", tool.tool, own=("cursor",), since=USUAL_SINCE, needs="tool"),
    Page("/calls", call.calls, own=("cursor",), since=USUAL_SINCE),
    Page("/calls/{call_id}", call.call),
    Page("/failures", failure.failures, since=USUAL_SINCE),
    Page("/failure", failure.failure, own=("cursor",), since=USUAL_SINCE, needs="fingerprint", otherwise="/failures"),
    Page("/conversations", conversation.conversations, own=("cursor",), since=USUAL_SINCE),
    Page("/conversation", conversation.conversation, needs="conversation", otherwise="/conversations"),
    Page("/feedback", feedback.board, own=feedback.OWN),
    Page("/feedback/{report_id}", feedback.report, changes=feedback.change_status),
    Page("/flailing", flailing.flailing, since=USUAL_SINCE),
    Page("/privacy", privacy.privacy),
)


def find(path: str) -> tuple[Page, dict[str, str]] | None:
    """The page at this path, and the values in it."""
    for page in PAGES:
        values = page.match(path)
        if values is not None:
            return page, values
    return None
