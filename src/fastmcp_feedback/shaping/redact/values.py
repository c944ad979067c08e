"""Does a value look like a secret, or is it a placeholder, a word of prose, a piece of code?"""

from __future__ import annotations

import re
from typing import Final

# References to a value kept elsewhere, masks, and what templates write where a secret will stand.
_PLACEHOLDER: Final = re.compile(
    rb"""\$\{[^{}]*\}|\$\{\{[^{}]*\}\}|\{\{[^{}]*\}\}|\{[A-Za-z_][\w.]*\}|\$[A-Z_][A-Z0-9_]*|\$[a-z_]+|\$\([^()]*\)
    |<[^<>]*>|%[A-Za-z_]\w*%|%\(\w+\)s|%s|\[[A-Za-z _]+\]|(?:\[\[?|\{\{?)\s*\w+\s*(?:\]\]?|\}\}?)
    |[*xX.#_\-\xe2\x80\xa2\xa6?]{3,}|(?i:your?|my|the|some|an?|insert|replace|enter|example|dummy|sample|fake)[-_ ][A-Za-z_\- ]*
    |(?i:sk|pk|rk)[-_](?:\.\.\.|x+|\*+)|[A-Z]+(?:_[A-Z]+)*_HERE|secret://.*|vault:.*|op://.*|env[:.]\w+|file:.*|!vault.*""",
    re.VERBOSE | re.DOTALL,
)
_WORDS: Final = frozenset(
    (
        "must", "should", "required", "require", "requires", "missing", "invalid", "expired", "expires", "incorrect", "wrong", "field",
        "string", "str", "bytes", "int", "integer", "number", "boolean", "bool", "float", "object", "array", "dict", "list", "any",
        "optional", "none", "null", "nil", "undefined", "nan", "true", "false", "yes", "no", "on", "off", "weak", "strong", "medium",
        "empty", "blank", "unset", "set", "not", "is", "are", "was", "the", "a", "an", "and", "or", "of", "to", "in", "for", "with",
        "it", "we", "you", "your", "this", "that", "await", "async", "new", "self", "cls", "function", "func", "lambda", "return", "if",
        "else", "elif", "typeof", "void", "var", "let", "const", "def", "class", "public", "private", "protected", "static", "final",
        "readonly", "unique", "varchar", "char", "text", "hidden", "masked", "redacted", "removed", "filtered", "ok", "valid",
        "changed", "unchanged", "failed", "failure", "error", "denied", "unknown", "unexpected", "expected", "accepted", "rejected",
        "include", "omit", "same-origin", "same", "bearer", "basic", "digest", "token", "tokens", "oauth", "oauth2", "jwt", "saml",
        "disabled", "enabled", "authentication", "authorization", "needed", "present", "absent", "given", "provided", "example", "auto",
        "default", "n/a", "tbd", "todo", "fixme", "password", "passwd", "secret", "hash", "hashed", "encrypted", "one", "use", "using",
        "see", "please", "only", "length", "minimum", "maximum", "short", "long", "too", "at", "has", "have", "can", "cannot", "will",
        "may", "does", "do", "did", "header", "headers", "value", "values", "name", "key", "keys", "input", "output", "per", "rotated",
        "revoked", "refreshed", "created", "updated", "deleted", "reset", "read", "write", "admin", "rotate", "generated", "inherit",
        "prompt", "keyring", "stdin", "plain", "plaintext", "strong_password", "everything", "something", "nothing", "always", "never",
    )
)  # fmt: skip
# What `{"password": ...}` may say about a password without being one. Short on purpose: a secret key's value goes whole.
STATUSES: Final = frozenset(
    ("weak", "strong", "medium", "missing", "required", "optional", "expired", "invalid", "incorrect", "unset", "unchanged", "redacted",
     "string", "include", "same-origin", "omit", "not set", "none", "null", "undefined", "n/a", "fair", "too short", "hidden", "masked")
)  # fmt: skip

_CODE: Final = re.compile(
    rb"""(?:await[ ]|new[ ]|&|\*)?[A-Za-z_$][A-Za-z_$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$]\w*)+(?:[\[(].*)?[;,)]*   # obj.attr, obj.call(...)
    |[A-Za-z_$][\w$]*\([^()]*(?:\)(?:[.;,)\]?!\[].*)?)?|[A-Za-z_]\w*\[.*\]?.*|\(.*|(?:r|b|f|u|rb|br)?["'].*""",
    re.VERBOSE | re.DOTALL,
)
_PIECES: Final = re.compile(rb"[^A-Za-z0-9\x80-\xff]+")
_HUMP: Final = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[\x80-\xff]+")
_HEX: Final = re.compile(rb"(?:0x)?(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{16,}|(?=[A-F]*\d)(?=\d*[A-F])[0-9A-F]{16,}")
_PLAIN_SHAPES: Final = re.compile(
    rb"""[+-]?\d[\d.,:/_\- TZ+]*[a-zA-Z%]{0,5}          # numbers, dates, times, sizes
    |v?\d+(?:\.\d+)+[\w.+\-]*                            # versions
    |[a-z][a-z0-9+.\-]*://.*|(?:\.{0,2}|~|[A-Za-z]:)[/\\].*  # URLs, paths
    |[\w\-]+(?:\.[\w\-]+)*\.(?:com|org|net|io|dev|ai|co|py|js|ts|json|ya?ml|txt|md|toml|cfg|ini|html?|css|go|rs|java|sh|pem|log)
    |[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}
    |(?:sha|md|utf|iso|rsa|aes|es|hs|rs|base)-?\d{1,4}(?:[\-_][a-z0-9\-]*)?|arn:.*|urn:.*|\S+@[\w.\-]+\.\w+""",
    re.VERBOSE | re.DOTALL,
)
_RELATIVE: Final = re.compile(rb"[\w\-]+(?:/[\w.\-]+)+")
_STRONG_MIX: Final = re.compile(rb"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d)")
_HAS_DIGIT: Final = re.compile(rb"\d")
_HAS_LETTER: Final = re.compile(rb"[A-Za-z]")
_ODD: Final = re.compile(rb"[!#$%^&*~+=?@:/\\|]")


def is_placeholder(value: bytes) -> bool:
    """A reference, a mask or a template's blank.

    >>> is_placeholder(b"${DB_PASSWORD}"), is_placeholder(b"<token>"), is_placeholder(b"hunter2")
    (True, True, False)
    """
    return not value or _PLACEHOLDER.fullmatch(value) is not None


def is_word(value: bytes) -> bool:
    """One of the plain words that follow `password:` in prose, code and validation messages."""
    return len(value) <= 24 and value.strip(b".,;:!?()[]{}").lower().decode("latin-1") in _WORDS


def is_code(value: bytes) -> bool:
    """A call, an attribute or the start of an expression.

    >>> is_code(b"getpass.getpass()"), is_code(b"os.environ["), is_code(b"zYFQ8c1b2n")
    (True, True, False)
    """
    return _CODE.fullmatch(value) is not None


def wordlike(value: bytes) -> bool:
    """Made of words and short numbers only: `page-3`, `gpt-4`, `ReadTimeout`, `my_token`.

    >>> wordlike(b"ReadTimeout-3"), wordlike(b"ls8GAVnq56pM6xvN")
    (True, False)
    """
    return all(_is_wordy(piece) for piece in _PIECES.split(value))


def _is_wordy(piece: bytes) -> bool:
    """Few changes between lower case, upper case and digits."""
    if len(piece) <= 5:
        return True
    humps: list[bytes] = _HUMP.findall(piece)
    numbers = [hump.isdigit() for hump in humps].count(True)
    if numbers > 2 or not humps:
        return numbers == len(humps)
    least = 3.0 if numbers and len(piece) >= 12 and _STRONG_MIX.match(piece) else 2.2
    return least * len(humps) <= len(piece)


def looks_random(value: bytes, least: int = 8) -> bool:
    """Letters and digits without the shape of a word, number, date, path, address or identifier.

    >>> looks_random(b"ls8GAVnq56pM6xvN"), looks_random(b"page-3"), looks_random(b"2026-01-05")
    (True, False, False)
    """
    if len(value) < least or not _HAS_DIGIT.search(value) or not _HAS_LETTER.search(value):
        return False
    if b"/" in value and _RELATIVE.fullmatch(value) and not any(len(part) >= 12 and looks_random(part) for part in value.split(b"/")):
        return False
    if b" " in value or _PLAIN_SHAPES.fullmatch(value) or is_placeholder(value):
        return False
    return _HEX.fullmatch(value) is not None or not wordlike(value)


def plausible(value: bytes, *, firm: bool) -> bool:
    """Could this unquoted value be a secret? `firm`: it stands after `=`; otherwise prose is likely.

    >>> plausible(b"swordfish", firm=True), plausible(b"must", firm=True), plausible(b"swordfish", firm=False)
    (True, False, False)
    """
    if is_placeholder(value) or is_word(value) or is_code(value):
        return False
    if firm:
        return len(value) >= 2
    if len(value) < 4:
        return False
    if _HAS_DIGIT.search(value) or (_ODD.search(value) and len(value) >= 6):
        return True
    return not wordlike(value)


def looks_like_password(value: bytes) -> bool:
    """What a person might have typed: at least six characters, not a plain word or number."""
    if len(value) < 6 or b" " in value or is_placeholder(value) or is_word(value):
        return False
    return bool(_STRONG_MIX.match(value)) or (bool(_HAS_DIGIT.search(value) or _ODD.search(value)) and not _PLAIN_SHAPES.fullmatch(value))
