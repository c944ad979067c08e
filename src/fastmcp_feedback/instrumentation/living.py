"""The recorders of this process: what its end has to reach."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .middleware import InstrumentationMiddleware

# Weak: a recorder that nobody holds has nothing to deliver, because its threads hold it from the first record on.
living: weakref.WeakSet[InstrumentationMiddleware] = weakref.WeakSet()
