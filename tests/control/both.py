"""One model in both modes: static programs against plain Python on tensors, gradients included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.ir.verify import verify

Model = Callable[..., Any]


def parameters(**shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Random values by name, the same every time."""
    rng = np.random.default_rng(3)
    return {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}


class Static:
    """*model* as a program; its arguments are variables by name, those called ``x…`` or ``w…`` differentiable."""

    def __init__(self, model: Model, values: dict[str, np.ndarray], order: int = 1) -> None:
        paddle.enable_static()
        try:
            self.values = values
            self.main, self.startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.program_guard(self.main, self.startup):
                inputs = {n: self._input(n, v) for n, v in values.items()}
                self.loss = model(**inputs)
                wanted = [v for n, v in inputs.items() if n[0] in "xw"]
                self.gradients = paddle.static.gradients(self.loss, wanted)
                for _ in range(order - 1):
                    weighted = [paddle.sum(g * g) for g in self.gradients if g is not None]
                    if not weighted:
                        break
                    self.gradients = paddle.static.gradients(paddle.add_n(weighted), wanted)
            verify(self.main)
        finally:
            paddle.disable_static()

    @staticmethod
    def _input(name: str, value: np.ndarray) -> Any:
        v = paddle.static.data(name, value.shape, str(value.dtype))
        v.stop_gradient = name[0] not in "xw"
        return v

    def run(self, program: Any = None) -> list[Any]:
        """The loss and the gradients."""
        fetched = [self.loss.name, *(g.name for g in self.gradients if g is not None)]
        out = iter(paddle.static.Executor().run(program or self.main, feed=self.values, fetch_list=fetched))
        return [next(out), *(None if g is None else next(out) for g in self.gradients)]


def dynamic(model: Model, values: dict[str, np.ndarray], order: int = 1) -> list[Any]:
    """The loss and the gradients, computed by plain Python."""
    inputs = {n: paddle.to_tensor(v, stop_gradient=n[0] not in "xw") for n, v in values.items()}
    loss = model(**inputs)
    wanted = [v for n, v in inputs.items() if n[0] in "xw"]
    gradients = paddle.grad(loss, wanted, create_graph=order > 1, allow_unused=True)
    for _ in range(order - 1):
        weighted = [paddle.sum(g * g) for g in gradients if g is not None]
        if all(g.stop_gradient for g in weighted):
            gradients = [None] * len(wanted)
            break
        gradients = paddle.grad(paddle.add_n(weighted), wanted, create_graph=order > 1, allow_unused=True)
    return [loss.numpy(), *(None if g is None else g.numpy() for g in gradients)]


def check(model: Model, values: dict[str, np.ndarray], order: int = 1) -> Static:
    """Static equals dynamic, also after the program was printed and parsed, and copied."""
    built = Static(model, values, order)
    expected = dynamic(model, values, order)
    ours = built.run()
    _same(ours, expected)
    text = str(built.main)
    parsed = paddle.static.Program.parse_from_string(text)
    assert str(parsed) == text
    verify(parsed)
    copied = built.main.clone()
    verify(copied)
    for program in (parsed, copied):
        for a, b in zip(built.run(program), ours, strict=True):
            assert (a is None and b is None) or np.array_equal(a, b)
    return built


def _same(ours: list[Any], expected: list[Any]) -> None:
    for i, (a, b) in enumerate(zip(ours, expected, strict=True)):
        if a is None or b is None:
            # Where no branch was taken that uses an input, the tape has no gradient and the program one of zeros.
            there = b if a is None else a
            assert there is None or not np.any(there), f"result {i}: {a} instead of {b}"
            continue
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=f"result {i}")
