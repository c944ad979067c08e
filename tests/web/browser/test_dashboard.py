from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from support.browser import PHONE, Page, page_of
from support.devtools import DevTools
from support.served import Site

pytestmark = pytest.mark.timeout(120)


def asked(page: Page) -> dict[str, list[str]]:
    """The words of the page's address."""
    return parse_qs(urlsplit(page.path).query)


def test_the_overview_names_every_tool_and_loads_nothing_from_elsewhere(page: Page, site: Site) -> None:
    """All tools of the last week are there, with their lines; the chart is drawn."""
    page.open("/?since=")

    assert set(page.texts("[data-label=Tool] a")) >= {call.tool for call in site.studio.calls}
    assert page.run("document.querySelectorAll('main svg.spark path').length") > 0
    assert page.run("document.querySelector('.chart rect.tone-ok').getBoundingClientRect().height") > 0


def test_the_filter_leaves_what_was_asked_for(page: Page) -> None:
    """The form gives an address that holds only what was chosen, and the list obeys it."""
    page.open("/calls?since=")
    page.click("input[name=tool]")
    page.write("render_preview")
    page.choose("select[name=outcome]", "failed")
    with page.loading():
        page.click(".filter button.primary")

    assert asked(page)["tool"] == ["render_preview"]
    assert asked(page)["outcome"] == ["failed"]
    assert "user" not in asked(page)
    assert set(page.texts("td[data-label=Tool]")) == {"render_preview"}
    assert not any("ok" in outcome.split() for outcome in page.texts("td[data-label=Outcome]"))


def test_older_calls_are_a_page_away(page: Page) -> None:
    """The second page shows other calls, and leads back to the newest."""
    page.open("/calls?since=")
    first = set(page.texts("td[data-label=When] time"))
    with page.loading():
        page.click("a[rel=next]")
    second = set(page.texts("td[data-label=When] time"))
    with page.loading():
        page.click("a[rel=first]")

    assert second
    assert max(second) < min(first)
    assert set(page.texts("td[data-label=When] time")) == first


def test_a_failing_call_tells_why_it_failed(page: Page) -> None:
    """From the list of failures to the failure, its newest call, and what was passed."""
    page.open("/failures?since=&tool=update_scene")
    with page.loading():
        page.click("td[data-label=Failure] a")
    assert "less than or equal to 1" in page.text("pre.message")
    with page.loading():
        page.click(".actions .button")

    assert page.path.startswith("/calls/")
    assert page.text("h1") == "Call of update_scene"
    assert "ValidationError" in page.text("main")
    assert "opacity" in page.text(".json")
    assert "[REDACTED:api_key]" in page.text(".json")


def test_a_report_changes_its_status_with_a_note(page: Page) -> None:
    """The change stands on the page that comes back, and on the board."""
    page.open("/feedback?status=open")
    title = page.texts("td[data-label=Report] a")[0]
    with page.loading():
        page.click("td[data-label=Report] a")
    assert page.text("h1") == title
    page.choose("form.form select[name=status]", "in_progress")
    page.click("form.form textarea")
    page.write("Found: the farm gives up <b>too</b> early")
    with page.loading():
        page.click("form.form button.primary")

    assert page.text(".page-head .pill") == "in progress"
    assert "Found: the farm gives up <b>too</b> early" in page.text(".notes")
    page.open("/feedback?status=in_progress")
    assert title in page.texts("td[data-label=Report] a")


def test_dark_and_light_follow_the_system_until_somebody_chooses(page: Page) -> None:
    """The choice is remembered on the next page, and is drawn there from the start."""
    page.open("/")
    light = page.style("body", "backgroundColor")
    page.prefer(dark=True)
    dark = page.style("body", "backgroundColor")
    page.click("#theme")
    chosen = page.style("body", "backgroundColor")
    page.open("/calls")

    assert light != dark
    assert chosen == light
    assert page.style("body", "backgroundColor") == light


def test_times_are_in_the_readers_zone_with_utc_on_hover(page: Page) -> None:
    """Half past five hours east of UTC."""
    page.open("/calls?since=")
    shown, title, stamp = page.run(
        "(() => { const one = document.querySelector('td time'); return [one.innerText, one.title, one.dateTime]; })()"
    )

    assert title == f"{stamp[:19].replace('T', ' ')} UTC"
    assert page.run(f"new Date('{shown.replace(' ', 'T')}+05:30') - new Date('{stamp[:19]}Z')") == 0
    assert "Asia/" in page.text(".foot")


def test_keys_search_walk_and_open(page: Page) -> None:
    """`?` helps, `/` searches, `j` and `k` walk, Enter opens, `g` and a letter go."""
    page.open("/")
    page.press("?")
    assert page.run("document.querySelector('dialog').open") is True
    page.press("Escape")
    page.wait("!document.querySelector('dialog').open")
    page.press("/")
    assert page.run("document.activeElement.name") == "text"
    page.write("j")
    page.press("Escape")
    page.run("document.activeElement.blur()")
    for key in "jjk":
        page.press(key)
    second = page.texts("td[data-label=Tool] a")[0]
    assert page.text("tr.here td a") == second
    with page.loading():
        page.press("Enter")
    assert asked(page)["tool"] == [second]
    with page.loading():
        page.press("g")
        page.press("b")
    assert page.path == "/feedback"


def test_live_numbers_come_without_loading_the_page(page: Page) -> None:
    """The content is exchanged in place, what was unfolded stays unfolded."""
    page.open("/calls?since=")
    page.run("document.querySelector('details.more').open = true; document.querySelector('main').dataset.old = 'yes'")
    page.press("r")
    page.wait("!document.querySelector('main').dataset.old")

    assert page.text("#live") == "Live"
    assert page.run("document.querySelector('#live').getAttribute('aria-pressed')") == "true"
    assert page.run("document.querySelector('details.more').open") is True


def test_everything_is_there_without_a_script(browser: DevTools, site: Site) -> None:
    """Lists, filter and links work; nothing that needs a script is offered."""
    with page_of(browser, site.origin, script=False) as page:
        page.open("/calls?since=&outcome=failed")
        with page.loading():
            page.click("td[data-label=Tool] a")

        assert page.path.startswith("/calls/")
        assert page.style(".tools", "display") == "none"
        assert page.trouble == []


@pytest.mark.parametrize(
    "path",
    [
        "/?since=",
        "/tool?tool=render_preview",
        "/calls?since=",
        "/failures?since=",
        "/conversations",
        "/feedback",
        "/flailing?since=",
        "/privacy",
    ],
)
def test_a_phone_needs_no_sideways_scrolling(browser: DevTools, site: Site, path: str) -> None:
    """Nothing is wider than the screen, and buttons can be hit with a thumb."""
    with page_of(browser, site.origin, phone=True) as page:
        page.open(path)

        assert page.run("document.documentElement.scrollWidth") <= PHONE[0]
        high = page.run("Array.from(document.querySelectorAll('main button, main .button'), (one) => one.offsetHeight)")
        assert [one for one in high if 0 < one < 32] == []
        assert page.trouble == []


def test_on_a_phone_the_filter_unfolds(browser: DevTools, site: Site) -> None:
    """It says what is chosen, opens at a touch, and stays open while numbers are loaded again; without a script it is open."""
    with page_of(browser, site.origin, phone=True) as page:
        page.open("/calls?since=&outcome=soft_error")
        assert page.text(".fold .chosen") == "All time, soft error"
        assert page.run("document.querySelector('.filter [name=tool]').offsetParent") is None
        page.click(".fold")
        assert page.run("document.querySelector('.filter [name=tool]').offsetParent !== null")
        page.run("document.querySelector('main').dataset.old = 'yes'")
        page.press("r")
        page.wait("!document.querySelector('main').dataset.old")
        assert page.run("document.querySelector('.filter [name=tool]').offsetParent !== null")
        assert page.run("document.querySelector('.fold').getAttribute('aria-expanded')") == "true"
    with page_of(browser, site.origin, phone=True, script=False) as page:
        page.open("/calls?since=")
        assert page.run("document.querySelector('.filter [name=tool]').offsetParent !== null")
        assert page.run("document.querySelector('.fold').offsetParent") is None
