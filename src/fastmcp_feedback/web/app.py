"""The dashboard as an ASGI app: finds the page, asks the database, answers with HTML or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from ..contain import contain
from ..query.moments import FilterError
from ..query.reader import NotReadable
from ..sink import SinkUnavailable
from . import rendering, routes
from .asked import read
from .gates import Gate
from .pages.problem import ProblemView
from .security import Guard
from .shared import Shared
from .source import Source
from .views import NotThere, View, Visit

_JSON: Final = ".json"
_NO_WORDS: Final = read({}, ())


class Dashboard:
    """All pages behind the guard.

    Args:
        source: Where it reads.
        gate: Who may look.
        hosts: Names it answers to, beside this machine's; None: any, where the gate allows that.
        welcome: Show the form for signing in on every refused page, not on `/login` alone.

    Raises:
        ImportError: Jinja2 is not installed; names the extra.
    """

    def __init__(self, source: Source, gate: Gate, *, hosts: Iterable[str] | None = None, welcome: bool = False) -> None:
        rendering.templates()
        self.source = source
        self._views = Shared()
        self._guard = Guard(self._site, gate, hosts=hosts, welcome=welcome)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        await self._guard(scope, receive, send)

    async def _site(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        answer: Response | None = None
        with contain("a page of the dashboard"):
            answer = await self._answer(request)
        if answer is None:
            answer = PlainTextResponse("This page could not be made; the server's log says why.", status_code=500)
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        root = str(request.scope.get("root_path", "")).rstrip("/")
        path, as_json = _wanted(request, root)
        if path.startswith("/static/"):
            return _file(path.removeprefix("/static/"))
        found = routes.find(path)
        if found is None:
            return self._problem(request, rendering.Addresses(root, path, _NO_WORDS), as_json=as_json)
        if request.method not in {"GET", "HEAD"} and found[0].changes is None:
            return PlainTextResponse("Not Found", status_code=404)
        return await self._page(request, rendering.Addresses(root, path, _NO_WORDS), *found, as_json=as_json)

    def _problem(self, request: Request, addresses: rendering.Addresses, *, as_json: bool) -> Response:
        """No page is there."""
        view, status = problem(NotThere("there is no such page", "the pages stand at the top"), root=addresses.root)
        if as_json:
            return rendering.twin(view, addresses, _NO_WORDS, status=status)
        return rendering.page(view, addresses, _NO_WORDS, csrf=request.state.csrf, choices={}, status=status)

    async def _page(
        self, request: Request, addresses: rendering.Addresses, page: routes.Page, values: Mapping[str, str], *, as_json: bool
    ) -> Response:
        asked, status, view = _NO_WORDS, 200, None
        choices: Mapping[str, Any] = {}
        try:
            asked = read(dict(request.query_params), page.own, usual_since=page.since)
            addresses = rendering.Addresses(addresses.root, addresses.path, asked)
            if page.needs is not None and page.needs not in asked.words and not as_json:
                return RedirectResponse(addresses.root + asked.again(page.otherwise), status_code=303)
            reader = await self.source.reader()
            visit = Visit(reader, self.source, asked, request.state.grant, datetime.now(UTC), values)
            if request.method not in {"GET", "HEAD"} and page.changes is not None:
                await page.changes(visit, request.state.form)
                self._views.forget()
                return RedirectResponse(addresses.again(), status_code=303)
            view = await self._views.ask(page, visit)
            choices = {} if as_json else await self.source.choices(reader)
        except (FilterError, NotThere, NotReadable, SinkUnavailable) as exc:
            view, status = problem(exc, root=addresses.root)
        if as_json:
            return rendering.twin(view, addresses, asked, status=status)
        return rendering.page(view, addresses, asked, csrf=request.state.csrf, choices=choices, status=status)


def problem(exc: Exception, *, root: str) -> tuple[View, int]:
    """What to say when a page cannot be made, and the status to say it with."""
    hint = str(getattr(exc, "hint", ""))
    if isinstance(exc, FilterError):
        return ProblemView("That cannot be asked", str(exc), "Change the address, or begin again from the overview.", root or "/"), 400
    if isinstance(exc, NotThere):
        return ProblemView("Not there", str(exc), hint, root or "/"), 404
    if isinstance(exc, NotReadable):
        return ProblemView("Nothing to read yet", str(exc), hint, root or "/"), 503
    return ProblemView("The database does not answer", str(exc), "Load the page again in a moment.", root or "/"), 503


def _wanted(request: Request, root: str) -> tuple[str, bool]:
    """The path below the dashboard without `.json`, and whether JSON is wanted.

    `.json` at the end of any page's path gives its twin; that of the overview is `/index.json`.
    """
    path = request.scope["path"].removeprefix(root) or "/"
    if path.endswith(_JSON) and not path.startswith("/static/"):
        path = path.removesuffix(_JSON)
        return ("/" if path in {"/index", "/"} else path), True
    accept = request.headers.get("accept", "")
    return (path.rstrip("/") or "/"), "application/json" in accept and "text/html" not in accept


def _file(name: str) -> Response:
    found = rendering.static_files().get(name)
    if found is None:
        return PlainTextResponse("Not Found", status_code=404)
    return Response(found[0], media_type=found[1])
