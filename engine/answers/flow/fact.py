"""Fact about the flow of information through a model."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field

from ...core.records import dataclass
from ...core.source import NOWHERE, Location


class FactKind(enum.Enum):
    """Kinds of facts."""

    MIXED = "samples influence each other"
    FUTURE = "an output depends on inputs after it"
    WITHOUT = "an input has no influence"
    PADDING = "padding has an influence"
    RANDOM = "random numbers in evaluation mode"
    LABEL = "the label reaches the prediction"
    FLAT = "units are flat"
    UNCALLED = "a layer is never called"
    SPREAD = "every prediction is compared with every target"
    SQUASHED = "a loss of scores is given probabilities"
    CHANGED = "a value that backward reads was written"
    SWAPPED = "a reshape stands for a transpose"
    SINGULAR = "an operator can come to a singular point"

    @property
    def is_of_calls(self) -> bool:
        """Return whether it is seen where layers are called, and nowhere else."""
        return self not in _OF_PASSES


_OF_PASSES = frozenset(
    (
        *(FactKind.UNCALLED, FactKind.LABEL, FactKind.SPREAD, FactKind.SQUASHED),
        *(FactKind.FLAT, FactKind.SINGULAR, FactKind.CHANGED, FactKind.SWAPPED),
    )
)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is so; whether it is wrong may depend on what was meant.

    Attributes:
        subject: the input or the operator that it is about.
        message: what is so, in one sentence.
        loc: where it comes about.
        certain: whether the program shows that it is not meant; if not, *doubt* says what would have to be known.
        said: sentences that say more.
        advice: what would mend it, or empty.
        numbers: what was measured, by name.
        step: the number of the backward pass that shows it, where that is not the last one; 0 for that one.
    """

    kind: FactKind
    subject: str
    message: str
    loc: Location = NOWHERE
    certain: bool = True
    doubt: str = ""
    said: tuple[str, ...] = ()
    advice: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    step: int = 0


@dataclass
class FlowStory:
    """All facts about a model.

    Attributes:
        facts: in the order of the calls that they are about.
        unchecked: what was not asked, and why.
        calls: the names of what was asked about.
        no_calls: why nothing was, where there is no call to ask about.
    """

    facts: list[Fact] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    no_calls: str = ""

    def select(self, kind: FactKind) -> list[Fact]:
        """The facts of one kind."""
        return [f for f in self.facts if f.kind is kind]
