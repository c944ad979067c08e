"""Private keys in armour, password hashes, and commands that take a password in their own way."""

from __future__ import annotations

# ruff: noqa: E501 - alternatives of one pattern
import base64
import re
from typing import Final

from .spans import Span
from .values import is_placeholder, looks_like_password, looks_random

_ARMOUR: Final = re.compile(rb"(?P<label>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----")
_END: Final = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_ARMOUR_BODY: Final = re.compile(rb"(?:[A-Za-z0-9+/=\s:,.]++|-(?!----)|\\[nrt\\\"]|%0[AaDd]|%2[BbFf]|%3[Dd])*+")
_MAX_ARMOUR: Final = 65_536
_PUTTY: Final = re.compile(rb"Private-Lines: \d+\r?\n((?:[A-Za-z0-9+/=]{1,80}\r?\n?)+)")
CRYPT: Final = re.compile(
    rb"\$(?:1\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22}|2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|[56]\$(?:rounds=\d+\$)?[^$\s:\"'\\]{1,32}\$[./A-Za-z0-9]{43,86}"
    rb"|y\$[./A-Za-z0-9]{2,8}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{20,86}|7\$[./A-Za-z0-9]{11,97}\$[./A-Za-z0-9]{43}|gy\$[./A-Za-z0-9]+\$[./A-Za-z0-9]+\$[./A-Za-z0-9]+"
    rb"|argon2(?:id|i|d)\$v=\d+\$[mtp=,\d]+\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{16,}|apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|P\$[./A-Za-z0-9]{31}|scrypt\$[\w=,$+/.]{40,}"
    rb"|pbkdf2-sha\d+\$\d+\$[./A-Za-z0-9+]{8,}\$[./A-Za-z0-9+]{20,})"
)
_SQL: Final = re.compile(rb"(?i:identified\s{1,4}(?:with\s{1,4}\S{1,40}\s{1,4})?by\s{1,4}(?:password\s{1,4})?)(['\"])([^'\"]{1,512})\1")
_OPTION: Final = re.compile(rb"-(?:p|a|u|U|w|P)[= ]?(['\"]?)([^\s'\"|;&]{3,200})\1")
_COMMANDS: Final = re.compile(
    rb"(?<![\w.\-])(mysql\w*|mariadb\w*|sshpass|redis-cli|curl|wget|docker|podman|smbclient|ldapsearch|mongo\w*|sqlcmd|7z|zip|unzip|htpasswd|http|rclone|helm|psql|mosquitto_\w+|net|plink|wmic|xfreerdp|snmpwalk|ipmitool)(?=\s)[^\n|;]{0,400}"
)
_WRAPPED: Final = re.compile(rb"[A-Za-z0-9+/]{24,16000}+={0,2}(?![A-Za-z0-9+/=_\-])")
_PASS_FLAGS: Final = {
    b"mysql": b"p", b"mariadb": b"p", b"sshpass": b"p", b"redis-cli": b"a", b"curl": b"uU", b"docker": b"p", b"podman": b"p", b"smbclient": b"U",
    b"ldapsearch": b"w", b"mongo": b"p", b"sqlcmd": b"P", b"7z": b"p", b"zip": b"P", b"unzip": b"P", b"http": b"a", b"mosquitto": b"P",
    b"plink": b"", b"ipmitool": b"P", b"helm": b"", b"wget": b"", b"psql": b"",
}  # fmt: skip
_USER_PASSWORD: Final = re.compile(rb"[^:\s]{0,100}:(.+)", re.DOTALL)


def armour(data: bytes, begin: int) -> Span | None:
    """The body of the private key whose `-----BEGIN ` stands at `begin`, closed or not."""
    head = _ARMOUR.match(data, begin + 11)
    if head is None:
        return None
    limit = min(len(data), head.end() + _MAX_ARMOUR)
    body = _ARMOUR_BODY.match(data, head.end(), limit)
    stop = body.end() if body else head.end()
    end = _END.search(data, stop, min(limit, stop + 200))
    return head.end(), end.start() if end else stop, "private-key"


def putty(data: bytes, at: int) -> list[Span]:
    """The private lines of the PuTTY key whose first line ends at `at`."""
    found = _PUTTY.search(data, at, at + 32_768)
    return [(*found.span(1), "private-key")] if found else []


def sql(data: bytes, at: int) -> list[Span]:
    """`IDENTIFIED BY 'x'`."""
    found = _SQL.match(data, at)
    return [(*found.span(2), "sql-password")] if found and not is_placeholder(found[2]) else []


def commands(data: bytes, low: bytes, start: int, stop: int) -> list[Span]:
    """`mysql -px`, `curl -u user:x`, `sshpass -p x`, `redis-cli -a x`."""
    out: list[Span] = []
    for line in _COMMANDS.finditer(low, start, stop):
        name = line[1].partition(b"_")[0]
        flags = next((flags for known, flags in _PASS_FLAGS.items() if name.startswith(known)), b"")
        for option in _OPTION.finditer(data, line.start(), line.end()):
            if option[0][1:2] in flags and data[option.start() - 1 : option.start()] in b" \t":
                out += _option(option, name)
    return out


def _option(option: re.Match[bytes], name: bytes) -> list[Span]:
    start, stop = option.span(2)
    value = option[2]
    if name in {b"curl", b"smbclient"} or (name == b"http" and b":" in value):
        pair = _USER_PASSWORD.fullmatch(value.replace(b"%", b":", 1) if name == b"smbclient" else value)
        if pair is None or is_placeholder(pair[1]):
            return []
        return [(start + pair.start(1), stop, "command-password")]
    if is_placeholder(value) or value.isdigit() or value[:1] == b"-":
        return []
    glued = option[0][2:3] not in {b" ", b"="}
    return (
        [(start, stop, "command-password")]
        if name in {b"sshpass", b"redis-cli"} or looks_like_password(value) or (glued and looks_random(value))
        else []
    )


def wrapped(data: bytes, begin: int) -> tuple[int, int, bytes] | None:
    """The readable text in the base64 around a run, with its place."""
    if begin and data[begin - 1] in b"+/=":
        return None
    found = _WRAPPED.match(data, begin)
    if found is None or len(found[0].rstrip(b"=")) % 4 == 1:
        return None
    text = found[0]
    if not _readable(base64.b64decode(text[:20])):
        return None
    plain = base64.b64decode(text + b"=" * (-len(text) % 4))
    return (*found.span(), plain) if _readable(plain) else None


def _readable(plain: bytes) -> bool:
    return bool(plain) and plain.isascii() and not plain.translate(None, _READABLE)


_READABLE: Final = bytes(range(0x20, 0x7F)) + b"\t\r\n"
