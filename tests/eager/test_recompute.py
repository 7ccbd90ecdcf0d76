"""``recompute``: the same results, gradients and side effects as a plain call, with less kept in between."""

from __future__ import annotations

import gc
import math
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool
import gradtool.paddle.nn.functional as F
from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, ModeError
from gradtool.engine.eager.recompute import RecomputeError
from gradtool.paddle.autograd import recompute

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), stop_gradient=False)


def part() -> Any:
    return paddle.nn.Sequential(
        paddle.nn.Linear(8, 8),
        paddle.nn.BatchNorm1D(8),
        paddle.nn.ReLU(),
        paddle.nn.Dropout(0.3),
        paddle.nn.Linear(8, 8),
        paddle.nn.Tanh(),
    )


WAYS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "plain": lambda a, b, x: b(a(x)),
    "one after the other": lambda a, b, x: recompute(b, recompute(a, x)),
    "together": lambda a, b, x: recompute(lambda t: b(a(t)), x),
    "nested": lambda a, b, x: recompute(lambda t: recompute(b, recompute(a, t)), x),
    "three deep": lambda a, b, x: recompute(lambda t: recompute(lambda u: recompute(b, a(u)), t), x),
    "by keyword": lambda a, b, x: recompute(lambda t, *, f: b(f(t)), x, f=a, use_reentrant=False),
}


def trained(way: str, steps: int = 3) -> list[np.ndarray]:
    """Everything that a few steps leave behind."""
    paddle.seed(1)
    a, b = part(), part()
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(5, 8)).astype("float32"), stop_gradient=False)
    sgd = paddle.optimizer.SGD(0.1, parameters=[*a.parameters(), *b.parameters()])
    losses = []
    for _ in range(steps):
        y = WAYS[way](a, b, x)
        (y * y).sum().backward()
        losses += [y.numpy(), x.grad.numpy()]
        losses += [p.grad.numpy() for p in (*a.parameters(), *b.parameters()) if p.grad is not None]
        sgd.step()
        sgd.clear_grad()
    losses += [v.numpy() for part_ in (a, b) for v in (*part_.parameters(), *part_.buffers())]
    return [*losses, paddle.rand([4]).numpy()]  # the stream of random numbers has gone equally far


@pytest.mark.parametrize("way", [w for w in WAYS if w != "plain"])
def test_training_is_the_same_to_the_bit(way: str) -> None:
    plain, again = trained("plain"), trained(way)
    assert len(plain) == len(again)
    assert [i for i, (a, b) in enumerate(zip(plain, again, strict=True)) if not np.array_equal(a, b)] == []


def test_paddles_name() -> None:
    assert paddle.distributed.fleet.utils.recompute is recompute


def test_parameters_get_gradients_where_no_argument_needs_one_and_the_call_is_not_reentrant() -> None:
    linear = paddle.nn.Linear(2, 3)
    recompute(linear, paddle.ones([4, 2]), use_reentrant=False).sum().backward()
    np.testing.assert_array_equal(linear.bias.grad.numpy(), [4.0, 4.0, 4.0])
    (g,) = paddle.grad(recompute(linear, paddle.ones([4, 2]), use_reentrant=False).sum(), [linear.weight])
    np.testing.assert_array_equal(g.numpy(), np.full((2, 3), 4.0))


DATA, NEEDS = (lambda: paddle.ones([2])), (lambda: leaf(1.0, 1.0))


@pytest.mark.parametrize(
    ("function", "arguments", "named", "stops"),
    [
        (lambda w, x: w * x, (DATA,), {}, True),
        (lambda w, x: w * x, (DATA,), {"use_reentrant": True}, True),
        (lambda w, x: w * x, (DATA,), {"use_reentrant": False}, False),
        (lambda w, x: w * x, (NEEDS,), {}, False),
        (lambda w, x, y: w * x * y, (DATA, NEEDS), {}, False),
        (lambda w, x: w * x[0], ((DATA,),), {}, True),
        (lambda w, x: w * x[0], ((NEEDS,),), {}, False),
        (lambda w, x: w * x[0], ([DATA],), {}, True),
        (lambda w, x: w * x["a"], ({"a": NEEDS},), {}, True),
        (lambda w, x: w * x[0][0], (([NEEDS],),), {}, True),
        (lambda w, x: w, (DATA,), {}, False),
        (lambda w, x: x, (DATA,), {}, True),
        (lambda w, k: w * k, (2.0,), {}, True),
    ],
)
def test_gradients_stop_where_those_of_paddle_do(function: Any, arguments: Any, named: Any, stops: bool) -> None:
    """Truth of Paddle 3.1.1: whether the result has stop_gradient, and so whether the captured weight gets none."""
    w = paddle.create_parameter([2], "float32")
    result = recompute(lambda *args: function(w, *args), *_made(arguments), **named)
    assert result.stop_gradient is stops
    (result.sum() + w.sum() * 0).backward()
    assert bool(w.grad.numpy().any()) is not stops


def _made(value: Any) -> Any:
    """Return *value* with tensors in place of the functions that make them."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_made, value))
    if isinstance(value, dict):
        return {key: _made(v) for key, v in value.items()}
    return value() if callable(value) else value


def test_results_of_any_form_come_back() -> None:
    x = leaf(1.0, 2.0)
    y, rest = recompute(lambda t, k: (t * k, {"twice": t + t, "k": k}), x, 3.0)
    (y + rest["twice"]).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    assert rest["k"] == 3.0


def test_lists_and_constants_among_the_arguments() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)

    def product(pair: list[Any], power: int) -> Any:
        return (pair[0] * pair[1]) ** power

    for call in (product, lambda pair, power: recompute(product, pair, power)):
        x.clear_gradient(set_to_zero=False)
        recompute(call, [x, y], 2).sum().backward()
        assert x.grad.tolist() == [18.0, 64.0]


@pytest.mark.parametrize("order", [2, 3])
def test_higher_order(order: int) -> None:
    def derivative(f: Callable[[Any], Any]) -> np.ndarray:
        x = leaf(0.5, -1.0)
        y = f(x)
        for _ in range(order - 1):
            (y,) = paddle.grad(y.sum(), x, create_graph=True)
        (y,) = paddle.grad(y.sum(), x)
        values: np.ndarray = y.numpy()
        return values

    def f(t: Any) -> Any:
        return (t * t * t).tanh() * t.exp()

    plain = derivative(f)
    np.testing.assert_array_equal(derivative(lambda t: recompute(f, t)), plain)
    np.testing.assert_array_equal(derivative(lambda t: recompute(lambda u: recompute(f, u), t)), plain)


def test_backward_twice_through_a_retained_graph() -> None:
    calls = []

    def f(t: Any) -> Any:
        calls.append(1)
        return (t * t).exp()

    x = leaf(0.5, 1.0)
    y = recompute(f, x).sum()
    y.backward(retain_graph=True)
    first = x.grad.numpy().copy()
    y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * first)
    assert len(calls) == 3
    with pytest.raises(RuntimeError, match="freed"):
        y.backward()


def test_hooks_see_the_same_gradients() -> None:
    seen: list[list[float]] = []
    x = leaf(1.0, 2.0)

    def f(t: Any) -> Any:
        h = t * t
        h.register_hook(lambda g: seen.append(g.tolist()))
        return h.exp()

    recompute(f, x).sum().backward()
    assert len(seen) == 1
    np.testing.assert_allclose(seen[0], np.exp([1.0, 4.0]), rtol=1e-6)


def test_without_recording_the_function_is_just_called() -> None:
    linear = paddle.nn.Linear(2, 2)
    with paddle.no_grad():
        y = recompute(linear, paddle.ones([1, 2]))
    assert y.stop_gradient
    assert y.node is None


def test_a_pylayer_inside() -> None:
    class Cube(paddle.autograd.PyLayer):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * x * x
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            x, y = ctx.saved_tensor()
            np.testing.assert_array_equal(y.numpy(), (x * x * x).numpy())
            return dy * 3 * x * x

    x = leaf(1.0, 2.0)
    recompute(lambda t: Cube.apply(t * 2.0).tanh(), x).sum().backward()
    v = np.array([1.0, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), (1 - np.tanh(8 * v**3) ** 2) * 24 * v * v, atol=1e-6)


def test_what_the_function_writes_is_written_once() -> None:
    counter = paddle.to_tensor([0.0])

    def f(t: Any) -> Any:
        with paddle.no_grad():
            counter.add_(paddle.ones([1]))
        return (t * counter.clone()).exp()

    x = leaf(0.5)
    first, second = recompute(f, x), recompute(f, x)
    (first + second).sum().backward()
    assert counter.tolist() == [2.0]
    # The first call counted to 1, the second to 2, and so they do again.
    np.testing.assert_allclose(x.grad.numpy(), np.exp(0.5) + 2 * np.exp(1.0), rtol=1e-6)
    assert counter.inplace_version == 2


def test_a_written_tensor_that_is_retained() -> None:
    counter = paddle.to_tensor([0.0])

    def f(t: Any) -> Any:
        with paddle.no_grad():
            counter.add_(paddle.ones([1]))
        return (t * counter).exp()

    x = leaf(0.5)
    early, late = recompute(f, x), recompute(f, x)
    late.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp(1.0), rtol=1e-6)
    with pytest.raises(RuntimeError, match="add_"):  # as in a plain call
        early.sum().backward()


def test_tensors_that_the_function_makes_may_be_written_in_place() -> None:
    def f(t: Any) -> Any:
        h = t * 2.0
        h.exp_()
        return h * h

    x, y = leaf(0.5, 1.0), leaf(0.5, 1.0)
    f(x).sum().backward()
    recompute(f, y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())


# -- errors -----------------------------------------------------------------------------------------------------------


def test_an_argument_that_is_written_in_between() -> None:
    h = leaf(1.0, 2.0) * 2.0
    y = recompute(lambda t: (t * t).exp(), h)
    h.add_(paddle.ones([2]))
    with pytest.raises(RuntimeError, match=r"add_.*its version is 1 but the expected version is 0"):
        y.sum().backward()


def test_a_parameter_that_is_written_in_between() -> None:
    linear = paddle.nn.Linear(2, 2)
    y = recompute(lambda t: linear(t).tanh(), leaf(1.0, 2.0).reshape([1, 2]))
    linear.weight.set_value(np.zeros((2, 2), "float32"))
    with pytest.raises(RuntimeError, match="set_value"):
        y.sum().backward()


def test_a_function_that_does_something_else_the_second_time() -> None:
    calls: list[int] = []

    def longer(t: Any) -> Any:
        calls.append(1)
        h = t.exp()
        return h.exp() if len(calls) > 1 else h

    def wider(t: Any) -> Any:
        calls.append(1)
        return (t.tile([len(calls)]) * 2.0).exp()

    for f, message in ((longer, "retained 1 values at first and 2 now"), (wider, "was float32")):
        calls.clear()
        y = recompute(f, leaf(0.5))
        with pytest.raises(RecomputeError, match=message) as caught:
            y.sum().backward()
        assert f.__name__ in caught.value.message


def test_what_the_function_raises_passes_through() -> None:
    calls: list[int] = []

    def f(t: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            raise KeyError("gone")
        return t.exp()

    state = gradtool.engine.core.state.random.position
    y = recompute(f, leaf(0.5))
    with pytest.raises(KeyError, match="gone"):
        y.sum().backward()
    assert gradtool.engine.core.state.random.position == state


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentTypeError, match="3 is not a callable object"):
        recompute(3, leaf(1.0))
    paddle.enable_static()
    with pytest.raises(ModeError, match="static mode") as caught:
        recompute(lambda t: t, 1)
    assert "checkpoints" in (caught.value.hint or "")


# -- memory -----------------------------------------------------------------------------------------------------------


def peak(count: int, pieces: bool) -> float:
    """Activations of one layer that fit into the most that forward and backward of *count* layers take at once."""
    batch, width = 16384, 8
    paddle.seed(0)
    layers = [paddle.nn.Linear(width, width) for _ in range(count)]
    step = math.isqrt(count)

    def through(some: list[Any], h: Any) -> Any:
        for layer in some:
            h = F.relu(layer(h))
        return h

    h = paddle.ones([batch, width])
    gc.collect()
    tracemalloc.start()
    try:
        for i in range(0, count, step):
            some = layers[i : i + step]
            h = recompute(through, some, h, use_reentrant=False) if pieces else through(some, h)
        h.mean().backward()
        return tracemalloc.get_traced_memory()[1] / (batch * width * 4)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("count", [16, 64, 144])
def test_memory_grows_as_the_square_root(count: int) -> None:
    assert peak(count, pieces=False) > count
    assert peak(count, pieces=True) < 2 * math.sqrt(count) + 5


def test_values_of_an_inner_call_are_let_go_of_by_an_outer_one() -> None:
    references: list[weakref.ref[Any]] = []

    def inner(t: Any) -> Any:
        return (t * t).exp()

    def outer(t: Any) -> Any:
        h = t.tanh()
        references.append(weakref.ref(h))
        return recompute(inner, h).tanh()

    x = leaf(0.5, 1.0)
    y = recompute(outer, x)
    assert [ref() for ref in references] == [None]
    y.sum().backward()
    v = np.array([0.5, 1.0])
    t = np.tanh(v)
    e = np.exp(t * t)
    np.testing.assert_allclose(x.grad.numpy(), (1 - np.tanh(e) ** 2) * e * 2 * t * (1 - t * t), rtol=1e-5)


def test_nothing_is_left_in_a_cycle() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf(0.5, 1.0)

        def f(t: Any) -> Any:
            h = t * 2.0
            h.exp_()
            return h

        y = recompute(f, x)
        node = weakref.ref(y.node)
        del y
        assert node() is None
    finally:
        gc.enable()
