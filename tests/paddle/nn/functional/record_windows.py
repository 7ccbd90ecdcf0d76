"""Windows that lie in padding or are larger than the image: values and gradients, recorded from Paddle.

Run with an interpreter that has Paddle 3.3.1, from the top of the repository::

    PADDLE/bin/python tests/paddle/nn/functional/record_windows.py

A call that ends Paddle's process is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).with_name("windows.json")

Case = tuple[tuple[tuple[int, ...], ...], Callable[..., Any]]
Add = Callable[..., None]
"""Takes the name of a function, the shapes of its operands, and its other arguments."""

IMAGE = ((1, 2, 4, 4),)
LINE = ((1, 2, 5),)


def _cases() -> dict[str, Case]:
    """Name -> the shapes of the operands, and a function of ``nn.functional`` and of them."""
    cases: dict[str, Case] = {}

    def add(function: str, shapes: tuple[tuple[int, ...], ...], *args: Any, **attrs: Any) -> None:
        arguments = ", ".join([*(repr(a) for a in args), *(f"{n}={v!r}" for n, v in attrs.items())])
        sizes = " ".join("x".join(map(str, s)) for s in shapes)
        cases[f"{function} {sizes} ({arguments})"] = shapes, lambda f, *v: getattr(f, function)(*v, *args, **attrs)

    _add_pools(add)
    _add_windows_larger_than_the_image(add)
    _add_convolutions(add)
    return cases


def _add_pools(add: Add) -> None:
    """Windows that lie in padding."""
    for k, s, p in ((2, 4, 1), (1, 3, 1), (2, 5, 1), ([2, 1], [5, 1], [1, 0]), (1, 1, 1), (2, 1, 2), ([2, 9], 5, 1)):
        for ceil in (True, False):
            add("max_pool2d", IMAGE, k, s, p, ceil_mode=ceil)
            for exclusive in (True, False):
                add("avg_pool2d", IMAGE, k, s, p, ceil_mode=ceil, exclusive=exclusive)
    add("max_pool2d", ((1, 4, 4, 2),), 2, 5, 1, ceil_mode=True, data_format="NHWC")
    add("avg_pool2d", ((1, 4, 4, 2),), 1, 3, 1, ceil_mode=True, data_format="NHWC")
    add("max_pool2d", IMAGE, 9, 16, 6, ceil_mode=True)
    add("max_pool2d", IMAGE, 2, 5, "SAME", ceil_mode=True)
    add("avg_pool2d", IMAGE, 2, 5, 1, ceil_mode=True, divisor_override=3)
    for k, s, p in ((2, 4, 1), (2, 6, 1), (1, 1, 1), (1, 5, [0, 2]), (6, 1, 0), (7, 2, 0), (7, 3, 0), (9, 2, 0)):
        add("max_pool1d", LINE, k, s, p, ceil_mode=True)
        for exclusive in (True, False):
            add("avg_pool1d", LINE, k, s, p, ceil_mode=True, exclusive=exclusive)


def _add_windows_larger_than_the_image(add: Add) -> None:
    for k, p, s in ((5, 0, 1), (5, 0, 2), (6, 0, 1), (6, 0, 2), (6, 0, 3), (7, 0, 2), (9, 1, 4), (13, 0, 4)):
        for ceil in (False, True):
            add("max_pool2d", IMAGE, k, s, p, ceil_mode=ceil)
            add("avg_pool2d", IMAGE, k, s, p, ceil_mode=ceil)
            add("avg_pool2d", IMAGE, k, s, p, ceil_mode=ceil, exclusive=False)
        add("unfold", IMAGE, k, s, p)
        add("conv2d", (*IMAGE, (2, 2, k, k)), stride=s, padding=p)
        add("conv2d", (*IMAGE, (2, 1, k, k)), stride=s, padding=p, groups=2)


def _add_convolutions(add: Add) -> None:
    """Filters larger than the image, and results that are empty."""
    add("conv2d", (*IMAGE, (2, 2, 5, 2), (2,)))
    add("conv2d", ((1, 4, 4, 2), (3, 2, 5, 5)), stride=2, data_format="NHWC")
    add("conv2d", (*IMAGE, (2, 2, 2, 2)), dilation=4)
    add("conv2d", (*IMAGE, (2, 2, 2, 2)), dilation=4, stride=3)
    for k, s in ((6, 1), (7, 2), (7, 3)):
        add("conv1d", (*LINE, (3, 2, k)), stride=s)
        add("conv1d", (*LINE, (3, 2, k), (3,)), stride=s)
    for size in (1, 3):
        for s, p in ((1, 1), (1, 2), (2, 1)):
            add("conv2d_transpose", ((1, 2, 1, size), (2, 3, 2, 2)), stride=s, padding=p)
            add("conv2d_transpose", ((1, 2, 1, size), (2, 1, 2, 2)), stride=s, padding=p, groups=2)
    add("conv1d_transpose", ((1, 2, 1), (2, 3, 2)), padding=1)
    add("fold", ((1, 25, 1),), [4, 4], 5, 2)
    add("fold", ((1, 25, 0),), [4, 4], 5, 1)
    for name in ("max_pool2d", "avg_pool2d"):
        add(name, ((1, 1, 0, 4),), 1)
        add(name, ((1, 1, 0, 4),), 2, 1, 1)


CASES = _cases()


def values(name: str) -> list[Any]:
    """The operands of a case: numbers of which no two are equal."""
    shapes, _ = CASES[name]
    rng = np.random.default_rng(7)
    return [rng.permutation(int(np.prod(s))).reshape(s) * 0.25 - 1.0 for s in shapes]


def outcome(paddle: Any, name: str) -> dict[str, Any]:
    """Value and gradients of the sum of a case, or that it is refused."""
    tensors = [paddle.to_tensor(v, stop_gradient=False) for v in values(name)]
    try:
        result = CASES[name][1](paddle.nn.functional, *tensors)
    except ValueError:
        return {"refused": True}
    out = {"shape": list(result.shape), "value": result.numpy().tolist(), "gradients": None}
    try:
        result.sum().backward()
    except (OSError, RuntimeError, ValueError):
        return out  # Paddle cannot go back through an empty convolution of sequences without a bias
    return {**out, "gradients": [[] if t.grad is None else t.grad.numpy().tolist() for t in tensors]}


def _apart(paddle: Any, name: str) -> str | None:
    """The outcome as JSON, computed in a process of its own; None if that ends otherwise."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(there, json.dumps(outcome(paddle, name)).encode())
        finally:
            os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as stream:
        said = stream.read().decode()
    _, status = os.waitpid(child, 0)
    return said if said and not status else None


def main() -> None:
    """Record every case."""
    import paddle

    said = {name: _apart(paddle, name) for name in CASES}
    lines = [f"{json.dumps(name)}: {text}" for name, text in said.items() if text is not None]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
