"""What becomes of each argument of a call: codes of a row of the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.arguments.calls import operands_of, reals
from tests.paddle_values.outcome import carries, flat

NONE, GRADIENT = 0, 1
"""No gradient, or one (it may be zero)."""


def outcome(paddle: Any, text: str) -> dict[str, list[Any]]:
    """Return codes by argument, in the order of :func:`reals`.

    ``together``: the gradient where all of them need one. ``alone``: whether a result needs a gradient (1) or has
    ``stop_gradient`` (0) where this one alone needs one; Paddle cannot always compute that gradient.
    """
    names = reals(text)
    roots, leaves = _call(paddle, text, names)
    together = [NONE] * len(names)
    if roots:
        gradients = paddle.grad(roots, leaves, allow_unused=True)
        together = [NONE if g is None else GRADIENT for g in gradients]
    alone = [int(bool(_call(paddle, text, [name])[0])) for name in names]
    return {"together": [np.array(together)], "alone": [np.array(alone)]}


def _call(paddle: Any, text: str, leaves: list[str]) -> tuple[list[Any], list[Any]]:
    """Return the results of a call that need a gradient, and the arguments that were made to need one."""
    paddle.seed(0)
    operands = {name: paddle.to_tensor(value) for name, value in operands_of(text).items()}
    for name in leaves:
        operands[name].stop_gradient = False
    results = flat(eval(text, {"paddle": paddle, "F": paddle.nn.functional, "np": np, **operands}))
    roots = [v for v in results if hasattr(v, "stop_gradient") and not v.stop_gradient and carries(v)]
    return roots, [operands[name] for name in leaves]
