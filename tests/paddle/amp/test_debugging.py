"""``paddle.amp.debugging``; the texts are those that Paddle 3.3.1 prints on a CPU."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from gradtool import paddle
from gradtool.paddle.amp import debugging
from gradtool.paddle.amp.debugging import DebugMode, TensorCheckerConfig

pytestmark = pytest.mark.usefixtures("dynamic")

LOG = (
    "[PRECISION] [ERROR] in [device=cpu, op=log, tensor=, dtype=fp32], numel=3, num_nan=0, num_inf=1, num_zero=1, "
    "max=1.098612e+00, min=-inf, mean=-inf"
)


def test_numbers_of_a_tensor(capsys: pytest.CaptureFixture[str]) -> None:
    x = paddle.to_tensor([1.0, float("nan"), float("inf"), 0.0])
    counts, extremes = debugging.check_numerics(x, "relu", "x", DebugMode.CHECK_NAN_INF)
    assert (counts.tolist(), extremes.tolist()[:2]) == ([1, 1, 1], [float("inf"), 0.0])
    assert capsys.readouterr().out == (
        "[PRECISION] [ERROR] in [device=cpu, op=relu, tensor=x, dtype=fp32], numel=4, num_nan=1, num_inf=1, "
        "num_zero=1, max=inf, min=0.000000e+00, mean=nan\n"
    )
    with pytest.raises(RuntimeError, match=r"There are NAN or INF \(num_nan=1, num_inf=1, num_zero=1\)"):
        debugging.check_numerics(x, "relu", "x")
    for mode, value, said in ((DebugMode.CHECK_ALL, 1.0, True), (DebugMode.CHECK_ALL_FOR_OVERFLOW, 1.0, False)):
        capsys.readouterr()
        debugging.check_numerics(paddle.to_tensor([value]), "relu", "x", mode)
        assert bool(capsys.readouterr().out) == said
    debugging.check_numerics(paddle.to_tensor([1e5]), "relu", "x", DebugMode.CHECK_ALL_FOR_OVERFLOW)
    assert "max=1.000000e+05" in capsys.readouterr().out
    with pytest.raises(TypeError, match="floating-point"):
        debugging.check_numerics(paddle.to_tensor([1]), "relu", "x")


def checked(**settings: Any) -> None:
    debugging.enable_tensor_checker(TensorCheckerConfig(enable=True, **settings))
    try:
        a = paddle.to_tensor([1.0, 0.0, 3.0], stop_gradient=False)
        (paddle.log(a) * 2).sum().backward()
    finally:
        debugging.disable_tensor_checker()


def test_results_of_operators_are_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="op=log"):
        checked()
    capsys.readouterr()
    checked(debug_mode=DebugMode.CHECK_NAN_INF)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["AMP Debugging TensorCheckerConfig: seed  123", LOG]
    assert [line.split("op=")[1].split(",")[0] for line in lines[1:]] == ["log", "scale", "reduce_sum", "log_grad"]
    checked(checked_op_list=["scale"], skipped_op_list=["scale"])
    paddle.log(paddle.zeros([1]))
    assert "ERROR" not in capsys.readouterr().out
    with pytest.raises(AssertionError, match="debug_step"):
        TensorCheckerConfig(enable=True, debug_step=[3, 1])


def test_steps_that_are_looked_at(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    config = TensorCheckerConfig(enable=True, debug_step=[1, 3])
    monkeypatch.setattr(TensorCheckerConfig, "current_step_id", 0)
    assert [config.update_and_check_step_id() for _ in range(4)] == [False, True, True, False]


def test_two_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, enable in (("wide", False), ("narrow", True)):
        config = TensorCheckerConfig(True, DebugMode.CHECK_ALL, str(tmp_path / name))
        debugging.enable_tensor_checker(config)
        with paddle.amp.auto_cast(enable=enable):
            x = paddle.full([2, 2], 300.0)
            paddle.tanh(x @ x)
        debugging.disable_tensor_checker()
    folders = str(tmp_path / "wide"), str(tmp_path / "narrow")
    debugging.compare_accuracy(*folders, str(tmp_path / "out.csv"))
    rows = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert [(r.split(",")[1], r.split(",")[-1]) for r in rows[1:]] == [
        ("matmul_v2", "not finite in the second run alone")
    ]
    debugging.compare_accuracy(*folders, str(tmp_path / "out.xlsx"), dump_all_tensors=True)
    with zipfile.ZipFile(tmp_path / "out.xlsx") as book:
        assert b"<t>tanh</t>" in book.read("xl/worksheets/sheet1.xml")
    with pytest.raises(ValueError, match="nothing is written about tensors"):
        debugging.compare_accuracy(str(tmp_path), str(tmp_path / "no"), "out.csv")


def test_layers_are_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    class Twice(paddle.nn.Layer):
        @debugging.check_layer_numerics
        def forward(self, x: Any) -> Any:
            return x * 2

    Twice()(paddle.ones([1]))
    assert capsys.readouterr().out == ""
    Twice()(paddle.to_tensor([float("inf")]))
    assert [line.split("tensor=")[1][:7] for line in capsys.readouterr().out.splitlines()] == ["input_0", "output_"]


def test_operators_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with debugging.collect_operator_stats():
        x = paddle.ones([2]) + 1
        x.astype("float16").astype("bfloat16")
    x + 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"<{'-' * 55} op list {'-' * 56}>"
    assert lines[1].startswith("<--------------- Op Name ---------------- | -- FP16 Calls --- | -- BF16 Calls --- |")
    assert [[cell.strip() for cell in line.split("|")] for line in lines[2:5]] == [
        ["cast", "1", "0", "1", "0"],
        ["fill_constant", "0", "0", "1", "0"],
        ["scale", "0", "0", "1", "0"],
    ]
    assert {len(line) for line in lines[:6]} >= {122}
    assert lines[5] == f"<{'-' * 53} op count: 3 {'-' * 54}>"
