"""``weight_norm`` and ``spectral_norm``; the numbers are those of Paddle 3.1.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle

nn = paddle.nn


pytestmark = pytest.mark.usefixtures("dynamic", "fresh_names")


def counted() -> Any:
    """A layer whose weight is 1, 2, 3 and 4, 5, 6."""
    layer = nn.Linear(2, 3)
    layer.weight.set_value(np.arange(1, 7, dtype="float32").reshape(2, 3))
    return layer


def test_a_weight_is_a_direction_and_lengths() -> None:
    layer = counted()
    assert nn.utils.weight_norm(layer) is layer
    named = [(n, p.name, p.shape) for n, p in layer.named_parameters()]
    assert named == [
        ("bias", "linear_0.b_0", [3]),
        ("weight_v", "linear_0.w_1", [2, 3]),
        ("weight_g", "linear_0.w_2", [2]),
    ]
    np.testing.assert_allclose(layer.weight_g.numpy(), [3.74166, 8.77496], rtol=1e-5)
    out = layer(paddle.ones([1, 2]))
    np.testing.assert_allclose(out.numpy(), [[5, 7, 9]], rtol=1e-6)
    out.sum().backward()
    np.testing.assert_allclose(layer.weight_g.grad.numpy(), [1.60357, 1.70941], rtol=1e-5)
    expected = [[0.57143, 0.14286, -0.28571], [0.22078, 0.02597, -0.16883]]
    np.testing.assert_allclose(layer.weight_v.grad.numpy(), expected, atol=1e-5)


def test_the_weight_follows_its_parts() -> None:
    layer = nn.utils.weight_norm(counted())
    layer.weight_g.set_value(2 * layer.weight_g.numpy())
    np.testing.assert_allclose(layer(paddle.ones([1, 2])).numpy(), [[10, 14, 18]], rtol=1e-6)


def test_one_length_for_all() -> None:
    layer = nn.utils.weight_norm(counted(), dim=None)
    assert layer.weight_g.shape == []
    np.testing.assert_allclose(layer.weight_g.numpy(), 9.539392, rtol=1e-6)
    filters = nn.utils.weight_norm(nn.Conv2D(2, 3, 2), dim=1)
    assert filters.weight_g.shape == [2]


def test_the_parts_become_one_again() -> None:
    layer = nn.utils.weight_norm(counted())
    assert nn.utils.remove_weight_norm(layer) is layer
    assert [(n, p.name) for n, p in layer.named_parameters()] == [
        ("bias", "linear_0.b_0"),
        ("weight", "linear_0.w_3"),
    ]
    np.testing.assert_allclose(layer.weight.numpy(), [[1, 2, 3], [4, 5, 6]], rtol=1e-6)
    layer(paddle.ones([1, 2])).sum().backward()
    np.testing.assert_array_equal(layer.weight.grad.numpy(), np.ones((2, 3)))


def test_a_weight_is_divided_by_its_largest_singular_value() -> None:
    layer = counted()
    assert nn.utils.spectral_norm(layer, n_power_iterations=50) is layer
    assert [(n, p.shape) for n, p in layer.named_parameters()] == [("bias", [3]), ("weight_orig", [2, 3])]
    assert [(n, b.shape) for n, b in layer.named_buffers()] == [("weight_u", [3]), ("weight_v", [2])]
    out = layer(paddle.ones([1, 2]))
    np.testing.assert_allclose(out.numpy(), [[0.52587, 0.73622, 0.94657]], atol=1e-5)
    out.sum().backward()
    expected = [[0.06671, 0.05435, 0.042], [0.01333, -0.01616, -0.04565]]
    np.testing.assert_allclose(layer.weight_orig.grad.numpy(), expected, atol=1e-5)


def test_singular_vectors_rest_in_evaluation() -> None:
    layer = nn.utils.spectral_norm(nn.Conv2D(2, 3, 2))
    assert [b.shape for b in layer.buffers()] == [[3], [8]]
    layer.eval()
    before = layer.weight_u.numpy().copy()
    layer(paddle.ones([1, 2, 4, 4]))
    np.testing.assert_array_equal(layer.weight_u.numpy(), before)
    layer.train()
    layer(paddle.ones([1, 2, 4, 4]))
    assert not np.array_equal(layer.weight_u.numpy(), before)


def test_two_calls_and_then_backward() -> None:
    layer = nn.utils.spectral_norm(counted())
    (layer(paddle.ones([1, 2])) + layer(paddle.ones([1, 2]))).sum().backward()
    assert np.isfinite(layer.weight_orig.grad.numpy()).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: nn.utils.weight_norm(nn.utils.weight_norm(m)), RuntimeError, "two weight_norm hooks"),
        (lambda m: nn.utils.spectral_norm(nn.utils.spectral_norm(m)), RuntimeError, "two spectral_norm hooks"),
        (lambda m: nn.utils.weight_norm(m, dim=5), AssertionError, "dim must set"),
        (lambda m: nn.utils.weight_norm(m, "other"), ValueError, "no parameter 'other'"),
        (lambda m: nn.utils.remove_weight_norm(m), ValueError, "not found"),
        (lambda m: nn.utils.spectral_norm(m, n_power_iterations=0), ValueError, "to be positive"),
    ],
)
def test_what_cannot_be_normed(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(counted())


def test_they_need_values() -> None:
    paddle.enable_static()
    with pytest.raises(RuntimeError, match="only run in dynamic mode"):
        nn.utils.weight_norm(nn.Linear(2, 3))
