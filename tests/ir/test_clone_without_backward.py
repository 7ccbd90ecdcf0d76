"""``clone(for_test=True)`` of programs with backward parts, in branches too: exactly the forward operators are left.

The same random program is built twice, once without its backward part. What the clones hold is the same text, and they
compute the same values to the bit.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.strip import strip_backward
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ir.verify import verify

nn = paddle.static.nn


class Training:
    """A program with values that are overwritten, loops, and a training step that perhaps only a branch takes."""

    def __init__(self, seed: int, backward: bool) -> None:
        self.draw = random.Random(seed)
        self.backward = backward
        self.main, self.startup = Program(), Program()
        with paddle.static.program_guard(self.main, self.startup):
            x = paddle.static.data("x", [3, 3], "float64")
            w = paddle.static.create_parameter([3, 3], "float64", name="w")
            pool = self.steps([x, w])
            inside = self.draw.random() < 0.7
            if inside:
                condition = paddle.mean(self.draw.choice(pool)) > self.draw.uniform(-0.2, 0.2)
                out = nn.cond(condition, lambda: self.train(pool), lambda: paddle.mean(pool[-1]))
                self.out = out + paddle.mean(pool[-1])
            else:
                self.out = self.train(pool)

    def train(self, pool: list[Variable]) -> Variable:
        """More steps, a loss, and a backward part of one kind or another."""
        pool = self.steps(pool)
        loss = paddle.mean(pool[-1] * pool[-2])
        kind = self.draw.randrange(3)
        if self.backward:
            if kind == 0:
                paddle.static.append_backward(loss)
            else:
                optimizer = (paddle.optimizer.SGD, paddle.optimizer.Momentum)[kind - 1]
                optimizer(0.1).minimize(loss)
        return loss

    def steps(self, pool: list[Variable]) -> list[Variable]:
        """*pool* and what some steps make of it; half of them overwrite what a step before has made."""
        pool, own = list(pool), []
        for _ in range(self.draw.randint(2, 5)):
            a, b, kind = self.draw.choice(pool), self.draw.choice(pool), self.draw.random()
            if kind < 0.4:
                value = paddle.tanh(a @ b)
            elif kind < 0.6:
                value = a * b + 0.5
            else:
                value = self.loop(a, b)
            if own and self.draw.random() < 0.5:
                paddle.assign(value, output=self.draw.choice(own))
                continue
            pool.append(value)
            own.append(value)
        return pool

    def loop(self, a: Variable, b: Variable) -> Variable:
        overwrites = self.draw.random() < 0.5

        def body(i: Any, h: Any) -> list[Any]:
            t = paddle.exp(h * 0.3)
            if overwrites:
                paddle.assign(paddle.tanh(t), output=t)
            return [i + 1, paddle.tanh(t * b)]

        start = paddle.full([1], 0, "int64")
        return nn.while_loop(lambda i, h: i < 2, body, [start, a * 1.0])[1]


SEEDS = range(40)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_clone_holds_the_forward_part(seed: int) -> None:
    trained, plain = Training(seed, backward=True), Training(seed, backward=False)
    clone = trained.main.clone(for_test=True)
    verify(clone)
    expected = plain.main.clone(for_test=True)
    assert _text(clone) == _text(expected)

    values = np.random.default_rng(seed).uniform(-1, 1, (2, 3, 3))
    scope = paddle.static.global_scope()
    results = []
    for program, out in ((clone, trained.out), (expected, plain.out), (plain.main, plain.out)):
        scope.var("w").get_tensor().set(values[1], None)
        results.append(paddle.static.Executor().run(program, feed={"x": values[0]}, fetch_list=[out.name])[0])
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def _text(program: Program) -> str:
    """The operators and variables of the program; which operator computes a loss is told to backward parts only."""
    return str(program).replace("op_role = 256", "op_role = 0")


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_taking_the_backward_part_out_leaves_nothing_of_it(seed: int) -> None:
    trained, plain = Training(seed, backward=True), Training(seed, backward=False)
    strip_backward(trained.main)
    verify(trained.main)
    mine = [[o.type for o in b.ops] for b in trained.main.blocks]
    assert mine == [[o.type for o in b.ops] for b in plain.main.blocks]


def test_what_a_branch_saves_for_its_training_step_is_not_in_the_clone() -> None:
    main = Program()
    with paddle.static.program_guard(main, Program()):
        x = paddle.static.data("x", [3], "float32")
        w = paddle.static.create_parameter([3], "float32", name="w")

        def step() -> Variable:
            h = paddle.exp(x * w)
            paddle.assign(paddle.tanh(h), output=h)
            loss = paddle.mean(h)
            paddle.optimizer.SGD(0.1).minimize(loss)
            return loss

        nn.cond(paddle.mean(x) > 0, step, lambda: paddle.mean(x))
    saves = [op for block in main.blocks for op in block.ops if op.saves]
    assert saves
    clone = main.clone(for_test=True)
    assert not any("@VERSION@" in v.name for v in clone.list_vars())
