"""Hooks: order, replacement, removal, what they may return, and what a failing one leaves behind."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core.errors import GradientError, ShapeError

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), stop_gradient=False)


@pytest.mark.parametrize("intermediate", [False, True])
def test_hooks_run_in_order_on_the_whole_gradient(intermediate: bool) -> None:
    x = leaf(1.0, 2.0)
    t = x * 1.0 if intermediate else x
    seen: list[Any] = []
    t.register_hook(lambda g: seen.append(g.tolist()))
    t.register_hook(lambda g: g + 1.0)
    t.register_hook(lambda g: g * 10.0)
    (t * t + t * 3.0).backward()
    assert seen == [[5.0, 7.0]]
    assert x.grad.tolist() == [60.0, 80.0]
    (x * 1.0).backward()
    assert x.grad.tolist() == ([61.0, 81.0] if intermediate else [60.0 + 20.0, 80.0 + 20.0])


def test_removed_hooks_do_not_run() -> None:
    x = leaf(1.0)
    first, second = x.register_hook(lambda g: g * 2.0), x.register_hook(lambda g: g * 3.0)
    assert (first.remove(), first.remove()) == (True, False)
    third = x.register_hook(lambda g: g + 1.0)
    assert second.remove()
    (x * 5.0).backward()
    assert x.grad.tolist() == [6.0]
    assert third.remove()


def test_outer_tensors_come_first() -> None:
    x = leaf(1.0)
    y = x * 2.0
    w = y * 3.0
    order: list[str] = []
    for name, t in (("x", x), ("w", w), ("y", y)):
        t.register_hook(lambda g, name=name: order.append(name))
    w.backward()
    assert order == ["w", "y", "x"]


def test_retain_grads_keeps_what_the_hooks_before_it_left() -> None:
    x = leaf(1.0)
    before, after = x * 2.0, x * 2.0
    before.retain_grads()
    before.register_hook(lambda g: g * 10.0)
    after.register_hook(lambda g: g * 10.0)
    after.retain_grads()
    after.retain_grads()
    (before + after).backward()
    assert (before.grad.tolist(), after.grad.tolist(), x.grad.tolist()) == ([1.0], [10.0], [40.0])


def test_hooks_in_grad() -> None:
    x = leaf(1.0)
    h = x * 2.0
    x.register_hook(lambda g: g * 100.0)
    h.register_hook(lambda g: g * 10.0)
    assert paddle.grad(h * 3.0, x, retain_graph=True)[0].tolist() == [60.0]
    assert paddle.grad(h * 3.0, h)[0].tolist() == [30.0]


def test_a_hook_that_writes_in_place_changes_its_tensor_only() -> None:
    x, y = leaf(1.0), leaf(1.0)
    x.register_hook(lambda g: g.fill_(9.0) and None)
    (x + y).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([9.0], [1.0])


def test_second_order_through_a_hook() -> None:
    x = leaf(3.0)
    h = x * x
    h.register_hook(lambda g: g * x)
    (g,) = paddle.grad(h, x, create_graph=True)
    assert g.tolist() == [18.0]
    assert paddle.grad(g, x)[0].tolist() == [12.0]


def test_an_exception_keeps_its_type_and_leaves_every_grad_alone() -> None:
    x, y = leaf(1.0), leaf(2.0)

    def fail(gradient: Any) -> None:
        raise KeyError("boo")

    (x * y).backward()
    y.register_hook(fail)
    with pytest.raises(KeyError, match="boo") as caught:
        (x * y).backward()
    assert "raised by a hook on" in caught.value.__notes__[0]
    assert (x.grad.tolist(), y.grad.tolist()) == ([2.0], [1.0])


@pytest.mark.parametrize("intermediate", [False, True])
def test_wrong_results(intermediate: bool) -> None:
    x = leaf(1.0, 2.0)
    for result, error, message in (
        (3, GradientError, "returned int; it must return a Tensor or None"),
        (paddle.ones([3]), ShapeError, r"must have shape \[2\], but has \[3\]"),
    ):
        t = x * 2.0 if intermediate else x
        handle = t.register_hook(lambda g, result=result: result)
        with pytest.raises(error, match=message):
            (t * 1.0).backward()
        handle.remove()
        assert x.grad is None


def test_where_no_hook_can_be() -> None:
    with pytest.raises(RuntimeError, match="Cannot register hook on a tensor that stop gradient"):
        paddle.ones([2]).register_hook(lambda g: g)
    with pytest.raises(ValueError, match="takes a function"):
        leaf(1.0).register_hook(3)


def test_callbacks_after_accumulation() -> None:
    x = leaf(1.0)
    seen: list[Any] = []
    handle = x._register_backward_hook(lambda: seen.append(x.grad.tolist()))
    (x * 2.0).backward()
    assert handle.remove()
    (x * 2.0).backward()
    assert seen == [[2.0]]
    for wrong in (x * 2.0, paddle.ones([1])):
        with pytest.raises(ValueError, match="takes a leaf that gets a gradient"):
            wrong._register_backward_hook(lambda: None)
    with pytest.raises(ValueError, match="takes a function"):
        x._register_backward_hook(3)
    x._zero_grads()
    assert x.grad.tolist() == [0.0]
