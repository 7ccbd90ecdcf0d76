"""What a call gives in dynamic mode: values, types, and gradients of first and second order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.paddle_values.operands import names_in, values, weights

Outcome = dict[str, Any]
"""``results``, ``first`` and ``second``: lists of arrays, None for no gradient; without the latter two where there are
none, or where Paddle cannot differentiate any further."""


def outcome(paddle: Any, text: str, arrays: Mapping[str, Any] | None = None) -> Outcome:
    """The call *text*, with either library.

    Args:
        arrays: the operands that it names; those of the table by default.
    """
    arrays = {name: values(name) for name in names_in(text)} if arrays is None else arrays
    operands = {name: paddle.to_tensor(value) for name, value in arrays.items()}
    leaves = [v for v in operands.values() if carries(v)]
    for leaf in leaves:
        leaf.stop_gradient = False
    results = flat(eval(text, {"paddle": paddle, "F": paddle.nn.functional, "np": np, **operands}))
    outcome: Outcome = {"results": [array(v) for v in results]}
    roots = [v for v in results if hasattr(v, "stop_gradient") and not v.stop_gradient and carries(v)]
    if not roots or not leaves:
        return outcome
    first = gradients(paddle, roots, leaves, 1)
    outcome["first"] = [array(g) for g in first]
    again = [g for g in first if g is not None and not g.stop_gradient]
    if not again:
        return outcome
    try:
        second = gradients(paddle, again, leaves, 2)
    except (RuntimeError, ValueError):
        return outcome
    outcome["second"] = [array(g) for g in second]
    return outcome


def gradients(paddle: Any, roots: Sequence[Any], leaves: Sequence[Any], turn: int) -> list[Any]:
    """The gradients of *roots*, weighed."""
    starts = [paddle.to_tensor(weights(tuple(r.shape), r.numpy().dtype, turn)) for r in roots]
    try:
        return paddle.grad(roots, leaves, starts, create_graph=True, retain_graph=True, allow_unused=True)
    except (RuntimeError, ValueError):
        if turn == 2:
            raise
        return paddle.grad(roots, leaves, starts, retain_graph=True, allow_unused=True)


def flat(value: Any) -> list[Any]:
    return [e for v in value for e in flat(v)] if isinstance(value, (list, tuple)) else [value]


def carries(tensor: Any) -> bool:
    return str(tensor.dtype).rpartition(".")[2].lower().startswith(("float", "complex"))


def array(value: Any) -> Any:
    if value is None:
        return None
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


# -- as text -----------------------------------------------------------------------------------------------------------


def written(part: Any) -> Any:
    """An array as JSON holds it: type, shape, and the numbers in order."""
    if part is None:
        return None
    numbers = part.reshape(-1)
    if part.dtype.kind == "c":
        numbers = np.stack([numbers.real, numbers.imag], -1).reshape(-1)
    return [part.dtype.name, list(part.shape), [_short(n) for n in numbers.tolist()]]


def _short(number: Any) -> Any:
    return float(f"{number:.12g}") if isinstance(number, float) else number


def read(text: Any) -> Any:
    """The array that was written."""
    if text is None:
        return None
    dtype, shape, numbers = text
    if dtype.startswith("complex"):
        parts = np.array(numbers, "float64").reshape(-1, 2)
        return (parts[:, 0] + 1j * parts[:, 1]).astype(dtype).reshape(shape)
    return np.array(numbers, dtype).reshape(shape)
