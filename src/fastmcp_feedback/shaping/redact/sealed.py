"""The frozen carry-over: it can recognise a value in a text, but does not hold it."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

_PRIME: Final = (1 << 61) - 1
_KEY: Final = secrets.token_bytes(32)  # of this process: fingerprints mean nothing elsewhere
_BASE: Final = secrets.randbelow(_PRIME - 1_000) + 500
_DIGEST_BYTES: Final = 16
_MAX_TEXT: Final = 200_000


@dataclass(frozen=True, slots=True)
class SealedCarryOver:
    """Keyed hashes of the values one call lost, by length; falsy when empty.

    A text is matched by a rolling hash for each distinct length, and every hit is confirmed by a keyed BLAKE2b digest.
    """

    _rolling: dict[int, frozenset[int]] = field(default_factory=dict)
    _digests: frozenset[bytes] = frozenset()
    _replacement: str = "[REDACTED]"

    @classmethod
    def of(cls, values: Iterable[str], replacement: str = "[REDACTED]") -> SealedCarryOver:
        """Fingerprints of these values."""
        rolling: dict[int, set[int]] = {}
        digests: set[bytes] = set()
        for value in values:
            rolling.setdefault(len(value), set()).add(_prefixes(value)[-1])
            digests.add(_digest(value))
        return cls({length: frozenset(sums) for length, sums in rolling.items()}, frozenset(digests), replacement)

    @classmethod
    def union(cls, parts: Iterable[SealedCarryOver]) -> SealedCarryOver:
        """The fingerprints of several calls as one, so that a text is looked through once."""
        rolling: dict[int, frozenset[int]] = {}
        digests: frozenset[bytes] = frozenset()
        replacement = "[REDACTED]"
        for part in parts:
            digests |= part._digests  # noqa: SLF001 - of this class
            replacement = part._replacement  # noqa: SLF001 - of this class
            for length, sums in part._rolling.items():  # noqa: SLF001 - of this class
                rolling[length] = rolling.get(length, frozenset()) | sums
        return cls(rolling, digests, replacement)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def __repr__(self) -> str:
        return f"SealedCarryOver({len(self._digests)} fingerprints)"

    def fingerprints(self) -> tuple[bytes, ...]:
        """The keyed digests, in no meaningful order."""
        return tuple(sorted(self._digests))

    def apply_text(self, text: str) -> str:
        """The text without the values. A text beyond 200,000 characters is only looked at up to there."""
        places = self._places(text[:_MAX_TEXT])
        out: list[str] = []
        at = 0
        for start, end in places:
            if start < at:
                continue
            out += (text[at:start], self._replacement)
            at = end
        out.append(text[at:])
        return "".join(out) if places else text

    scrub_text = apply_text

    def _places(self, text: str) -> list[tuple[int, int]]:
        if not self._digests or not text:
            return []
        sums = _prefixes(text)
        found: list[tuple[int, int]] = []
        for length in sorted(self._rolling, reverse=True):
            wanted = self._rolling[length]
            power = pow(_BASE, length, _PRIME)
            found += [
                (start, start + length)
                for start in range(len(text) - length + 1)
                if (sums[start + length] - sums[start] * power) % _PRIME in wanted and self._confirmed(text[start : start + length])
            ]
        return sorted(found, key=lambda place: (place[0], -place[1]))

    def _confirmed(self, piece: str) -> bool:
        digest = _digest(piece)
        return any(hmac.compare_digest(digest, known) for known in self._digests)


def _prefixes(text: str) -> list[int]:
    """Polynomial hashes of every prefix, the empty one first."""
    sums = [0]
    total = 0
    for char in text:
        total = (total * _BASE + ord(char) + 1) % _PRIME
        sums.append(total)
    return sums


def _digest(value: str) -> bytes:
    return blake2b(value.encode("utf-8", "surrogatepass"), key=_KEY, digest_size=_DIGEST_BYTES).digest()
