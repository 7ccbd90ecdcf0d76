"""``paddle.nn.ClipGradBy*``: keeping gradients small before a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.engine.ir import build, roles
from gradtool.engine.ir.marking import mark
from gradtool.engine.ir.variable import SELECTED_ROWS, Variable
from gradtool.engine.ops import registry
from gradtool.paddle import _creation, _manipulation, _math
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply

from ...engine.core.identity import identity

Pairs = list[tuple[Any, Any]]
"""Parameters with their gradients."""


class NegativeLimit(UsageError, AssertionError):
    """A limit below zero (Paddle raises AssertionError)."""


class ClipGradBase:
    """Base of the gradient clippers: ``clip(pairs)`` gives pairs with clipped gradients.

    Parameters whose ``need_clip`` is False keep their gradients.
    """

    def __call__(self, params_grads: Sequence[tuple[Any, Any]]) -> Pairs:
        return [(p, self._clipped(p, g) if g is not None and clippable(p) else g) for p, g in params_grads]

    def _clipped(self, param: Any, grad: Any) -> Any:
        if not isinstance(grad, Variable):
            return self.one(grad)
        first = len(grad.block.ops)
        clipped = self.one(grad)
        for op in grad.block.ops[first:]:
            op.role, op.role_var = roles.OPTIMIZE, (param.name, clipped.name)
        return clipped

    def one(self, grad: Any) -> Any:
        """A single gradient, clipped."""
        raise TypeError(f"{type(self).__name__} does not say how to clip")


def clippable(param: Any) -> bool:
    """Return whether a parameter takes part in clipping."""
    return bool(getattr(param, "need_clip", True))


class ClipGradByValue(ClipGradBase):
    """Moves every element into the range from *min* to *max*.

    Args:
        min: ``-max`` when None; then *max* must be positive.

    Raises:
        NegativeLimit: *max* is not positive and *min* is None (an AssertionError).
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None and not max > 0:
            raise NegativeLimit(f"ClipGradByValue: max must be positive where min is not given, but received {max}.")
        self.max = float(max)
        self.min = -self.max if min is None else float(min)

    def one(self, grad: Any) -> Any:
        return _math.clip(grad, self.min, self.max)

    def __str__(self) -> str:
        return f"Gradient Clip By Value, min = {self.min:f}, max={self.max:f}"


class ClipGradByNorm(ClipGradBase):
    """Scales each gradient down to the Euclidean norm *clip_norm* where it is longer."""

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = float(clip_norm)

    def one(self, grad: Any) -> Any:
        return apply("clip_by_norm", grad, attrs={"max_norm": self.clip_norm})

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"


class ClipGradByGlobalNorm(ClipGradBase):
    """Scales all gradients by one factor so that together they are no longer than *clip_norm*.

    In a program the scaled gradients take the place of the plain ones, under the same names.

    Args:
        group_name, auto_skip_clip: accepted for compatibility; all parameters of an optimizer are one group.
    """

    def __init__(self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False) -> None:
        self.clip_norm = float(clip_norm)
        self.group_name = group_name
        self.auto_skip_clip = auto_skip_clip

    def __call__(self, params_grads: Sequence[tuple[Any, Any]]) -> Pairs:
        pairs = list(params_grads)
        chosen = [(p, g) for p, g in pairs if g is not None and clippable(p)]
        if not chosen:
            return pairs
        if not isinstance(chosen[0][1], Variable):
            factor = self._factor([_squared_norm(g) for _, g in chosen])
            scaled = {
                identity(g): g * _manipulation.reshape(factor, [1] * bool(g.ndim)).astype(g.dtype) for _, g in chosen
            }
            return [(p, scaled.get(identity(g), g)) for p, g in pairs]
        block = chosen[0][1].block
        norms = []
        for p, g in chosen:
            with mark(block, roles.OPTIMIZE, (p.name, g.name)):
                norms.append(_squared_norm(g))
        last = pairs[-1]
        with mark(block, roles.OPTIMIZE, (last[0].name, last[1].name)):
            factor = self._factor(norms)
        mul = registry.get_by_type("elementwise_mul")
        for p, g in chosen:
            with mark(block, roles.OPTIMIZE, (p.name, g.name)):
                by: Any = factor if g.ndim else _manipulation.reshape(factor, [])
                build.emit(block, mul, (g, by), {}, [g])
        return pairs

    def _factor(self, squared_norms: list[Any]) -> Any:
        """Return the factor for gradients: the limit over the norm where that is larger, else 1."""
        norm = _math.sqrt(_math.add_n(squared_norms))
        limit = _creation.full([1], self.clip_norm, norm.dtype)
        return _math.divide(limit, _math.maximum(limit, norm))

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"


def clip_by_norm(x: Any, max_norm: float, name: str | None = None) -> Any:
    """Return *x*, scaled where its norm is greater than *max_norm*.

    >>> from gradtool import paddle
    >>> clip_by_norm(paddle.to_tensor([3.0, 4.0]), 1.0).tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    return apply("clip_by_norm", tensor(x, "x", "paddle.nn.clip.clip_by_norm"), attrs={"max_norm": float(max_norm)})


def merge_selected_rows(x: Any, name: str | None = None) -> Any:
    """Return a sparse gradient in which the rows of one number are added."""
    return apply("merge_selected_rows", x)


def get_tensor_from_selected_rows(x: Any, name: str | None = None) -> Any:
    """Return the rows of a sparse gradient as a tensor."""
    return apply("get_tensor_from_selected_rows", x)


def _squared_l2_norm(x: Any) -> Any:
    """Return the sum of the squares of *x*."""
    return apply("squared_l2_norm", x)


def _squared_norm(grad: Any) -> Any:
    if isinstance(grad, Variable) and grad.kind == SELECTED_ROWS:
        grad = apply("get_tensor_from_selected_rows", apply("merge_selected_rows", grad))
    return apply("squared_l2_norm", grad)


GradientClipByValue = ClipGradByValue
GradientClipByNorm = ClipGradByNorm
GradientClipByGlobalNorm = ClipGradByGlobalNorm
