"""Backward and ``grad`` called while another pass runs: by hooks, and by the backward of a PyLayer.

The numbers without a remark of their own are those of Paddle 3.3.1.
"""

from __future__ import annotations

from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.eager.tape import FreedGraphError
from gradtool.paddle.autograd import PyLayer

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(value: float) -> Any:
    return paddle.to_tensor(value, stop_gradient=False)


def numbers(*tensors: Any) -> list[float | None]:
    return [None if t is None else t.item() for t in tensors]


@pytest.mark.parametrize("intermediate", [False, True])
def test_backward_in_a_hook_runs(intermediate: bool) -> None:
    a, b = leaf(3.0), leaf(2.0)
    y = b * b
    (y if intermediate else b).register_hook(lambda g: (a * a).sum().backward())
    (y * 1.0).backward()
    assert numbers(a.grad, b.grad) == [6.0, 4.0]


def test_backward_in_a_hook_to_the_same_leaf() -> None:
    b = leaf(2.0)
    y = b * b
    y.register_hook(lambda g: (b * 3).backward())
    (y * 1.0).backward()
    assert numbers(b.grad) == [7.0]


def test_a_hook_that_comes_to_itself() -> None:
    b = leaf(2.0)
    calls: list[float] = []

    def hook(g: Any) -> None:
        calls.append(g.item())
        if len(calls) < 3:
            (b * 3).backward()

    b.register_hook(hook)
    (b * b).backward()
    assert numbers(b.grad) == [10.0]
    assert calls == [4.0, 3.0, 3.0]


def test_the_same_root_again_in_a_hook() -> None:
    b = leaf(2.0)
    y = b * b * 3
    root = y * 1.0
    calls: list[float] = []

    def hook(g: Any) -> None:
        calls.append(g.item())
        if len(calls) < 3:
            root.backward(retain_graph=True)

    y.register_hook(hook)
    root.backward(retain_graph=True)
    assert numbers(b.grad) == [36.0]
    assert len(calls) == 3


def test_graphs_that_share_nodes() -> None:
    b = leaf(2.0)
    h = b * b
    y, z = h * 3, h * 5
    y.register_hook(lambda g: z.backward(retain_graph=True))
    (y * 1.0).backward()
    assert numbers(b.grad) == [32.0]


def test_nodes_that_the_inner_pass_freed() -> None:
    b = leaf(2.0)
    h = b * b
    y, z = h * 3, h * 5
    y.register_hook(lambda g: z.backward())
    with pytest.raises(FreedGraphError, match="retain_graph=True"):
        (y * 1.0).backward()
    assert numbers(b.grad) == [20.0]  # of the inner pass; the outer one failed as a whole


def test_grad_in_a_hook() -> None:
    a, b = leaf(3.0), leaf(2.0)
    y = b * b
    slopes: list[Any] = []
    y.register_hook(lambda g: slopes.extend(paddle.grad(a * a * a, a)))
    (y * 1.0).backward()
    assert numbers(*slopes, a.grad, b.grad) == [27.0, None, 4.0]


def test_second_order_in_a_hook() -> None:
    a, b = leaf(3.0), leaf(2.0)
    y = b * b

    def hook(g: Any) -> Any:
        (first,) = paddle.grad(a * a * a, a, create_graph=True)
        return paddle.grad(first, a)[0] * g

    y.register_hook(hook)
    (y * 1.0).backward()
    assert numbers(a.grad, b.grad) == [None, 4.0 * 18.0]


def test_passes_twenty_deep() -> None:
    x = leaf(2.0)

    def go(depth: int) -> None:
        y = x * 1.0
        if depth:
            y.register_hook(lambda g: go(depth - 1))
        (y * 1.0).backward()

    go(20)
    assert numbers(x.grad) == [21.0]


def test_a_hook_of_the_inner_pass_raises() -> None:
    a, b = leaf(3.0), leaf(2.0)
    c = a * a

    def fail(g: Any) -> None:
        raise KeyError("inner")

    c.register_hook(fail)
    h = b * b

    def hook(g: Any) -> Any:
        with pytest.raises(KeyError, match="inner"):
            (c * 1).backward()
        return g * 2

    h.register_hook(hook)
    (h * 3).backward()
    assert numbers(a.grad, b.grad) == [None, 24.0]
    assert paddle.is_grad_enabled()


def test_modes_in_hooks() -> None:
    b = leaf(2.0)
    modes: list[bool] = []
    y = b * b
    y.register_hook(lambda g: modes.append(paddle.is_grad_enabled()))
    b.register_hook(lambda g: modes.append(paddle.is_grad_enabled()))
    (y * 1).backward(retain_graph=True)
    assert modes == [True, True]
    with paddle.no_grad():
        (root,) = [y]
        root.backward()
    assert modes == [True, True, False, False]


def test_the_gradient_of_a_pass_is_no_part_of_a_graph_after_a_hook_with_parameters() -> None:
    b, w = leaf(2.0), leaf(5.0)
    b.register_hook(lambda g: g * w)
    (b * b).backward()
    assert numbers(b.grad, w.grad) == [20.0, None]
    assert b.grad.is_leaf


def test_backward_in_the_backward_of_a_layer() -> None:
    class Square(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensor()
            z = x.detach()
            z.stop_gradient = False
            with paddle.enable_grad():
                y = z * z
            y.backward(g)
            return z.grad

    x = leaf(3.0)
    Square.apply(x).backward()
    assert numbers(x.grad) == [6.0]


def test_backward_in_the_backward_of_a_layer_to_a_leaf_of_the_outer_pass() -> None:
    w, x = leaf(5.0), leaf(3.0)

    class Through(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with paddle.enable_grad():
                (w * w).backward()
            return g * 2

    (Through.apply(x) * w).backward()
    assert numbers(x.grad, w.grad) == [10.0, 3.0 + 10.0]


def test_grad_in_the_backward_of_a_layer_can_be_differentiated() -> None:
    class Cube(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensor()
            with paddle.enable_grad():
                return paddle.grad(x * x * x, x, g, create_graph=True)[0]

    # Paddle 3.3.1 crashes here; the second derivative of x³ is 6x.
    x = leaf(3.0)
    (first,) = paddle.grad(Cube.apply(x), x, create_graph=True)
    assert numbers(first, *paddle.grad(first, x)) == [27.0, 18.0]
