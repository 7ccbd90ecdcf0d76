"""Normalisation within examples and losses as layers: values, names, both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import UsageError
from gradtool.paddle import nn

pytestmark = pytest.mark.usefixtures("fresh_names")


RANDOM = np.random.default_rng(3)
IMAGE = RANDOM.normal(size=(2, 4, 3, 5)).astype("float32")
P = RANDOM.uniform(0.1, 0.9, (3, 4)).astype("float32")
Q = RANDOM.uniform(0.1, 0.9, (3, 4)).astype("float32")
LABEL = np.array([1, 3, 0])


def standard(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def both(make: Any, *arrays: np.ndarray) -> np.ndarray:
    """The value of a layer in static mode, after checking that dynamic mode gives the same."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        data = [paddle.static.data(f"x{i}", list(a.shape), str(a.dtype)) for i, a in enumerate(arrays)]
        out = make()(*data)
    executor = paddle.static.Executor()
    executor.run(startup)
    (value,) = executor.run(main, feed={f"x{i}": a for i, a in enumerate(arrays)}, fetch_list=[out])
    paddle.disable_static()
    now = make()(*map(paddle.to_tensor, arrays)).numpy()
    np.testing.assert_array_equal(now, value)
    return value


CASES = [
    (lambda: nn.GroupNorm(2, 4), (IMAGE,), standard(IMAGE.reshape(2, 2, 2, 3, 5), (2, 3, 4)).reshape(IMAGE.shape)),
    (lambda: nn.InstanceNorm2D(4), (IMAGE,), standard(IMAGE, (2, 3))),
    (lambda: nn.InstanceNorm2D(4, weight_attr=False, bias_attr=False), (IMAGE,), standard(IMAGE, (2, 3))),
    (lambda: nn.InstanceNorm1D(4), (IMAGE[:, :, 0],), standard(IMAGE[:, :, 0], (2,))),
    (lambda: nn.InstanceNorm3D(4), (IMAGE[..., None],), standard(IMAGE[..., None], (2, 3, 4))),
    (
        lambda: nn.SmoothL1Loss(),
        (4 * P, Q),
        np.where(abs(4 * P - Q) <= 1, (4 * P - Q) ** 2 / 2, abs(4 * P - Q) - 0.5).mean(),
    ),
    (lambda: nn.BCELoss(reduction="sum"), (P, Q), -(Q * np.log(P) + (1 - Q) * np.log(1 - P)).sum()),
    (lambda: nn.NLLLoss(), (np.log(P), LABEL), -np.log(P)[range(3), LABEL].mean()),
    (lambda: nn.NLLLoss(ignore_index=3), (np.log(P), LABEL), -np.log(P)[[0, 2], [1, 0]].mean()),
    (lambda: nn.KLDivLoss("batchmean"), (np.log(P), Q), (Q * np.log(Q / P)).sum() / 3),
    (lambda: nn.KLDivLoss(log_target=True), (np.log(P), np.log(Q)), (Q * np.log(Q / P)).mean()),
    (
        lambda: nn.CosineSimilarity(axis=0),
        (P, Q),
        (P * Q).sum(0) / np.linalg.norm(P, axis=0) / np.linalg.norm(Q, axis=0),
    ),
]


@pytest.mark.parametrize(("make", "arrays", "expected"), CASES)
def test_values_in_both_modes(make: Any, arrays: tuple[np.ndarray, ...], expected: Any) -> None:
    np.testing.assert_allclose(both(make, *arrays), expected, rtol=2e-5, atol=2e-6)


# Names as Paddle 3.1.1 gives them.
@pytest.mark.parametrize(
    ("make", "shape", "result", "parameters"),
    [
        (lambda: nn.GroupNorm(2, 4), [2, 4, 5, 5], "group_norm_0.tmp_2", ["group_norm_0.w_0", "group_norm_0.b_0"]),
        (
            lambda: nn.InstanceNorm2D(4),
            [2, 4, 5, 5],
            "instance_norm_0.tmp_2",
            ["instance_norm2d_0.w_0", "instance_norm2d_0.b_0"],
        ),
        (
            lambda: nn.InstanceNorm1D(4),
            [2, 4],
            "instance_norm_0.tmp_2",
            ["instance_norm1d_0.w_0", "instance_norm1d_0.b_0"],
        ),
    ],
)
def test_names(make: Any, shape: list[int], result: str, parameters: list[str]) -> None:
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        assert make()(paddle.static.data("x", shape)).name == result
    assert [p.name for p in main.all_parameters()] == parameters


def test_a_group_norm_without_attributes_keeps_ones_and_zeros_that_do_not_train() -> None:
    paddle.disable_static()
    layer = nn.GroupNorm(2, 4, weight_attr=False, bias_attr=False)
    assert (layer.weight.tolist(), layer.bias.tolist()) == ([1.0] * 4, [0.0] * 4)
    assert layer.weight.stop_gradient
    assert layer.bias.stop_gradient


def test_wrong_arguments() -> None:
    paddle.disable_static()
    with pytest.raises(UsageError, match="divisible"):
        nn.GroupNorm(3, 4)
    with pytest.raises(AssertionError, match="same time"):
        nn.InstanceNorm2D(4, weight_attr=False)
    with pytest.raises(UsageError, match="4D input"):
        nn.InstanceNorm2D(4)(paddle.ones([2, 4, 5]))
    with pytest.raises(UsageError, match="'reduction' in BCELoss"):
        nn.BCELoss(reduction="batchmean")


def test_texts() -> None:
    assert repr(nn.GroupNorm(2, 4)) == "GroupNorm(num_groups=2, num_channels=4, epsilon=1e-05)"
    assert repr(nn.InstanceNorm2D(4)) == "InstanceNorm2D(num_features=4, epsilon=1e-05)"
    assert repr(nn.CosineSimilarity()) == "CosineSimilarity(axis=1, eps=1e-08)"


@pytest.mark.parametrize(("layer", "shape"), [(paddle.nn.BatchNorm1D, [1, 3]), (paddle.nn.BatchNorm2D, [1, 3, 1, 1])])
def test_batch_norm_passes_one_element_a_channel_on(layer: Any, shape: list[int]) -> None:
    """As Paddle 3.1.1 and 3.3.1 do, whatever the weight is; the statistics stay, and the weight has no influence."""
    paddle.disable_static()
    norm = layer(3)
    norm.weight.set_value(np.full(3, 2.0, "float32"))
    x = paddle.to_tensor(np.array([1.0, 2.0, 3.0], "float32").reshape(shape), stop_gradient=False)
    y = norm(x)
    (y * y).sum().backward()
    assert y.numpy().ravel().tolist() == [1.0, 2.0, 3.0]
    assert x.grad.numpy().ravel().tolist() == [2.0, 4.0, 6.0]
    assert norm.weight.grad.numpy().tolist() == norm.bias.grad.numpy().tolist() == [0.0, 0.0, 0.0]
    assert norm._mean.numpy().tolist() == [0.0, 0.0, 0.0]
    assert norm._variance.numpy().tolist() == [1.0, 1.0, 1.0]
