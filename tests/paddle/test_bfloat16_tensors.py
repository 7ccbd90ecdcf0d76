"""bfloat16 in both modes: made, printed, computed with, mixed with other types, fed, trained."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import nn, static
from gradtool.paddle.nn import functional as F

BF16 = paddle.bfloat16


def T(data: Any, dtype: Any = "bfloat16", **kw: Any) -> Any:
    return paddle.to_tensor(data, dtype, **kw)


LAZY = """
import sys
from gradtool import paddle
x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
(x * x).sum().backward()
z = paddle.to_tensor([1j], stop_gradient=False)
(z * z).abs().sum().backward()
h = paddle.ones([2], 'float16').sum()
assert 'ml_dtypes' not in sys.modules
paddle.ones([2], 'bfloat16')
assert 'ml_dtypes' in sys.modules
"""


def test_ml_dtypes_is_loaded_for_bfloat16_only() -> None:
    subprocess.run([sys.executable, "-c", LAZY], check=True)


@pytest.mark.usefixtures("dynamic")
class TestDynamic:
    def test_printing(self) -> None:
        assert repr(T([1.0, 2.5, 300.1, -0.001])) == (
            "Tensor(shape=[4], dtype=bfloat16, place=Place(cpu), stop_gradient=True,\n"
            "       [ 1.        ,  2.50000000,  300.      , -0.00099945])"
        )

    def test_values_leave_as_ml_dtypes_arrays_and_floats(self) -> None:
        x = T([1.0, 0.1])
        assert x.numpy().dtype.name == "bfloat16"
        assert x.tolist() == [1.0, 0.10009765625]
        assert float(x[0]) == x[0].item() == 1.0

    def test_arrays_of_uint16_hold_its_bits(self) -> None:
        assert paddle.to_tensor(np.array([0x3F80, 0x4020], "uint16")).tolist() == [1.0, 2.5]

    @pytest.mark.parametrize(
        ("other", "expected"),
        [("bfloat16", "bfloat16"), ("float16", "float32"), ("float32", "float32"), ("float64", "float64")],
    )
    def test_two_types_meet_in_the_wider_one(self, other: str, expected: str) -> None:
        x = T([1.0, 2.0], stop_gradient=False)
        y = T([3.0, 4.0], other, stop_gradient=False)
        for result in (x + y, y * x, paddle.subtract(x, y), paddle.maximum(y, x)):
            assert result.dtype.name == expected
            for leaf, g in zip((x, y), paddle.grad(result.sum(), [x, y]), strict=True):
                assert g.dtype is leaf.dtype

    def test_numbers_do_not_widen_it(self) -> None:
        x = T([1.0, 2.0])
        for result in (x + 1, 2.5 * x, x / 3, 1 / x, x**2, 2 - x, -x, x // 2, x % 2):
            assert result.dtype is BF16

    def test_a_product_of_two_types(self) -> None:
        x, y = T([[1.0]]), T([[1.0]], "float32")
        assert (x @ y).dtype is BF16
        assert (y @ x).dtype is paddle.float32
        with pytest.raises(TypeError, match="X is bfloat16 and Y is float32"):
            paddle.matmul(x, y)

    def test_sums_do_not_get_stuck(self) -> None:
        ones = paddle.ones([4096], "bfloat16")
        assert ones.sum().item() == 4096.0  # 256 + 1 is 256 in bfloat16
        assert ones.mean().item() == 1.0
        assert ones.cumsum()[-1].item() == 4096.0
        assert paddle.matmul(ones, ones).item() == 4096.0

    def test_layer_norm_is_that_of_float32_rounded(self) -> None:
        x = np.random.default_rng(1).normal(1000.0, 1.0, (3, 64)).astype("float32")
        half = T(x)
        expected = F.layer_norm(half.astype("float32"), 64)
        np.testing.assert_array_equal(F.layer_norm(half, 64).numpy(), expected.astype("bfloat16").numpy())

    def test_views_are_views(self) -> None:
        x = paddle.zeros([2, 3], "bfloat16")
        x.reshape([6])[0] = 7.5
        assert np.shares_memory(x.reshape([6]).array, x.array)
        assert x.detach().array is x.array

    def test_the_default_type(self) -> None:
        paddle.set_default_dtype("bfloat16")
        try:
            layer = nn.Linear(3, 2)
            assert layer.weight.dtype is T([1.0], None).dtype is paddle.ones([1]).dtype is BF16
            assert paddle.to_tensor([1j]).dtype is paddle.complex128
        finally:
            paddle.set_default_dtype("float32")

    def test_training(self) -> None:
        paddle.seed(3)
        layer = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3))
        for p in layer.parameters():
            p.array = p.array.astype(BF16.numpy)
        optimizer = paddle.optimizer.SGD(0.5, parameters=layer.parameters())
        x, labels = T(np.eye(4)), paddle.to_tensor([0, 1, 2, 1])
        losses = []
        for _ in range(30):
            loss = F.cross_entropy(layer(x), labels)
            loss.backward()
            assert all(p.grad.dtype is BF16 for p in layer.parameters())
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        assert loss.dtype is BF16
        assert losses[-1] < losses[0] / 4

    def test_second_order(self) -> None:
        x = T([0.5, 1.5], stop_gradient=False)
        (first,) = paddle.grad((x * x * x).sum(), x, create_graph=True)
        (second,) = paddle.grad(first.sum(), x)
        assert (first.dtype, second.dtype) == (BF16, BF16)
        assert second.tolist() == [3.0, 9.0]


def test_a_program_computes_what_dynamic_mode_does() -> None:
    rng = np.random.default_rng(5)
    values = {"x": rng.normal(size=(4, 6)), "w": rng.normal(size=(6, 3))}
    fed = {n: v.astype(BF16.numpy) for n, v in values.items()}

    def loss(x: Any, w: Any) -> Any:
        h = F.layer_norm(F.softmax(paddle.matmul(x, w) * 2.5, axis=-1), 3)
        return paddle.mean(paddle.tanh(h) + paddle.exp(-h))

    x, w = static.data("x", [-1, 6], "bfloat16"), static.data("w", [6, 3], "bfloat16")
    x.stop_gradient = w.stop_gradient = False
    out = loss(x, w)
    results = static.Executor().run(feed=fed, fetch_list=[out, *static.gradients([out], [x, w])])
    paddle.disable_static()
    try:
        a, b = (paddle.to_tensor(v, stop_gradient=False) for v in fed.values())
        result = loss(a, b)
        expected = [result, *paddle.grad(result, [a, b])]
    finally:
        paddle.enable_static()
    for ours, theirs in zip(results, expected, strict=True):
        assert ours.dtype == theirs.array.dtype == BF16.numpy
        np.testing.assert_array_equal(ours, theirs.array)


def test_feeding() -> None:
    x = static.data("x", [2], "bfloat16")
    y = x * 2
    assert y.dtype is BF16
    run = static.Executor().run
    for value in (np.array([1.0, 2.5], BF16.numpy), np.array([0x3F80, 0x4020], "uint16"), [1.0, 2.5]):
        (result,) = run(feed={"x": value}, fetch_list=[y])
        assert result.tolist() == [2.0, 5.0]
    with pytest.raises(TypeError, match="must be 'bfloat16', but received 'float32'"):
        run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])
