"""Models of the zoo as ``python -m tests.bench zoo`` trains them: in sizes in which they are published, or near them.

A row is a file of ``tests/zoo/models``, and functions of that file executed as a module: the network, and what gives
its loss. Data is made once. Files import ``paddle``, so rows run under gradtool and Paddle alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Loss = Callable[[Any], Any]


class Row(NamedTuple):
    """A model.

    Attributes:
        file: of ``tests/zoo/models``, without its ending.
        network: makes the network, of the file's module.
        loss: makes the loss of one batch as a function of the network, of the file's module.
        optimizer: makes the optimizer of parameters, of ``paddle.optimizer``.
    """

    file: str
    network: Callable[[Any], Any]
    loss: Callable[[Any], Loss]
    optimizer: Callable[[Any, Any], Any]


def momentum(optimizer: Any, parameters: Any) -> Any:
    return optimizer.Momentum(1e-4, 0.9, parameters=parameters, weight_decay=1e-4)


def adam(optimizer: Any, parameters: Any) -> Any:
    return optimizer.Adam(1e-3, parameters=parameters)


def adamw(optimizer: Any, parameters: Any) -> Any:
    return optimizer.AdamW(1e-4, parameters=parameters, weight_decay=0.05)


def classified(batch: int, size: int, classes: int) -> Callable[[Any], Loss]:
    """Cross entropy of images."""

    def of(module: Any) -> Loss:
        rng = np.random.default_rng(1)
        images = module.paddle.to_tensor(rng.standard_normal([batch, 3, size, size]).astype("float32"))
        labels = module.paddle.to_tensor(rng.integers(0, classes, [batch, 1]))
        return lambda net: module.F.cross_entropy(net(images), labels)

    return of


def distilled(module: Any) -> Loss:
    """DeiT's: labels for one token, a teacher's choices for the other."""
    rng = np.random.default_rng(1)
    images = module.paddle.to_tensor(rng.standard_normal([2, 3, 224, 224]).astype("float32"))
    labels, teacher = (module.paddle.to_tensor(rng.integers(0, 1000, [2, 1])) for _ in range(2))

    def loss(net: Any) -> Any:
        logits, distillation = net(images)
        return module.F.cross_entropy(logits, labels) + module.F.cross_entropy(distillation, teacher)

    return loss


def pretraining(module: Any) -> Loss:
    """BERT's: masked words and the next sentence."""
    paddle, rng = module.paddle, np.random.default_rng(1)
    batch, length, vocabulary = 8, 128, 30522
    words = paddle.to_tensor(rng.integers(4, vocabulary, [batch, length]))
    segments = paddle.to_tensor(np.repeat([[0] * 64 + [1] * 64], batch, 0))
    masked = np.sort(rng.choice(batch * length, 160, replace=False)).astype("int32")
    labels = paddle.to_tensor(rng.integers(4, vocabulary, [len(masked), 1]))
    following = paddle.to_tensor(rng.integers(0, 2, [batch, 1]))
    positions, criterion = paddle.to_tensor(masked), module.BertPretrainingCriterion(vocabulary)
    return lambda net: criterion(*net(words, segments, positions), labels, following, float(len(masked)))


def segmented(module: Any) -> Loss:
    """Cross entropy of a map of 19 classes."""
    rng = np.random.default_rng(1)
    images = module.paddle.to_tensor(rng.standard_normal([2, 3, 128, 128]).astype("float32"))
    labels = module.paddle.to_tensor(rng.integers(0, 19, [2, 128, 128]))
    return lambda net: module.F.cross_entropy(net(images), labels, axis=1)


def salient(module: Any) -> Loss:
    """U²-Net's: of every map."""
    rng = np.random.default_rng(1)
    images = module.paddle.to_tensor(rng.standard_normal([1, 3, 96, 96]).astype("float32"))
    labels = module.paddle.to_tensor((rng.standard_normal([1, 1, 96, 96]) > 0).astype("float32"))
    return lambda net: module.muti_bce_loss_fusion(net(images), labels)


def physics(module: Any) -> Loss:
    """The residual of Burgers' equation in 50 points."""
    rng = np.random.RandomState(1)
    t, x = module.points(50, rng, 0.0, 1.0), module.points(50, rng, -1.0, 1.0)
    return lambda net: (module.burgers(net, t, x) ** 2).mean()


def bert(module: Any) -> Any:
    """BERT tiny."""
    vocabulary, width = 30522, 128
    body = module.BertModel(
        vocabulary,
        width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=4 * width,
        max_position_embeddings=512,
    )
    return module.BertForPretraining(body, width, vocabulary)


def tiny(file: str) -> Row:
    """A model as its file has it, where a step is mostly what calls cost beside arithmetic."""
    return Row(file, lambda module: module.network(), lambda module: module.loss, momentum)


def row(model: str) -> Row:
    """A row by its name; ``NAME tiny`` is one of any file."""
    return ROWS[model] if model in ROWS else tiny(model.removesuffix(" tiny"))


MOBILENET = [
    [32, 32, 64, 32, 1],
    [64, 64, 128, 64, 2],
    [128, 128, 128, 128, 1],
    [128, 128, 256, 128, 2],
    [256, 256, 256, 256, 1],
    [256, 256, 512, 256, 2],
    *[[512, 512, 512, 512, 1]] * 5,
    [512, 512, 1024, 512, 2],
    [1024, 1024, 1024, 1024, 1],
]

ROWS = {
    "convnext": Row(
        "convnext",
        lambda m: m.ConvNeXt((3, 3, 9, 3), (96, 192, 384, 768), 1000),
        classified(2, 128, 1000),
        adamw,
    ),
    "mobilenet": Row(
        "mobilenet_v1",
        lambda m: m.MobileNet(1.0, 1000, MOBILENET),
        classified(4, 128, 1000),
        momentum,
    ),
    "shufflenet": Row(
        "shufflenet",
        lambda m: m.ShuffleNetV2((4, 8, 4), (24, 48, 96, 192), 1000),
        classified(4, 128, 1000),
        momentum,
    ),
    "resnet50": Row(
        "resnet",
        lambda m: m.ResNet([m.BottleneckBlock] * 4, [3, 4, 6, 3], 64, 64, 1000),
        classified(2, 128, 1000),
        momentum,
    ),
    "hrnet": Row("hrnet", lambda m: m.HRNet((18, 36, 72), 19), segmented, momentum),
    "hrnet tiny": tiny("hrnet"),
    "u2net": Row("u2net", lambda m: m.U2NET((7, 6, 5, 4), 16, 64), salient, adam),
    "deit": Row(
        "deit",
        lambda m: m.DistilledVisionTransformer(224, 16, 192, 12, 3, 1000),
        distilled,
        adamw,
    ),
    "swin": Row("swin", lambda m: m.SwinTransformer(96, 56, (3, 6), 1000), classified(2, 112, 1000), adamw),
    "bert": Row("bert", bert, pretraining, adamw),
    "pinn": Row("pinn_burgers", lambda m: m.FullyConnected(2, 1, 4, 20), physics, adam),
}
