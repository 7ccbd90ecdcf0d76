"""``paddle.Model`` with its callbacks, and ``paddle.flops``: what Paddle 3.3.1 was recorded to print, call and give."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import gradtool as paddle

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
def test_callbacks_of_other_packages_are_refused() -> None:
    for name in ("VisualDL", "WandbCallback"):
        with pytest.raises(ValueError, match=f"paddle.callbacks.{name} needs a package"):
            getattr(paddle.callbacks, name)("logs")


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
