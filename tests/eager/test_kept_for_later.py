"""What tensors and recomputed parts keep until a gradient comes, and what becomes of it when somebody interferes."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.eager.tape import InplaceError, finite

pytestmark = pytest.mark.usefixtures("dynamic")


def tensor(*numbers: float) -> paddle.Tensor:
    return paddle.to_tensor(np.array(numbers), stop_gradient=False)


def test_grad_fills_no_retained_gradient() -> None:
    x = tensor(1.0, 2.0)
    y = x * x
    y.retain_grads()
    (gradient,) = paddle.grad((y * y).sum(), [x])
    assert y.grad is None
    assert x.grad is None
    np.testing.assert_array_equal(gradient.numpy(), [4.0, 32.0])


def test_a_tensor_that_is_gone_retains_nothing() -> None:
    x = tensor(1.0, 2.0)
    y = x * x
    y.retain_grads()
    loss = (y * y).sum()
    del y
    gc.collect()
    loss.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [4.0, 32.0])


@pytest.mark.parametrize("kind", [list, tuple])
def test_an_edit_of_a_tensor_in_a_list_is_noticed_by_recompute(kind: type) -> None:
    x, scale = tensor(1.0, 2.0), paddle.to_tensor([3.0, 4.0])
    y = paddle.autograd.recompute(lambda several: several[0] * several[1], kind([x, scale]))
    scale.fill_(5.0)
    with pytest.raises(InplaceError, match="recompute"):
        y.sum().backward()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("ids", "bad"), [([0, 9], 9), ([2, 0], 2), ([-1, 0], -1), ([-3, 9], -3), ([1, 2], 2)])
def test_an_id_outside_the_table_is_named(dtype: str, ids: list[int], bad: int) -> None:
    table = paddle.to_tensor(np.ones((2, 3), dtype), stop_gradient=False)
    with pytest.raises(ValueError, match=rf"id {bad} is outside the table of 2 rows"):
        paddle.nn.functional.embedding(paddle.to_tensor(ids), table)


NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], True),
        ([np.ones(2), "text", None, 3], True),
        ([np.array([1.0, NAN])], False),
        ([np.ones(2), [np.ones(2), np.array([np.inf])]], False),
        ([[np.ones(2)], (np.ones(2), (np.array([NAN]),))], False),
        ([np.array([True]), np.array([1]), np.array(["nan"])], True),
        ([np.array([complex(1, NAN)])], False),
    ],
)
def test_numbers_that_are_not_finite_are_found_in_lists_too(values: list[object], expected: bool) -> None:
    assert finite(values) is expected
    tensors = [paddle.to_tensor(v) if isinstance(v, np.ndarray) and v.dtype.kind in "fcib" else v for v in values]
    assert finite(tensors) is expected
