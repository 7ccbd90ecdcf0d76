"""``static.nn.static_pylayer``: a part of a program whose gradients the user writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, ModeError, ShapeError, UsageError
from gradtool.engine.core.names import grad
from gradtool.engine.ir import blocks, default, roles
from gradtool.engine.ir.holders import append
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.transaction import append_or_nothing
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _creation
from gradtool.paddle._structure import leaves, mapped

from ._branches import copied_out

_HERE = "paddle.static.nn.static_pylayer"


class PyLayerArgumentError(ArgumentTypeError, AssertionError):
    """An argument of a wrong type (Paddle raises AssertionError)."""


def static_pylayer(
    forward_fn: Callable[..., Any],
    inputs: list[Any],
    backward_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """Call *forward_fn* on *inputs*, with the gradients that *backward_fn* computes.

    Args:
        forward_fn: takes the inputs; returns a variable, or a nested list or tuple of them.
        inputs: a list of variables.
        backward_fn: takes the gradients of the results and returns those of the inputs, one for each (None for one
            without); without it the inputs must not need gradients.

    Returns:
        The results, in the structure that *forward_fn* returns.

    Raises:
        PyLayerArgumentError: *inputs* is no list, or a function is not callable (an AssertionError).
        UsageError: there is no *backward_fn*, and an input needs a gradient; or it returns another number of gradients
            than there are inputs (a ValueError).
    """
    if not state.in_static_mode():
        raise ModeError(
            f"{_HERE} builds static programs, and dynamic mode is on.",
            hint="use paddle.autograd.PyLayer, or call paddle.enable_static() before it",
        )
    if not isinstance(inputs, list) or not all(isinstance(v, Variable) for v in inputs):
        raise PyLayerArgumentError(f"{_HERE}: inputs must be a list of variables.")
    if not callable(forward_fn):
        raise PyLayerArgumentError(f"{_HERE}: forward_fn must be callable.")
    if backward_fn is None:
        for v in inputs:
            if not v.stop_gradient:
                raise UsageError(
                    "``stop_gradient`` attr of all inputs to ``forward_fn`` are expected to be True, when "
                    f"``backward_fn == None``, but {v.name}.stop_gradient got {v.stop_gradient}"
                )
    elif not callable(backward_fn):
        raise PyLayerArgumentError(f"{_HERE}: backward_fn must be callable.")
    main = default.default_main_program()
    with append_or_nothing(main, default.default_startup_program()):
        op, results = _forward(main, forward_fn, inputs)
        if backward_fn is not None:
            _backward(main, op, backward_fn)
    return results


def _forward(program: Program, function: Callable[..., Any], inputs: list[Variable]) -> tuple[Operator, Any]:
    parent = program.current_block()
    block = program._create_block()
    returned = function(*inputs)
    results = mapped(lambda v: copied_out(parent, v), returned) if returned is not None else None
    program._rollback()
    outs = [v for v in leaves(results) if isinstance(v, Variable)]
    stop = all(v.stop_gradient for v in inputs)
    for v in outs:
        v.stop_gradient = stop
    scope = parent.create_var(type=blocks.STEP_SCOPES)
    op = append(parent, "pylayer", {"Input": tuple(inputs), "Out": tuple(outs), "Scope": scope}, {"blocks": (block,)})
    return op, results


def _backward(program: Program, op: Operator, function: Callable[..., Any]) -> None:
    """Build the second block of a ``pylayer`` operator."""
    (forward,) = op.attrs["blocks"]
    block = program._create_block()
    block._set_forward_block_idx(forward.idx)
    arriving = []
    for v in blocks.slot(op, "Out"):
        assert v is not None
        outside = block.add_var(Variable(block, grad(v.name), v.spec))
        inside = block.create_var(shape=v.shape, dtype=v.dtype)
        arriving.append(_creation.assign(outside, inside))
    returned = function(*arriving)
    gradients = [returned] if not isinstance(returned, (list, tuple)) else leaves(returned)
    inputs = blocks.slot(op, "Input")
    if len(gradients) != len(inputs):
        raise UsageError(
            f"{_HERE}: backward_fn must return a gradient for each of the {len(inputs)} inputs, "
            f"but returned {len(gradients)}."
        )
    for v, g in zip(inputs, gradients, strict=True):
        assert v is not None
        if g is not None:
            _name(block, g, v)
    program._rollback()
    for inner in block.ops:
        inner.role = roles.BACKWARD
    op.attrs = {"blocks": (forward, block)}


def _name(block: Block, g: Any, v: Variable) -> None:
    """Call the gradient *g* of *v* by the name that ``pylayer_grad`` looks for."""
    if not isinstance(g, Variable):
        raise ArgumentTypeError(f"{_HERE}: backward_fn must return variables or None, but returned {type(g).__name__}.")
    fits = g.ndim == v.ndim and all(m == n or -1 in (m, n) for m, n in zip(g.shape, v.shape, strict=True))
    if not fits or g.dtype is not v.dtype:
        raise ShapeError(f"{_HERE}: backward_fn returns {g.spec} as the gradient of '{v.name}', which is {v.spec}.")
    name = grad(v.name)
    if g.block is not block or name in block.vars or g.name.endswith("@GRAD"):
        target = block.add_var(Variable(block, name, v.spec))
        _creation.assign(g, target)
        return
    del block.vars[g.name]
    g.name = name
    block.vars[name] = g
