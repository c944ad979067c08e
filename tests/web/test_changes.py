"""Changing a report's status, and signing in: forms of our own pages alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import pytest

from fastmcp_feedback.web.app import Dashboard
from fastmcp_feedback.web.gates import COOKIE, OpenGate, ScopeGate, TokenGate
from support.asgi import HOST, Answer, get, send

REPORT: Final = "/feedback/fb-7k3m9qx2rt50"
TOKEN: Final = "a token of twenty letters"
OWN: Final = f"http://{HOST}"


async def csrf(dashboard: Dashboard, **headers: str) -> str:
    """The token in the form of a report's page."""
    found = re.search(r'name="csrf" value="(\w+)"', (await get(dashboard, REPORT, **headers)).text)
    assert found is not None
    return found[1]


async def status(dashboard: Dashboard, **headers: str) -> Any:
    """The report's status now."""
    return (await get(dashboard, f"{REPORT}.json", **headers)).json()["report"]["status"]


async def test_a_status_is_changed_with_a_note(own_dashboard: Dashboard) -> None:
    """The page shows it afterwards; the note has lost its secrets."""
    form = {"csrf": await csrf(own_dashboard), "status": "in_progress", "note": "Seen.\r\nKey: sk-ant-api03-" + "a1B2" * 24}
    answer = await send(own_dashboard, "POST", REPORT, form=form)
    report = (await get(own_dashboard, f"{REPORT}.json")).json()

    assert (answer.status, answer.headers["location"]) == (303, REPORT)
    assert (report["report"]["status"], report["report"]["verified"]) == ("in_progress", True)
    assert [note["status"] for note in report["notes"]] == ["in_progress"]
    assert report["notes"][0]["note"].startswith("Seen.\nKey: ")
    assert "a1B2a1B2" not in (await get(own_dashboard, REPORT)).text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": ""},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": OWN.replace("8377", "9999")},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"content-type": "application/json"},
        {"content-type": "text/plain"},
        {"content-type": "multipart/form-data; boundary=x"},
    ],
)
async def test_another_sites_form_changes_nothing(own_dashboard: Dashboard, headers: dict[str, str]) -> None:
    """Even one that knows the token."""
    form = {"csrf": await csrf(own_dashboard), "status": "closed"}
    answer = await send(own_dashboard, "POST", REPORT, form=form, headers=headers)

    assert answer.status == 404
    assert await status(own_dashboard) == "open"


@pytest.mark.parametrize("token", ["", "x", "é", "0" * 64])
async def test_a_form_without_its_token_changes_nothing(own_dashboard: Dashboard, token: str) -> None:
    """Even one of our own origin."""
    answer = await send(own_dashboard, "POST", REPORT, form={"csrf": token, "status": "closed"})

    assert answer.status == 404
    assert await status(own_dashboard) == "open"


async def test_each_session_has_a_token_of_its_own(own_dashboard: Dashboard) -> None:
    """What one visitor's page holds is no use to another's."""
    dashboard = Dashboard(own_dashboard.source, TokenGate(TOKEN))
    first, second = [await signed_in(dashboard), await signed_in(dashboard)]
    form = {"csrf": await csrf(dashboard, cookie=first), "status": "closed"}

    assert (await send(dashboard, "POST", REPORT, form=form, headers={"cookie": second})).status == 404
    assert (await send(dashboard, "POST", REPORT, form=form, headers={"cookie": first})).status == 303
    assert await status(dashboard, cookie=second) == "closed"


@pytest.mark.parametrize(
    ("form", "code", "said"),
    [
        ({"status": "done"}, 400, "open, in_progress, resolved, closed"),
        ({}, 400, "choose a status"),
        ({"status": "closed", "note": "x" * 2001}, 400, "at most 2000"),
    ],
)
async def test_a_form_that_cannot_be_used_says_why(own_dashboard: Dashboard, form: dict[str, str], code: int, said: str) -> None:
    """And changes nothing."""
    answer = await send(own_dashboard, "POST", REPORT, form={"csrf": await csrf(own_dashboard), **form})

    assert answer.status == code
    assert said in answer.text
    assert await status(own_dashboard) == "open"


async def test_a_form_that_is_too_long_is_not_read_to_its_end(own_dashboard: Dashboard) -> None:
    """It is refused."""
    form = {"csrf": await csrf(own_dashboard), "status": "closed", "note": "x" * 40_000}

    assert (await send(own_dashboard, "POST", REPORT, form=form)).status == 404


async def test_a_report_that_is_gone_cannot_be_changed(own_dashboard: Dashboard) -> None:
    """A page that says so."""
    form = {"csrf": await csrf(own_dashboard), "status": "closed"}

    assert (await send(own_dashboard, "POST", "/feedback/fb-000000000000", form=form)).status == 404


# -- signing in


def cookie_of(answer: Answer) -> str:
    """The cookie as a browser sends it back."""
    return answer.headers["set-cookie"].partition(";")[0]


async def signed_in(dashboard: Dashboard, token: str = TOKEN) -> str:
    """The cookie of somebody who gave the token."""
    answer = await send(dashboard, "POST", "/login", form={"token": token})
    assert answer.status == 303, answer
    return cookie_of(answer)


async def test_signing_in_gives_a_cookie_that_scripts_and_other_sites_cannot_use(own_dashboard: Dashboard) -> None:
    """It holds neither the token nor anything made of it that could be turned back."""
    dashboard = Dashboard(own_dashboard.source, TokenGate(TOKEN))
    form = await get(dashboard, "/login")
    answer = await send(dashboard, "POST", "/login", form={"token": TOKEN})
    flags = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")}

    assert (form.status, 'name="token"' in form.text) == (404, True)
    assert {"httponly", "samesite=strict", "path=/"} <= flags
    assert TOKEN not in answer.headers["set-cookie"]
    assert (await get(dashboard, "/", cookie=cookie_of(answer))).status == 200


async def test_a_wrong_token_signs_nobody_in(own_dashboard: Dashboard) -> None:
    """The form comes back."""
    answer = await send(Dashboard(own_dashboard.source, TokenGate(TOKEN)), "POST", "/login", form={"token": TOKEN[1:]})

    assert (answer.status, "set-cookie" in answer.headers) == (404, False)


async def test_another_sites_form_signs_nobody_in(own_dashboard: Dashboard) -> None:
    """Not even with the right token."""
    dashboard = Dashboard(own_dashboard.source, TokenGate(TOKEN))
    answer = await send(dashboard, "POST", "/login", form={"token": TOKEN}, headers={"origin": "https://evil.example"})

    assert (answer.status, "set-cookie" in answer.headers) == (404, False)


async def test_a_cookie_that_was_changed_or_is_old_is_worth_nothing(own_dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part of it is sealed, the end of its time among them."""
    dashboard = Dashboard(own_dashboard.source, TokenGate(TOKEN))
    cookie = await signed_in(dashboard)
    name, _, value = cookie.partition("=")
    until, nonce, seal = value.split(".")
    for changed in (f"{int(until) + 1}.{nonce}.{seal}", f"{until}.x{nonce}.{seal}", f"{until}.{nonce}.{seal[:-1]}", f"{until}.{nonce}", ""):
        assert (await get(dashboard, "/", cookie=f"{name}={changed}")).status == 404
    monkeypatch.setattr("time.time", lambda: float(until) + 1)
    assert (await get(dashboard, "/", cookie=cookie)).status == 404


async def test_who_signs_out_has_to_sign_in_again(own_dashboard: Dashboard) -> None:
    """The browser is told to forget the cookie."""
    dashboard = Dashboard(own_dashboard.source, TokenGate(TOKEN))
    cookie = await signed_in(dashboard)
    form = {"csrf": await csrf(dashboard, cookie=cookie)}
    answer = await send(dashboard, "POST", "/logout", form=form, headers={"cookie": cookie})

    assert answer.status == 303
    assert "max-age=0" in answer.headers["set-cookie"].lower()
    assert cookie_of(answer).partition("=")[0] == COOKIE


async def test_a_note_says_who_wrote_it(own_dashboard: Dashboard) -> None:
    """With the server's own auth the verified user is known; whose token ends is out at once."""
    holders = {"boss-token": {"sub": "boss"}}

    class Holder:
        def __init__(self, claims: Mapping[str, str]) -> None:
            self.scopes, self.claims = ["feedback:read"], claims

    async def verify(token: str) -> Any:
        return Holder(holders[token]) if token in holders else None

    dashboard = Dashboard(own_dashboard.source, ScopeGate("feedback:read", verify))
    cookie = await signed_in(dashboard, "boss-token")
    form = {"csrf": await csrf(dashboard, cookie=cookie), "status": "resolved", "note": "Fixed in 2.4.1"}
    await send(dashboard, "POST", REPORT, form=form, headers={"cookie": cookie})
    report = (await get(dashboard, f"{REPORT}.json", cookie=cookie)).json()
    holders.clear()

    assert [(note["note"], note["by"]) for note in report["notes"]] == [("Fixed in 2.4.1", "boss")]
    assert (await get(dashboard, "/", cookie=cookie)).status == 404


def test_a_token_that_can_be_guessed_is_refused() -> None:
    """With the command that makes a good one."""
    with pytest.raises(ValueError, match=r"at least 16 .*token_urlsafe"):
        TokenGate("short")


async def test_the_welcome_shows_the_form_at_every_page(own_dashboard: Dashboard) -> None:
    """For `serve`, where nothing is hidden; programs still get nothing."""
    dashboard = Dashboard(own_dashboard.source, TokenGate(TOKEN), welcome=True)

    assert 'name="token"' in (await get(dashboard, "/calls")).text
    assert (await get(dashboard, "/calls", accept="application/json")).text == "Not Found"


async def test_a_link_on_another_site_opens_after_signing_in(own_dashboard: Dashboard) -> None:
    """The browser keeps a strict cookie back from such a visit, so the page asks for itself once."""
    dashboard = Dashboard(own_dashboard.source, OpenGate())
    closed = Dashboard(own_dashboard.source, TokenGate(TOKEN))
    visit = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}

    assert (await get(dashboard, "/calls", **visit)).status == 200
    assert 'http-equiv="refresh"' in (await get(closed, "/calls", **visit)).text
