"""The form in which a kind of secret is written down, and what the engine and the documentation make of it.

A format is a short line such as `w36` or `d10-13 '-' w24`: pieces separated by spaces, each a quoted literal or a class
letter with a length. `32` means at least 32, `32!` exactly 32 (and no further character of the class), `20-40` a range.

| letter | characters | | letter | characters |
|---|---|---|---|---|
| `h` | `a-f0-9` | | `s` | `A-Za-z0-9_-` |
| `H` | `A-Fa-f0-9` | | `b` | `A-Za-z0-9+/` |
| `d` | `0-9` | | `e` | `A-Za-z` |
| `u` | `A-Z0-9` | | `x` | `A-Za-z0-9_.-` |
| `l` | `a-z0-9` | | `m` | `A-Za-z0-9+/_.=-` |
| `w` | `A-Za-z0-9` | | `i` | a UUID |
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Final

CLASSES: Final = {
    "h": "a-f0-9",
    "H": "A-Fa-f0-9",
    "d": "0-9",
    "u": "A-Z0-9",
    "l": "a-z0-9",
    "w": "A-Za-z0-9",
    "s": "A-Za-z0-9_\\-",
    "b": "A-Za-z0-9+/",
    "e": "A-Za-z",
    "x": "A-Za-z0-9_.\\-",
    "m": "A-Za-z0-9+/_.=\\-",
}
_SAMPLE: Final = {
    "h": "abcdef0123456789",
    "H": "ABCDEF0123456789",
    "d": "123456789",
    "u": "ABCDEFGHJKLMNPQRSTUVWXYZ23456789",
    "l": "abcdefghjkmnpqrstuvwxyz23456789",
    "e": "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
}
_UUID: Final = "h8 '-' h4 '-' h4 '-' h4 '-' h12"
_MAX_LENGTH: Final = 4096
_PIECE = re.compile(r"'([^']*)'|([a-zA-Z])(\d+)(?:-(\d+)|(!))?")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of secret: literal starts and the format of what follows.

    `loose` kinds have a start that ordinary words share (`sk-`, `pk_`), so what follows must also look random.
    `where` is the page on which the vendor (or a trusted scanner) publishes the format.
    """

    name: str
    family: str
    prefixes: tuple[str, ...]
    form: str
    where: str
    loose: bool = False

    def regex(self) -> str:
        """The format as a regular expression, without the prefix."""
        return "".join(_piece_regex(piece) for piece in pieces(self.form))

    def example(self, prefix: int = 0, seed: int = 0) -> str:
        """A made-up value of this kind; the same for the same arguments.

        >>> Kind("demo", "demo", ("demo_",), "d4", "").example()[:5]
        'demo_'
        """
        source = random.Random(f"{self.name}/{prefix}/{seed}")  # noqa: S311 - examples, not secrets
        return self.prefixes[prefix] + "".join(_sample(piece, source) for piece in pieces(self.form))

    def near_miss(self) -> str:
        """A harmless text with the same start that must come through unchanged."""
        return f"the name {self.prefixes[0].rstrip('.-_~:')} and {self.prefixes[0]}x"

    def shown(self) -> str:
        """The example shortened, so that scanners of source hosts do not take it for a real one."""
        text = self.example()
        return text[: len(self.prefixes[0]) + 4] + "…"


@dataclass(frozen=True, slots=True)
class Piece:
    """A literal, or a class with its least and greatest length."""

    literal: str
    kind: str
    low: int
    high: int
    exact: bool


def pieces(form: str) -> list[Piece]:
    """The parsed pieces of a format. Raises ValueError when it is malformed."""
    out: list[Piece] = []
    for word in form.replace("i1", _UUID).split():
        found = _PIECE.fullmatch(word)
        if found is None or (found[2] is not None and found[2] not in CLASSES):
            message = f"bad piece {word!r} in format {form!r}"
            raise ValueError(message)
        literal, letter, low, high, exact = found.groups()
        if letter is None:
            out.append(Piece(literal, "", 0, 0, exact=False))
        else:
            least = int(low)
            most = least if exact else int(high) if high else _MAX_LENGTH
            out.append(Piece("", letter, least, most, exact is not None))
    return out


def _piece_regex(piece: Piece) -> str:
    if not piece.kind:
        return re.escape(piece.literal)
    chars = CLASSES[piece.kind]
    guard = f"(?![{chars}])" if piece.exact else ""
    return f"[{chars}]{{{piece.low},{piece.high}}}+{guard}" if piece.low != piece.high else f"[{chars}]{{{piece.low}}}{guard}"


def _sample(piece: Piece, source: random.Random) -> str:
    if not piece.kind:
        return piece.literal
    chars = _SAMPLE.get(piece.kind, "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
    text = "".join(source.choices(chars, k=piece.low))
    if piece.low >= 8 and piece.kind in "ulws":  # so that a sample always shows what a real one nearly always has
        text = text[:2] + ("7Q" if piece.kind == "u" else "7q") + text[4:]
    return text
