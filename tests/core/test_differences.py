"""Differences from Paddle that are meant: one table, the page, and what a run says that meets one."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core import differences
from gradtool.engine.core.differences import DIFFERENCES, DifferenceWarning
from tests.docs.differences import PAGE, written

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    differences.forget()
    paddle.disable_static()
    yield
    differences.forget()


def leaf(values: Any) -> Any:
    return paddle.to_tensor(values, stop_gradient=False)


def smoothed() -> None:
    labels = paddle.to_tensor([0, 1, 1])
    paddle.nn.functional.cross_entropy(leaf([[1.0, 2.0]] * 3), labels, ignore_index=1, label_smoothing=0.1)


def narrow() -> None:
    with paddle.amp.auto_cast():
        pass


class Same(paddle.autograd.PyLayer):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_not_inplace(x)
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient


def plateau() -> None:
    net = paddle.nn.Linear(1, 1)
    model = paddle.Model(net)
    model.prepare(paddle.optimizer.SGD(0.1, parameters=net.parameters()), paddle.nn.MSELoss())
    callback = paddle.callbacks.ReduceLROnPlateau(patience=0, verbose=0, min_delta=0)
    callback.set_model(model)
    callback.on_train_begin()
    for _ in range(3):
        callback.on_eval_end({"loss": [1.0]})


def in_a_program() -> None:
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            paddle.histogram_bin_edges(paddle.static.data("x", [4]), 1)
    finally:
        paddle.disable_static()


MET: dict[str, Callable[[], Any]] = {
    "ignored labels smoothed": smoothed,
    "variance of whole numbers": lambda: paddle.var(paddle.to_tensor([1, 2, 4])),
    "gradients of solutions": lambda: paddle.linalg.lstsq(leaf([[1.0, 0.0], [0.0, 2.0]]), leaf([[1.0], [1.0]])),
    "not in place": lambda: Same.apply(leaf([1.0])),
    "plateaus": plateau,
    "mixed precision": narrow,
    "values of programs": in_a_program,
}


IN_PROGRAMS: dict[str, Callable[[], Any]] = {
    "diag": lambda: paddle.diag(_fed([2], stopped=False)),
    "diff of an unknown size": lambda: paddle.diff(_fed([-1, 2]), axis=0),
    "instance_norm without a bias": lambda: paddle.nn.functional.instance_norm(_fed([1, 2, 3]), weight=_fed([2], "w")),
    "diag of a constant": lambda: paddle.diag(_fed([2])),
    "diff of a known size": lambda: paddle.diff(_fed([-1, 2])),
    "instance_norm": lambda: paddle.nn.functional.instance_norm(_fed([1, 2, 3])),
}


def _fed(shape: list[int], name: str = "x", stopped: bool = True) -> Any:
    variable = paddle.static.data(name, shape)
    variable.stop_gradient = stopped
    return variable


@pytest.mark.parametrize("what", IN_PROGRAMS)
def test_a_program_says_where_it_is_computed_otherwise(what: str) -> None:
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            IN_PROGRAMS[what]()
    finally:
        paddle.disable_static()
    differs = [*IN_PROGRAMS].index(what) < 3
    assert [met["name"] for met in differences.list_differences()] == ["values of programs"] * differs


@pytest.mark.parametrize("name", MET)
def test_a_run_that_meets_one_says_so_once(name: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MET[name]()
        MET[name]()
    said = [w for w in caught if issubclass(w.category, DifferenceWarning)]
    assert [str(w.message) for w in said] == [f"unlike Paddle: {differences.message(name)}"]
    assert differences.list_differences() == [{"name": name, "text": differences.message(name)}]


def test_a_program_that_makes_errors_of_warnings_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.var(paddle.to_tensor([1, 2, 4]))
    assert capsys.readouterr().err.startswith("unlike Paddle: the variance of whole numbers")


def test_what_is_said_to_be_noted_is() -> None:
    assert {name for name, entry in DIFFERENCES.items() if entry.seen == "note"} == {*MET}


def test_every_name_that_is_met_stands_in_the_table() -> None:
    calls = [
        name
        for folder in ("engine", "viz", "cli")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"\bmeet(?:_in_programs)?\(\"([^\"]+)\"", path.read_text(encoding="utf-8"))
    ]
    assert {*calls} == {*MET}


def test_labels_that_are_smoothed_and_not_ignored_meet_nothing() -> None:
    labels = paddle.to_tensor([0, 1, 1])
    paddle.nn.functional.cross_entropy(leaf([[1.0, 2.0]] * 3), labels, label_smoothing=0.1)
    assert not differences.list_differences()


def test_the_page_lists_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "python -m tests.docs.differences writes the list anew"
