"""``PyLayer``: operators of the user's own on the tape."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.autograd import PyLayer

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), stop_gradient=False)


class Tanh(PyLayer):
    """Saves its own output."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, scale: float = 1.0) -> Any:
        y = paddle.tanh(x)
        ctx.save_for_backward(y)
        ctx.scale = scale
        return y

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        (y,) = ctx.saved_tensor()
        return dy * (1 - y * y) * ctx.scale


class Several(PyLayer):
    """Two inputs among other arguments, two outputs among other results; backward notes what it gets."""

    got: tuple[Any, ...] = ()
    materialize = True

    @staticmethod
    def forward(ctx: Any, x: Any, power: int, w: Any) -> Any:
        ctx.set_materialize_grads(Several.materialize)
        ctx.save_for_backward(x, w)
        return x**power, "between", x * w

    @staticmethod
    def backward(ctx: Any, first: Any, second: Any) -> Any:
        Several.got = tuple(None if g is None else g.tolist() for g in (first, second))
        _, w = ctx.saved_tensor()
        return (None if second is None else second * w), None


def layer(forward: Any, backward: Any) -> Any:
    return type("Made", (PyLayer,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def test_first_and_second_order_through_a_saved_output() -> None:
    x = leaf(0.5, 1.0)
    y = Tanh.apply(x, scale=3.0)
    t = np.tanh([0.5, 1.0])
    (g,) = paddle.grad(y, x, create_graph=True)
    np.testing.assert_allclose(g.numpy(), 3 * (1 - t * t), rtol=1e-6)
    (h,) = paddle.grad(g, x)
    np.testing.assert_allclose(h.numpy(), -18 * t * (1 - t * t), rtol=1e-5)


def test_no_cycle_keeps_the_graph_alive() -> None:
    gc.disable()
    try:
        y = Tanh.apply(leaf(0.5))
        node = weakref.ref(y.node)
        del y
        assert node() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("materialize", [True, False])
def test_arguments_results_and_absent_gradients(materialize: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Several, "materialize", materialize)
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    _, text, product = Several.apply(x, 2, w)
    product.backward()
    assert text == "between"
    assert Several.got == ([0.0, 0.0] if materialize else None, [1.0, 1.0])
    assert (x.grad.tolist(), w.grad) == ([3.0, 4.0], None)


def test_nothing_is_recorded_without_need() -> None:
    assert Tanh.apply(paddle.ones([2])).stop_gradient
    with paddle.no_grad():
        assert Tanh.apply(leaf(1.0)).stop_gradient


def test_an_output_marked_non_differentiable() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        where = x * 0.0
        ctx.mark_non_differentiable(where)
        return x * 2.0, where

    x = leaf(1.0)
    y, where = layer(forward, lambda ctx, dy, dw: dy * 2.0 + dw).apply(x)
    assert where.stop_gradient
    y.backward()
    assert x.grad.tolist() == [2.0]


def test_second_backward_says_that_it_was_freed() -> None:
    y = Tanh.apply(leaf(1.0))
    y.backward()
    with pytest.raises(SystemError, match="PyLayer_Tanh a second time"):
        y.backward()


def test_an_edited_saved_tensor_is_noticed() -> None:
    h = leaf(1.0, 2.0) * 1.0
    y = Several.apply(h, 2, leaf(1.0, 1.0))[2]
    h.add_(paddle.ones([2]))
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.backward()


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (lambda dy: dy, ValueError, "1 values for 2 Tensor inputs of forward, and input 1 needs a gradient"),
        (lambda dy: (dy, dy, dy), ValueError, "but returned 3"),
        (lambda dy: (dy, 3), ValueError, "value 1 is int"),
        (lambda dy: (paddle.ones([3]), None), ValueError, r"input 0 must have shape \[2\], but has \[3\]"),
    ],
)
def test_backward_results_are_checked(result: Any, error: type[Exception], message: str) -> None:
    function = layer(lambda ctx, a, b: a * b, lambda ctx, dy: result(dy))
    with pytest.raises(error, match=message):
        function.apply(leaf(1.0, 2.0), leaf(1.0, 2.0)).backward()


def test_what_backward_raises_keeps_its_type() -> None:
    def backward(ctx: Any, dy: Any) -> Any:
        raise KeyError("boo")

    with pytest.raises(KeyError, match="boo") as caught:
        layer(lambda ctx, x: x * 2.0, backward).apply(leaf(1.0)).backward()
    assert "gradient of PyLayer_Made, made at" in caught.value.__notes__[0]


def test_missing_methods() -> None:
    class Neither(PyLayer):
        """Has no method of its own."""

    class Forward(PyLayer):
        """Cannot go back."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2.0

    with pytest.raises(NotImplementedError, match="forward"):
        Neither.apply(leaf(1.0))
    with pytest.raises(NotImplementedError, match="backward"):
        Forward.apply(leaf(1.0)).backward()


def test_returning_an_input() -> None:
    same = layer(lambda ctx, x: x, lambda ctx, dy: dy * 3.0)
    x = leaf(1.0)
    with pytest.raises(ValueError, match="can't use the inplace operator Made"):
        same.apply(x)
    h = x * 2.0
    assert same.apply(h) is h
    h.backward()
    assert x.grad.tolist() == [6.0]

    def forward(ctx: Any, t: Any) -> Any:
        ctx.mark_not_inplace(t)
        return t

    other = leaf(1.0)
    y = layer(forward, lambda ctx, dy: dy * 3.0).apply(other)
    y.backward()
    assert (y is other, other.grad.tolist()) == (False, [3.0])


def test_saved_tensors_hooks_reach_a_layer() -> None:
    x = leaf(0.5)
    packed: list[Any] = []

    def pack(t: Any) -> Any:
        packed.append(t)
        return t.numpy()

    with paddle.autograd.saved_tensors_hooks(pack, paddle.to_tensor):
        y = Tanh.apply(x)
    y.backward()
    assert len(packed) == 1
    np.testing.assert_allclose(x.grad.numpy(), [1 - np.tanh(0.5) ** 2], rtol=1e-6)


def test_gradients_take_the_type_of_their_inputs() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_grad_in_dtype_consistent(True)
        with pytest.raises(ValueError, match="always has the dtype"):
            ctx.set_grad_in_dtype_consistent(False)
        return x * 2.0

    x = leaf(1.0)
    layer(forward, lambda ctx, dy: dy.astype("float64") * 2.0).apply(x).backward()
    assert (x.grad.dtype, x.grad.tolist()) == (paddle.float32, [2.0])


class Same(PyLayer):
    """Gives its input back, which counts as an edit in place; its gradient is ten times what arrives."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        return dy * 10


def test_an_input_that_is_returned_counts_as_edited() -> None:
    x = leaf(3.0)
    h = x * 1.0
    y = Same.apply(h)
    assert (y is h, h.inplace_version) == (True, 1)
    Same.apply(y).sum().backward()
    assert (h.inplace_version, x.grad.tolist()) == (2, [100.0])


@pytest.mark.parametrize(
    "use",
    [lambda h: h * h, lambda h: paddle.multiply(h, h), lambda h: h.matmul(h), lambda h: h.log()],
    ids=["square", "multiply", "matmul", "log"],
)
def test_a_value_retained_before_a_layer_returned_it_is_stale(use: Any) -> None:
    x = leaf(3.0)
    h = x * 1.0
    z = use(h)
    y = Same.apply(h)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation \(Same\)"):
        (z + y).sum().backward()
    assert x.grad is None


def test_the_result_retained_by_the_operator_that_made_it_is_stale() -> None:
    x = leaf(3.0)
    y = Same.apply(x.exp())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_what_a_layer_saves_of_an_input_that_it_returns_is_not_stale() -> None:
    class Saving(Same):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            (x,) = ctx.saved_tensor()
            return dy * x

    x = leaf(3.0)
    Saving.apply(x * 1.0).sum().backward()
    assert x.grad.tolist() == [3.0]


def test_an_input_that_is_not_marked_as_edited() -> None:
    class NotInPlace(Same):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_not_inplace(x)
            return x

    x = leaf(3.0)
    h = x * 1.0
    z = h * h
    y = NotInPlace.apply(h)
    (y + z).sum().backward()
    # Both ways count: 10 + 2h. (Paddle 3.3.1 loses the way through the layer.)
    assert (y is h, h.inplace_version, x.grad.tolist()) == (False, 0, [16.0])
