"""Arguments of convolution and pooling of sequences, of dropout of channels, and of moving and sampling places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle

nn, F = paddle.nn, paddle.nn.functional


pytestmark = pytest.mark.usefixtures("dynamic")


def normal(*shape: int) -> Any:
    return paddle.to_tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32"))


@pytest.mark.parametrize("padding", [0, 2, [1], [1, 2], "SAME", "VALID", [[0, 0], [0, 0], [2, 1]]])
@pytest.mark.parametrize("name", ["conv1d", "conv1d_transpose"])
def test_channels_may_come_last(name: str, padding: Any) -> None:
    x, w, b = normal(2, 3, 7), normal(3, 3, 4), normal(3)
    function = getattr(F, name)
    expected = function(x, w, b, padding=padding)
    turned = padding
    if isinstance(padding, list) and isinstance(padding[0], list):
        turned = [padding[0], padding[2], padding[1]]
    result = function(x.transpose([0, 2, 1]), w, b, padding=turned, data_format="NLC")
    np.testing.assert_allclose(result.numpy(), expected.numpy().transpose(0, 2, 1), rtol=1e-5, atol=1e-6)


def test_a_transposed_convolution_may_be_told_its_size() -> None:
    layer = nn.Conv1DTranspose(2, 3, 3, stride=2)
    assert layer(normal(1, 2, 4)).shape == [1, 3, 9]
    assert layer(normal(1, 2, 4), output_size=[10]).shape == [1, 3, 10]
    image = nn.Conv2DTranspose(2, 2, 3, stride=2, groups=2)
    assert image(normal(1, 2, 4, 3), output_size=[10, 7]).shape == [1, 2, 10, 7]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: F.conv1d(normal(2, 3), normal(4, 3, 2)), ValueError, "should be 3D"),
        (lambda: F.conv1d(normal(2, 3, 5), normal(4, 3, 2), data_format="NCHW"), ValueError, "'NCL' or 'NLC'"),
        (lambda: F.conv1d(normal(2, 3, 5), normal(4, 3, 2), groups=2), ValueError, "divisible by groups"),
        (lambda: F.conv1d(normal(2, 3, 5), normal(4, 3, 2), padding=-1), ValueError, "at least 0"),
        (lambda: F.conv1d(normal(2, 3, 5), normal(4, 3, 2), padding=[[1, 0], [0, 0], [0, 0]]), ValueError, "Non-zero"),
        (lambda: F.conv1d(normal(2, 3, 5), normal(4, 3, 7)), ValueError, "does not fit"),
        (
            lambda: F.conv1d_transpose(normal(2, 3, 5), normal(3, 3, 2), output_padding=1, output_size=[9]),
            ValueError,
            "mutually exclusive",
        ),
        (lambda: nn.Conv1D(3, 4, 2, groups=2), ValueError, "must be divisible by groups"),
        (lambda: nn.Conv1D(3, 4, 2, padding_mode="foo"), ValueError, "padding_mode of Conv1D"),
        (lambda: nn.Conv1D(3, 4, 2, data_format="NCHW"), ValueError, "data_format of Conv1D"),
        (lambda: nn.Conv1DTranspose(3, 4, 2, weight_attr=False), AssertionError, "should not be False"),
        (lambda: F.max_pool1d(normal(2, 3), 2), ValueError, "batch, channels, length"),
        (lambda: F.max_pool1d(normal(2, 3, 4), 2, 0), ValueError, "at least 1"),
        (lambda: F.avg_pool1d(normal(2, 3, 4), 2, padding="VALID", ceil_mode=True), ValueError, "must be False"),
        (lambda: F.prelu(normal(2, 3), normal(2)), AssertionError, "one for each channel"),
        (lambda: F.prelu(normal(2, 3), normal(2, 1)), AssertionError, "should be 1"),
        (lambda: nn.Softmax2D()(normal(2, 3)), AssertionError, "3D or 4D"),
        (lambda: F.pixel_shuffle(normal(1, 6, 2, 2), 2), ValueError, "cannot be divided"),
        (lambda: F.pixel_shuffle(normal(1, 4, 2, 2), 0), ValueError, "must be positive"),
        (lambda: F.pixel_shuffle(normal(1, 4, 2, 2), 2.5), TypeError, "must be int"),
        (lambda: F.pixel_unshuffle(normal(1, 4, 3, 2), 2), ValueError, "rows or columns"),
        (lambda: F.channel_shuffle(normal(1, 6, 2, 2), 4), ValueError, "cannot be divided"),
        (lambda: F.temporal_shift(normal(5, 4, 2, 2), 2), ValueError, "cannot be divided"),
        (lambda: F.unfold(normal(1, 4, 2), 2), ValueError, "batch, channels, height, width"),
        (lambda: F.unfold(normal(1, 4, 2, 2), 3), ValueError, "does not fit"),
        (lambda: F.unfold(normal(1, 4, 2, 2), 2, paddings=[1, 2, 3]), ValueError, "one number, two or four"),
        (lambda: F.fold(normal(1, 4, 5), [3, 3], 2), ValueError, "has 4 windows"),
        (lambda: F.fold(normal(1, 5, 4), [3, 3], 2), ValueError, "no multiple"),
        (
            lambda: F.grid_sample(normal(1, 2, 3, 3), normal(1, 2, 2, 2), mode="cubic"),
            ValueError,
            "mode of grid_sample",
        ),
        (lambda: F.grid_sample(normal(1, 2, 3, 3), normal(1, 2, 2, 3)), ValueError, "rows, columns, 2"),
        (lambda: F.grid_sample(normal(1, 2, 3, 3), normal(2, 2, 2, 2)), ValueError, "different size"),
        (lambda: F.affine_grid(normal(1, 3, 3), [1, 1, 2, 2]), ValueError, r"batch, 2, 3"),
        (lambda: F.affine_grid(normal(1, 2, 3), [1, 1, 2]), ValueError, "four numbers"),
        (lambda: F.dropout2d(normal(2, 3), 0.5), ValueError, "4 dimensions"),
        (lambda: F.dropout2d(normal(1, 2, 3, 3), 0.5, data_format="NCL"), ValueError, "data_format"),
        (lambda: F.alpha_dropout(normal(2, 3), 1.5), ValueError, "between 0 and 1"),
        (lambda: F.margin_ranking_loss(normal(2), normal(2), normal(2), reduction="foo"), ValueError, "reduction"),
        (lambda: F.triplet_margin_loss(normal(2), normal(2), normal(2), margin=-1.0), ValueError, "must not be"),
        (lambda: F.cosine_embedding_loss(normal(2, 3), normal(2, 3), normal(2, 1)), ValueError, "multi-target"),
        (lambda: F.dice_loss(normal(2, 3), paddle.ones([2, 2], dtype="int64")), ValueError, "dice_loss"),
    ],
)
def test_wrong_arguments(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("layer", "shape", "together"),
    [
        (nn.Dropout2D(0.5), (40, 30, 2, 3), (2, 3)),
        (nn.Dropout2D(0.5, "NHWC"), (40, 2, 3, 30), (1, 2)),
        (nn.Dropout3D(0.5), (40, 30, 2, 1, 3), (2, 3, 4)),
        (nn.Dropout(0.5, axis=1), (3, 1000, 2), (0, 2)),
    ],
)
def test_channels_are_dropped_together(layer: Any, shape: tuple[int, ...], together: tuple[int, ...]) -> None:
    paddle.seed(1)
    out = layer(paddle.ones(list(shape))).numpy()
    assert set(np.unique(out)) == {0.0, 2.0}
    np.testing.assert_array_equal(out.min(together), out.max(together))
    assert 0.4 < (out == 0).mean() < 0.6
    layer.eval()
    np.testing.assert_array_equal(layer(paddle.ones(list(shape))).numpy(), 1)


def test_dropout_of_everything_and_of_less_at_inference() -> None:
    x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    assert F.dropout(x, 1.0, axis=0).numpy().tolist() == [[0, 0]]
    out = F.dropout(x, 0.25, axis=0, training=False, mode="downscale_in_infer")
    assert out.numpy().tolist() == [[0.75, 1.5]]
    out.sum().backward()
    assert x.grad.numpy().tolist() == [[0.75, 0.75]]


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    paddle.seed(2)
    x = paddle.randn([400, 300])
    out = nn.AlphaDropout(0.3)(x).numpy()
    assert abs(out.mean()) < 0.02
    assert abs(out.std() - 1) < 0.02
    assert F.alpha_dropout(x, 0.3, training=False) is x
    assert not F.alpha_dropout(x, 1.0).numpy().any()


def test_places_of_maxima() -> None:
    x = paddle.to_tensor([[[1.0, 5.0, 2.0, 7.0, 3.0, 0.0]]])
    values, places = F.max_pool1d(x, 2, return_mask=True)
    assert (values.numpy().tolist(), places.numpy().tolist()) == ([[[5, 7, 3]]], [[[1, 3, 4]]])
    _, places = nn.AdaptiveMaxPool1D(2, return_mask=True)(x)
    assert places.numpy().tolist() == [[[1, 3]]]


def test_sequence_mask() -> None:
    lengths = paddle.to_tensor([2, 0, 3])
    expected = [[1, 1, 0], [0, 0, 0], [1, 1, 1]]
    assert F.sequence_mask(lengths).numpy().tolist() == expected
    mask = F.sequence_mask(lengths, 4, "float32")
    assert mask.dtype.name == "float32"
    assert mask.numpy().tolist() == [[*row, 0] for row in expected]
    with pytest.raises(TypeError, match="must be a number"):
        F.sequence_mask(lengths, paddle.to_tensor(3))


def test_temporal_shift() -> None:
    x = paddle.arange(8.0).reshape([2, 4, 1, 1])
    out = F.temporal_shift(x, 2, 0.25).numpy().reshape(2, 4)
    assert out.tolist() == [[0, 5, 2, 3], [0, 0, 6, 7]]


def test_batch_normalisation_of_all_processes() -> None:
    model = nn.Sequential(nn.Conv2D(2, 3, 1), nn.Sequential(nn.BatchNorm2D(3)))
    weight = model[1][0].weight
    norm = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert norm is model
    assert isinstance(model[1][0], nn.SyncBatchNorm)
    assert model[1][0].weight is weight
    assert norm(normal(2, 2, 3, 3)).shape == [2, 3, 3, 3]
    x = normal(4, 3)
    np.testing.assert_allclose(nn.SyncBatchNorm(3)(x).numpy(), nn.BatchNorm1D(3)(x).numpy(), rtol=1e-6)


def test_the_older_batch_normalisation() -> None:
    layer = nn.BatchNorm(3, act="relu", param_attr=paddle.ParamAttr(name="s"), moving_mean_name="m")
    x = normal(4, 3, 2, 2)
    np.testing.assert_allclose(layer(x).numpy(), np.maximum(nn.BatchNorm2D(3)(x).numpy(), 0), atol=1e-6)
    assert (layer.weight.name, layer._mean.name) == ("s", "m")
    layer.eval()
    expected = np.maximum((x.numpy() - layer._mean.numpy()[:, None, None]), 0)
    expected /= np.sqrt(layer._variance.numpy() + 1e-5)[:, None, None]
    np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(AssertionError, match="bias_attr"):
        nn.BatchNorm(3, bias_attr=False)


TEXTS = {
    "nn.Conv1D(3, 6, 3, stride=2, padding=1, dilation=2, groups=3, padding_mode='reflect')": (
        "Conv1D(3, 6, kernel_size=[3], stride=[2], padding=1, padding_mode=reflect, dilation=[2], groups=3, "
        "data_format=NCL)"
    ),
    "nn.Conv2DTranspose(3, 4, 3, stride=2, output_padding=1)": (
        "Conv2DTranspose(3, 4, kernel_size=[3, 3], stride=[2, 2], output_padding=1, data_format=NCHW)"
    ),
    "nn.PReLU()": "PReLU(num_parameters=1, data_format=NCHW, init=0.25, dtype=float32)",
    "nn.PixelShuffle(2)": "PixelShuffle(upscale_factor=2)",
    "nn.PixelUnshuffle(2, 'NHWC')": "PixelUnshuffle(downscale_factor=2, data_format=NHWC)",
    "nn.Dropout2D(0.3)": "Dropout2D(p=0.3, data_format=NCHW)",
    "nn.AlphaDropout(0.2)": "AlphaDropout(p=0.2)",
    "nn.BatchNorm(3)": "BatchNorm()",
    "nn.SyncBatchNorm(3)": "SyncBatchNorm(num_features=3, momentum=0.9, epsilon=1e-05)",
    "nn.Unfold(3)": "Unfold(kernel_size=3, dilation=1, padding=0, stride=1)",
    "nn.Fold([4, 5], 2)": "Fold(kernel_size=2, dilation=1, padding=0, stride=1)",
    "nn.MaxPool1D(2)": "MaxPool1D(kernel_size=2, stride=None, padding=0)",
    "nn.AdaptiveAvgPool1D(2)": "AdaptiveAvgPool1D(output_size=2)",
    "nn.AdaptiveMaxPool2D(2)": "AdaptiveMaxPool2D(output_size=2, return_mask=False)",
    "nn.UpsamplingBilinear2D(scale_factor=2)": "UpsamplingBilinear2D(scale_factor=2, data_format=NCHW)",
    "nn.ZeroPad3D(2)": "ZeroPad3D(padding=[2, 2, 2, 2, 2, 2], data_format=NCDHW)",
    "nn.Softmax2D()": "Softmax2D()",
    "nn.GLU()": "GLU(axis=-1)",
    "nn.Unflatten(1, [2, 3])": "Unflatten(axis=1, shape=[2, 3])",
    "nn.PairwiseDistance()": "PairwiseDistance(p=2.0)",
    "nn.TripletMarginLoss()": "TripletMarginLoss()",
}


@pytest.mark.parametrize("expression", TEXTS)
def test_the_text_of_a_layer_is_that_of_paddle(expression: str) -> None:
    assert repr(eval(expression, {"nn": nn})) == TEXTS[expression]
