"""What is stored of a call that a killed process never finished: made while the call runs, used only if it never ends."""

from __future__ import annotations

from copy import copy
from typing import Any

from .. import contain
from ..delivery.inbox import Pacer
from ..raw import ExceptionFacts, RawCall
from ..records import ToolCallRecord
from ..shaping.shaper import Shaper, ShapingOptions


class InterruptedCalls:
    """Shapes running calls on the spool's thread, with a shaper of its own; the calls themselves are not touched."""

    def __init__(self, options: ShapingOptions) -> None:
        self._pacer = Pacer()
        self._shaper = Shaper(options, self._pacer.breathe)

    def template(self, call: RawCall) -> ToolCallRecord | None:
        """The record of this call as `error` / `Interrupted`, redacted like any other; None when it is not recorded."""
        if call.excluded or call.ended:
            return None
        with contain.contain("start marker"):
            self._pacer.begin()
            call_id = call.id  # drawn before the copy, so that both have the same
            double: Any = copy(call)
            assert double.id == call_id
            double.result = None
            double.exception = ExceptionFacts("Interrupted", "the server was killed while the tool ran")
            record, _ = self._shaper.shape(double)
            return record
        return None
