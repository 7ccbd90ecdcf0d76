"""What the name of a variable that a loop overwrites stands for where a gradient is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.kinds.program.selectors import Selectors

static = paddle.static


class Doubled:
    """``loss = sum(4·w·x) + 3·sum(x)``: a loop doubles x twice, another takes what is left times w."""

    def __init__(self, computed: bool) -> None:
        d = static.data("d", [1])
        d.stop_gradient = False
        self.w = static.create_parameter([1], "float32", name="w")
        self.x = d * 1.0 if computed else d
        self.before = self.x.name
        _, self.y = static.nn.while_loop(lambda i, v: i < 2, lambda i, v: [i + 1, v * 2.0], [counter(), self.x])
        _, self.z = static.nn.while_loop(lambda i, v: i < 1, lambda i, v: [i + 1, v * self.w], [counter(), self.y])
        self.loss = paddle.sum(self.z) + 3 * paddle.sum(self.x)

    def run(self, fetched: list[Any], program: Program | None = None) -> list[float]:
        static.global_scope().var("w").get_tensor().set(np.array([5.0], "float32"), None)
        feed = {"d": np.ones(1, "float32")}
        return [float(np.sum(g)) for g in static.Executor().run(program, feed=feed, fetch_list=fetched)]


def counter() -> Variable:
    return paddle.full([1], 0, "int64")


@pytest.fixture(params=[False, True], ids=["fed", "computed"])
def model(request: pytest.FixtureRequest) -> Iterator[Doubled]:
    paddle.enable_static()
    with fresh_programs():
        yield Doubled(request.param)
    paddle.disable_static()


def test_by_variable(model: Doubled) -> None:
    assert model.run([g for _, g in static.append_backward(model.loss, [model.x])]) == [4 * 5 + 3]


def test_by_name(model: Doubled) -> None:
    pairs = static.append_backward(model.loss, [model.before])
    assert model.run([g for _, g in pairs]) == [4 * 5 + 3]
    assert [g.name for _, g in pairs] == [f"{model.before}@GRAD"]


def test_by_fetch(model: Doubled) -> None:
    static.append_backward(model.loss)
    assert model.run([f"{model.before}@GRAD"]) == [4 * 5 + 3]


def test_by_gradients(model: Doubled) -> None:
    assert model.run(static.gradients(model.loss, model.x)) == [4 * 5 + 3]
    assert model.run([paddle.fluid.backward.calc_gradient(model.loss, model.x)]) == [4 * 5 + 3]


def test_what_loops_return_is_asked_for_beside_it(model: Doubled) -> None:
    """Its variables have the same name; the plain gradient name stays that of the first."""
    gradients = static.gradients(model.loss, [model.z, model.y, model.x])
    assert model.run(gradients) == [1, 5, 4 * 5 + 3]
    assert model.run([f"{model.before}@GRAD"]) == [4 * 5 + 3]


def test_a_copy_and_a_program_read_again_know_the_same(model: Doubled) -> None:
    for program in (static.default_main_program().clone(), Program.from_json(static.default_main_program().to_json())):
        loss = program.global_block().var(model.loss.name)
        pairs = static.append_backward(loss, [model.before])
        assert model.run([g for _, g in pairs], program) == [4 * 5 + 3]


@pytest.mark.parametrize("by_name", [False, True])
def test_a_cut_before_the_loops_leaves_what_comes_after(model: Doubled, by_name: bool) -> None:
    cut = model.before if by_name else model.x
    pairs = static.append_backward(model.loss, no_grad_set={cut})
    assert model.run([g for _, g in pairs]) == [4]
    assert not static.default_main_program().global_block().has_var(f"{model.before}@GRAD")


def test_a_cut_between_the_loops(model: Doubled) -> None:
    pairs = static.append_backward(model.loss, [model.w, model.x, model.z], no_grad_set={model.y})
    assert [p for p, _ in pairs] == [model.w, model.x, model.z]
    assert model.run([g for _, g in pairs]) == [4, 3, 1]


def test_the_command_line_means_the_same_by_a_name(model: Doubled) -> None:
    program = static.default_main_program()
    assert Selectors(program, {})._exact(model.before) is model.x
    assert Selectors(program, {"y": model.y})._exact("y") is model.y
