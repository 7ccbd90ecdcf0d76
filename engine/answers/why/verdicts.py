"""The closed list of what can have become of a gradient."""

from __future__ import annotations

import enum

from ...core.vocabulary import say


class Verdict(enum.Enum):
    """What became of a tensor's gradient; the value is what people read."""

    OK = "ok"
    DETACHED = "detached"
    NO_GRAD = "computed under no_grad"
    NO_INPUT = "no input of the call needs a gradient"
    STOP_GRADIENT = "stop_gradient"
    NO_GRAD_SET = "in no_grad_set"
    CONSTANT = "through a gradient that is a constant"
    NOT_LISTED = "not in parameter_list"
    UNUSED = "unused in forward"
    NO_PATH = "used, but no path to the loss"
    NON_DIFFERENTIABLE = "non-differentiable op"
    ARGUMENT = "an argument that gets no gradient"
    INTEGER = "integer dtype"
    NOT_RETAINED = "non-leaf, not retained"
    PRUNED = "pruned branch"
    FROZEN = "frozen"
    DEAD_RELU = "zero: dead relu"
    SATURATED = "zero: saturated"
    TIMES_ZERO = "zero: multiplied by 0"
    CLIPPED = "zero: clipped out of range"
    CANCELLED = "zero: cancellation"
    NOT_SELECTED = "zero: never selected"
    AT_MINIMUM = "zero: the loss is at its minimum"
    VANISHED = "vanished"
    EXPLODED = "exploded"
    LARGE = "large"
    SMALL = "small"
    CLEARED = "zero: cleared before the step"
    NOT_FINITE = "not finite"
    ACCUMULATED = "accumulated over backward calls without clearing"
    FREED = "freed graph"
    OVERWRITTEN = "overwritten in place"

    @property
    def text(self) -> str:
        """The verdict in the words of the framework in use."""
        return say(_IN_WORDS.get(self, self.value))

    @property
    def is_zero(self) -> bool:
        """Whether there is a gradient, and it is zero."""
        return self.value.startswith("zero") or self is Verdict.VANISHED


_IN_WORDS = {Verdict.STOP_GRADIENT: "{stopped}", Verdict.NOT_LISTED: "not in {listed}"}
"""Verdicts whose text has words of a framework."""

BY_STRUCTURE = "zero by structure"
"""What is said of a gradient that is 0 but for rounding, whatever the weights are."""

INTENDED = frozenset({Verdict.OK, Verdict.FROZEN, Verdict.AT_MINIMUM})
"""Verdicts that are no finding: nothing is wrong, or someone wanted it so."""
