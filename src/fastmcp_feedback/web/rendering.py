"""Views as pages and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from starlette.responses import HTMLResponse, Response

from .asked import Asked, address
from .views import View

if TYPE_CHECKING:
    from jinja2 import Environment

HERE: Final = Path(__file__).parent
_KINDS: Final = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@cache
def templates() -> Environment:
    """The templates, everything escaped, an unknown name is an error.

    Raises:
        ImportError: Jinja2 is not installed; names the extra.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - the extra `dashboard`
    except ImportError as exc:
        raise ImportError("the dashboard needs the package jinja2: pip install 'fastmcp-feedback[dashboard]'") from exc
    from . import looks  # noqa: PLC0415 - needs Jinja2, too

    made = Environment(autoescape=True, loader=FileSystemLoader(HERE / "templates"), undefined=StrictUndefined, trim_blocks=True)
    looks.install(made)
    return made


@cache
def static_files() -> Mapping[str, tuple[bytes, str]]:
    """Name -> content and type."""
    return {path.name: (path.read_bytes(), _KINDS[path.suffix]) for path in (HERE / "static").iterdir() if path.suffix in _KINDS}


class Addresses:
    """Addresses inside one dashboard, for templates: all of them begin where it is mounted."""

    def __init__(self, root: str, path: str, asked: Asked) -> None:
        self.root = root
        self.path = path
        self._asked = asked

    def url(self, path: str, **words: str | None) -> str:
        """A page with just these words."""
        return self.root + address(path, words)

    def link(self, path: str, **more: str | None) -> str:
        """A page for the same window of time and the same callers."""
        return self.root + self._asked.linked(path, **more)

    def again(self, **more: str | None) -> str:
        """This page with something changed."""
        return self.root + self._asked.again(self.path, **more)

    def call(self, call_id: str) -> str:
        """The page of one call."""
        return f"{self.root}/calls/{quote(call_id, safe='', errors='replace')}"

    def report(self, report_id: str) -> str:
        """The page of one report."""
        return f"{self.root}/feedback/{quote(report_id, safe='', errors='replace')}"

    def static(self, name: str) -> str:
        """A file."""
        return f"{self.root}/static/{name}"


def page(view: View, addresses: Addresses, asked: Asked, *, csrf: str, choices: Mapping[str, Any], status: int = 200) -> Response:
    """A view as HTML."""
    html = (
        templates()
        .get_template(view.template)
        .render(
            view=view,
            here=view.here,
            asked=asked,
            filter=asked.words,
            own=asked.own,
            csrf=csrf,
            choices=choices,
            url=addresses.url,
            link=addresses.link,
            again=addresses.again,
            call_url=addresses.call,
            report_url=addresses.report,
            static=addresses.static,
            path=addresses.path,
        )
    )
    return HTMLResponse(html.encode("utf-8", "replace"), status_code=status)


def twin(view: View, addresses: Addresses, asked: Asked, *, status: int = 200) -> Response:
    """The same view as JSON, with the filter it was made for and the address of the next page."""
    found = {"filter": asked.which.texts(), **view.to_dict()}
    cursor = found.get("cursor")
    found["next"] = addresses.again(cursor=cursor) if cursor else None
    # ASCII alone: somebody may look at it in a terminal.
    body = json.dumps(found, ensure_ascii=True, allow_nan=False).encode()
    return Response(body, status_code=status, media_type="application/json")
