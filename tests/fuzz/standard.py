"""ONNX models, changed at random: their bytes, or the fields of their messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from gradtool.engine.importers.onnx.reading import read

from . import foreign, mutations


def onnx_model(draw: Random) -> tuple[bytes, Callable[[bytes], object]]:
    """A model in protobuf."""
    from onnx import ModelProto

    data = draw.choice(_models())
    if draw.random() < 0.3:
        return mutations.changed_bytes(data, _models(), draw), _read
    message = ModelProto.FromString(data)
    for _ in range(draw.choice((1, 1, 2, 3))):
        foreign._change(message, draw)
    return message.SerializeToString(), _read


@cache
def _models() -> Sequence[bytes]:
    from tests.onnx.models import mlp, model, node, weights

    picture = model(
        [
            node("Conv", "x k", "c", pads=[1, 1, 1, 1]),
            node("BatchNormalization", "c s b m v", "n"),
            node("MaxPool", "n", "p", kernel_shape=[2, 2], strides=[2, 2]),
            node("Shape", "p", "size"),
            node("Slice", "size zero one", "first"),
            node("Concat", "first rest", "wanted", axis=0),
            node("Reshape", "p wanted", "flat"),
            node("Softmax", "flat", "y"),
        ],
        {"x": ["n", 2, 4, 4]},
        ["y"],
        {
            "k": weights(3, 2, 3, 3),
            **{n: np.ones(3, "float32") for n in "sbmv"},
            "zero": np.asarray([0]),
            "one": np.asarray([1]),
            "rest": np.asarray([12]),
        },
    )
    return [mlp().SerializeToString(), picture.SerializeToString()]


def _read(data: bytes) -> None:
    """What reading lets pass must print."""
    str(read(data, "model.onnx", Path()).program)


READERS = {"ONNX": onnx_model}
