"""Each pass over a plan: a program where it matters, and one where it must not do anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import KernelError
from gradtool.engine.executor import passes
from gradtool.engine.executor.lower import lower
from gradtool.engine.executor.plan import Plan
from gradtool.engine.ir.variable import Variable
from gradtool.engine.kernels.choice import backend
from tests.autodiff.nets import data, main, mean, op

X = np.arange(6.0).reshape(2, 3)


def plan(fetch: list[Variable], *chosen: str) -> Plan:
    return lower(main(), ["x"], [v.name for v in fetch], backend("numpy"), chosen)


def types(of: Plan) -> list[str]:
    """The operators that run."""
    return [i.op.type if i.op is not None else "release" for i in of.instructions]


def results(of: Plan, feed: Any = X, times: int = 1) -> list[list[np.ndarray]]:
    """What each of several runs fetches."""
    runs = []
    for _ in range(times):
        regs = of.registers({"x": np.array(feed)}, {})
        of.run(regs)
        runs.append([np.array(regs[r]) for r in of.fetches])
    return runs


class TestPrune:
    def test_what_nobody_needs_does_not_run_and_what_it_reads_neither(self) -> None:
        x = data("x", 2, 3)
        op("tanh", op("exp", x))
        y = op("sin", op("cos", x))
        assert types(plan([y], "prune")) == ["cos", "sin"]
        assert types(plan([y])) == ["exp", "tanh", "cos", "sin"]

    def test_one_of_several_results_is_enough_to_stay(self) -> None:
        first, second = paddle.split(data("x", 2, 3), [1, 2], axis=1)
        for part, columns in ((first, slice(0, 1)), (second, slice(1, 3))):
            of = plan([part], "prune")
            assert types(of) == ["split"]
            np.testing.assert_array_equal(results(of)[0][0], X[:, columns])

    def test_what_writes_a_persistable_variable_stays(self) -> None:
        x = data("x", 2, 3)
        total = paddle.static.create_global_var([2, 3], 0.0, "float64", persistable=True)
        paddle.assign(op("exp", x), total)
        y = op("sin", x)
        assert types(plan([y], "prune")) == ["exp", "assign", "sin"]

    def test_what_has_an_effect_stays(self) -> None:
        x = data("x", 2, 3)
        paddle.static.Print(x)
        assert types(plan([x], "prune")) == ["print"]


class TestFold:
    def test_what_depends_on_constants_only_is_computed_once(self) -> None:
        x = data("x", 2, 3)
        two = op("scale", paddle.full([3], 1.0, "float64"), scale=2.0)
        of = plan([op("elementwise_mul", x, two)], "prune", "fold")
        assert types(of) == ["elementwise_mul"]
        assert [list(v) for v in of.constants.values()] == [[1.0] * 3, [2.0] * 3]
        np.testing.assert_array_equal(results(of, times=2)[1][0], 2 * X)

    def test_several_results_of_one_operator(self) -> None:
        x = data("x", 2, 3)
        first, second = paddle.split(paddle.full([2, 3], 1.0, "float64"), 2)
        of = plan([op("elementwise_sub", op("elementwise_add", x, first), second)], "fold")
        assert types(of) == ["elementwise_add", "elementwise_sub"]
        np.testing.assert_array_equal(results(of)[0][0], X)

    def test_random_numbers_are_drawn_in_each_run(self) -> None:
        data("x", 2, 3)
        of = plan([paddle.uniform([4], "float64")], "fold")
        assert types(of) == ["uniform_random"]
        first, second = results(of, times=2)
        assert not np.array_equal(first[0], second[0])

    @pytest.mark.parametrize(
        ("elements", "folded"), [(passes.FOLD_LIMIT, True), (passes.FOLD_LIMIT + 1, False), (0, True)]
    )
    def test_only_constants_that_are_not_large_are_held(self, elements: int, folded: bool) -> None:
        data("x", 2, 3)
        of = plan([paddle.full([elements], 3.0, "float32")], "fold")
        assert (types(of) == []) == folded
        assert results(of)[0][0].shape == (elements,)

    def test_a_value_that_is_stored_is_computed_in_each_run(self) -> None:
        data("x", 2, 3)
        total = paddle.static.create_global_var([3], 0.0, "float64", persistable=True)
        paddle.assign(paddle.full([3], 1.0, "float64"), total)
        assert types(plan([], "fold")) == ["assign"]

    def test_an_operator_that_fails_does_so_when_it_runs(self) -> None:
        data("x", 2, 3)
        table = paddle.full([2, 3], 1.0, "float64")
        row = paddle.gather(table, paddle.full([1], 5, "int64"))
        of = plan([row], "fold")
        assert types(of) == ["gather"]
        with pytest.raises(KernelError, match="gather"):
            results(of)

    def test_an_operator_that_only_reads_what_is_fed_is_left_alone(self) -> None:
        assert types(plan([op("tanh", data("x", 2, 3))], "fold")) == ["tanh"]


class TestRelease:
    def chain(self, length: int, size: int) -> list[Variable]:
        """The loss and gradient of a sum whose operand is needed for its shape only, long after its last use."""
        x = data("x", size, 3)
        h = op("sin", x)
        h = op("reduce_sum", h, dim=[0], keep_dim=True)
        for _ in range(length):
            h = op("tanh", h)
        loss = mean(h)
        ((_, gradient),) = paddle.static.append_backward(loss, [x])
        return [loss, gradient]

    def test_a_large_tensor_is_let_go_of_after_its_last_use(self) -> None:
        rows = passes.SMALL // 24 + 1  # three doubles each
        fetch = self.chain(3, rows)
        of = plan(fetch, "prune", "release_shapes")
        assert types(of)[:3] == ["sin", "reduce_sum", "release"]
        feed = np.ones((rows, 3))
        for left, right in zip(results(of, feed)[0], results(plan(fetch), feed)[0], strict=True):
            np.testing.assert_array_equal(left, right)

    def test_a_small_one_is_kept(self) -> None:
        rows = passes.SMALL // 24
        assert "release" not in types(plan(self.chain(3, rows), "prune", "release_shapes"))

    def test_what_is_fetched_is_kept(self) -> None:
        rows = passes.SMALL // 24 + 1
        loss, gradient = self.chain(3, rows)
        (h,) = next(o for o in main().global_block().ops if o.type == "sin").output_variables()
        of = plan([loss, gradient, h], "prune", "release_shapes")
        assert "release" not in types(of)


class TestFree:
    def test_a_register_is_cleared_once_after_its_last_use(self) -> None:
        x = data("x", 2, 3)
        h = op("exp", x)
        y = op("elementwise_add", op("sin", h), h)
        of = plan([y], "free")
        held = {*of.feeds.values(), *of.fetches}
        assert [len(i.dead) for i in of.instructions] == [0, 0, 2]
        assert not held & {r for i in of.instructions for r in i.dead}
        assert all(not i.dead for i in plan([y]).instructions)

    def test_a_result_that_nobody_reads_is_cleared_at_once(self) -> None:
        x = data("x", 2, 3)
        op("exp", x)
        y = op("sin", x)
        first, second = plan([y], "free").instructions
        assert first.dead == first.outs
        assert second.dead == ()


class TestForms:
    def test_operators_of_equal_attributes_and_specs_share_a_kernel(self) -> None:
        x = data("x", 2, 3)
        ys = [op("scale", x, scale=2.0), op("scale", op("tanh", x), scale=2.0), op("scale", x, scale=3.0)]
        wide = op("scale", op("concat", [x, x], axis=0), scale=2.0)
        of = plan([*ys, wide])
        kernels = [i.kernel for i in of.instructions if i.op is not None and i.op.type == "scale"]
        assert kernels[0] is kernels[1]
        assert len({id(kernel) for kernel in kernels}) == 3
        np.testing.assert_array_equal(results(of)[0][1], 2 * np.tanh(X))

    def test_operators_that_draw_have_a_kernel_each(self) -> None:
        x = data("x", 2, 3)
        first, second = (paddle.nn.functional.dropout(x, 0.5) for _ in range(2))
        of = plan([first, second])
        kernels = [i.kernel for i in of.instructions if i.op is not None and i.op.type == "dropout"]
        assert len(kernels) == 2
        assert kernels[0] is not kernels[1]

    def test_which_gradients_are_wanted_makes_another_kernel(self) -> None:
        x = data("x", 2, 3)
        y = data("y", 2, 3)
        y.stop_gradient = True
        both, one = op("elementwise_mul", x, op("tanh", x)), op("elementwise_mul", x, y)
        paddle.static.append_backward(mean(op("sum", [both, one])), [x])
        gradient_ops = [o for o in main().global_block().ops if o.type == "elementwise_mul_grad"]
        of = lower(main(), ["x", "y"], [o.output("X@GRAD")[0] for o in gradient_ops], backend("numpy"), ())
        instructions = {i.op: i for i in of.instructions}
        assert instructions[gradient_ops[0]].kernel is not instructions[gradient_ops[1]].kernel
        regs = of.registers({"x": X, "y": 3 * X}, {})
        of.run(regs)
        by_op = {o: np.array(regs[r]) for o, r in zip(gradient_ops, of.fetches, strict=True)}
        values = {o.input("Y")[0]: v for o, v in by_op.items()}
        np.testing.assert_allclose(values["y"], 3 * X / X.size)
