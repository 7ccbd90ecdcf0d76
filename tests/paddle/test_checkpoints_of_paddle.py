"""Files that real ``paddle.save`` wrote (``record_checkpoints.py``): they are read as it reads them itself."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import FileFormatError

from .record_checkpoints import described

FOLDER = Path(__file__).with_name("checkpoints")
FILES = sorted(p.name for p in FOLDER.iterdir() if p.suffix != ".json")


def arrays_of(described: Any) -> Any:
    """What ``return_numpy=True`` gives: arrays for tensors; those of bfloat16 keep their type."""
    if not isinstance(described, dict):
        return described
    if "tensor" in described:
        values = described["values"]
        if described["tensor"] == "complex64":
            values = [complex(*parts) for parts in zip(*values, strict=True)]
        return {"array": described["tensor"], "values": values}
    if "entries" not in described:
        return described
    entries = described["entries"]
    listed = isinstance(entries, list)
    return described | {
        "entries": [*map(arrays_of, entries)] if listed else {k: arrays_of(v) for k, v in entries.items()}
    }


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("name", FILES)
def test_what_is_read_is_what_paddle_reads(name: str) -> None:
    expected = json.loads((FOLDER / f"{name}.json").read_text())
    assert json.loads(json.dumps(described(paddle.load(str(FOLDER / name))))) == expected
    arrays = described(paddle.load(FOLDER / name, return_numpy=True))
    assert json.loads(json.dumps(arrays, default=str)) == json.loads(json.dumps(arrays_of(expected), default=str))


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("name", FILES)
def test_from_a_stream(name: str) -> None:
    stream = io.BytesIO(b"before" + (FOLDER / name).read_bytes())
    stream.seek(6)
    assert described(paddle.load(stream)) == described(paddle.load(str(FOLDER / name)))


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("name", ["2_layer.pdparams", "2_types.pdparams", "2_arrays.pdparams"])
def test_the_names_of_numpy_1(name: str, tmp_path: Path) -> None:
    data = (FOLDER / name).read_bytes()
    (tmp_path / name).write_bytes(data.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n"))
    assert b"numpy._core" not in (tmp_path / name).read_bytes()
    assert described(paddle.load(str(tmp_path / name))) == described(paddle.load(str(FOLDER / name)))


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("protocol", [2, 4])
def test_training_goes_on_from_a_checkpoint(protocol: int) -> None:
    with paddle.utils.unique_name.guard():
        net = paddle.nn.Sequential(paddle.nn.Linear(3, 2), paddle.nn.BatchNorm1D(2))
    state = paddle.load(str(FOLDER / f"{protocol}_layer.pdparams"))
    assert net.set_state_dict(state) == ([], [])
    np.testing.assert_array_equal(net[0].weight.numpy(), state["0.weight"].numpy())
    rate = paddle.optimizer.lr.StepDecay(0.1, 2)
    optimizer = paddle.optimizer.Adam(rate, parameters=net.parameters())
    saved = paddle.load(str(FOLDER / f"{protocol}_optimizer.pdopt"))
    optimizer.set_state_dict(saved)
    assert rate.last_epoch == 3
    assert optimizer.get_lr() == pytest.approx(0.01)
    net(paddle.ones([4, 3])).sum().backward()
    optimizer.step()


@pytest.mark.usefixtures("dynamic")
def test_master_weights_are_tensors() -> None:
    master = paddle.load(str(FOLDER / "4_master.pdopt"))["master_weights"]
    assert {t.dtype for t in master.values()} == {paddle.float32}


def test_a_program_takes_the_values_of_static_save() -> None:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [2, 3])
        loss = paddle.mean(paddle.static.nn.fc(x, 2, name="head"))
        paddle.optimizer.Adam(0.1).minimize(loss)
    paddle.static.Executor().run(startup)
    paddle.static.load(main, str(FOLDER / "static"))
    values = paddle.load(str(FOLDER / "static.pdparams"))
    for name in ("head.w_0", "head.b_0"):
        there = paddle.static.global_scope().find_var(name).get_tensor()
        np.testing.assert_array_equal(np.array(there), np.array(values[name]))
    assert set(paddle.static.load_program_state(str(FOLDER / "static"))) >= {"head.w_0_moment1_0", "head.b_0"}


def test_what_is_no_tensor_is_told(tmp_path: Path) -> None:
    import pickle

    path = tmp_path / "state.pdparams"
    path.write_bytes(pickle.dumps({"w": np.zeros(2, "uint32")}, 4))
    with pytest.raises(FileFormatError, match="data types of tensors"):
        paddle.load(str(path))
    path.write_bytes(pickle.dumps({"net": paddle.nn.Layer}, 4))
    with pytest.raises(
        FileFormatError, match=r"it names 'gradtool\.paddle\.nn\.\w+\.Layer', and nothing was made or run of it"
    ):
        paddle.load(str(path))


@pytest.mark.usefixtures("dynamic")
def test_slices_are_joined(tmp_path: Path) -> None:
    """Protocols 2 and 3 hold no array of more than a gigabyte: Paddle cuts it."""
    import pickle

    whole = np.arange(6, dtype="float32")
    table = {"w": {"OriginShape": (2, 3), "slices": ["w@@.0", "w@@.1"]}}
    state: dict[str, Any] = {"w@@.0": whole[:4], "w@@.1": whole[4:], "UnpackBigParamInfor@@": table}
    path = tmp_path / "state.pdparams"
    path.write_bytes(pickle.dumps(state, 2))
    read = paddle.load(str(path))
    assert list(read) == ["w"]
    np.testing.assert_array_equal(read["w"].numpy(), whole.reshape(2, 3))
    table["w"]["slices"] = ["elsewhere"]
    path.write_bytes(pickle.dumps(state, 2))
    with pytest.raises(FileFormatError, match="the slices of an array"):
        paddle.load(str(path))
