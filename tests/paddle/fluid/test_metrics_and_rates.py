"""``fluid.metrics``, ``fluid.nets`` and learning rates of ``fluid.dygraph``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import fluid
from gradtool.paddle.fluid import dygraph, layers, metrics, nets


def test_shares_of_what_is_positive() -> None:
    predictions, labels = np.array([[0.1], [0.7], [0.8], [0.9], [0.2]]), np.array([[0], [1], [1], [0], [1]])
    both = metrics.CompositeMetric()
    both.add_metric(metrics.Precision())
    both.add_metric(metrics.Recall())
    both.update(predictions, labels)
    assert both.eval() == [2 / 3, 2 / 3]
    both.reset()
    assert both.eval() == [0.0, 0.0]
    with pytest.raises(TypeError, match=r"must be a numpy\.ndarray"):
        metrics.Precision().update([0.1], labels)  # type: ignore[arg-type]


def test_means_chunks_and_distances() -> None:
    accuracy = metrics.Accuracy()
    with pytest.raises(ValueError, match="There is no data"):
        accuracy.eval()
    accuracy.update(0.5, 10)
    accuracy.update(np.array(1.0), 30)
    assert accuracy.eval() == 0.875
    chunks = metrics.ChunkEvaluator("chunks")
    chunks.update(10, 8, np.array([4]))
    assert chunks.eval() == (0.4, 0.5, pytest.approx(4 / 9))
    distance = metrics.EditDistance()
    distance.update(np.array([[0.0], [2.0], [4.0]]), np.array([3]))
    assert distance.eval() == (2.0, 2 / 3)
    area = metrics.Auc()
    area.update(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0], [1]]))
    assert area.eval() == 1.0
    mean = metrics.WeightedAverage()
    mean.add(2.0, 1)
    mean.add(5.0, 2)
    assert mean.eval() == 4.0


def test_layers_that_are_put_together() -> None:
    image = layers.data("image", [1, 8, 8])
    small = nets.simple_img_conv_pool(image, 4, 3, 2, 2, act="relu")
    assert small.shape == (-1, 4, 3, 3)
    group = nets.img_conv_group(image, [2, 3], 2, pool_stride=2, conv_with_batchnorm=[True, False], conv_act="relu")
    assert group.shape == (-1, 3, 4, 4)
    with pytest.raises(ValueError, match="conv_padding has 1 entries for 2 convolutions"):
        nets.img_conv_group(image, [2, 3], 2, conv_padding=[1])
    rows = paddle.static.data("rows", [2, 3, 4])
    assert nets.scaled_dot_product_attention(rows, rows, rows, 2).shape == (2, 3, 4)
    assert nets.glu(rows).shape == (2, 3, 2)
    with pytest.raises(AttributeError, match="sequences in one tensor"):
        nets.sequence_conv_pool  # noqa: B018


@pytest.mark.parametrize(
    ("rate", "values"),
    [
        (lambda: dygraph.PiecewiseDecay([2, 3], [1.0, 0.5, 0.1], 0), [1.0, 1.0, 0.5, 0.1]),
        (lambda: dygraph.ExponentialDecay(1.0, 2, 0.25, True), [1.0, 1.0, 0.25, 0.25]),
        (lambda: dygraph.NaturalExpDecay(1.0, 1, 1.0), [np.exp(-i) for i in range(4)]),
        (lambda: dygraph.InverseTimeDecay(1.0, 1, 1.0), [1.0, 1 / 2, 1 / 3, 1 / 4]),
        (lambda: dygraph.PolynomialDecay(1.0, 2, 0.0), [1.0, 0.5, 0.0, 0.0]),
        (lambda: dygraph.PolynomialDecay(1.0, 2, 0.0, cycle=True), [1.0, 0.5, 0.0, 0.25]),
        (lambda: dygraph.CosineDecay(2.0, 1, 4), [1 + np.cos(i * np.pi / 4) for i in range(4)]),
        (lambda: dygraph.NoamDecay(4, 2), [0.5 * min(n**-0.5, n * 2**-1.5) for n in range(1, 5)]),
        (lambda: dygraph.LinearLrWarmup(0.3, 3, 0.0, 0.3), [0.1, 0.2, 0.3, 0.3]),
    ],
)
def test_rates_go_on_with_every_minimize(rate: Any, values: list[float]) -> None:
    with dygraph.guard():
        layer = dygraph.Linear(1, 1)
        optimizer = fluid.optimizer.SGD(rate(), parameter_list=layer.parameters())
        got = []
        for _ in values:
            got.append(optimizer.get_lr())
            loss = layer(dygraph.to_variable(np.ones((1, 1), "float32"))).mean()
            loss.backward()
            optimizer.minimize(loss)
        np.testing.assert_allclose(got, values, rtol=1e-6, atol=1e-12)


def test_rates_of_epochs_wait_for_the_user() -> None:
    rate = dygraph.StepDecay(1.0, 2)
    got = []
    for _ in range(4):
        got.append(rate())
        rate.epoch()
    np.testing.assert_allclose(got, [1.0, 1.0, 0.1, 0.1])


def test_layers_of_version_1_have_its_arguments() -> None:
    with dygraph.guard():
        image = dygraph.to_variable(np.ones((1, 4, 5, 5), "float32"))
        assert list(dygraph.Conv2DTranspose(4, 2, 3, stride=2, act="relu")(image).shape) == [1, 2, 11, 11]
        assert list(dygraph.GroupNorm(4, 2, act="sigmoid")(image).shape) == [1, 4, 5, 5]
        assert list(dygraph.InstanceNorm(4)(image).shape) == [1, 4, 5, 5]
        assert dygraph.PRelu("channel", 4)(image * -1.0).numpy().min() == -1.0
        volume = dygraph.to_variable(np.ones((1, 2, 3, 3, 3), "float32"))
        assert list(dygraph.Conv3D(2, 3, 2)(volume).shape) == [1, 3, 2, 2, 2]
        rows = dygraph.to_variable(np.ones((2, 3), "float32"))
        assert list(dygraph.BilinearTensorProduct(3, 3, 5)(rows, rows).shape) == [2, 5]
        with pytest.raises(ValueError, match="mode must be 'all' or 'channel'"):
            dygraph.PRelu("element")
