"""One backward pass of several: the events of it, and of what is computed for it, for a listener."""

from __future__ import annotations

from typing import Any

from ..view.graph import BACKWARD
from .events import UPDATE, Begin, End, Listener, OpEvent


class OnePass:
    """Passes on what happens after the pass before is over, until its own one is.

    Args:
        number: which pass, from 1. The passes that the program asks for count; those that recomputation runs inside of
            one do not.
    """

    def __init__(self, listener: Listener, number: int) -> None:
        self._listener = listener
        self._number = number
        self._begun = 0
        self._before = number > 1
        self._over = False

    def began(self, *_: Any) -> None:
        """A pass begins that the program asks for."""
        self._begun += 1

    def __call__(self, event: OpEvent | Begin | End) -> None:
        """Hear of an event."""
        if self._over or (isinstance(event, OpEvent) and event.part == UPDATE):
            return  # what an optimizer does belongs to another step
        if self._begun == self._number or (not self._before and _is_forward(event)):
            self._over = isinstance(event, End)
            self._listener(event)
        elif isinstance(event, End) and self._begun == self._number - 1:
            self._before = False


def _is_forward(event: OpEvent | Begin | End) -> bool:
    return isinstance(event, OpEvent) and event.part != BACKWARD
