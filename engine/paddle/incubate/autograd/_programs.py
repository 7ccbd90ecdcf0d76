"""Derivatives in static programs, forwards and backwards, and the switch that Paddle has for its forward mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.autodiff.gradients import gradients
from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.ir.variable import Variable


class PrimitivesError(UsageError, RuntimeError):
    """Forward mode without its switch (Paddle raises RuntimeError)."""


class _Switch:
    """Switch for forward mode in this process."""

    on = False


def enable_prim() -> None:
    """Switch forward mode on: :func:`forward_grad` may be called in static programs from now on.

    Operators stay what they are. Paddle takes them apart into simpler ones first, which gradtool need not do.

    Raises:
        ModeError: in dynamic mode (an AssertionError).
    """
    state.require_static("enable_prim")
    _Switch.on = True


def disable_prim() -> None:
    """Switch forward mode off again.

    Raises:
        ModeError: in dynamic mode (an AssertionError).
    """
    state.require_static("disable_prim")
    _Switch.on = False


def prim_enabled() -> bool:
    """Return whether :func:`enable_prim` was called last."""
    return _Switch.on


def prim2orig(block: Any = None, blacklist: Any = None) -> None:
    """Nothing: programs hold the operators that were written, which Paddle would have to put back here.

    Args:
        block, blacklist: which operators to put back.

    Raises:
        ModeError: in dynamic mode (an AssertionError).
    """
    state.require_static("prim2orig")


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None) -> Any:
    """The gradients of *outputs* by *inputs*, as ``paddle.static.gradients`` appends them.

    Args:
        outputs, inputs: a Variable or a sequence of them.
        grad_outputs: for each output the gradient to start from; ones by default.

    Returns:
        A Variable (None where there is no way) for a single input, a list for a sequence.

    Raises:
        ModeError: in dynamic mode (an AssertionError).
    """
    state.require_static("grad")
    results = gradients(_listed(outputs), _listed(inputs), grad_outputs)
    return results[0] if isinstance(inputs, Variable) else results


def forward_grad(outputs: Any, inputs: Any, grad_inputs: Any = None) -> Any:
    """The derivatives of *outputs* in the direction *grad_inputs*, appended to the program.

    A gradient is linear in what it starts from: differentiated by that, it gives the derivative forwards.

    Args:
        outputs, inputs: a Variable or a sequence of them.
        grad_inputs: the direction, like *inputs*; ones by default.

    Returns:
        A Variable (None where there is no way) for a single output, a list for a sequence.

    Raises:
        ModeError: in dynamic mode (an AssertionError).
        PrimitivesError: without :func:`enable_prim` (a RuntimeError).
        ArgumentTypeError: something else than variables (a TypeError).
        UsageError: an input with stop_gradient=True, or another number of directions (a ValueError).

    >>> from gradtool import paddle
    >>> from gradtool.paddle.incubate.autograd import disable_prim, enable_prim, forward_grad
    >>> paddle.enable_static()
    >>> enable_prim()
    >>> x = paddle.static.data("x", [2], "float32")
    >>> x.stop_gradient = False
    >>> slope = forward_grad(x * x, x)
    >>> import numpy
    >>> paddle.static.Executor().run(feed={"x": numpy.array([1, 3], "float32")}, fetch_list=[slope])[0].tolist()
    [2.0, 6.0]
    >>> disable_prim()
    """
    state.require_static("forward_grad")
    if not _Switch.on:
        raise PrimitivesError(
            "forward_grad must be running on primitiveoperators, use enable_prim to turn it on.",
            hint="call paddle.incubate.autograd.enable_prim() first",
        )
    targets, points = _listed(outputs), _listed(inputs)
    directions = _listed(grad_inputs) if grad_inputs is not None else [None] * len(points)
    if len(directions) != len(points):
        raise UsageError(f"forward_grad: grad_inputs has {len(directions)} variables, and inputs {len(points)}.")
    for point in points:
        if point.stop_gradient:
            raise UsageError(
                f"forward_grad: '{point.name}' has stop_gradient=True, so nothing of what is computed from it changes.",
                hint=f"set {point.name}.stop_gradient = False before anything is computed from it",
            )
    from gradtool.paddle._creation import zeros_like

    starts: list[Any] = [zeros_like(t) for t in targets]
    for start in starts:
        start.stop_gradient = False
    products = gradients(targets, points, starts)
    reached = [(p, d) for p, d in zip(products, directions, strict=True) if p is not None]
    slopes: list[Any] = [None] * len(targets)
    if reached:
        slopes = gradients([p for p, _ in reached], starts, [d for _, d in reached])
    return slopes[0] if isinstance(outputs, Variable) else slopes


def _listed(value: Any) -> list[Variable]:
    """The variables of a sequence, or a single one in a list."""
    entries = [value] if isinstance(value, Variable) or not isinstance(value, Sequence) else [*value]
    for entry in entries:
        if not isinstance(entry, Variable):
            raise ArgumentTypeError(f"a Variable of a static program is needed, but received {type(entry).__name__}.")
    return entries
