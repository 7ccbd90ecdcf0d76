"""The backward part of a loss: :func:`differentiate` makes one, for ``append_backward`` and for whoever shows it.

It works on variables; what callers of the public function may pass is checked there (``backward.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..core import source
from ..core.collector import pause_gc
from ..core.errors import LossError
from ..core.records import dataclass
from ..ir import renew, roles
from ..ir.checking import check_program
from ..ir.operator import Operator
from ..ir.variable import Variable
from .backward_builder import EmissionState
from .branch import BackwardPlace, place
from .checkpoints import choose
from .differentiator import Differentiator
from .insertion import call_back, commit
from .values import BlockValues, find_value


@dataclass(frozen=True, slots=True)
class BackwardPart:
    """Operators and variables that :func:`differentiate` has added to a program.

    Attributes:
        pairs: the variables that were asked for and their gradients, in the order asked; without those that no gradient
            reaches. What ``append_backward`` returns.
        ops: the operators that entered the block, in its order: first those between forward operators (copies of
            values that are overwritten later, seeds of random operators that run again), then the backward part. What
            an earlier call had added and this one uses again is not among them.
        recomputed: those of *ops* that run a forward operator again (``op.repeats`` is that operator).
        checkpoints: the variables whose values backward keeps, in the order in which the program computes them; without
            those that the loss does not depend on.
        values: which value of its variables every forward operator reads and writes: the numbering that the sweep went
            by. It holds for the operators that were there before, and for whatever explains them.
    """

    pairs: list[tuple[Variable, Variable]]
    ops: list[Operator]
    recomputed: list[Operator]
    checkpoints: list[Variable]
    values: BlockValues

    @property
    def backward_ops(self) -> list[Operator]:
        """Those of *ops* that belong to the backward part, copies of overwritten values included."""
        return [op for op in self.ops if roles.is_backward(op.role)]


def differentiate(
    loss: Variable,
    stopped: Iterable[Variable | str] = (),
    asked: Iterable[Variable] | None = None,
    *,
    checkpoints: Sequence[Variable] | None = (),
    callbacks: Sequence[Callable[..., Any]] = (),
    where: BackwardPlace | None = None,
) -> BackwardPart:
    """Add the backward part of *loss* to its program, and say what was added.

    Args:
        loss: a variable of one element that an operator computes.
        stopped: variables of block 0, or their names, at which gradients are cut, in addition to all variables with
            ``stop_gradient=True``.
        asked: the variables whose gradients to return; all trainable parameters when None.
        checkpoints: what backward keeps, so that the other values are computed again; empty for all, None for those
            that make the memory least.
        callbacks: called for each new operator; see ``append_backward``.
        where: where the loss and its backward part stand, if the caller has looked already (:func:`find_start`).

    Raises:
        LossError: *loss* has several elements, nothing computes it, or its block is complete (a ValueError).
        NoGradientRule: an operator between the variables and the loss has no gradient (a RuntimeError).

    A call that fails leaves the program as it was.

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [4, 3])
    ...     loss = paddle.mean(paddle.static.nn.fc(x, 2, name="fc"))
    >>> part = differentiate(loss)
    >>> [(p.name, g.name) for p, g in part.pairs]
    [('fc.w_0', 'fc.w_0@GRAD'), ('fc.b_0', 'fc.b_0@GRAD')]
    >>> [op.type for op in part.ops]
    ['fill_constant', 'reduce_mean_grad', 'elementwise_add_grad', 'mul_grad']
    """
    loss = renew.current(loss)
    where = where or find_start(loss, "differentiate")
    program = loss.block.program
    if asked is None:
        asked = [p for p in program.all_parameters() if p.trainable]
    cut = list(stopped)
    if checkpoints is None:
        checkpoints = choose(loss, [v if isinstance(v, str) else v.name for v in cut]).checkpoints
    with pause_gc():
        # Building: nothing of the program changes yet.
        call = EmissionState(program._appending_grad_times + 1, {} if callbacks else None, [*where.new])
        grads = Differentiator(where.block, cut, call, ops=where.ops, target=where.target)
        wrt = [(v, find_value(grads.values, v)) for v in asked]
        grads.namer.keep.update(value for v, value in wrt if not v.is_parameter)
        grads.seed_loss(loss)
        seeds = len(grads.emitted.ops)
        used = grads.recomputed.cut(grads, loss, checkpoints)
        grads.run()
        grads.name_all()
        gradients = [(v, grads.gradient(value)) for v, value in wrt]
        # Entering: callbacks may still refuse, what follows them cannot.
        ops = call_back(grads, callbacks, seeds)
        assert loss.op is not None
        loss.op.role |= roles.LOSS
        between = commit(grads, ops)
        program._appending_grad_times += where.target is None
        pairs = _gradient_pairs(gradients)
    check_program(program, "append_backward")
    repeats = [op for op in ops if op.repeats is not None]
    return BackwardPart(pairs, [*between, *ops] if between else ops, repeats, used, grads.values)


def find_start(loss: Variable, what: str) -> BackwardPlace:
    """Return the place of *loss* and of its backward part, after checking that it can have one.

    Args:
        what: the function that the user called, for messages.

    Raises:
        LossError: *loss* has several elements, nothing computes it, or its block is complete (a ValueError).
        UnsupportedError: the body of a loop is being built (a ValueError).
    """
    where = place(loss, what)
    if loss.op is None:
        raise LossError(
            f"the loss '{loss.name}' is not computed by any operator.",
            variable=loss.name,
            made=source.describe(loss.made_at),
            hint="a fed variable or a parameter has no backward part; compute a loss from it first",
        )
    if loss.spec.count != 1:
        raise LossError(
            f"the loss '{loss.name}' must have one element, but its shape is {list(loss.shape)}.",
            variable=loss.name,
            made=source.describe(loss.made_at),
            hint="reduce it, for example with paddle.mean, or use static.gradients, which takes targets of any shape",
        )
    return where


def _gradient_pairs(gradients: Iterable[tuple[Variable, Variable | None]]) -> list[tuple[Variable, Variable]]:
    """The variables that have a gradient, with it.

    Each pair is written into ``op_role_var`` of the operator that makes the gradient, later ones first.
    """
    pairs = [(p, g) for p, g in gradients if g is not None]
    for p, g in pairs:
        op = g.op
        if op is None:
            continue
        noted = zip(op.role_var[::2], op.role_var[1::2], strict=True)
        if (p.name, g.name) not in noted:
            op.role_var = (p.name, g.name, *op.role_var)
    return pairs
