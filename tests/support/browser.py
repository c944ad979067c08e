"""A page in a real browser, and what it noticed: errors, failed requests, other hosts."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from support.devtools import BrowserFailed, DevTools

WIDE: Final = (1280, 860)
PHONE: Final = (390, 844)
ZONE: Final = "Asia/Kolkata"  # half an hour off the others, so that a forgotten zone is seen
_KEY_CODES: Final = {"Enter": 13, "Escape": 27, "Tab": 9}


class Page:
    """One page in a profile of its own.

    `trouble` holds what a page must not do: complain on the console, fail, ask another host.
    """

    def __init__(
        self, tools: DevTools, origin: str, *, dark: bool = False, phone: bool = False, script: bool = True, zone: str = ZONE
    ) -> None:
        self.trouble: list[str] = []
        self._tools = tools
        self._origin = origin
        self._loads = 0
        self._context = tools.send("Target.createBrowserContext")["browserContextId"]
        target = tools.send("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._session: str = tools.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tools.listeners[self._session] = self._noticed
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._send(f"{domain}.enable")
        self.resize(phone=phone)
        self._send("Emulation.setTimezoneOverride", timezoneId=zone)
        self._send("Emulation.setScriptExecutionDisabled", value=not script)
        self.prefer(dark=dark)

    def resize(self, *, phone: bool) -> None:
        """The size of the window."""
        width, height = PHONE if phone else WIDE
        self._send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def prefer(self, *, dark: bool) -> None:
        """What the system of the reader prefers."""
        features = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
        self._send("Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in features.items()])

    def open(self, path: str) -> None:
        """Open a page of the site and wait until it is loaded."""
        with self.loading():
            answer = self._send("Page.navigate", url=self._origin + path)
            if "errorText" in answer:
                raise BrowserFailed(f"{path}: {answer['errorText']}")

    @contextmanager
    def loading(self) -> Iterator[None]:
        """What is done inside leads to another page, which is loaded at the end."""
        before = self._loads
        yield
        self._tools.listen(lambda: self._loads > before, "loading a page")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are waited for. The page's own policy does not bind it."""
        answer = self._send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserFailed(f"{details.get('exception', {}).get('description', details['text'])} in {script[:200]}")
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression in the page is true."""
        self.run(
            "new Promise((done, fail) => { const end = Date.now() + 25000; const look = () => "
            f"({condition}) ? done(true) : Date.now() > end ? fail(new Error('still false')) : setTimeout(look, 20); look(); }})"
        )

    def text(self, selector: str) -> str:
        """What is read there; of the first element that fits."""
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    def texts(self, selector: str) -> list[str]:
        """The same of every element."""
        return [str(one) for one in self.run(f"Array.from(document.querySelectorAll({json.dumps(selector)}), (one) => one.innerText)")]

    def style(self, selector: str, name: str) -> str:
        """A computed style."""
        return str(self.run(f"getComputedStyle(document.querySelector({json.dumps(selector)}))[{json.dumps(name)}]"))

    def click(self, selector: str) -> None:
        """Click into the middle of an element, as a mouse does."""
        x, y = self.run(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.scrollIntoView({{block: 'center'}});"
            " const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def choose(self, selector: str, value: str) -> None:
        """Choose in a list."""
        self.run(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(value)}")

    def press(self, key: str) -> None:
        """Press one key: a character, Enter, Escape or Tab."""
        code = _KEY_CODES.get(key, ord(key[0].upper()))
        text = {} if len(key) > 1 and key != "Enter" else {"text": "\r" if key == "Enter" else key}
        self._send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self._send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def write(self, text: str) -> None:
        """Write into the field that has the focus."""
        self._send("Input.insertText", text=text)

    @property
    def path(self) -> str:
        """Path and query of the address."""
        return str(self.run("location.pathname + location.search"))

    def picture(self, max_height: int) -> bytes:
        """The page from its top as PNG, at most so many pixels high."""
        size = self._send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], max_height), "scale": 1}
        return base64.b64decode(self._send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"])

    def close(self) -> None:
        """Close it with its profile."""
        self._tools.send("Target.disposeBrowserContext", browserContextId=self._context)
        self._tools.listeners.pop(self._session)

    def _send(self, method: str, **params: Any) -> dict[str, Any]:
        return self._tools.send(method, self._session, **params)

    def _noticed(self, method: str, params: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loads += 1
        elif method == "Runtime.consoleAPICalled" and params["type"] in {"error", "warning", "assert"}:
            self.trouble.append(f"console: {[one.get('value', one.get('description')) for one in params['args']]}")
        elif method == "Runtime.exceptionThrown":
            self.trouble.append(f"script: {params['exceptionDetails']}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in {"error", "warning"}:
            self.trouble.append(f"log: {params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent" and urlsplit(self._origin).netloc != urlsplit(params["request"]["url"]).netloc:
            self.trouble.append(f"outside: {params['request']['url']}")
        elif method == "Network.responseReceived" and params["response"]["status"] >= 400:
            self.trouble.append(f"{params['response']['status']}: {params['response']['url']}")


@contextmanager
def page_of(tools: DevTools, origin: str, **options: Any) -> Iterator[Page]:
    """A page that is closed at the end."""
    page = Page(tools, origin, **options)
    try:
        yield page
    finally:
        page.close()
