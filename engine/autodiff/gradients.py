"""``gradients`` and the legacy ``calc_gradient``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core import source, state
from ..core.collector import pause_gc
from ..core.errors import ElementTypeError, EmptyArgumentError, ShapeError, UnsupportedError, UsageError, expect_type
from ..ir import renew
from ..ir.checking import check_program
from ..ir.operator import Operator, each
from ..ir.program import Block
from ..ir.variable import Variable
from .backward import no_grad_entries
from .backward_builder import EmissionState
from .branch import place
from .differentiator import Differentiator
from .insertion import commit
from .values import BlockValues, Value, find_value

Variables = Variable | Sequence[Variable]


def gradients(
    targets: Variables,
    inputs: Variables,
    target_gradients: Variable | Sequence[Variable | None] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
) -> list[Variable | None]:
    """Append operators that compute the gradients of *targets* with respect to *inputs*.

    Args:
        targets: what is differentiated; several targets add up.
        inputs: what by.
        target_gradients: for each target the gradient to start from; None stands for ones.
        no_grad_set: variables of block 0 (or their names) that count as constants.

    Returns:
        One entry per input, in order: its gradient, or None for an input that does not matter.

    Raises:
        ArgumentTypeError: an argument of a wrong type (a TypeError).
        ShapeError: a target gradient of another shape than its target (a ValueError).
        UsageError: another number of target gradients than targets (a ValueError).

    Called on its own results it gives derivatives of any order.
    """
    state.require_static("gradients")
    asked = _variables(targets, "targets")
    targets_ = [renew.current(v) for v in asked]
    inputs_ = _variables(inputs, "inputs")
    if not targets_:
        raise EmptyArgumentError("'targets' of gradients must hold at least one variable.")
    starts = _target_gradients(target_gradients, targets_)
    where = place(targets_[0], "paddle.static.gradients")
    if where.target is not None:
        raise UnsupportedError(
            "gradients inside a branch or a loop body are not part of this version of gradtool.",
            hint="call it on what static.nn.cond or while_loop returns",
        )
    block = targets_[0].block.program.global_block()
    stopped = no_grad_entries(block, no_grad_set, "paddle.static.gradients")
    program = block.program
    with pause_gc():
        grads = Differentiator(block, stopped, EmissionState(program._appending_grad_times + 1))
        for target, gradient in zip(targets_, starts, strict=True):
            if gradient is None:
                grads.seed_ones(target)
            else:
                grads.seed_given(target, gradient)
        wrt = [find_value(grads.values, v) for v in inputs_]
        reached = _dependents(block, grads.values, wrt)
        grads.namer.keep.update(wrt)
        grads.run(lambda op: op in reached)
        grads.name_all()
        results = [grads.gradient(value) for value in wrt]
        commit(grads, grads.emitted.ops)
        program._appending_grad_times += 1
    check_program(program, "gradients")
    state.derived.note(asked)
    return results


def calc_gradient(
    targets: Variables,
    inputs: Variables,
    target_gradients: Variable | Sequence[Variable | None] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
) -> Variable | list[Variable | None] | None:
    """As :func:`gradients`, but for exactly one input its gradient itself (or None), not a list."""
    results = gradients(targets, inputs, target_gradients, no_grad_set)
    return results[0] if len(results) == 1 else results


def _dependents(block: Block, values: BlockValues, inputs: list[Value]) -> set[Operator]:
    """The operators that depend on *inputs*."""
    reached = set(inputs)
    ops = set()
    for op in block.ops:
        if op.op.differentiable and any(values.read(op, v) in reached for v in each(op.inputs)):
            ops.add(op)
            reached.update(values.written(op, v) for v in each(op.outputs))
    return ops


def _variables(argument: Any, what: str) -> list[Variable]:
    expect_type(argument, (Variable, list, tuple), what, "paddle.static.gradients")
    variables = [argument] if isinstance(argument, Variable) else list(argument)
    for i, v in enumerate(variables):
        if not isinstance(v, Variable):
            raise ElementTypeError(
                f"The type of '{what}[{i}]' in paddle.static.gradients must be Variable, "
                f"but received {type(v).__name__}."
            )
    return variables


def _target_gradients(argument: Any, targets: list[Variable]) -> list[Variable | None]:
    if argument is None:
        return [None] * len(targets)
    expect_type(argument, (Variable, list, tuple), "target_gradients", "paddle.static.gradients")
    gradients = [argument] if isinstance(argument, Variable) else list(argument)
    if len(gradients) != len(targets):
        raise UsageError(f"gradients got {len(targets)} targets and {len(gradients)} target_gradients.")
    for target, gradient in zip(targets, gradients, strict=True):
        expect_type(gradient, (Variable, type(None)), "target_gradients", "paddle.static.gradients")
        if gradient is not None and gradient.shape != target.shape:
            raise ShapeError(
                f"The shapes of target '{target.name}' {list(target.shape)} and of its gradient "
                f"'{gradient.name}' {list(gradient.shape)} differ.",
                made=source.describe(gradient.made_at),
            )
    return gradients
