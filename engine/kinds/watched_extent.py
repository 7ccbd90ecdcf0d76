"""The extent of an answer: the part of a file that it has seen."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from ..core.records import dataclass
from ..core.wording import plural

STOPPED: Final = "stopped"
INTERRUPTED: Final = "interrupted"
RAISED: Final = "raised"
"""How a file ends before its end."""

_GOES_ON: Final = {
    STOPPED: "; the file would go on",
    INTERRUPTED: "; the file was interrupted",
}


@dataclass(frozen=True, slots=True)
class WatchedPart:
    """Backward passes that an answer is about.

    Attributes:
        passes: how many whole passes the file made while it was watched; 0 where gradtool ran the only one itself.
        asked: the one pass that was asked for by number or line; None for all.
        ended: how the file ended before its end; empty where it did not.
        more: the sentence that says where it was stopped, and what lets it go on.
    """

    passes: int = 0
    asked: str | None = None
    ended: str = ""
    more: str = ""

    @property
    def is_whole(self) -> bool:
        """Return whether the answer is about all passes of a file that ran to its end."""
        return not self.ended and self.asked is None

    @property
    def words(self) -> str:
        """Return the scope of a sentence about all passes, ``in the first 50 passes; the file would go on``."""
        if self.ended == RAISED:
            return f"in {_count(self.passes)} before the error" if self.passes else "before the error"
        if self.ended:
            first = f"in the first {_count(self.passes)}" if self.passes else "before the first pass"
            return first + _GOES_ON[self.ended]
        if self.asked is not None:
            return "in the backward pass that was asked for"
        return f"in all {_count(self.passes)}" if self.passes > 1 else "in one pass"

    def qualify_last(self, text: str) -> str:
        """Return a sentence about the last step alone with its scope; as it is if the file ran to its end."""
        if not self.ended:
            return text
        if not self.passes:
            return f"{text} {self.words}"
        last = "the first pass" if self.passes == 1 else f"the last of the first {_count(self.passes)}"
        return f"{text} in {last}{_GOES_ON.get(self.ended, ', before the error')}"

    def data(self) -> dict[str, Any]:
        """Return it in JSON's types."""
        return {
            "passes": self.passes,
            "asked": self.asked,
            "whole": self.is_whole,
            "ended": self.ended or None,
        }

    def pack(self) -> dict[str, Any]:
        """Return all of it in JSON's types: the constructor's arguments."""
        return asdict(self)


def _count(n: int) -> str:
    return f"{n:,} {plural(n, 'pass')}"
