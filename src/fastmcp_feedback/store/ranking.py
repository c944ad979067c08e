"""Ranking of texts by their words (BM25), for reports that say the same in other words. Pure.

Words are cut to stems, so that `crashes`, `crashed` and `crashing` are one; single characters of names and codes stay whole.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_MAX_WORDS: Final = 2000
_TITLE_WEIGHT: Final = 2
_K1: Final = 1.2
_B: Final = 0.5
_LEAST_DOCUMENTS: Final = 50  # among a few candidates no word is common
STOP_WORDS: Final = frozenset(
    (
        "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
        "did", "do", "does", "doing", "for", "from", "get", "gets", "got", "had", "has", "have", "having", "he", "how", "i", "if", "in",
        "into", "is", "it", "its", "just", "me", "more", "my", "no", "not", "now", "of", "on", "only", "or", "other", "our", "out", "s",
        "she", "should", "so", "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to",
        "too", "up", "us", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "would",
        "you", "your", "please", "don", "doesn", "isn", "redacted",
    )
)  # fmt: skip
_ENDINGS: Final = (
    "ations", "ation", "ingly", "edly", "ments", "ment", "ness", "ings", "ing", "ions", "ion", "ies", "ied", "ers", "er", "es", "ed",
    "ly", "s", "e", "y",
)  # fmt: skip


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word without its endings; short words and those with digits stay as they are.

    >>> [stem(word) for word in ("crashes", "crashed", "crashing", "rendering", "renders", "e1042")]
    ['crash', 'crash', 'crash', 'rend', 'rend', 'e1042']
    """
    if len(word) <= 3 or not word.isalpha() or not word.isascii():
        return word
    return _cut(_cut(word))


def _cut(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            cut = word[: -len(ending)]
            return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "ls" else cut
    return word


def words_of(text: str) -> list[str]:
    """The words that count, lower case, in order, at most two thousand.

    >>> words_of("The export of PDFs fails with E_1042!")
    ['export', 'pdfs', 'fails', 'e', '1042']
    """
    found = _WORD.findall(text[: _MAX_WORDS * 20].casefold())[:_MAX_WORDS]
    return [word for word in found if word not in STOP_WORDS]


def stems_of(text: str) -> list[str]:
    """`words_of` as stems."""
    return [stem(word) for word in words_of(text)]


class Ranking:
    """Candidates, given as (id, title, description), ranked by how rare the words are that they share with a text."""

    def __init__(self, candidates: Sequence[tuple[str, str, str]]) -> None:
        self._documents = [
            (key, Counter(stems_of(title) * _TITLE_WEIGHT + stems_of(description))) for key, title, description in candidates
        ]
        self._lengths = [sum(counted.values()) for _, counted in self._documents]
        self._mean = (sum(self._lengths) / len(self._lengths)) if self._lengths else 1.0
        self._spread = Counter(word for _, counted in self._documents for word in counted)

    def best(self, text: str, limit: int) -> list[tuple[str, float]]:
        """The likest first, with a score in 0..1: the share of the text's words, weighted by rarity, that a candidate holds."""
        weights = {word: self._rarity(word) for word in dict.fromkeys(stems_of(text))}
        total = sum(weights.values())
        scored = []
        for (key, counted), length in zip(self._documents, self._lengths, strict=True):
            shared = [word for word in weights if word in counted]
            if shared:
                rank = sum(weights[word] * self._saturated(counted[word], length) for word in shared)
                scored.append((rank, key, min(1.0, sum(weights[word] for word in shared) / total)))
        return [(key, score) for _, key, score in sorted(scored, key=lambda one: (-one[0], one[1]))[:limit]]

    def _rarity(self, word: str) -> float:
        spread = self._spread.get(word, 0)
        return math.log(1 + (max(len(self._documents), _LEAST_DOCUMENTS) - spread + 0.5) / (spread + 0.5))

    def _saturated(self, count: int, length: int) -> float:
        return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / self._mean))
