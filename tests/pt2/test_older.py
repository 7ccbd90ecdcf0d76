"""Archives as PyTorch 2.1 to 2.8 wrote them, and the files of ``torch.save``: read without torch, nothing is run."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.importers.pt2 import reading
from gradtool.engine.loading.from_python import load
from gradtool.paddle.utils import unique_name

SAVED = Path(__file__).parent / "saved" / "older.npz"
VERSIONS = ("2.1.2", "2.2.2", "2.3.1", "2.4.1", "2.5.1", "2.6.0", "2.7.1", "2.8.0")


@pytest.fixture(scope="module")
def saved() -> dict[str, Any]:
    with np.load(SAVED) as file:
        return dict(file)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    with scope_guard(Scope()), unique_name.guard():
        paddle.disable_static()
        yield
    paddle.disable_static()


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as whole:
        return {name: whole.read(name) for name in whole.namelist()}


def zipped(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as whole:
        for name, data in files.items():
            whole.writestr(zipfile.ZipInfo(name), data)
    return file.getvalue()


@pytest.mark.parametrize("version", VERSIONS)
def test_loss_gradients_and_buffers_are_those_that_torch_computed(
    saved: dict[str, Any], version: str, tmp_path: Path
) -> None:
    path, feed = tmp_path / "net.pt2", tmp_path / "feed.npz"
    path.write_bytes(saved[f"{version}/model"].tobytes())
    data = reading.read(path.read_bytes(), path.name).program.global_block().vars.values()
    np.savez(feed, **{next(v.name for v in data if v.is_data): saved["x"]}, label=saved["label"])
    model: Any = load(str(path), loss_fn="mse")
    table = model.backward(run=True, feed=str(feed))
    gradients = {row.name: table.arrays[row.subject] for row in table.rows if row.subject in table.arrays}
    expected = {key.removeprefix("gradient/"): saved[key] for key in saved if key.startswith("gradient/")}
    assert sorted(gradients) == sorted(expected)  # the frozen parameter is none of them
    for name, wanted in expected.items():
        np.testing.assert_allclose(gradients[name], wanted, rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("version", VERSIONS)
def test_sources_and_layers_are_told_where_the_archive_has_them(saved: dict[str, Any], version: str) -> None:
    program = reading.read(saved[f"{version}/model"].tobytes(), "net.pt2").program
    convolution = next(op for op in program.global_block().ops if op.type == "conv2d")
    assert convolution.attr("op_namescope") == "/conv/"
    text = str(convolution.loc)
    assert ("net.pt2" if version == "2.1.2" else "older.py") in text


@pytest.mark.parametrize("version", ["2.2.2", "2.8.0"])
def test_state_dicts_are_loaded_into_layers(saved: dict[str, Any], version: str, tmp_path: Path) -> None:
    path = tmp_path / "state.pt"
    path.write_bytes(saved[f"{version}/state"].tobytes())
    state = paddle.load(str(path))
    assert list(state)[:3] == ["scale", "shift", "conv.weight"]
    layer = paddle.nn.Conv2D(1, 3, 3)
    layer.set_state_dict({"weight": state["conv.weight"], "bias": state["conv.bias"]})
    np.testing.assert_array_equal(layer.weight.numpy(), state["conv.weight"].numpy())
    arrays = paddle.load(str(path), return_numpy=True)
    assert isinstance(arrays["norm.num_batches_tracked"], np.ndarray)


def test_a_version_that_nobody_knows_is_told(saved: dict[str, Any]) -> None:
    files = members(saved["2.5.1/model"].tobytes())
    program = json.loads(files["serialized_exported_program.json"])
    program["schema_version"] = {"major": 9, "minor": 0}
    files["serialized_exported_program.json"] = json.dumps(program).encode()
    with pytest.raises(FileFormatError, match="version 9 of the schema"):
        reading.read(zipped(files), "net.pt2")


def test_what_a_pickle_names_beside_tensors_is_refused_by_its_name(saved: dict[str, Any]) -> None:
    files = members(saved["2.5.1/model"].tobytes())
    inner = members(files["serialized_state_dict.pt"])
    inner["archive/data.pkl"] = inner["archive/data.pkl"].replace(b"torch._utils\n_rebuild_parameter", b"os\nsystem", 1)
    files["serialized_state_dict.pt"] = zipped(inner)
    with pytest.raises(FileFormatError, match=r"'os\.system_with_state', and nothing was made or run of it"):
        reading.read(zipped(files), "net.pt2")
