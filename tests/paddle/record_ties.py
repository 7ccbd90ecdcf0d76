"""Values and gradients where several elements are the largest, or where a function has a kink, recorded from Paddle.

Run with an interpreter that has Paddle 3.3.1, from the top of the repository::

    PADDLE/bin/python tests/paddle/record_ties.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).with_name("ties.json")

ROWS = [[3.0, 1.0, 3.0, 3.0], [2.0, 2.0, 0.0, 1.0], [-1.0, -1.0, -1.0, -1.0]]
OTHER = [[3.0, 2.0, 1.0, 3.0], [2.0, 1.0, 0.0, 5.0], [-1.0, 0.0, -2.0, -1.0]]
KINKS = [[-7.0, -6.0, -3.0, -2.0, -1.0, -0.5], [0.0, 0.5, 1.0, 3.0, 6.0, 20.0]]
LINE = [[[2.0, 2.0, 2.0, 1.0, 5.0, 5.0, 5.0]]]
PLANE = [[[[1.0, 4.0, 4.0, 0.0], [4.0, 4.0, 2.0, 2.0], [0.0, -3.0, -3.0, 2.0], [0.0, 7.0, 7.0, 7.0]]]]

Case = tuple[list[Any], Callable[[Any, Any], Any]]


def _cases() -> dict[str, Case]:
    """Name -> the operand, and a function of Paddle (or gradtool) and of it."""
    return {**_extremes(), **_order(), **_kinks(), **_losses(), **_pools()}


def _extremes() -> dict[str, Case]:
    """The largest and smallest elements of one tensor and of two."""
    cases: dict[str, Case] = {}
    for name in ("max", "min", "amax", "amin", "median"):
        cases[name] = ROWS, lambda p, x, name=name: getattr(p, name)(x)
        for axis in (0, 1):
            cases[f"{name} {axis}"] = ROWS, lambda p, x, name=name, axis=axis: getattr(p, name)(x, axis=axis)
    for name in ("maximum", "minimum"):
        cases[name] = ROWS, lambda p, x, name=name: getattr(p, name)(x, p.to_tensor(OTHER, "float64"))
        cases[f"{name} as second"] = ROWS, lambda p, x, name=name: getattr(p, name)(p.to_tensor(OTHER, "float64"), x)
    return cases


def _order() -> dict[str, Case]:
    """Places of elements, and elements in order."""
    cases: dict[str, Case] = {}
    for name in ("argmax", "argmin"):
        for axis in (None, 0, 1):
            cases[f"{name} {axis}"] = ROWS, lambda p, x, name=name, axis=axis: getattr(p, name)(x, axis=axis)
    for descending in (False, True):
        cases[f"sort {descending}"] = ROWS, lambda p, x, d=descending: p.sort(x, axis=1, descending=d, stable=True)
        cases[f"argsort {descending}"] = (
            ROWS,
            lambda p, x, d=descending: p.argsort(x, axis=1, descending=d, stable=True),
        )
        cases[f"topk {descending}"] = ROWS, lambda p, x, d=descending: p.topk(x, 2, axis=1, largest=d)[0]
    return cases


def _kinks() -> dict[str, Case]:
    """Functions of one element that have a kink or a step."""
    cases: dict[str, Case] = {}
    for name in (
        "relu", "relu6", "leaky_relu", "elu", "celu", "selu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
        "softshrink", "softplus", "softsign", "thresholded_relu", "mish", "silu", "tanhshrink",
    ):  # fmt: skip
        cases[name] = KINKS, lambda p, x, name=name: getattr(p.nn.functional, name)(x)
    for name in ("abs", "sign", "floor", "ceil", "round", "square"):
        cases[name] = KINKS, lambda p, x, name=name: getattr(p, name)(x)
    cases["clip"] = KINKS, lambda p, x: p.clip(x, -1.0, 3.0)
    cases["clip below"] = KINKS, lambda p, x: p.clip(x, min=0.5)
    cases["norm 1"] = KINKS, lambda p, x: p.norm(x, 1)
    return cases


def _losses() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for name in ("smooth_l1_loss", "l1_loss"):
        cases[name] = (
            KINKS,
            lambda p, x, name=name: getattr(p.nn.functional, name)(x, p.zeros([2, 6], "float64"), "sum"),
        )
    cases["margin_ranking_loss"] = (
        ROWS,
        lambda p, x: p.nn.functional.margin_ranking_loss(
            x, p.to_tensor(OTHER, "float64"), p.ones([3, 4], "float64"), reduction="none"
        ),
    )
    return cases


def _pools() -> dict[str, Case]:
    """The largest element of each window."""
    cases: dict[str, Case] = {}
    for n, x in enumerate((LINE, PLANE), start=1):
        pool = f"max_pool{n}d"
        for size, stride, padding in ((2, 1, 0), (2, 2, 0), (3, 2, 1), (2, 1, 1)):
            cases[f"{pool} {size} {stride} {padding}"] = (
                x,
                lambda p, x, pool=pool, a=(size, stride, padding): getattr(p.nn.functional, pool)(x, *a),
            )
    for size, stride, padding in ((2, 1, 0), (2, 2, 0), (3, 2, 1)):
        cases[f"places of max_pool2d {size} {stride} {padding}"] = (
            PLANE,
            lambda p, x, a=(size, stride, padding): p.nn.functional.max_pool2d(x, *a, return_mask=True)[1],
        )
    for n, x in ((1, LINE), (2, PLANE)):
        for size in (2, 3):
            cases[f"adaptive_max_pool{n}d {size}"] = (
                x,
                lambda p, x, n=n, size=size: getattr(p.nn.functional, f"adaptive_max_pool{n}d")(x, size),
            )
    return cases


CASES = _cases()


def outcome(paddle: Any, case: Case) -> dict[str, Any]:
    """The result, and the gradient of a sum of it in which the elements count 1, 2, 3, …"""
    numbers, function = case
    x = paddle.to_tensor(numbers, dtype="float64", stop_gradient=False)
    out = function(paddle, x)
    answer: dict[str, Any] = {"value": out.tolist(), "dtype": str(out.dtype).rpartition(".")[2]}
    if out.stop_gradient or out.dtype != paddle.float64:
        return answer
    weights = paddle.to_tensor(np.arange(1.0, out.numpy().size + 1).reshape(out.shape))
    paddle.sum(out * weights).backward()
    return answer | {"gradient": None if x.grad is None else x.grad.tolist()}


if __name__ == "__main__":
    import paddle

    lines = [f"{json.dumps(name)}: {json.dumps(outcome(paddle, case))}" for name, case in CASES.items()]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
