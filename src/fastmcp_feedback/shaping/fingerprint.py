"""The fingerprint of a failure: equal for the same failure with other values, on any machine.

What differs between two occurrences of one failure (numbers, ids, paths, addresses, quoted values, times, sizes) is
replaced by one mark; what says which failure it was (words, status and error codes) stays. The version in the prefix
goes up whenever the same message would get another print.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

VERSION: Final = "f1"

_READ_CHARS: Final = 1024  # of the message
# Of the normalised text: messages are cut at a fixed length before, so their far ends depend on how long the values are.
_KEEP_CHARS: Final = 256
_DIGEST_BYTES: Final = 8
_MARK: Final = "<*>"

# Python's own words for a mistake in code: what they quote are names of the code, which tell the mistakes apart.
_QUOTES_NAMES: Final = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "TypeError", "UnboundLocalError"})

_FILE_TYPES: Final = (
    "7z|bak|bin|bmp|c|cfg|conf|cpp|css|csv|db|docx?|env|exe|gif|go|gz|h|html?|ini|ipynb|java|jpe?g|json|jsonl|jsx?|lock|log|md|mp3|mp4"
    "|parquet|pdf|php|png|pptx?|py|rb|rs|sh|so|sql|sqlite3?|svg|tar|tgz|toml|tmp|tsv|tsx?|txt|wav|webp|xlsx?|xml|ya?ml|zip"
)
_UNITS: Final = (
    "nanoseconds?|microseconds?|milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|bytes?|secs?|mins?|hrs?|msecs?"
    "|[kmgtp]i?b(?:ytes|its)?|ns|us|µs|ms|s|m|h|d|b|k"
)
_MONTHS: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_WEEKDAY: Final = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?"
_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,9})?"
_DATE: Final = "|".join((
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}",
    r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}",
    r"\d{1,2}[ -]" + _MONTHS + r"[ -]\d{2,4}",
    _MONTHS + r" \d{1,2}(?:, \d{4})?",
))  # fmt: skip
_CODE_WORDS: Final = r"http(?:/\d(?:\.\d)?)?|(?:status|exit|error|return|response|errno|sqlstate)(?:[ _-]?(?:code|status))?|code|errno"
_REASONS: Final = (
    "Bad|Unauthorized|Payment|Forbidden|Not|Method|Conflict|Gone|Precondition|Payload|Unsupported|Unprocessable|Too|Internal|Service|Gateway"
    "|Client|Server"
)
_DOMAINS: Final = "com|net|org|io|dev|local|internal|lan|cloud|app|ai|co|eu|de|uk|example|test|svc|localdomain"
_NOT_A_COUNT: Final = r"(?![.:/]?\d)(?! ?(?:%|ms\b|s\b|seconds?\b|of\b|rows?\b|times\b))"
_OPEN_CLOSE: Final = (("\u201c", "\u201d"), ("\u2018", "\u2019"), ("\u00ab", "\u00bb"))  # typographic quotation marks

# One pass, the first alternative wins. Repetitions begin at a token's start and are bounded, so the pass is linear.
# Those named in `_STAYS` stay in the text, the others become the mark.
_TOKENS: Final = {
    "input": r"(?<=input_value=)[^\n]{0,300}?(?=, input_type=)",
    "jsonkey": r"""[{,]\s{0,4}["'][A-Za-z_]\w{0,40}["']\s{0,2}:""",
    "code": r"\b(?i:" + _CODE_WORDS + r")\b[\"']?\s{0,2}[:=(]?\s{0,2}-?(?:\d{1,5}|\d{2}[\dA-Z]{3})\b" + _NOT_A_COUNT,
    "status": r"\b[1-5]\d\d (?=(?:" + _REASONS + r")\b)",
    "vendor": r"\b(?:ORA|PG|TS|MSB|CS|AADSTS|SQL|E|W|F)-?\d{3,6}\b",
    "mark": r"<\*>",
    "token": r"\beyJ[\w-]{6,900}(?:\.[\w-]{1,900}){0,4}",
    "redacted": r"\[REDACTED\]|\[TRUNCATED\]",
    "url": r"""\b[a-z][a-z0-9+.-]{1,20}://(?:\[REDACTED\]|[^\s"'<>`|)\]}]){0,1000}""",
    "mail": r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",
    "quoted": "|".join((
        r"(?<!\w)'[^'\n]{0,300}'(?!\w)",
        r'"[^"\n]{0,300}"',
        r"`[^`\n]{0,300}`",
        *(rf"{begin}[^{end}\n]{{0,300}}{end}" for begin, end in _OPEN_CLOSE),
    )),
    "windows": r"""(?<![\w])(?:[A-Za-z]:[\\/]|\\\\)[^\s"'<>|:*?,;)]{1,400}""",
    "path": r"""(?<![\w./~\\>-])(?:~|\.{1,2})?/[^\s"'<>`|,;:()\[\]{}]{1,400}""",
    "file": r"(?<![\w./-])[\w.-]{1,100}(?:/[\w.@-]{1,100}){0,30}\.(?:" + _FILE_TYPES + r")\b(?![\w/(])",
    "time": (
        r"(?i:\b" + _WEEKDAY + "(?:" + _DATE + r")(?:[T ,]{1,2}" + _CLOCK + r")?|\b" + _CLOCK + r")"
        r"(?: ?(?:[AaPp][Mm]|UTC|GMT|Z|[+-]\d\d:?\d\d)){0,3}\b"
    ),
    "uuid": r"\b[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\b",
    "ip": r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2}|:\d{1,5})?(?![\w.]\d)",
    "ip6": r"(?<![\w:.])\[?(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?:%\w{1,16})?\]?(?::\d{1,5})?(?![\w:])",
    "host": r"(?<![\w.-])(?:localhost|(?:[a-zA-Z0-9-]{1,63}\.){1,8}(?:" + _DOMAINS + r"))(?::\d{1,5})?(?![\w-]|\.\w)",
    "port": r"(?<![\w.-])[a-zA-Z][\w-]{0,62}(?:\.[\w-]{1,63}){0,8}:\d{2,5}(?![\w.:])",
    "pointer": r"\b0x[0-9a-fA-F]{1,64}\b",
    "number": (
        r"(?<![A-Za-z0-9.])[-+]?[$€£]?\d{1,3}(?:[,_]\d{3}){1,8}(?:\.\d{1,20})?(?!\w)"
        r"|(?<![A-Za-z0-9])[-+]?[$€£]?\d{1,40}(?:\.\d{1,20}){0,3}(?:[eE][+-]?\d{1,4})?(?: ?(?:%|(?i:" + _UNITS + r")\b))?(?![A-Za-z0-9])"
    ),
    "word": r"[A-Za-z0-9]{1,200}[A-Za-z0-9+/=]{0,400}",
}  # fmt: skip
_TOKEN: Final = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _TOKENS.items()))
_STAYS: Final = frozenset({"jsonkey", "code", "status", "vendor", "mark"})

# Names with digits that are words of the trade, not ids.
_TRADE: Final = (
    "utf8 utf16 utf32 latin1 base64 base32 s3 ec2 md5 sha1 sha256 sha512 http2 http3 ipv4 ipv6 oauth2 x509 int8 int16 int32 int64 float16 "
    "float32 float64 uint8 x86 amd64 arm64 i18n l10n k8s h264 mp3 mp4 3d 2d 2fa 4xx 5xx sqlite3 psycopg2 boto3 httpx2 urllib3 neo4j "
    "python2 python3 html5 es6 v1 v2 v3 v4 p2p b2b e2e log4j d3 win32 x64 oauth1 web3 gpt4"
)
_NAMES: Final = frozenset(_TRADE.split())
_REPEATS: Final = re.compile(r"<\*>(?:[\s,;:|/x*-]{0,3}<\*>){1,400}")
_PLURAL: Final = re.compile(r"(?<=<\*> )[A-Za-z]{3,40}s\b")
_NAME: Final = re.compile(r".[A-Za-z_][A-Za-z_.]{0,80}.$")
_ANSI: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


def fingerprint(tool: str, error_type: str | None, message: str | None) -> str:
    """The print of a failure: `f1-` and 16 hex digits, from the tool, the error's type and the normalised message.

    Bounded: only the first 1,024 characters of the message count.

    >>> a = fingerprint("render", "OSError", "no space for '/srv/a.png' (12 MB)")
    >>> a == fingerprint("render", "OSError", "no space for '/opt/x/b.png' (7.5 GB)")
    True
    """
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in (tool, error_type or "", normalise(message or "", names_in_quotes=error_type in _QUOTES_NAMES)):
        digest.update(part.encode("utf-8", "backslashreplace"))
        digest.update(b"\0")
    return f"{VERSION}-{digest.hexdigest()}"


def normalise(message: str, *, names_in_quotes: bool = False) -> str:
    """The message with `<*>` for everything that is a value; at most 256 characters.

    With `names_in_quotes` a quoted name without digits stays.

    >>> normalise("user 4711 not found in 35 ms")
    'user <*> not found in <*>'
    """
    text = _ANSI.sub("", message[:_READ_CHARS])
    text = _TOKEN.sub(_replace_but_names if names_in_quotes else _replace, text)
    text = _REPEATS.sub(_MARK, text)
    text = _PLURAL.sub(_singular, text)
    return " ".join(text.split()).rstrip(" .!:")[:_KEEP_CHARS]


def _replace(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "word":
        return _word(match[0])
    return match[0] if kind in _STAYS else _MARK


def _replace_but_names(match: re.Match[str]) -> str:
    if match.lastgroup == "quoted" and _NAME.match(match[0]):
        return match[0]
    return _replace(match)


def _singular(match: re.Match[str]) -> str:
    """One row, two rows; one try, two tries."""
    word = match[0]
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


def _word(word: str) -> str:
    """A run of letters and digits: a word, a name with digits, or an id."""
    digits = sum(map(str.isdigit, word))
    if not digits or word.lower() in _NAMES:
        return word
    letters = len(word) - digits
    head = word.rstrip("0123456789")
    if head.isalpha() and letters < 16:  # worker3, Table42
        return head + _MARK
    return _MARK
