"""Points where operators have no derivative: what each of them chose.

Between two inputs that an operator treats alike it is smooth. So the choice is what a gradient check compares: which
elements passed a relu, which one was the largest. Operators that are not here have no kink.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Choose = Callable[[Any, Sequence[Any], Sequence[Any], Mapping[str, Any]], Any]
"""The array module, what the operator read and gave, its attributes -> what it chose, an array of that module."""


def _sign(*at: float) -> Choose:
    """On which side of each of these numbers the elements are; at one of them counts as a side of its own.

    Complex numbers have no sides: those at one of the numbers count.
    """

    def choose(xp: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        if getattr(getattr(ins[0], "dtype", None), "kind", "") == "c":
            return xp.stack([ins[0] == a for a in at])
        return xp.stack([xp.sign(ins[0] - a) for a in at])

    return choose


def _attrs_choice(*names: str) -> Choose:
    return lambda xp, ins, outs, attrs: xp.stack([xp.sign(ins[0] - float(attrs[n])) for n in names])


def _compare_choice(xp: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    x, y = ins[0], ins[1]
    axis = int(attrs.get("axis", -1))
    if axis >= 0 and 0 < y.ndim < x.ndim - axis:
        y = y.reshape((*y.shape, *[1] * (x.ndim - axis - y.ndim)))
    return xp.sign(x - y)


def _result(xp: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    return xp.asarray(outs[0])


def _second(xp: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    return xp.asarray(outs[1])


def _extreme(xp: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """Return which elements equal the result, the extreme of the reduced dimensions, wherever these are."""
    x = xp.asarray(ins[0])
    axes = attrs.get("dim") or ()
    every = attrs.get("reduce_all") or not axes
    reduced = tuple(range(x.ndim)) if every else tuple(a % x.ndim for a in axes)
    out = xp.asarray(outs[0]).reshape([1 if i in reduced else n for i, n in enumerate(x.shape)])
    return x == out


def _largest(xp: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """Return which elements are among the results, wherever these lie."""
    return xp.isin(ins[0], outs[0])


def _clip_choice(xp: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    low = ins[1] if len(ins) > 1 and ins[1] is not None else attrs["min"]
    high = ins[2] if len(ins) > 2 and ins[2] is not None else attrs["max"]
    return xp.stack([xp.sign(ins[0] - low), xp.sign(ins[0] - high)])


def _pool_choice(xp: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    if attrs.get("pooling_type") != "max":
        return None
    return xp.isin(ins[0], outs[0])


OWN: dict[str, Choose] = {
    **dict.fromkeys(("relu", "abs", "sign", "leaky_relu", "prelu", "elu", "celu", "selu"), _sign(0.0)),
    "relu6": _sign(0.0, 6.0),
    "brelu": _attrs_choice("t_min", "t_max"),
    "thresholded_relu": _attrs_choice("threshold"),
    "hard_shrink": lambda xp, ins, outs, attrs: xp.sign(xp.abs(ins[0]) - attrs["threshold"]),
    "softshrink": lambda xp, ins, outs, attrs: xp.sign(xp.abs(ins[0]) - attrs["lambda"]),
    "hard_sigmoid": lambda xp, ins, outs, attrs: xp.stack([outs[0] == 0, outs[0] == 1]),
    "hard_swish": lambda xp, ins, outs, attrs: xp.stack([xp.sign(ins[0] + 3), xp.sign(ins[0] - 3)]),
    "huber_loss": lambda xp, ins, outs, attrs: xp.sign(xp.abs(ins[0] - ins[1]) - attrs["delta"]),
    "clip": _clip_choice,
    **dict.fromkeys(("elementwise_max", "elementwise_min"), _compare_choice),
    **dict.fromkeys(("reduce_max", "reduce_min", "reduce_amax", "reduce_amin"), _extreme),
    **dict.fromkeys(("floor", "ceil", "round", "elementwise_floordiv"), _result),
    "elementwise_mod": lambda xp, ins, outs, attrs: xp.floor(ins[0] / ins[1]),
    **dict.fromkeys(("max_pool2d_with_index", "argsort", "top_k_v2"), _second),
    "pool2d": _pool_choice,
    **dict.fromkeys(("arg_max", "arg_min"), _result),
    **dict.fromkeys(
        ("greater_than", "greater_equal", "less_than", "less_equal", "equal", "not_equal"),
        _result,
    ),
}
"""By operator: what it chose, as an array."""

OF_PYTORCH: dict[str, Choose] = {
    **dict.fromkeys(("hardswish", "hardsigmoid"), _sign(-3.0, 3.0)),
    "threshold": _attrs_choice("threshold"),
    "hardshrink": lambda xp, ins, outs, attrs: xp.sign(xp.abs(ins[0]) - attrs.get("lambd", 0.5)),
    "smooth_l1_loss": lambda xp, ins, outs, attrs: xp.sign(xp.abs(ins[0] - ins[1]) - attrs.get("beta", 1.0)),
    **dict.fromkeys(("max", "min", "amax", "amin"), _largest),
}
"""The same of operators that gradtool has no definition of, by the names that PyTorch gives them."""

CHOICES = OWN | OF_PYTORCH


def choice(xp: Any, type_: str, attrs: Mapping[str, Any], operands: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """Return what an operator of that type chose, an array of the module *xp*.

    None where there is nothing to choose.
    """
    choose = CHOICES.get(type_)
    if choose is not None:
        return choose(xp, operands, outputs, attrs)
    # Whole numbers and truth values that an operator makes of others: places, ranks, comparisons.
    if any(getattr(getattr(o, "dtype", None), "kind", "") in "fc" for o in operands):
        return next((o for o in outputs if getattr(getattr(o, "dtype", None), "kind", "") in tuple("biu")), None)
    return None
