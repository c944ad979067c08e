"""Credentials in URLs: user info, query parameters, and addresses that are secrets themselves."""

from __future__ import annotations

import re
from typing import Final

from .keywords import URL_KEYS
from .spans import Span
from .values import is_placeholder, looks_random

_SCHEME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9+.\-]{0,30}\Z")
_WEB: Final = re.compile(rb"(?:https?|wss?|ftps?|git|ssh|sftp)\Z", re.IGNORECASE)
_AUTHORITY: Final = re.compile(rb"[^\s/?#\"'<>\\`]{1,2048}")
_TO_END: Final = re.compile(rb"[^\s\"'<>\\`]{1,4096}")
_DEFAULTS: Final = frozenset(
    (
        b"password",
        b"pass",
        b"passwd",
        b"pwd",
        b"secret",
        b"token",
        b"pw",
        b"xxx",
        b"x-oauth-basic",
        b"your_password",
        b"yourpassword",
        b"mypassword",
    )
)
_DEFAULT_USERS: Final = frozenset((b"user", b"username", b"name", b"login", b"usr", b"myuser", b"youruser"))
# Host endings whose path is the credential, and the part of the path to hide.
WEBHOOKS: Final = {
    b"hooks.slack.com": (re.compile(rb"/(?:services|workflows|triggers)/([A-Za-z0-9+/_\-]{20,})"), "slack-webhook"),
    b"hooks.slack-gov.com": (re.compile(rb"/(?:services|workflows|triggers)/([A-Za-z0-9+/_\-]{20,})"), "slack-webhook"),
    b"discord.com": (re.compile(rb"/api(?:/v\d+)?/webhooks/\d{10,}/([\w\-]{20,})"), "discord-webhook"),
    b"discordapp.com": (re.compile(rb"/api(?:/v\d+)?/webhooks/\d{10,}/([\w\-]{20,})"), "discord-webhook"),
    b"api.telegram.org": (re.compile(rb"/(?:file/)?bot(\d{6,12}:[\w\-]{20,})"), "telegram-bot-url"),
    b"webhook.office.com": (re.compile(rb"/webhookb2/([\w\-@]{20,}/IncomingWebhook/\w{10,}/[\w\-]{20,}(?:/[\w\-]+)?)"), "teams-webhook"),
    b"outlook.office.com": (re.compile(rb"/webhook(?:b2)?/([\w\-@]{20,}/IncomingWebhook/\w{10,}/[\w\-]{20,})"), "teams-webhook"),
    b"chat.googleapis.com": (re.compile(rb"/v1/spaces/[\w\-]+/messages\?key=([\w\-]{10,}&token=[\w\-%]{10,})"), "google-chat-webhook"),
    b"hooks.zapier.com": (re.compile(rb"/hooks/catch/(\d+/\w{5,})"), "zapier-webhook"),
    b"maker.ifttt.com": (re.compile(rb"/[\w/\-]{0,80}?with/key/([\w\-]{10,})"), "ifttt-webhook"),
    b"hook.make.com": (re.compile(rb"/(\w{20,})"), "make-webhook"),
    b"hook.us1.make.com": (re.compile(rb"/(\w{20,})"), "make-webhook"),
    b"hook.eu1.make.com": (re.compile(rb"/(\w{20,})"), "make-webhook"),
    b"hc-ping.com": (re.compile(rb"/([0-9a-f\-]{30,})"), "healthchecks-ping"),
    b"open.feishu.cn": (re.compile(rb"/open-apis/bot/v2/hook/([\w\-]{20,})"), "feishu-webhook"),
    b"open.larksuite.com": (re.compile(rb"/open-apis/bot/v2/hook/([\w\-]{20,})"), "lark-webhook"),
    b"mainnet.infura.io": (re.compile(rb"/v3/([0-9a-f]{32})"), "infura-url"),
    b"g.alchemy.com": (re.compile(rb"/v2/([\w\-]{20,})"), "alchemy-url"),
}


# Only URLs with user info, with a telling parameter or to a known webhook host are looked at; all others cost nothing.
_WITH_USER: Final = re.compile(rb"://[^\s/?#\"'<>\\`@:]*+(?:@|:[^\s\"'<>\\`@]{1,2048}+@)")
_WITH_USER_ESCAPED: Final = re.compile(rb"(?<=:)\\/\\/[^\s/?#\"'<>\\`@:]*+(?:@|:[^\s\"'<>\\`@]{1,2048}+@)")
_GO_DSN: Final = re.compile(rb"(?<![\w.\-])[\w.\-]{1,64}+:([^\s@:\"'/]{1,200}+)@(?:tcp|unix|udp)\(")
_NAMES: Final = b"|".join(re.escape(name.encode()) for name in sorted(URL_KEYS, key=len, reverse=True))
_NAMED: Final = tuple(re.compile(rb"%b(?:amp;)?(?:%b)=" % (mark, _NAMES)) for mark in (rb"\?", b"&", b";"))
_LEAST: Final = 12
_LONG: Final = re.compile(rb"=[^&#?\s\"'<>\\`]{%d}" % _LEAST)  # only a value that long can look random
_PARAMETER: Final = re.compile(rb"[^&#?\s\"'<>\\`]{0,2048}+")
_HOOK: Final = re.compile(rb"//(?:[a-z0-9\-]+\.)?(?:%b)[:/]" % b"|".join(re.escape(host) for host in WEBHOOKS))


def spans(data: bytes, low: bytes, start: int, stop: int) -> list[Span]:
    """Secrets of the URLs in one slice."""
    out: list[Span] = []
    limit = min(len(data), stop + 2200)
    if data.find(b"@", start, limit) >= 0:
        for found in _WITH_USER.finditer(data, start, limit):
            out += _at(data, found.start(), 3)
        out += [(*found.span(1), "url-password") for found in _GO_DSN.finditer(data, start, limit) if not is_placeholder(found[1])]
    if data.find(b"/", start, stop) >= 0 and data.find(b"//", start, stop) >= 0:
        for found in _HOOK.finditer(data, start, limit):
            out += _webhook(data, found.start() + 2, min(len(data), found.end() + 400))
    if data.find(b"\\", start, stop) >= 0 and data.find(b"\\/\\/", start, stop) >= 0:
        for found in _WITH_USER_ESCAPED.finditer(data, start, limit):
            out += _at(data, found.start() - 1, 5)
    for named in _NAMED if _LONG.search(data, start, min(len(data), limit + _LEAST)) else ():
        for found in named.finditer(low, start, limit):
            value = _PARAMETER.match(data, found.end())
            if value is not None and found.start() < stop and looks_random(value[0], _LEAST):
                out.append((*value.span(), "url-parameter"))
    return out


def _at(data: bytes, mark: int, size: int) -> list[Span]:
    """The user info of the URL whose `://` (of `size` bytes) stands at `mark`."""
    start = mark + size
    scheme = _SCHEME.search(data, max(0, mark - 31), mark)
    authority = _AUTHORITY.match(data, start)
    if scheme is None:
        return []
    sign = data.rfind(b"@", start, authority.end()) if authority else -1
    if sign < 0 and not _WEB.match(scheme[0]):
        sign = _late_sign(data, start)
    return _user_info(data, start, sign) if sign > 0 else []


def _late_sign(data: bytes, start: int) -> int:
    """The `@` of a database URL whose password holds `/`, `?` or `#`."""
    whole = _TO_END.match(data, start)
    if whole is None or b":" not in whole[0].split(b"@")[0]:
        return -1
    sign = data.find(b"@", start, whole.end())
    return sign if sign > 0 and data.find(b":", start, sign) > 0 and b"://" not in data[start:sign] else -1


def _user_info(data: bytes, start: int, sign: int) -> list[Span]:
    colon = data.find(b":", start, sign)
    if colon < 0:
        user = data[start:sign]
        return [(start, sign, "url-token")] if looks_random(user, 16) else []
    user, password = data[start:colon], data[colon + 1 : sign]
    out: list[Span] = []
    if looks_random(user, 20):
        out.append((start, colon, "url-token"))
    if password and not is_placeholder(password) and not (password.lower() in _DEFAULTS and (out or user.lower() in _DEFAULT_USERS)):
        out.append((colon + 1, sign, "url-password"))
    return out


def _webhook(data: bytes, start: int, end: int) -> list[Span]:
    slash = data.find(b"/", start, end)
    if slash < 0 or slash - start > 80:
        return []
    host = data[start:slash].lower().split(b":")[0]
    known = WEBHOOKS.get(host) or WEBHOOKS.get(host.partition(b".")[2])
    if known is None:
        return []
    found = known[0].match(data, slash, end)
    return [(*found.span(1), known[1])] if found else []
