"""The gradients of a model as a table: of every parameter or leaf its gradient, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..answers import numbers
from ..answers.numbers import Numbers
from ..answers.why.answers import Answer
from ..answers.why.reasons import FROZEN, Reason
from ..answers.why.statistics import LABEL as STATISTICS
from ..answers.why.verdicts import Verdict
from ..core.answer import Answered
from ..core.records import dataclass
from ..core.source import Place
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..view.graph import op_names
from .about import About, ModelGraph
from .origins import Origin

if TYPE_CHECKING:
    from .program.recomputing import Recomputed

NOT_ASKED = "not in --params"


@dataclass
class GradientRow:
    """A tensor and what became of its gradient.

    Attributes:
        subject: the Variable or Tensor.
        shown: the name that says most to people.
        gradient: its gradient's name, which may be there although it was not asked for.
        operator: the name of the operator that makes the gradient.
        lacking: why it has no gradient or was left out; empty where it gets the gradient that was asked for.
        source: ``model.py:9``, or empty.
        facts: what JSON says of it beside this.
        values: the numbers of the gradient, where it was computed.
        given_by: the lines of the backward calls that gave it, ``model.py:7, 12``; empty where one call gave all.
        held: the numbers of what ``.grad`` held after these calls, where that is something else than the gradient.
        used: the numbers of the gradient that the optimizer went by, where that is something else again: clipped, say.
    """

    subject: Any
    name: str
    shown: str
    shape: Sequence[int]
    dtype: str
    gradient: str | None
    operator: str | None
    lacking: str
    source: Place
    facts: Mapping[str, Any] = field(default_factory=dict)
    values: Numbers | None = None
    given_by: str = ""
    held: Numbers | None = None
    used: Numbers | None = None

    @property
    def has_gradient(self) -> bool:
        """True if it gets the gradient that was asked for, whatever its values are."""
        return not self.lacking

    @property
    def status(self) -> str:
        """Why it lacks the gradient, else what its values are; ``ok`` also where they were not looked at."""
        return self.lacking or (numbers.OK if self.values is None else self.values.state)

    @property
    def counts(self) -> bool:
        """True if a gradient may be expected: of parameters, and of tensors that take one or got one."""
        if self.lacking == STATISTICS or self.facts.get("dropped"):
            return False
        return self.has_gradient or any(self.facts.get(fact) for fact in ("is_parameter", "trainable"))

    @property
    def is_cut(self) -> bool:
        """True if a gradient may be expected and there is none, although nobody froze it or left it out."""
        meant = (FROZEN, Verdict.NOT_LISTED.text)
        return self.counts and not self.has_gradient and not self.lacking.startswith(meant)

    def data(self) -> dict[str, Any]:
        """The row in JSON's types."""
        return {
            "name": self.name,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "gradient": self.gradient,
            "operator": self.operator,
            "status": self.status,
            "source": self.source.data(),
            "values": None if self.values is None else self.values.data(),
            "returned": self.has_gradient,
            **self.facts,
        }

    def origin(self) -> dict[str, Any]:
        """Return the origin of the gradient and its fate, in JSON's types."""
        return {
            "given_by": self.given_by or None,
            "held": None if self.held is None else self.held.data(),
            "used": None if self.used is None else self.used.data(),
        }


@dataclass(frozen=True, slots=True)
class Loss:
    """Tensor that is differentiated.

    Attributes:
        value: None where it was not computed, or is no single number.
    """

    name: str
    shape: Sequence[int]
    dtype: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class GivenLists:
    """The lists that a file gave its own backward call.

    Attributes:
        at: the user's line.
        params: the names in its parameter list; None where it has none.
        no_grad: those in its no-grad set.
    """

    at: Place
    params: Sequence[str] | None
    no_grad: Sequence[str]

    def data(self) -> dict[str, Any]:
        """The lists in JSON's types."""
        params = None if self.params is None else list(self.params)
        return {"source": self.at.data(), "params": params, "no_grad": list(self.no_grad)}


@dataclass
class GradientTable(Answered):
    """Gradients that a backward pass gives, or would give.

    Attributes:
        rows: every parameter or leaf, then other tensors asked for.
        row, rows_: what a row is, and several of them: ``parameter``, ``leaf``.
        pairs: the names of what was asked for and of the gradients that were returned.
        forward, backward: numbers of operators.
        no_grad, params: the names of what the selectors selected; None for no list of parameters.
        shown_no_grad: those of the no-grad set for people.
        removed: how many rows have no gradient because of the no-grad set.
        left_out: how many operators of a backward part that the file made itself were taken out before.
        given: the lists of the file's own backward call, where these decided what is returned.
        recomputed: what checkpoints let be computed again, if there are any.
        computed: whether the gradients have values.
        two_names: whether rows have a name for people beside their own.
        named_gradients: whether gradients have names of their own.
        words: those that ask again about the same model.
        checkpoint_words: those that choose its checkpoints.
        first_cut: the name to ask ``why`` about, if there is one.
        answers: what ``why`` says of the model; empty where nobody watched it compute.
        failure: what it says of the backward pass after this one, which failed, if one did.
        arrays: the gradients, by subject, where they were computed.
        origins: the backward calls of the file that they come from; none where nothing of that kind was run.
        graph: makes what pictures of it are made of.
    """

    about: About
    loss: Loss
    rows: list[GradientRow]
    row: str
    rows_: str
    pairs: list[list[str]]
    forward: int
    backward: int
    no_grad: list[str]
    params: list[str] | None
    removed: int
    computed: bool
    two_names: bool
    named_gradients: bool
    words: list[str]
    graph: Callable[[], ModelGraph]
    shown_no_grad: list[str] = field(default_factory=list)
    left_out: int = 0
    given: GivenLists | None = None
    recomputed: Recomputed | None = None
    checkpoint_words: list[str] = field(default_factory=list)
    first_cut: str | None = None
    answers: Sequence[Answer] = ()
    failure: Answer | None = None
    arrays: dict[Any, Any] = field(default_factory=dict)
    origins: Sequence[Origin] = ()

    @property
    def findings(self) -> int:
        """As in the base: those of ``why``, as far as the gradients were computed."""
        return sum(a.finding for a in self.answers) + (self.failure is not None)

    @property
    def wrong(self) -> set[str]:
        """The names for people of the rows that findings are about."""
        return {name for a in self.answers if a.finding for name in (a.name, *a.also)}

    def status(self, row: GradientRow) -> str:
        """Return the status of a row: why its gradient is cut, what its values are, or what ``why`` knows of either."""
        told = self._answers.get(row.shown)
        if told is None or told.verdict is Verdict.OK or row.status in numbers.NOT_FINITE:
            return row.status
        if row.lacking and told.verdict is not Verdict.FROZEN and not row.lacking.startswith(FROZEN):
            return row.status
        return told.label

    @cached_property
    def _answers(self) -> Mapping[str, Answer]:
        """The answers by the names that they are about."""
        return {name: a for a in self.answers for name in (a.name, *a.also)}

    @cached_property
    def rows_to_count(self) -> Sequence[GradientRow]:
        """The rows that a gradient may be expected of; all where there is none.

        Data is none of them, nor are running statistics, nor what was dropped.
        """
        wrong = self.wrong
        expected = [row for row in self.rows if row.counts or row.shown in wrong]
        return expected or self.rows

    @property
    def gradient_count(self) -> int:
        """Number of rows that get a gradient, also where the file's own list leaves it out."""
        return sum([not r.lacking or r.lacking.startswith(Verdict.NOT_LISTED.text) for r in self.rows_to_count])

    @property
    def skip_count(self) -> int:
        """Number of rows that the parameter list skips."""
        return sum([r.lacking.startswith(NOT_ASKED) for r in self.rows])


def status(reason: Reason[Any, Any], at: str = "") -> str:
    """The status of a tensor that has no gradient, in the words of the command line.

    Args:
        at: the line of the file that gave a no-grad set; empty where the command line did.
    """
    if reason.verdict is Verdict.OK:
        return "cut: the operators on the path pass no gradient"
    if not at:
        return reason.text.replace("cut: no_grad_set", "cut: no_grad_set (--no-grad)")
    return f"{reason.text}, {at}" if reason.text == "cut: no_grad_set" else reason.text


def makers(ops: Iterable[Operator], variables: Iterable[Variable | None]) -> dict[Variable, str]:
    """For those of *variables* that one of *ops* wrote, the name of the operator that wrote it last."""
    writers = {v: v.op for v in variables if v is not None and v.op is not None}
    names = op_names(ops, {*writers.values()})
    return {v: names[op] for v, op in writers.items() if op in names}
