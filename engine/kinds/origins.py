"""Origins of the gradients in a table: the backward calls of a script, their roots, and what was given there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core import source
from ..core.records import dataclass
from ..core.source import Location, Place
from ..core.wording import count


@dataclass(frozen=True, slots=True)
class Origin:
    """A backward call of a script.

    Attributes:
        number: as ``--backward`` takes it.
        at: the user's line.
        roots: the names of what it starts from.
        gradients_given: whether it was given gradients to start with.
        times: how many calls of that line belong to the step.
    """

    number: int
    at: Place
    roots: Sequence[str]
    gradients_given: bool
    times: int = 1

    @property
    def text(self) -> str:
        """``from 2 roots, gradients given at model.py:5``; empty for one loss with ones."""
        parts = [f"from {len(self.roots)} roots"] if len(self.roots) > 1 else []
        if self.gradients_given:
            parts.append(f"gradients given at {self.at}" if self.at else "gradients given")
        return ", ".join(parts)

    def data(self) -> dict[str, Any]:
        """The call in JSON's types."""
        return {
            "backward": self.number,
            "source": self.at.data(),
            "roots": list(self.roots),
            "gradients_given": self.gradients_given,
            "calls": self.times,
        }


def title(origins: Sequence[Origin]) -> str:
    """Return what a head says of the calls where it is not one loss with ones; otherwise nothing."""
    calls = sum(o.times for o in origins)
    if calls > 1:
        given = lines(o.at for o in origins if o.gradients_given)
        told = f", gradients given at {given}" if given else ""
        return f"{count(calls, 'backward call')} of one step: {lines(o.at for o in origins)}{told}"
    return origins[0].text if origins else ""


def lines(places: Iterable[Place]) -> str:
    """Return ``model.py:7, 12`` for places, each once: the file is named where it changes."""
    told: list[str] = []
    file = None
    for place in sorted({p: None for p in places if p}, key=lambda p: (p.path, p.line)):
        told.append(str(place.line) if place.path == file else str(place))
        file = place.path
    return ", ".join(told)


def lines_of(passes: Iterable[tuple[int, Location]]) -> str:
    """Return the lines of passes that are known by number and line."""
    return lines(source.short(at) for _, at in passes)
