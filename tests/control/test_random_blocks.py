"""Random models of branches and loops inside one another: programs against plain Python, gradients of order 1 to 3."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from tests.control.both import check
from tests.sampling import sampled

nn = paddle.static.nn
F = paddle.nn.functional

STEPS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a * b,
    lambda a, b: paddle.tanh(a),
    lambda a, b: a + b,
    lambda a, b: paddle.tanh(a @ b),
    lambda a, b: F.sigmoid(a) * b,
    lambda a, b: a - b * 0.5,
    lambda a, b: F.softmax(a),
]


class Model:
    """A model that makes the same choices each time it is built.

    Each block draws its choices from a seed of its own, so that it does not matter how often, or whether, it is called.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, x: Any, w: Any, n: Any, p: Any) -> Any:
        self.n, self.p = n, p
        return paddle.mean(self.value(random.Random(self.seed), [x, w], 3) * x)

    def value(self, draw: random.Random, tensors: list[Any], depth: int) -> Any:
        """Something computed from the tensors."""
        tensors = list(tensors)
        for _ in range(draw.randint(1, 3)):
            a, b, kind = draw.choice(tensors), draw.choice(tensors), draw.random()
            if depth == 0 or kind < 0.55:
                tensors.append(draw.choice(STEPS)(a, b))
            elif kind < 0.78:
                tensors += self.branches(draw, tensors, a, depth)
            else:
                tensors += self.loop(draw, tensors, depth)
        return tensors[-1]

    def branches(self, draw: random.Random, tensors: list[Any], a: Any, depth: int) -> list[Any]:
        count, seeds, bound = draw.randint(1, 2), (draw.random(), draw.random()), draw.uniform(-1, 1)
        condition = self.p if draw.random() < 0.3 else paddle.sum(a) > bound

        def branch(seed: float) -> Callable[[], list[Any]]:
            def build() -> list[Any]:
                inner = random.Random(seed)
                return [self.value(inner, tensors, depth - 1) for _ in range(count)]

            return build

        return list(nn.cond(condition, branch(seeds[0]), branch(seeds[1])))

    def loop(self, draw: random.Random, tensors: list[Any], depth: int) -> list[Any]:
        seed = draw.random()
        operands = [draw.choice(tensors) for _ in range(draw.randint(1, 3))]
        if draw.random() < 0.5:
            operands[0] = operands[0] * 1.0
        if draw.random() < 0.3:
            operands[-1] = paddle.zeros([3, 3], "float64")
        end = draw.choice([self.n, self.n, paddle.full([1], 2, "int64")])

        def body(i: Any, *now: Any) -> list[Any]:
            inner = random.Random(seed)
            new = [paddle.tanh(self.value(inner, [*now, *tensors], depth - 1)) for _ in now]
            if inner.random() < 0.3:
                new.reverse()
            if inner.random() < 0.2:
                new[0] = now[-1]
            return [i + 1, *new]

        start = paddle.full([1], 0, "int64")
        results = nn.while_loop(lambda i, *now: i < end, body, [start, *operands])[1:]
        return [operands[0] * 1.5, *results]


CASES = [
    (order, seed) for order, count in ((1, 40), (2, 25), (3, 8)) for seed in range(100 * order, 100 * order + count)
]


@pytest.mark.parametrize(("order", "seed"), sampled(CASES, str, 10, lambda case: str(case[0])))
def test_programs_equal_plain_python(order: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    check(
        Model(seed),
        {
            "x": draw.uniform(-1, 1, (3, 3)),
            "w": draw.uniform(-1, 1, (3, 3)),
            "n": np.array([seed % 4]),
            "p": np.array([seed % 2 == 0]),
        },
        order,
    )
