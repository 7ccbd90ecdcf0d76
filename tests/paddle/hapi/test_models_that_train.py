"""``paddle.Model`` with its callbacks, and ``paddle.flops``: what Paddle 3.3.1 was recorded to print, call and give."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from gradtool import paddle

from .cases import CASES, FILE

RECORDED = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("name", [*CASES])
def test_as_recorded(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = json.loads(json.dumps(CASES[name](paddle)))
    assert ours == RECORDED[name]


def test_every_case_is_recorded() -> None:
    assert {*CASES} == {*RECORDED}


@pytest.mark.usefixtures("dynamic")
def test_a_callback_that_sends_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"paddle\.callbacks\.WandbCallback sends what it is given to a server"):
        paddle.callbacks.WandbCallback("logs")


class LogWriter:
    """Stands in for that of the package ``visualdl``, which tests do not install."""

    folders: ClassVar[list[str]] = []
    numbers: ClassVar[list[tuple[str, int]]] = []

    def __init__(self, folder: str) -> None:
        self.folders.append(folder)

    def add_scalar(self, tag: str, step: int, value: float) -> None:
        self.numbers.append((tag, step))

    def close(self) -> None:
        self.numbers.append(("closed", 0))


@pytest.mark.usefixtures("dynamic")
def test_visualdl_writes_with_its_package_and_says_where_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit() -> None:
        model = paddle.Model(paddle.nn.Linear(2, 1))
        model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.MSELoss())
        data = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])])
        model.fit(data, batch_size=2, epochs=2, verbose=0, callbacks=paddle.callbacks.VisualDL("folder"))

    monkeypatch.setitem(sys.modules, "visualdl", None)
    with pytest.warns(UserWarning, match=r"VisualDL writes nothing, as visualdl is not installed") as warned:
        fit()
    assert len(warned) == 1
    monkeypatch.setitem(sys.modules, "visualdl", SimpleNamespace(LogWriter=LogWriter))
    fit()
    assert LogWriter.folders == ["folder"]
    assert LogWriter.numbers == [*[("train/loss", n) for n in (1, 2, 3, 4)], ("closed", 0)]


@pytest.mark.usefixtures("dynamic")
def test_parameters_that_do_not_fit_are_named_or_left_out(tmp_path: Path) -> None:
    small, large = (paddle.Model(paddle.nn.Linear(2, n)) for n in (1, 3))
    small.prepare()
    small.save(f"{tmp_path}/small")
    with pytest.raises(ValueError, match=r"weight receives a shape \[2, 1\], but the expected shape is \[2, 3\]"):
        large.load(f"{tmp_path}/small")
    before = large.network.weight.numpy()
    with pytest.warns(UserWarning, match="Skip loading for"):
        large.load(f"{tmp_path}/small", skip_mismatch=True)
    assert (large.network.weight.numpy() == before).all()


@pytest.mark.usefixtures("dynamic")
def test_the_rate_of_a_plateau_is_what_the_steps_take() -> None:
    model = paddle.Model(paddle.nn.Linear(1, 1, bias_attr=False))
    model.prepare(paddle.optimizer.SGD(1.0, parameters=model.parameters()), lambda out: out.mean())
    rows = paddle.io.TensorDataset([paddle.ones([1, 1])])
    plateau = paddle.callbacks.ReduceLROnPlateau(patience=1, mode="max", verbose=0)
    start = float(model.network.weight)
    model.fit(rows, rows, epochs=3, verbose=0, callbacks=[plateau])
    assert start - float(model.network.weight) == pytest.approx(1 + 1 + 0.1, abs=1e-5)


@pytest.mark.usefixtures("dynamic")
def test_layers_without_values() -> None:
    with paddle.LazyGuard():
        layer = paddle.nn.Linear(2, 2)
    assert paddle.isnan(layer(paddle.ones([1, 2]))).all()
    for parameter in layer.parameters():
        parameter.initialize()
    assert paddle.isfinite(layer(paddle.ones([1, 2]))).all()
    with pytest.raises(AssertionError, match="has its values already"):
        layer.weight.initialize()
    assert not paddle.isnan(paddle.nn.Linear(2, 2).weight).any()


@pytest.mark.usefixtures("dynamic")
def test_what_is_saved_aside_is_what_there_was(tmp_path: Path) -> None:
    layer = paddle.nn.Linear(1, 1)
    before = layer.weight.numpy()
    paddle.async_save(layer.state_dict(), f"{tmp_path}/it.pdparams", sync_other_task=True)
    layer.weight.set_value(before + 1)
    paddle.clear_async_save_task_queue()
    assert paddle.load(f"{tmp_path}/it.pdparams")["weight"].numpy() == before
