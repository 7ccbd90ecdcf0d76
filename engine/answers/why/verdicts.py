"""The closed list of what can have become of a gradient: a row for each verdict, with all that is known of it."""

from __future__ import annotations

import enum

from ...core.records import dataclass
from ...core.vocabulary import say
from .examples import Advice


class VerdictKind(enum.Enum):
    """Kinds of verdicts."""

    ARRIVED = "a gradient arrives"
    APART = "the loss is not computed from it"
    CUT = "no gradient comes back along the way from the loss"
    ZERO = "a gradient arrives, and it is zero"
    SIZE = "the gradient is very small or very large"
    STATE = "what the tensor is, or who holds it"
    TIME = "what came before or after"


class GradientState(enum.Enum):
    """The gradient that a tensor has."""

    NUMBERS = "numbers"
    ZERO = "zero"
    NONE = "none"


class Aspect(enum.Flag):
    """Facts about a verdict that single questions need."""

    BY_PROGRAM = enum.auto()
    """The program did it on purpose; it is no property of an operator."""
    BY_OPERATOR = enum.auto()
    """The operator gives no gradient to this argument, or to none."""
    UNRECORDED = enum.auto()
    """Calls were not recorded, from one line on."""
    INHERITED = enum.auto()
    """A result has it because all operands have it."""
    BY_VALUE = enum.auto()
    """The cause is the value that multiplies or chooses, where one does."""
    BY_CONSTANT = enum.auto()
    """The cause can be a gradient that stands in the loss as a constant."""
    AT_REST = enum.auto()
    """The zero is no fault where the loss is at its minimum."""
    IN_NUMBERS = enum.auto()
    """The verdict on the numbers alone says less: a table of numbers shows this one."""
    NO_OPERATOR = enum.auto()
    """It is about an optimizer's list or an assignment, and about no operator."""

    FLAT = enum.auto()
    """An operator is flat where the values are."""
    FLAT_BY_KIND = enum.auto()
    """An operator is flat whatever the values are."""
    UNSEEN = enum.auto()
    """Nobody listened: the graph alone says it, and the cause is not in it."""


_NONE = Aspect(0)


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """All that is known of a verdict.

    Attributes:
        text: the verdict, with terms of a framework in braces.
        kind: what kind of verdict it is.
        grad: what the tensor has as its gradient.
        is_finding: whether something is wrong, unless the case at hand says otherwise.
        is_intended: whether somebody wanted it so.
        rule: the code of the rule of ``gradtool check`` that reports it; empty if none does.
        advice: what to do about it where nothing more is known; None where nothing that was tested is known.
        short: the text in a table that says "cut: …"; empty where it is *text*.
        without: what a run without the cut is; empty where no single change of the program connects the gradient.
        unrecorded: the name of the reason for which a call of dynamic mode was not recorded, if it has this verdict.
        value: the text that Python gives as ``verdict.value``, where it is not *text*.
        aspects: what single questions ask of it.
    """

    text: str
    kind: VerdictKind
    grad: GradientState
    is_finding: bool = True
    is_intended: bool = False
    rule: str = ""
    advice: Advice | None = None
    short: str = ""
    without: str = ""
    unrecorded: str = ""
    value: str = ""
    aspects: Aspect = _NONE


class Verdict(enum.Enum):
    """The verdict on a tensor's gradient; the value is its text, in Paddle's words."""

    # The value stays a text: users of Python read verdict.value.
    row: VerdictRow
    _value_: str

    def __new__(cls, row: VerdictRow) -> Verdict:
        member = object.__new__(cls)
        member._value_ = row.value or row.text
        member.row = row
        return member

    OK = VerdictRow("ok", VerdictKind.ARRIVED, GradientState.NUMBERS, is_finding=False, aspects=Aspect.BY_CONSTANT)
    DETACHED = VerdictRow(
        "detached",
        VerdictKind.CUT,
        GradientState.NONE,
        rule="GT103",
        advice=Advice(
            "remove the detach or the way through NumPy, or detach only a copy for logging",
            ("detached", "as a number"),
        ),
        without="without that cut",
        unrecorded="COPIED",
        aspects=Aspect.BY_PROGRAM | Aspect.BY_CONSTANT,
    )
    NO_GRAD = VerdictRow(
        "computed under no_grad",
        VerdictKind.CUT,
        GradientState.NONE,
        rule="GT103",
        advice=Advice("compute it outside no_grad()", ("under no_grad",)),
        without="outside no_grad",
        unrecorded="NO_GRAD",
        aspects=Aspect.BY_PROGRAM | Aspect.UNRECORDED,
    )
    NO_INPUT = VerdictRow(
        "no input of the call needs a gradient",
        VerdictKind.CUT,
        GradientState.NONE,
        rule="GT103",
        without="recorded all the same",
        aspects=Aspect.BY_PROGRAM | Aspect.UNRECORDED,
    )
    STOP_GRADIENT = VerdictRow(
        "{stopped}",
        VerdictKind.CUT,
        GradientState.NONE,
        rule="GT103",
        advice=Advice("{making}", ("made without",)),
        without="without {stops}",
        value="stop_gradient",
        aspects=Aspect.BY_PROGRAM | Aspect.INHERITED,
    )
    NO_GRAD_SET = VerdictRow(
        "in no_grad_set",
        VerdictKind.CUT,
        GradientState.NONE,
        rule="GT107",
        advice=Advice("take it out of the no_grad_set", ("in the no_grad_set",)),
        short="no_grad_set",
        without="without the no_grad_set",
    )
    CONSTANT = VerdictRow(
        "through a gradient that is a constant",
        VerdictKind.ARRIVED,
        GradientState.NUMBERS,
        rule="GT109",
        advice=Advice(
            "{gradient_of}(…, create_graph=True), or detach() what is meant to be a constant", ("a constant gradient",)
        ),
    )
    NOT_LISTED = VerdictRow(
        "not in {listed}",
        VerdictKind.STATE,
        GradientState.NUMBERS,
        rule="GT701",
        value="not in parameter_list",
        aspects=Aspect.NO_OPERATOR,
    )
    UNUSED = VerdictRow(
        "unused in forward",
        VerdictKind.APART,
        GradientState.NONE,
        rule="GT101",
        advice=Advice("use it in forward, or remove it", ("unused",)),
        short="unused",
    )
    NO_PATH = VerdictRow(
        "used, but no path to the loss",
        VerdictKind.APART,
        GradientState.NONE,
        rule="GT102",
        advice=Advice("add what is computed from it to the loss", ("no path",)),
    )
    NON_DIFFERENTIABLE = VerdictRow(
        "non-differentiable op",
        VerdictKind.CUT,
        GradientState.NONE,
        rule="GT104",
        short="no gradient",
        unrecorded="NO_RULE",
        aspects=Aspect.BY_OPERATOR | Aspect.INHERITED | Aspect.FLAT_BY_KIND,
    )
    ARGUMENT = VerdictRow(
        "an argument that gets no gradient",
        VerdictKind.CUT,
        GradientState.NONE,
        rule="GT104",
        aspects=Aspect.BY_OPERATOR,
    )
    INTEGER = VerdictRow(
        "integer dtype",
        VerdictKind.CUT,
        GradientState.NONE,
        rule="GT104",
        advice=Advice("keep floating-point numbers on the path", ("integers",)),
        unrecorded="INTEGERS",
        aspects=Aspect.FLAT_BY_KIND,
    )
    NOT_RETAINED = VerdictRow(
        "non-leaf, not retained",
        VerdictKind.STATE,
        GradientState.NONE,
        advice=Advice("call {retain} on it before backward", ("not retained",)),
    )
    PRUNED = VerdictRow("pruned branch", VerdictKind.ZERO, GradientState.ZERO, rule="GT104")
    FROZEN = VerdictRow(
        "frozen",
        VerdictKind.STATE,
        GradientState.NONE,
        is_finding=False,
        is_intended=True,
        without="if it were not frozen",
        aspects=Aspect.NO_OPERATOR,
    )
    DEAD_RELU = VerdictRow(
        "zero: dead relu",
        VerdictKind.ZERO,
        GradientState.ZERO,
        rule="GT206",
        advice=Advice("a smaller learning rate, another initial bias, or leaky_relu", ("dead relu",)),
        aspects=Aspect.AT_REST | Aspect.FLAT,
    )
    SATURATED = VerdictRow(
        "zero: saturated",
        VerdictKind.ZERO,
        GradientState.ZERO,
        rule="GT206",
        advice=Advice("smaller weights or inputs, or a loss on logits", ("saturated",)),
        aspects=Aspect.FLAT,
    )
    TIMES_ZERO = VerdictRow(
        "zero: multiplied by 0",
        VerdictKind.ZERO,
        GradientState.ZERO,
        rule="GT205",
        aspects=Aspect.BY_VALUE | Aspect.AT_REST,
    )
    CLIPPED = VerdictRow(
        "zero: clipped out of range",
        VerdictKind.ZERO,
        GradientState.ZERO,
        rule="GT205",
        advice=Advice("clip after the loss, or widen the limits", ("clipped",)),
        aspects=Aspect.AT_REST,
    )
    CANCELLED = VerdictRow(
        "zero: cancellation",
        VerdictKind.ZERO,
        GradientState.ZERO,
        rule="GT205",
        advice=Advice("look at the axis of the sum or the mean, or at the sign of one part", ("cancelled",)),
        short="cancelled",
        aspects=Aspect.IN_NUMBERS,
    )
    NOT_SELECTED = VerdictRow(
        "zero: never selected",
        VerdictKind.ZERO,
        GradientState.ZERO,
        rule="GT205",
        aspects=Aspect.BY_VALUE | Aspect.AT_REST,
    )
    AT_MINIMUM = VerdictRow("zero: the loss is at its minimum", VerdictKind.ZERO, GradientState.ZERO, is_finding=False)
    VANISHED = VerdictRow(
        "vanished",
        VerdictKind.SIZE,
        GradientState.ZERO,
        rule="GT204",
        advice=Advice(
            "residual connections, normalisation, or another start of the weights (He, Glorot, orthogonal)",
            ("vanished",),
        ),
        aspects=Aspect.IN_NUMBERS,
    )
    EXPLODED = VerdictRow(
        "exploded",
        VerdictKind.SIZE,
        GradientState.NUMBERS,
        rule="GT203",
        advice=Advice(
            "clip gradients, normalise between layers, or start with smaller or orthogonal weights", ("exploded",)
        ),
        aspects=Aspect.IN_NUMBERS,
    )
    LARGE = VerdictRow("large", VerdictKind.SIZE, GradientState.NUMBERS, rule="GT203")
    SMALL = VerdictRow("small", VerdictKind.SIZE, GradientState.NUMBERS, rule="GT204")
    UNSEEN = VerdictRow(
        "not in the graph: the cause was not seen", VerdictKind.STATE, GradientState.NONE, aspects=Aspect.UNSEEN
    )
    UNSEEN_ZERO = VerdictRow(
        "zero: the cause was not seen", VerdictKind.ZERO, GradientState.ZERO, aspects=Aspect.UNSEEN
    )
    CLEARED = VerdictRow("zero: cleared before the step", VerdictKind.TIME, GradientState.ZERO, rule="GT205")
    NOT_FINITE = VerdictRow("not finite", VerdictKind.ARRIVED, GradientState.NUMBERS, rule="GT201")
    ACCUMULATED = VerdictRow(
        "accumulated over backward calls without clearing", VerdictKind.TIME, GradientState.NUMBERS, rule="GT106"
    )
    # Of a backward call that raised: no tensor has got anything from it.
    FREED = VerdictRow("freed graph", VerdictKind.TIME, GradientState.NONE, rule="GT108")
    OVERWRITTEN = VerdictRow("overwritten in place", VerdictKind.TIME, GradientState.NONE, rule="GT108")

    @property
    def text(self) -> str:
        """The verdict in the words of the framework in use."""
        return say(self.row.text)

    @property
    def short(self) -> str:
        """The verdict in a table, in the words of the framework in use."""
        return say(self.row.short or self.row.text)

    @property
    def is_finding(self) -> bool:
        """True where something is wrong, unless the case at hand says otherwise."""
        return self.row.is_finding

    @property
    def is_intended(self) -> bool:
        """True where somebody wanted it so."""
        return self.row.is_intended

    @property
    def is_zero(self) -> bool:
        """True where there is a gradient, and it is zero."""
        return self.row.grad is GradientState.ZERO

    @property
    def is_size(self) -> bool:
        """True for verdicts about how small or large the gradient is."""
        return self.row.kind is VerdictKind.SIZE

    @property
    def is_apart(self) -> bool:
        """True where the loss is not computed from the tensor."""
        return self.row.kind is VerdictKind.APART

    @property
    def is_cut(self) -> bool:
        """True where no gradient comes back along the way from the loss."""
        return self.row.kind is VerdictKind.CUT

    @property
    def arrives(self) -> bool:
        """True where a gradient arrives that the numbers show, unless these are zero."""
        return self.row.kind is VerdictKind.ARRIVED or self.is_size

    @property
    def rank(self) -> int:
        """Return how much it says where several passes have different verdicts.

        Where a gradient came and is zero more is known than where none came, and least where nothing uses the tensor.
        """
        return 2 if self.is_zero else 0 if self.is_apart else 1

    def has(self, aspect: Aspect) -> bool:
        """Return whether the verdict has *aspect*."""
        return bool(self.row.aspects & aspect)


UNRECORDED = {verdict.row.unrecorded: verdict for verdict in Verdict if verdict.row.unrecorded}
"""By the name of the reason for which a call was not recorded, the verdict."""

BY_STRUCTURE = "zero by structure"
"""What is said of a gradient that is 0 but for rounding, whatever the weights are."""
