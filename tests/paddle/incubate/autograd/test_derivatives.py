"""``paddle.incubate.autograd`` as Paddle 3.3.1 computes it, and forward mode in programs, which it lacks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.incubate.autograd import disable_prim, enable_prim, forward_grad, grad, prim2orig, prim_enabled

from .record_derivatives import CALLS, TARGET, answer

RECORDED = json.loads(TARGET.read_text(encoding="utf-8"))


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("call", CALLS)
def test_what_paddle_gives(call: str) -> None:
    assert answer(paddle, call) == RECORDED[call]


def test_every_call_is_recorded() -> None:
    assert [*RECORDED] == CALLS


@pytest.mark.usefixtures("dynamic")
def test_numbers_that_are_not_finite_leave_zeros_where_nothing_depends() -> None:
    x = paddle.to_tensor([float("nan"), 1.0])
    assert paddle.autograd.vjp(lambda a, c: c * 2, [x, x])[1][0].tolist() == [0.0, 0.0]


@pytest.mark.usefixtures("dynamic")
def test_the_second_derivative_of_a_number_by_a_number() -> None:
    s = paddle.to_tensor(2.0, stop_gradient=False)
    assert paddle.autograd.hessian(s * s * s, s)[...].item() == 12.0


def leaf(name: str) -> Any:
    x = paddle.static.data(name, [3], "float64")
    x.stop_gradient = False
    return x


@pytest.fixture
def switched_on() -> Iterator[None]:
    enable_prim()
    yield
    disable_prim()


@pytest.mark.usefixtures("switched_on")
def test_forward_mode_is_the_product_with_the_direction() -> None:
    assert prim_enabled()
    x, y = leaf("x"), leaf("y")
    product, total = x * paddle.sin(y), paddle.sum(x * x)
    dx, dy = paddle.static.data("dx", [3], "float64"), paddle.static.data("dy", [3], "float64")
    slopes = forward_grad([product, total], [x, y], [dx, dy])
    ones = forward_grad(product, [x, y])
    prim2orig()
    rng = np.random.default_rng(0)
    feed: dict[str, Any] = {name: rng.normal(size=3) for name in ("x", "y", "dx", "dy")}
    a, b, da, db = feed.values()
    values = paddle.static.Executor().run(feed=feed, fetch_list=[*slopes, ones])
    np.testing.assert_allclose(values[0], da * np.sin(b) + a * np.cos(b) * db)
    np.testing.assert_allclose(values[1], 2 * a @ da)
    np.testing.assert_allclose(values[2], np.sin(b) + a * np.cos(b))


@pytest.mark.usefixtures("switched_on")
def test_what_does_not_depend_has_no_derivative() -> None:
    x, y = leaf("x"), leaf("y")
    assert forward_grad(x * 2, y) is None


def test_reverse_mode_needs_no_switch() -> None:
    x = leaf("x")
    single, several = grad(x * x, x), grad([x * x, x], [x], [x, x])
    values = paddle.static.Executor().run(feed={"x": np.array([1.0, 2.0, 3.0])}, fetch_list=[single, *several])
    np.testing.assert_allclose(values, [[2, 4, 6], [3, 10, 21]])


def test_forward_mode_without_the_switch() -> None:
    x = paddle.static.data("x", [3])
    with pytest.raises(RuntimeError, match="must be running on primitiveoperators, use enable_prim to turn it on"):
        forward_grad(x * x, x)


@pytest.mark.usefixtures("switched_on")
def test_wrong_arguments() -> None:
    x = paddle.static.data("x", [3])
    with pytest.raises(TypeError, match="a Variable of a static program is needed, but received float"):
        forward_grad(x * x, 3.0)
    with pytest.raises(ValueError, match="'x' has stop_gradient=True"):
        forward_grad(x * x, x)
    with pytest.raises(ValueError, match="grad_inputs has 2 variables, and inputs 1"):
        forward_grad(x * x, x, [x, x])


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("call", [enable_prim, disable_prim, prim2orig, lambda: grad(None, None)])
def test_dynamic_mode_is_refused(call: Any) -> None:
    with pytest.raises(AssertionError, match="builds static programs"):
        call()
