"""What stands in place of a page that cannot be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..views import View


@dataclass(frozen=True, slots=True)
class ProblemView(View):
    """What is wrong and what to do about it. `back` is an address that works."""

    template: ClassVar[str] = "problem.html"

    title: str
    error: str
    hint: str
    back: str
