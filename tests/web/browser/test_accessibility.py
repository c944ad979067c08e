from __future__ import annotations

import os

import pytest

from support.axe import axe_source, findings
from support.browser import page_of
from support.devtools import DevTools
from support.served import Site, served

pytestmark = pytest.mark.timeout(120)

PAGES = (
    "overview",
    "tool",
    "calls",
    "call",
    "failures",
    "failure",
    "conversations",
    "conversation",
    "feedback",
    "report",
    "flailing",
    "privacy",
)


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core; as with the browser, its absence fails where it has to be."""
    source = axe_source()
    if source is None:
        if os.environ.get("CI") == "true":
            pytest.fail("axe-core is not installed: make .venv/dev.stamp brings it")
        pytest.skip("axe-core is not installed")
    return source


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_by_everybody(browser: DevTools, site: Site, axe: str, name: str) -> None:
    """Neither light and wide nor dark and narrow has axe a serious or critical finding."""
    with page_of(browser, site.origin) as page:
        page.open(site.pages()[name])
        wide = findings(page, axe)
        page.resize(phone=True)
        page.prefer(dark=True)
        narrow = findings(page, axe, looks_only=True)

        assert wide == []
        assert narrow == []
        assert page.trouble == []


def test_the_help_can_be_read_by_everybody(browser: DevTools, site: Site, axe: str) -> None:
    """The dialog, and a marked row behind it."""
    with page_of(browser, site.origin) as page:
        page.open("/?since=")
        page.press("j")
        page.press("?")

        assert findings(page, axe) == []


def test_what_is_said_when_nothing_was_recorded_can_be_read(browser: DevTools, axe: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An empty place is answered with what to do next."""
    with served(f"sqlite:///{tmp_path_factory.mktemp('empty') / 'none.db'}") as origin, page_of(browser, origin) as page:
        page.open("/")

        assert page.texts(".empty p")
        assert findings(page, axe) == []


def test_signing_in_leads_to_the_pages(browser: DevTools, axe: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The form is styled and readable, says when the token is wrong, and opens with the right one; a link gets the form too."""
    token = "a-token-that-nobody-guesses"
    db = f"sqlite:///{tmp_path_factory.mktemp('closed') / 'none.db'}"
    with served(db, "--token", token) as origin, page_of(browser, origin, dark=True) as page:
        page.open("/calls")
        assert page.text("h1") == "Sign in"
        assert findings(page, axe) == []
        for given in ("wrong", token):
            page.click("input")
            page.write(given)
            with page.loading():
                page.press("Enter")
            assert (page.text("h1") == "Sign in") == (given == "wrong")

        assert page.text("h1") == "Nothing to read yet"
