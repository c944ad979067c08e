"""Values for property tests."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

HOSTILE: Final = (
    '"""', "'''", "\n", "\r\n", "\\", '"; import os; os.abort() #', "\x00", "\x85", "\u2028", "\u202e", "#", "{x}", "%s", "\ud7ff",
    "\x1b[31m",
    "</recorded>", "<recorded>", "\U000e0041", "def f():", "\u00e9",
)  # fmt: skip
hostile_text: Final = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=6), max_size=6).map("".join)
"""Text that tries to get out of wherever it stands."""

json_values: Final[st.SearchStrategy[Any]] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | hostile_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(hostile_text, inner, max_size=4),
    max_leaves=12,
)
