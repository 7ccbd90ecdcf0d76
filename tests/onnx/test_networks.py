"""Networks in the shape of public ones: forward as onnxruntime computed them, gradients as PyTorch did (recorded)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool.engine.loading.from_python import load

SAVED = Path(__file__).parent / "saved" / "networks.npz"
NAMES = (
    "bert", "densenet", "efficientnet", "gpt", "gru", "lenet",
    "lstm", "mobilenet", "resnet", "squeezenet", "unet", "vit",
)  # fmt: skip


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    with np.load(SAVED) as file:
        return dict(file)


def test_every_network_that_was_recorded_is_tested(recorded: dict[str, Any]) -> None:
    assert sorted({key.partition("/")[0] for key in recorded}) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_and_gradients_are_those_that_were_recorded(
    recorded: dict[str, Any], name: str, tmp_path: Path
) -> None:
    path, feed = tmp_path / f"{name}.onnx", tmp_path / "feed.npz"
    path.write_bytes(recorded[f"{name}/model"].tobytes())
    np.savez(feed, x=recorded[f"{name}/x"], label=recorded[f"{name}/label"])
    model: Any = load(str(path), loss_fn="mse")
    table = model.backward(run=True, feed=str(feed))
    begin = f"{name}/gradient/"
    expected = {key.removeprefix(begin): value for key, value in recorded.items() if key.startswith(begin)}
    gradients = {row.name: table.arrays[row.subject] for row in table.rows}
    assert sorted(gradients) == sorted(expected)
    for key in sorted(expected):
        np.testing.assert_allclose(gradients[key], expected[key], rtol=2e-3, atol=2e-6, err_msg=key)
