"""Layers that draw at random, or that Paddle does not compute on a CPU: against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.nn import functional as F

nn = paddle.nn
RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def _dynamic() -> Any:
    RNG.bit_generator.state = np.random.default_rng(5).bit_generator.state  # no test draws what its neighbours leave
    paddle.disable_static()
    paddle.seed(3)
    yield
    paddle.enable_static()


def drawn(*shape: int) -> Any:
    x = paddle.to_tensor(RNG.normal(size=shape))
    x.stop_gradient = False
    return x


class TestGumbelSoftmax:
    def test_samples_follow_the_probabilities(self) -> None:
        shares = np.array([0.5, 0.3, 0.2])
        x = paddle.to_tensor(np.tile(np.log(shares), (20000, 1)))
        hard = F.gumbel_softmax(x, hard=True).numpy()
        assert {*np.unique(hard)} == {0.0, 1.0}
        np.testing.assert_array_equal(hard.sum(1), 1.0)
        np.testing.assert_allclose(hard.mean(0), shares, atol=0.02)

    @pytest.mark.parametrize("hard", [False, True])
    def test_it_is_differentiated_as_the_soft_one(self, hard: bool) -> None:
        x, weights = drawn(2, 4), RNG.normal(size=(2, 4))
        paddle.seed(8)
        soft = F.gumbel_softmax(x, temperature=0.5, axis=0).numpy()
        paddle.seed(8)
        y = F.gumbel_softmax(x, temperature=0.5, hard=hard, axis=0)
        (slope,) = paddle.grad([(y * paddle.to_tensor(weights)).sum()], [x])
        expected = soft * (weights - (weights * soft).sum(0)) / 0.5
        np.testing.assert_allclose(slope.numpy(), expected, rtol=1e-10)

    def test_no_temperature_is_refused(self) -> None:
        with pytest.raises(ValueError, match="temperature must be greater than 0"):
            F.gumbel_softmax(drawn(2), temperature=0.0)


def test_slopes_of_rrelu_lie_between_its_bounds() -> None:
    x = drawn(50, 50)
    ratio = F.rrelu(x, 0.2, 0.4).numpy() / x.numpy()
    negative = x.numpy() < 0
    assert (ratio[~negative] == 1).all()
    assert 0.2 <= ratio[negative].min() < 0.22
    assert 0.38 < ratio[negative].max() <= 0.4
    layer = nn.RReLU(0.2, 0.4)
    layer.eval()
    np.testing.assert_allclose(layer(x).numpy(), np.where(negative, 0.3, 1.0) * x.numpy())


@pytest.mark.parametrize(("bounds", "error"), [((0, 1), TypeError), ((0.5, 0.1), ValueError), ((0.1, 1.5), ValueError)])
def test_slopes_of_rrelu_that_are_refused(bounds: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        F.rrelu(drawn(2), *bounds)


def test_dropout1d_takes_whole_channels() -> None:
    x = paddle.ones([8, 16, 3])
    for y in (F.dropout1d(x, 0.5).numpy(), F.dropout1d(x[0], 0.5).numpy()[None]):
        assert {*np.unique(y)} == {0.0, 2.0}
        assert (y == y[..., :1]).all()
    with pytest.raises(RuntimeError, match="2D or 3D"):
        F.dropout1d(paddle.ones([2]))


def test_feature_alpha_dropout_takes_whole_channels_and_keeps_mean_and_variance() -> None:
    x = paddle.to_tensor(RNG.normal(size=(400, 100, 2)))
    y = nn.FeatureAlphaDropout(0.3)(x).numpy()
    values, counts = np.unique(y, return_counts=True)
    dropped = y == values[counts.argmax()]
    assert (dropped[..., 0] == dropped[..., 1]).all()
    assert dropped.mean() == pytest.approx(0.3, abs=0.02)
    assert y.mean() == pytest.approx(0.0, abs=0.02)
    assert y.var() == pytest.approx(1.0, abs=0.05)


def test_classes_drawn_beside_those_of_the_batch() -> None:
    label = paddle.to_tensor([3, 7, 3, 9])
    places, classes = F.class_center_sample(label, 20, 6)
    assert classes.shape == [6]
    assert classes.numpy()[:3].tolist() == [3, 7, 9]
    assert len({*classes.numpy().tolist()}) == 6
    np.testing.assert_array_equal(classes.numpy()[places.numpy()], label.numpy())
    with pytest.raises(ValueError, match="num_samples less than or equal to 4"):
        F.class_center_sample(label, 4, 5)


def test_windows_of_random_sizes_cover_the_image() -> None:
    image = paddle.arange(49, dtype="float64").reshape([1, 1, 7, 7])
    sums = {float(nn.FractionalMaxPool2D(3)(image).sum()) for _ in range(20)}
    assert len(sums) > 1
    assert all(float(nn.FractionalMaxPool2D(3)(image).max()) == 48 for _ in range(5))


def test_spectral_norm_divides_by_the_largest_singular_value() -> None:
    layer = nn.SpectralNorm([3, 2, 4], dim=1, power_iters=50, dtype="float64")
    before = layer.weight_u.numpy().copy()
    w = drawn(3, 2, 4)
    y = layer(w)
    rows = w.numpy().transpose(1, 0, 2).reshape(2, -1)
    np.testing.assert_allclose(y.numpy(), w.numpy() / np.linalg.svd(rows)[1][0], rtol=1e-9)
    np.testing.assert_array_equal(layer.weight_u.numpy(), before)
    (slope,) = paddle.grad([(y * y).sum()], [w])
    along = RNG.normal(size=(3, 2, 4))
    up, down = (float((layer(paddle.to_tensor(w.numpy() + s * along)) ** 2).sum()) for s in (1e-6, -1e-6))
    assert float((slope.numpy() * along).sum()) == pytest.approx((up - down) / 2e-6, rel=1e-6)
    with pytest.raises(AssertionError, match="cannot be equal to 0"):
        nn.SpectralNorm([3, 0])


def test_rms_norm_is_its_definition() -> None:
    x, w = drawn(2, 3, 4), drawn(3, 4)
    y, scale = F.rms_norm(x, [3, 4], w, 0.1)
    expected = 1 / np.sqrt((x.numpy() ** 2).mean((1, 2)) + 0.1)
    np.testing.assert_allclose(scale.numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(y.numpy(), x.numpy() * expected[:, None, None] * w.numpy(), rtol=1e-12)
    half, scale = F.rms_norm(x.astype("float16"), [4])
    assert (half.dtype, scale.dtype) == (paddle.float16, paddle.float32)
    with pytest.raises(ValueError, match="must end in"):
        F.rms_norm(x, [3])


@pytest.mark.parametrize("margins", [(1.0, 0.5, 0.0), (1.0, 0.0, 0.35), (1.35, 0.0, 0.0)])
def test_margin_cross_entropy_is_its_definition(margins: tuple[float, float, float]) -> None:
    cosines = RNG.uniform(-0.9, 0.9, (3, 5))
    label = np.array([0, 4, 2])
    first, second, third = margins
    moved = cosines.copy()
    moved[range(3), label] = np.cos(first * np.arccos(cosines[range(3), label]) + second) - third
    scores = moved * 8.0
    shares = np.exp(scores - scores.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    settings: Any = dict(zip(("margin1", "margin2", "margin3"), margins, strict=True), scale=8.0)
    x = paddle.to_tensor(cosines)
    loss, softmax = F.margin_cross_entropy(x, paddle.to_tensor(label), **settings, return_softmax=True, reduction=None)
    np.testing.assert_allclose(softmax.numpy(), shares, rtol=1e-9)
    expected = -np.log(shares[range(3), label])
    np.testing.assert_allclose(loss.numpy()[:, 0], expected, rtol=1e-9)
    mean = F.margin_cross_entropy(x, paddle.to_tensor(label[:, None]), **settings)
    assert float(mean) == pytest.approx(expected.mean())


def test_layers_of_trees_and_clusters_ask_their_functions() -> None:
    x, label = drawn(4, 6), paddle.to_tensor(np.array([0, 5, 2, 9]))
    paddle.set_default_dtype("float64")
    tree = nn.HSigmoidLoss(6, 10)
    np.testing.assert_allclose(tree(x, label).numpy(), F.hsigmoid_loss(x, label, 10, tree.weight, tree.bias).numpy())
    clusters = nn.AdaptiveLogSoftmaxWithLoss(6, 12, [4, 8], div_value=2.0, head_bias=True)
    output, loss = clusters(x, label)
    whole = clusters.log_prob(x)
    np.testing.assert_allclose(np.exp(whole.numpy()).sum(1), 1.0)
    np.testing.assert_allclose(output.numpy(), whole.numpy()[range(4), label.numpy()], rtol=1e-10)
    assert float(loss) == pytest.approx(-output.numpy().mean())
    best = clusters.predict(x).numpy()
    shortlist = best < 4
    np.testing.assert_array_equal(best[~shortlist], whole.numpy().argmax(1)[~shortlist])
    with pytest.raises(ValueError, match="sorted in an increasing order"):
        nn.AdaptiveLogSoftmaxWithLoss(6, 12, [8, 4])


def test_bilinear_layer() -> None:
    layer = nn.Bilinear(3, 4, 2)
    layer.bias.set_value(np.array([[1.0, 2.0]], "float32"))
    x, y = RNG.normal(size=(5, 3)).astype("float32"), RNG.normal(size=(5, 4)).astype("float32")
    expected = np.einsum("bi,oij,bj->bo", x, layer.weight.numpy(), y) + layer.bias.numpy()
    np.testing.assert_allclose(layer(paddle.to_tensor(x), paddle.to_tensor(y)).numpy(), expected, rtol=2e-5)
    assert repr(layer) == "Bilinear(in1_features=3, in2_features=4, out_features=2, dtype=float32)"


def test_places_that_no_pooling_gives_are_refused() -> None:
    y, places = F.max_pool2d(paddle.ones([1, 1, 4, 4]), 2, return_mask=True)
    with pytest.raises(ValueError, match="places lie from 0 to 15"):
        F.max_unpool2d(y, places * 2, 2)
    with pytest.raises(ValueError, match=r"dim 0 must be between 2 and 6"):
        F.max_unpool2d(y, places, 2, output_size=[9, 9])
    with pytest.raises(AssertionError, match="Required output_size"):
        F.max_unpool2d(y, places, 2, output_size=4)
