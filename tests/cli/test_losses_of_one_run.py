"""A file whose programs have several losses runs once: the answers about all of them come of that run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from .conftest import Run, Write

LOSSES = """\
import sys

import numpy as np
import paddle

sys.runs_of_model = getattr(sys, "runs_of_model", 0) + 1
paddle.enable_static()
start = paddle.static.Program()
losses = []
for name in ("first", "second", "third"):
    program = paddle.static.Program()
    with paddle.static.program_guard(program, start):
        x = paddle.static.data("x", [4, 3])
        w = paddle.create_parameter([3, 2], "float32", name=name + "_w")
        h = paddle.matmul(x, w)
        CUT
        v = paddle.create_parameter([3, 2], "float32", name=name + "_v")
        losses.append((program, paddle.mean(h + paddle.matmul(x, v))))
if True:
    with paddle.static.program_guard(losses[0][0], start):
        first = losses[0][1]
        paddle.optimizer.SGD(0.1).minimize(first)
    with paddle.static.program_guard(losses[1][0], start):
        second = losses[1][1]
        paddle.optimizer.SGD(0.1).minimize(second)
    with paddle.static.program_guard(losses[2][0], start):
        third = losses[2][1]
        paddle.optimizer.SGD(0.1).minimize(third)
executor = paddle.static.Executor()
executor.run(start)
for program, loss in losses:
    executor.run(program, feed={"x": np.ones((4, 3), "float32")}, fetch_list=[loss])
"""
WHERE = {name: f'h.stop_gradient = name == "{name}"' for name in ("first", "second", "third")} | {"none": "pass"}
COMMANDS = ("--exit-code", "check", "why --exit-code", "stats --exit-code", "backward --exit-code")


@pytest.fixture
def runs() -> Iterator[Callable[[], int]]:
    """The number of runs, counted by the file."""
    yield lambda: sys.__dict__.pop("runs_of_model", 0)
    sys.__dict__.pop("runs_of_model", 0)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.sampled(4, "command")
def test_the_file_runs_once_and_each_loss_counts(
    gradtool: Run, model: Write, runs: Callable[[], int], command: str, where: str
) -> None:
    path = model(LOSSES.replace("CUT", WHERE[where]))
    first, *more = command.split()
    words = [first, path, *more] if not first.startswith("-") else [path, first]
    done = gradtool(*words)
    assert done.code == (0 if where == "none" else 1), done.out + done.err
    assert runs() == 1


@pytest.mark.parametrize("where", WHERE)
def test_answers_are_those_about_each_alone(gradtool: Run, model: Write, where: str) -> None:
    """What one run says of a loss is what a run says that is asked about this loss."""
    path = model(LOSSES.replace("CUT", WHERE[where]))
    together = gradtool("why", path, "--exit-code", "--format", "json").data["others"]
    found = {other["backward"]: other["findings"] for other in together}
    alone = {n: gradtool("why", path, "--backward", str(n), "--format", "json").data["findings"] for n in found}
    assert found == alone == {1: where == "first", 2: where == "second"}


def test_a_cut_stands_at_the_line_that_makes_it(gradtool: Run, model: Write) -> None:
    """Programs are given back as they were between two answers; that sets nothing, and is no line of the file."""
    text = LOSSES.replace("CUT", WHERE["third"])
    (finding,) = gradtool("check", model(text), "--format", "json").data["results"]
    line = next(i for i, line in enumerate(text.splitlines(), 1) if "h.stop_gradient" in line)
    assert finding["source"]["line"] == line
