"""What cannot be repeated is named under the answer as not looked at, and is no error."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

import gradtool.cli as command_line
from tests.cli.conftest import Run, Write
from tests.repeats import RUNS, text

SCHEMAS = Path(command_line.__file__).parent / "schemas"


def test_gradients_that_are_not_checked(gradtool: Run, model: Write) -> None:
    file = model(text("paddle_rnn_dropout"))
    done = gradtool("gradcheck", file)
    assert done.code == 0, done.err
    assert "not looked at: gradients of " in done.out
    assert "and 9 more: cannot be repeated: rnn at model.py:14: its random numbers cannot be drawn again" in done.out
    assert not json.loads(gradtool("gradcheck", file, "--format", "json").out)["passed"]


def test_values_that_are_not_followed(gradtool: Run) -> None:
    done = gradtool("flow", str(RUNS / "torch_table_in_numpy.torchrun"))
    assert done.code == 0, done.err
    assert "not looked at: what table, rows leads to: cannot be repeated: index at " in done.out


def test_operators_that_are_measured_once(gradtool: Run) -> None:
    run = str(RUNS / "torch_rrelu.torchrun")
    done = gradtool("stats", "--time", run, "--repeats", "2")
    assert done.code == 0, done.err
    told = [
        line for line in done.out.splitlines() if line.startswith("not looked at: repeats of what took its time once")
    ]
    assert any("cannot be repeated: rrelu_with_noise at " in line for line in told), done.out
    data = json.loads(gradtool("stats", "--time", run, "--repeats", "2", "--format", "json").out)
    jsonschema.validate(data, json.loads((SCHEMAS / "profile.json").read_text("utf-8")))
    assert len(data["unrepeated"]) == len(told)


def test_a_batch_that_is_not_learned(gradtool: Run, model: Write) -> None:
    file = model(text("paddle_rnn_dropout"))
    done = gradtool("check", file, "--select", "GT703,GT901", "--format", "concise")
    assert done.code == 0, done.out
    assert "whether one batch can be learned: cannot be repeated: rnn at model.py:14: its random numbers" in done.out
