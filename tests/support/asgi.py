"""Requests to an ASGI app in this process, with exactly the headers that a test gives: nothing is added or mended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_to_bytes, urlencode

HOST: Final = "127.0.0.1:8377"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. Header names are lower case; of several equal ones the last is kept."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


async def send(
    app: Any,
    method: str,
    target: str,
    *,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    """One request. `Host` is this machine's, unless the headers say otherwise; an empty value leaves a header out."""
    given = {"host": HOST, **(headers or {})}
    if form is not None:
        given = {"content-type": "application/x-www-form-urlencoded", "origin": f"http://{given['host']}", **given}
        body = urlencode(form).encode()
    path, _, query = target.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "root_path": "",
        "path": unquote_to_bytes(path).decode(), "raw_path": path.encode(), "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items() if value],
        "client": ("127.0.0.1", 50_000), "server": ("127.0.0.1", 8377), "state": {},
    }  # fmt: skip
    sent: list[dict[str, Any]] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def sending(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, sending)
    start = sent[0]
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], found, b"".join(message.get("body", b"") for message in sent[1:]))


async def get(app: Any, target: str, **headers: str) -> Answer:
    """A page, as a browser asks for it; further headers by their names with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await send(app, "GET", target, headers={"accept": "text/html", **named})
