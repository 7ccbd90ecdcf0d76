"""The loss of a program that was saved without one: its outputs compared with a label, or their sum."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradtool import paddle

from ..core import source, state
from ..core.command_errors import CommandError, unknown
from ..core.notes import Notes
from ..core.wording import count
from ..ir import default
from ..ir.program import Program
from ..ir.variable import Variable
from ..request.request import Request
from ..script.script_state import Loaded

LABEL = "label"
"""What the label is called where nobody says it."""


def add_loss(left: Loaded, outputs: Sequence[str] | None, request: Request, notes: Notes) -> Variable | None:
    """The loss that is computed behind the program that *left* holds, or its one output that is a number.

    None where none is asked for, or where ``--loss`` names one.

    Args:
        outputs: the names of what the program computes; None where the file does not say.

    Raises:
        CommandError: no output, or several, where one is compared; a label that does not fit.
    """
    program = left.main
    if request.objective.loss_fn is None:
        if request.objective.label is not None:
            raise CommandError("--label names what --loss-fn compares with", "--loss-fn mse, or cross_entropy")
        candidates = _real(program, [request.objective.loss] if request.objective.loss is not None else outputs or ())
        if request.objective.loss is None and not request.objective.need_loss:
            return None
        single = [v for v in candidates if v.spec.count == 1]
        if len(single) == 1:
            return single[0] if request.objective.loss is None else None
        return _sum(left, candidates, notes)
    output = _find_output(left, outputs, request)
    with _append_behind(program, output):
        label = _label(program, request, output)
        return _FUNCTIONS[request.objective.loss_fn](output, label)  # type: ignore[no-any-return]


def _real(program: Program, names: Sequence[str]) -> list[Variable]:
    """Those of the variables that hold real numbers."""
    there = program.global_block().vars
    return [there[n] for n in names if n in there and there[n].dtype.is_floating and there[n].op is not None]


def _sum(left: Loaded, outputs: Sequence[Variable], notes: Notes) -> Variable | None:
    """The sum of all elements of all outputs."""
    if not outputs:
        return None
    with _append_behind(left.main, outputs[-1]):
        sums = [paddle.sum(_weigh(v)) if v.spec.count != 1 else v for v in outputs]
        kind = sums[0].dtype
        whole = sums[0]
        for v in sums[1:]:
            whole = paddle.add(whole, v if v.dtype == kind else paddle.cast(v, kind))
    names = ", ".join(v.name for v in outputs)
    what = "its output" if len(outputs) == 1 else f"its {count(len(outputs), 'output')}"
    notes.note(
        f"{left.name} has no loss: the sum of {what} {names} is taken{_why_weighted(outputs)}; "
        "--loss NAME names one, --loss-fn mse or cross_entropy compares with --label NAME"
    )
    return whole


_OF_FIXED_SUM = frozenset({"softmax", "layer_norm", "instance_norm", "group_norm"})
"""Operators whose results have a sum that hardly depends on what they read: its gradient is zero but for rounding."""


def _maker(v: Variable) -> str:
    """The type of the operator that computes *v*, before what only names it anew."""
    while v.op is not None and v.op.type in ("assign", "scale") and isinstance(v.op.inputs[0], Variable):
        v = v.op.inputs[0]
    return "" if v.op is None else v.op.type


def _needs_weights(v: Variable) -> bool:
    return bool(v.shape) and v.shape[-1] > 1 and _maker(v) in _OF_FIXED_SUM


def _weigh(v: Variable) -> Any:
    """*v* times weights from near 0 to 1 along its last axis, where its plain sum would say nothing."""
    if not _needs_weights(v):
        return v
    size = v.shape[-1]
    return paddle.multiply(v, paddle.assign(np.arange(1, size + 1).astype(v.dtype.name) / v.dtype.numpy.type(size)))


def _why_weighted(outputs: Sequence[Variable]) -> str:
    kinds = dict.fromkeys(_maker(v) for v in outputs if v.spec.count != 1 and _needs_weights(v))
    return (
        f", with weights up to 1 along the last axis, since what {' and '.join(kinds)} gives has a fixed sum"
        if kinds
        else ""
    )


def _find_output(left: Loaded, outputs: Sequence[str] | None, request: Request) -> Variable:
    there = left.main.global_block().vars
    if request.objective.loss is not None:
        if request.objective.loss not in there:
            raise unknown("output", request.objective.loss, [*(outputs or ()), *there])
        return there[request.objective.loss]
    candidates = _real(left.main, outputs) if outputs is not None else _unread(left.main)
    if len(candidates) != 1:
        names = ", ".join(v.name for v in candidates) or "none"
        raise CommandError(
            f"--loss-fn compares one output of {left.name} with the label, and there are: {names}", "--loss NAME"
        )
    return candidates[0]


def _unread(program: Program) -> list[Variable]:
    """Return the variables that the program computes and does not read."""
    ops = program.global_block().ops
    read = {v for op in ops for v in op.input_variables()}
    made = dict.fromkeys(v for op in ops for v in op.output_variables())
    return [v for v in made if v not in read and v.dtype.is_floating and not v.stop_gradient]


@contextlib.contextmanager
def _append_behind(program: Program, after: Variable) -> Iterator[None]:
    """Put the operators made inside the context behind *program*, and their place where that of *after* is."""
    state.enable_static()
    before = source.pretend(None if after.op is None else after.op.loc)
    try:
        with default.program_guard(program, Program()):
            yield
    finally:
        source.pretend(before)


def _label(program: Program, request: Request, output: Variable) -> Variable:
    """Return the variable that the output is compared with: an input of the program, or one that is added."""
    name = request.objective.label or LABEL
    existing = program.global_block().vars.get(name)
    if existing is not None:
        if not existing.is_data:
            raise CommandError(f"--label {name} is computed, and a label is fed", "another name adds an input")
        return existing
    if request.objective.loss_fn == "mse":
        return paddle.static.data(name, list(output.shape), output.dtype)  # type: ignore[no-any-return]
    if not output.shape:
        raise CommandError(f"cross_entropy takes scores of classes, and {output.name} is one number", "--loss-fn mse")
    return paddle.static.data(name, list(output.shape[:-1]), "int64")  # type: ignore[no-any-return]


def _squares(output: Variable, label: Variable) -> Any:
    return paddle.nn.functional.mse_loss(output, label)


def _classes(output: Variable, label: Variable) -> Any:
    """Classes lie along the last axis."""
    return paddle.nn.functional.cross_entropy(output, label)


_FUNCTIONS = {"mse": _squares, "cross_entropy": _classes}
"""``limits.LOSS_FUNCTIONS``."""
