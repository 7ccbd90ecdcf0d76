"""Networks for images: parameters, values and gradients as in Paddle, and published weights."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.vision.models import _weights
from tests.sampling import sampled

from . import compare_models


@pytest.fixture(autouse=True)
def dynamic() -> None:
    paddle.disable_static()


SLOW = (
    "vgg16()",
    "vgg19()",
    "resnet101()",
    "resnext101_64x4d()",
    "densenet201()",
    "densenet169()",
    "wide_resnet50_2()",
)
"""Of which others of their families say the same at less cost."""


def family(expression: str) -> str:
    """Return the letters that the name of a model begins with: ``vgg`` of ``vgg11()``."""
    return re.split(r"[^a-z]", expression)[0]


@pytest.mark.parametrize(
    "expression", sampled([e for e in compare_models.RECORDED["keys"] if e not in SLOW], str, 4, family)
)
def test_parameters_are_those_of_paddle(expression: str) -> None:
    assert [*compare_models.keys(expression)] == []


@pytest.mark.parametrize(
    "expression",
    [
        "LeNet()",
        "mobilenet_v1(scale=0.25, num_classes=10)",
        "mobilenet_v2(scale=0.35, num_classes=10)",
        "mobilenet_v3_small(num_classes=10)",
        "shufflenet_v2_x0_25(num_classes=10)",
        "squeezenet1_1(num_classes=10, with_pool=False)",
        "squeezenet1_1(num_classes=0)",
    ],
)
def test_values_and_gradients_are_those_of_paddle(expression: str) -> None:
    assert [*compare_models.values(expression)] == []


def test_weights_that_are_not_there_are_asked_for_by_their_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="downloads nothing") as raised:
        paddle.vision.models.squeezenet1_1(pretrained=True)
    place = tmp_path / ".cache/paddle/hapi/weights/SqueezeNet1_1_pretrained.pdparams"
    assert str(place) in str(raised.value)
    assert "SqueezeNet1_1_pretrained.pdparams and put it there" in str(raised.value)


def test_weights_are_read_from_where_paddle_puts_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".cache/paddle/hapi/weights"
    folder.mkdir(parents=True)
    trained = paddle.vision.models.squeezenet1_1()
    file = folder / "SqueezeNet1_1_pretrained.pdparams"
    paddle.save(trained.state_dict(), str(file))
    with pytest.raises(RuntimeError, match="another md5sum"):
        paddle.vision.models.squeezenet1_1(pretrained=True)
    address, _ = _weights.FILES["squeezenet1_1"]
    monkeypatch.setitem(_weights.FILES, "squeezenet1_1", (address, hashlib.md5(file.read_bytes()).hexdigest()))
    net = paddle.vision.models.squeezenet1_1(pretrained=True)
    for key, value in trained.state_dict().items():
        np.testing.assert_array_equal(net.state_dict()[key].numpy(), value.numpy())


@pytest.mark.parametrize(
    ("build", "kind", "text"),
    [
        (lambda m: m.vgg11(pretrained=True), AssertionError, "vgg11 model do not have a pretrained model now"),
        (lambda m: m.mobilenet_v1(True, scale=0.5), AssertionError, "mobilenetv1_0.5 model do not have"),
        (lambda m: m.ResNet(m.resnet.BasicBlock, 20), ValueError, "depth must be one of 18, 34, 50, 101, 152"),
        (lambda m: m.resnet.BasicBlock(4, 4, dilation=2), NotImplementedError, "dilation must be 1"),
        (lambda m: m.DenseNet(100), AssertionError, "supported layers are [121, 161, 169, 201, 264]"),
        (lambda m: m.SqueezeNet("2.0"), AssertionError, "supported versions are ['1.0', '1.1']"),
        (lambda m: m.ShuffleNetV2(scale=0.7), NotImplementedError, "This scale size:[0.7] is not implemented"),
        (lambda m: m.ShuffleNetV2(act="gelu"), RuntimeError, "The activation function is not supported: gelu"),
    ],
)
def test_networks_that_there_are_not_are_refused(build: Any, kind: type[Exception], text: str) -> None:
    with paddle.LazyGuard(), pytest.raises(kind) as raised:
        build(paddle.vision.models)
    assert text in str(raised.value)


def test_functions_that_are_named_as_their_files_stay_functions() -> None:
    from gradtool.paddle.vision.models.alexnet import AlexNet
    from gradtool.paddle.vision.models.googlenet import GoogLeNet

    assert callable(paddle.vision.models.alexnet)
    assert callable(paddle.vision.googlenet)
    assert (AlexNet, GoogLeNet) == (paddle.vision.AlexNet, paddle.vision.models.GoogLeNet)


def test_dense_layers_drop_what_they_add() -> None:
    with paddle.LazyGuard():
        net = paddle.vision.models.densenet121(dropout=0.2)
    drops = [layer for layer in net.sublayers() if isinstance(layer, paddle.nn.Dropout)]
    assert len(drops) == 6 + 12 + 24 + 16
    assert {(layer.p, layer.mode) for layer in drops} == {(0.2, "downscale_in_infer")}
