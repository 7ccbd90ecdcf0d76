"""Why a variable gets a gradient, or none.

:func:`explain` follows a program from its targets to its inputs twice: once along every dependency, once the way the
backward sweep goes, and remembers where the second walk ended although the first went on. It changes nothing, and its
time grows in proportion to the operators.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from . import source
from .autodiff.values import Value, Values, is_update, variable_of
from .ir.operator import Operator, each
from .ir.variable import Parameter, Variable
from .ops.readings import flatten, out_places


class Verdict(enum.Enum):
    """What became of a variable's gradient."""

    OK = "ok"
    UNUSED = "unused"
    NO_PATH = "used, but no path to the loss"
    FROZEN = "frozen (trainable=False)"
    DTYPE = "integer or bool"
    CUT = "cut"


class CutKind(enum.Enum):
    """What ends a path of gradients."""

    NO_GRAD_SET = "no_grad_set"
    STOP_GRADIENT = "stop_gradient"
    DETACHED = "detached"
    NO_RULE = "no gradient"
    NO_SLOT = "no gradient for this input"


@dataclass(frozen=True, slots=True)
class Cut:
    """The place where a path of gradients ends, seen from the loss.

    Attributes:
        variable: the variable at which it ends.
        op: the operator that passes no gradient on, or that made the variable; None for data and parameters.
    """

    kind: CutKind
    variable: Variable
    op: Operator | None


@dataclass(frozen=True, slots=True)
class Reason:
    """A verdict on one variable; *cut* says where, for :attr:`Verdict.CUT`."""

    verdict: Verdict
    variable: Variable
    cut: Cut | None = None

    @property
    def text(self) -> str:
        """``cut: stop_gradient of tmp_3, model.py:14``: the reason in a few words."""
        cut = self.cut
        if self.verdict is Verdict.DTYPE:
            return f"cut: {self.variable.dtype.name} has no gradient"
        if cut is None:
            return str(self.verdict.value)
        what: str = cut.kind.value
        if cut.variable is self.variable and cut.kind is not CutKind.NO_SLOT:
            return f"cut: {what}"
        made = cut.op.loc if cut.op is not None else cut.variable.made_at
        place = source.short(made)
        at = f", {place}" if place else ""
        match cut.kind:
            case CutKind.DETACHED:
                return f"cut: detached{at}"
            case CutKind.NO_RULE:
                assert cut.op is not None
                return f"cut: {cut.op.type} has no gradient{at}"
            case CutKind.NO_SLOT:
                assert cut.op is not None
                return f"cut: {cut.op.type} has no gradient for {cut.variable.name}{at}"
            case CutKind.NO_GRAD_SET:
                return f"cut: {what} at {cut.variable.name}{at}"
        return f"cut: {what} of {cut.variable.name}{at}"


class Reasons:
    """Verdicts on every variable of a program; made by :func:`explain`."""

    __slots__ = ("_asked", "_cuts", "_depends", "_reached", "_used", "_values", "no_grad")

    def __init__(self, ops: Sequence[Operator], targets: Iterable[Variable], no_grad: Collection[str]) -> None:
        self._values = values = Values(ops)
        self.no_grad = frozenset(no_grad)
        self._used = {values.read(op, v) for op in ops for v in each(op.inputs)}
        self._asked = {values.current(v) for v in targets}
        self._depends: set[Value] = set(self._asked)
        self._reached: set[Value] = set()
        self._cuts: dict[Value, Cut] = {}
        for value in self._asked:
            stop = self._stop(value)
            if stop is None:
                self._reached.add(value)
            else:
                self._cuts[value] = stop
        for op in reversed(ops):
            self._walk(op)

    def _stop(self, value: Value) -> Cut | None:
        """The cut at the value itself, or None when gradients pass."""
        v = variable_of(value)
        if v.name in self.no_grad:
            return Cut(CutKind.NO_GRAD_SET, v, v.op)
        if not v.stop_gradient:
            return None
        if v.op is not None and v.op.type == "share_data":
            return Cut(CutKind.DETACHED, v, v.op)
        if v.op is not None and not v.op.op.differentiable:
            return Cut(CutKind.NO_RULE, v, v.op)
        return Cut(CutKind.STOP_GRADIENT, v, v.op)

    def _walk(self, op: Operator) -> None:
        if is_update(op):
            return
        values = self._values
        written = [values.written(op, v) for v in each(op.outputs)]
        if not any(value in self._depends for value in written):
            return
        read = [values.read(op, v) for v in each(op.inputs)]
        self._depends.update(read)
        rule = op.op.rule
        wrt: set[Value] = set()
        arrives = False
        if rule is not None:
            outs = flatten(op.outputs, out_places(op.op))
            arrives = any(v is not None and values.written(op, v) in self._reached for v in outs)
            wrt = {values.read(op, v) for v in flatten(op.inputs, rule.wrt) if v is not None}
        inherited = next((self._cuts[value] for value in written if value in self._cuts), None)
        # An output stopped only because all inputs are: what stopped those is the reason.
        passed_on = (
            inherited is not None
            and inherited.kind is CutKind.STOP_GRADIENT
            and inherited.op is op
            and all(v.stop_gradient for v in each(op.inputs))
        )
        for value in read:
            if value in self._reached:
                continue
            if arrives and value in wrt:
                stop = self._stop(value)
                if stop is None:
                    self._reached.add(value)
                    self._cuts.pop(value, None)
                else:
                    self._cuts.setdefault(value, stop)
            elif inherited is not None and not arrives:
                stop = self._stop(value) if passed_on else None
                self._cuts.setdefault(value, stop or inherited)
            elif arrives:
                self._cuts.setdefault(value, Cut(CutKind.NO_SLOT, variable_of(value), op))
            else:
                self._cuts.setdefault(value, Cut(CutKind.NO_RULE, next(each(op.outputs)), op))

    def of(self, v: Variable) -> Reason:
        """The verdict on *v*: on what it holds before the program runs, if it holds something then."""
        values = self._values
        value = values.initial(v) if v.persistable or v.is_data else values.current(v)
        if value in self._reached:
            return Reason(Verdict.OK, v)
        if value not in self._used and value not in self._asked:
            return Reason(Verdict.UNUSED, v)
        if value not in self._depends:
            return Reason(Verdict.NO_PATH, v)
        if v.name in self.no_grad:
            return Reason(Verdict.CUT, v, Cut(CutKind.NO_GRAD_SET, v, v.op))
        if isinstance(v, Parameter) and not v.trainable and v.stop_gradient:
            return Reason(Verdict.FROZEN, v)
        if not v.dtype.is_differentiable:
            return Reason(Verdict.DTYPE, v)
        return Reason(Verdict.CUT, v, self._cuts[value])


def explain(ops: Sequence[Operator], targets: Iterable[Variable], no_grad: Collection[str] = ()) -> Reasons:
    """What a backward pass from *targets* over *ops* reaches, and why it does not reach the rest.

    Args:
        ops: the operators of a block before the backward part is appended, in order of execution.
        targets: the loss, or what ``gradients`` starts from.
        no_grad: the names in the no-grad set, beside the variables with ``stop_gradient``.
    """
    return Reasons(ops, targets, no_grad)
