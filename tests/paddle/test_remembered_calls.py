"""Functions that remember what their arguments come to: the second call is as good as the first, whatever changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError
from gradtool.paddle._remembered import remembered
from gradtool.paddle.nn import functional

pytestmark = pytest.mark.usefixtures("dynamic")


def tensor(*shape: int, start: float = 0.0) -> Any:
    return paddle.to_tensor(
        np.arange(start, start + np.prod(shape), dtype="float32").reshape(shape), stop_gradient=False
    )


def as_image(x: Any) -> Any:
    return x.reshape([1, 1, *x.shape])


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "reshape": lambda x, y: paddle.reshape(x, [3, 2]),
    "reshape_by_name": lambda x, y: paddle.reshape(x, shape=(-1,)),
    "transpose": lambda x, y: x.transpose([1, 0]),
    "unsqueeze": lambda x, y: paddle.unsqueeze(x, 1),
    "sum": lambda x, y: x.sum(-1, keepdim=True),
    "mean": lambda x, y: x.mean(),
    "softmax": lambda x, y: functional.softmax(x),
    "cast": lambda x, y: x.astype(paddle.float64),
    "row": lambda x, y: x[1],
    "box": lambda x, y: x[0, 1:],
    "concat": lambda x, y: paddle.concat([x, y], 0),
    "stack": lambda x, y: paddle.stack([x, y], axis=-1),
    "split": lambda x, y: paddle.split(x, 3, axis=1)[1],
    "linear": lambda x, y: functional.linear(x, y.transpose([1, 0])),
    "layer_norm": lambda x, y: functional.layer_norm(x, [3]),
    "cross_entropy": lambda x, y: functional.cross_entropy(x, paddle.to_tensor([2, 0])),
    "conv2d": lambda x, y: functional.conv2d(as_image(x), y.reshape([1, 1, 2, 3]), y[0, :1], padding=[1, 2]),
    "max_pool2d": lambda x, y: functional.max_pool2d(as_image(x), 2, 1),
    "interpolate": lambda x, y: functional.interpolate(as_image(x), [3, 4], mode="bilinear"),
    "nested": lambda x, y: functional.softmax(paddle.matmul(x, y, transpose_y=True), axis=0)[0],
}


def outcome(function: Callable[[Any, Any], Any], start: float) -> list[Any]:
    x, y = tensor(2, 3, start=start), tensor(2, 3, start=2 * start - 1)
    out = function(x, y)
    (out * out).sum().backward()
    grads = [None if v.grad is None else v.grad.numpy() for v in (x, y)]
    return [out.numpy(), *grads]


@pytest.mark.parametrize("name", CALLS)
def test_later_calls_compute_with_their_own_tensors(name: str) -> None:
    function = CALLS[name]
    for start in (0.5, 1.5, 2.5):
        remembered_ = outcome(function, start)
        with paddle.autograd.saved_tensors_hooks(lambda v: v.numpy(), paddle.to_tensor):
            unpacked = outcome(function, start)
        for a, b in zip(remembered_, unpacked, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CALLS)
def test_second_derivatives_reach_through_later_calls(name: str) -> None:
    function = CALLS[name]
    gradients = []
    for _ in range(2):
        x, y = tensor(2, 3, start=0.25), tensor(2, 3, start=1.25)
        out = function(x, y).astype("float32")
        (g,) = paddle.grad([(out * out * out).sum()], [x], create_graph=True)
        g.sum().backward()
        gradients.append(x.grad.numpy())
    np.testing.assert_array_equal(*gradients)


def test_numbers_that_are_equal_but_not_the_same() -> None:
    x = tensor(2, 2, start=1)
    for _ in range(2):
        assert paddle.sum(x, 1).shape == [2]
        with pytest.raises(TypeError):
            paddle.sum(x, 1.0)
        assert np.signbit(paddle.scale(x, 0.0).numpy()).sum() == 0
        assert np.signbit(paddle.scale(x, -0.0).numpy()).sum() == 4


def test_the_same_tensor_twice_and_then_two() -> None:
    x, y = tensor(2, 2), tensor(2, 2, start=10)
    for a, b in ((x, x), (x, y), (y, x), (y, y), (x, y)):
        np.testing.assert_array_equal(paddle.stack([a, b]).numpy(), np.stack([a.numpy(), b.numpy()]))
        np.testing.assert_array_equal(paddle.mm(a, b).numpy(), a.numpy() @ b.numpy())


def test_a_list_that_changes_between_calls() -> None:
    x, shape = tensor(2, 3), [3, 2]
    assert paddle.reshape(x, shape).shape == [3, 2]
    shape[:] = [6, 1]
    assert paddle.reshape(x, shape).shape == [6, 1]
    index = np.array([0])
    assert float(x[index][0, 0]) == 0.0
    index[0] = 1
    assert float(x[index][0, 0]) == 3.0


def test_values_of_tensors_are_looked_at_each_time() -> None:
    x, size = tensor(2, 3), paddle.to_tensor([3, 2])
    assert paddle.reshape(x, size).shape == [3, 2]
    assert paddle.reshape(x, paddle.to_tensor([1, 6])).shape == [1, 6]


def test_errors_stay_after_calls_that_fitted() -> None:
    assert paddle.reshape(tensor(2, 3), [3, 2]).shape == [3, 2]
    with pytest.raises(ShapeError, match="6 elements"):
        paddle.reshape(tensor(2, 3), [4, 2])
    for _ in range(2):
        with pytest.raises(IndexError):
            tensor(2, 3)[2]


def test_views_still_see_what_is_written() -> None:
    for _ in range(2):
        x = paddle.zeros([2, 3])
        row = x[0]
        with paddle.no_grad():
            row.fill_(1.0)
        assert float(x.sum()) == 3.0


def test_recording_stops_where_gradients_stop() -> None:
    for stop in (False, True, False):
        x = tensor(2, 3)
        x.stop_gradient = stop
        assert paddle.reshape(x, [6]).stop_gradient is stop
        with paddle.no_grad():
            assert paddle.reshape(x, [6]).stop_gradient


def test_random_numbers_are_drawn_anew() -> None:
    paddle.seed(3)
    x = paddle.ones([40])
    first, second = (functional.dropout(x, 0.5).numpy() for _ in range(2))
    assert (first != second).any()


def test_a_function_that_does_more_than_operators_runs_each_time() -> None:
    seen = []

    @remembered
    def noted(x: Any) -> Any:
        seen.append(1)
        return paddle.to_tensor(x.numpy() + 1)

    assert [float(noted(paddle.to_tensor(v))) for v in (1.0, 2.0)] == [2.0, 3.0]
    assert len(seen) == 2


def test_a_static_program_is_built_each_time() -> None:
    paddle.reshape(tensor(2, 3), [3, 2])
    paddle.enable_static()
    x = paddle.static.data("x", [2, 3])
    for _ in range(2):
        paddle.reshape(x, [3, 2])
    assert [o.type for o in x.block.ops] == ["reshape2"] * 2


@pytest.mark.parametrize(
    "sized",
    [
        lambda x, n: functional.interpolate(x, size=n),
        lambda x, n: functional.interpolate(x, size=[n[0], 2]),
        lambda x, n: functional.avg_pool2d(x, n[0], 1),
        lambda x, n: functional.conv2d(x, paddle.ones([1, 1, 1, 1]), padding=n[0]),
    ],
)
def test_a_size_that_a_tensor_holds_is_read_in_each_call(sized: Callable[[Any, Any], Any]) -> None:
    x = tensor(1, 1, 4, 4)
    sizes = [paddle.to_tensor(numbers) for numbers in ([2, 2], [3, 3], [2, 2])]
    shapes = [tuple(sized(x, n).shape) for n in sizes]
    assert shapes[0] == shapes[2] != shapes[1]
