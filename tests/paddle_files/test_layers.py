"""Layers that Paddle saved with ``jit.save``: ``jit.load`` gives layers that compute and train."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.files import streams
from tests.paddle_files import archives
from tests.paddle_files.test_descriptions import expect_near


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("version", ["classic_3.1.1", "pir_3.3.1"])
def test_program_for_inference_is_a_layer(version: str, tmp_path: Path) -> None:
    folder, values = (
        f(version, "s013_mlp_tanh_sigmoid", *a) for f, a in ((archives.unpacked, (tmp_path,)), (archives.values, ()))
    )
    layer = paddle.jit.load(str(folder / "infer"))
    loss = layer(paddle.to_tensor(values["feed/x"]), paddle.to_tensor(values["feed/y"]))
    expect_near(loss.numpy(), values["inferred"])
    assert len(layer.parameters()) == 4


@pytest.mark.usefixtures("dynamic")
def test_one_tensor_without_a_name_is_loaded(tmp_path: Path) -> None:
    array = np.arange(6, dtype="float32").reshape(2, 3)
    (tmp_path / "w").write_bytes(b"".join(streams.tensor(array)))
    np.testing.assert_array_equal(paddle.load(str(tmp_path / "w")).numpy(), array)
    (tmp_path / "w").write_bytes(b"".join(streams.pieces({"a": array, "b": array})))
    with pytest.raises(FileFormatError, match="2 without names"):
        paddle.load(str(tmp_path / "w"))
