"""Gradients through branches and loops: programs against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from tests.control.both import check, parameters

nn = paddle.static.nn
F = paddle.nn.functional

XW = parameters(x=(3, 3), w=(3, 3))


pytestmark = [pytest.mark.parametrize("order", [1, 2, 3]), pytest.mark.sampled(5, "order")]


def flag(value: bool) -> np.ndarray:
    return np.array([value])


def count(n: int) -> np.ndarray:
    return np.array([n], "int64")


def zero() -> Any:
    return paddle.full([1], 0, "int64")


@pytest.mark.parametrize("taken", [True, False])
class TestBranches:
    def test_a_branch_that_uses_other_variables(self, taken: bool, order: int) -> None:
        def model(x: Any, w: Any, p: Any) -> Any:
            return paddle.mean(nn.cond(p, lambda: paddle.tanh(x @ w) * w, lambda: paddle.exp(x)))

        check(model, {**XW, "p": flag(taken)}, order)

    def test_several_results_and_a_result_used_twice(self, taken: bool, order: int) -> None:
        def model(x: Any, w: Any, p: Any) -> Any:
            def on_true() -> Any:
                t = paddle.exp(x)
                return t, [t, t * w]

            a, (b, c) = nn.cond(p, on_true, lambda: (x, [w, x * x]))
            return paddle.mean(a * b * c + a)

        check(model, {**XW, "p": flag(taken)}, order)

    def test_a_result_that_nobody_uses(self, taken: bool, order: int) -> None:
        def model(x: Any, w: Any, p: Any) -> Any:
            a, _ = nn.cond(p, lambda: (x * w, paddle.exp(w)), lambda: (x, w))
            return paddle.mean(a * a)

        check(model, {**XW, "p": flag(taken)}, order)

    def test_numbers_beside_variables(self, taken: bool, order: int) -> None:
        def model(x: Any, w: Any, p: Any) -> Any:
            return paddle.mean(x * w * nn.cond(p, lambda: 2.0, lambda: 3.0))

        check(model, {**XW, "p": flag(taken)}, order)

    @pytest.mark.parametrize("inner", [True, False])
    def test_nested(self, taken: bool, inner: bool, order: int) -> None:
        def model(x: Any, w: Any, p: Any, q: Any) -> Any:
            def on_true() -> Any:
                t = paddle.tanh(x @ w)
                return nn.cond(q, lambda: t * t * x, lambda: paddle.exp(t) * w)

            return paddle.mean(nn.cond(p, on_true, lambda: x * w))

        check(model, {**XW, "p": flag(taken), "q": flag(inner)}, order)

    def test_in_a_row(self, taken: bool, order: int) -> None:
        def model(x: Any, w: Any, p: Any) -> Any:
            h = nn.cond(p, lambda: paddle.tanh(x), lambda: x @ w)
            h = nn.cond(paddle.mean(h) > 0.0, lambda: h * w, lambda: paddle.exp(h))
            return paddle.mean(h * x)

        check(model, {**XW, "p": flag(taken)}, order)

    def test_a_loop_in_a_branch(self, taken: bool, order: int) -> None:
        def model(x: Any, w: Any, p: Any, n: Any) -> Any:
            def on_true() -> Any:
                _, h = nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, paddle.tanh(h @ w)], [zero(), x * 1.0])
                return h * w

            return paddle.mean(nn.cond(p, on_true, lambda: x * w))

        check(model, {**XW, "p": flag(taken), "n": count(3)}, order)


@pytest.mark.parametrize("index", [-1, 0, 1, 2, 7])
def test_switch_case(index: int, order: int) -> None:
    def model(x: Any, w: Any, i: Any) -> Any:
        chosen = nn.switch_case(i, [lambda: x * w, lambda: paddle.exp(x), lambda: x @ w], default=lambda: w * w)
        return paddle.mean(chosen * x)

    check(model, {**XW, "i": count(index)}, order)


@pytest.mark.parametrize("at", [0.0, 0.4, 0.9])
def test_case(at: float, order: int) -> None:
    def model(x: Any, w: Any, a: Any) -> Any:
        return paddle.mean(nn.case([(a < 0.3, lambda: x * w), (a < 0.6, lambda: x @ w), (a < 2.0, lambda: x)]) * w)

    check(model, {**XW, "a": np.array(at)}, order)


@pytest.mark.parametrize("n", [0, 1, 4])
class TestLoops:
    def test_a_recurrence(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            _, h = nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, paddle.tanh(h @ w + x)], [zero(), x * w])
            return paddle.mean(h * h)

        check(model, {**XW, "n": count(n)}, order)

    def test_a_sum_whose_initial_value_needs_no_gradient(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            total = paddle.zeros([3, 3], "float64")
            step = lambda i, t: [i + 1, t + paddle.exp(x * w) * w]  # noqa: E731
            return paddle.mean(nn.while_loop(lambda i, t: i < n, step, [zero(), total])[1])

        check(model, {**XW, "n": count(n)}, order)

    def test_two_variables_of_which_only_one_is_used_afterwards(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            def step(i: Any, h: Any, total: Any) -> Any:
                return [i + 1, paddle.tanh(h @ w), total + h * h]

            _, _, total = nn.while_loop(lambda i, h, t: i < n, step, [zero(), x * 1.0, paddle.zeros([3, 3], "float64")])
            return paddle.mean(total * w)

        check(model, {**XW, "n": count(n)}, order)

    def test_the_value_before_the_loop_is_used_after_it(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            h0 = F.softmax(x * w)
            _, h = nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, h * w], [zero(), h0])
            return paddle.mean(h * h0 + h0 * h0)

        check(model, {**XW, "n": count(n)}, order)

    def test_variables_that_change_places(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            _, a, b = nn.while_loop(
                lambda i, a, b: i < n, lambda i, a, b: [i + 1, b, a * b], [zero(), x * 1.0, w * 1.0]
            )
            return paddle.mean(a * 2.0 + b)

        check(model, {**XW, "n": count(n)}, order)

    def test_one_variable_given_twice(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            h = x * w
            _, a, b = nn.while_loop(lambda i, a, b: i < n, lambda i, a, b: [i + 1, a * w, b + x], [zero(), h, h])
            return paddle.mean(a * b)

        check(model, {**XW, "n": count(n)}, order)

    def test_a_loop_in_a_loop(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            def outer(i: Any, h: Any) -> Any:
                t = paddle.tanh(h @ w)
                _, s = nn.while_loop(lambda j, s: j <= i, lambda j, s: [j + 1, s * t + x], [zero(), t * 1.0])
                return [i + 1, s + h]

            return paddle.mean(nn.while_loop(lambda i, h: i < n, outer, [zero(), x * 1.0])[1])

        check(model, {**XW, "n": count(n)}, order)

    def test_an_outer_variable_as_an_inner_loop_variable(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            def outer(i: Any, h: Any) -> Any:
                _, s = nn.while_loop(lambda j, s: j < 2, lambda j, s: [j + 1, paddle.tanh(s @ w)], [zero(), h])
                return [i + 1, s + h * h]

            return paddle.mean(nn.while_loop(lambda i, h: i < n, outer, [zero(), x * 1.0])[1])

        check(model, {**XW, "n": count(n)}, order)

    def test_a_branch_in_a_loop(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            def step(i: Any, h: Any) -> Any:
                odd = i % 2 == 1
                return [i + 1, nn.cond(odd, lambda: paddle.tanh(h @ w), lambda: h * h * x)]

            return paddle.mean(nn.while_loop(lambda i, h: i < n, step, [zero(), x + 1.0])[1])

        check(model, {**XW, "n": count(n)}, order)

    def test_loops_in_a_row_on_one_variable(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            h = paddle.exp(x)
            for _ in range(3):
                _, h = nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, paddle.tanh(h * w)], [zero(), h])
            return paddle.mean(h * h)

        check(model, {**XW, "n": count(n)}, order)

    def test_a_parameter_as_a_loop_variable_keeps_its_value(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            _, h = nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, h * x], [zero(), w])
            return paddle.mean(h * w)

        check(model, {**XW, "n": count(n)}, order)

    def test_nested_structures(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            state = {"h": x * 1.0, "pair": (w * 1.0, [x * w])}

            def step(i: Any, s: Any) -> Any:
                a, (b,) = s["pair"]
                return [i + 1, {"h": s["h"] * a, "pair": (paddle.tanh(a), [b + s["h"]])}]

            _, s = nn.while_loop(lambda i, s: i < n, step, [zero(), state])
            return paddle.mean(s["h"] * s["pair"][0] + s["pair"][1][0])

        check(model, {**XW, "n": count(n)}, order)

    def test_a_state_that_grows(self, n: int, order: int) -> None:
        def model(x: Any, w: Any, n: Any) -> Any:
            def step(i: Any, h: Any) -> Any:
                return [i + 1, paddle.concat([h, paddle.tanh(h[-1:] @ w)], 0)]

            return paddle.mean(nn.while_loop(lambda i, h: i < n, step, [zero(), x * 1.0])[1] * 2.0)

        check(model, {**XW, "n": count(n)}, order)


def test_a_condition_on_what_the_loop_computes(order: int) -> None:
    def model(x: Any, w: Any) -> Any:
        h, _ = nn.while_loop(lambda h, k: paddle.sum(h) < 50.0, lambda h, k: [h * 1.5 + w * w, k * 2], [x * x, x])
        return paddle.mean(h)

    check(model, XW, order)
