"""What real Paddle did is answered about as what gradtool's own engine does with the same script."""

import random
import sys

import numpy as np
import pytest

from gradtool.engine.core.errors import FileFormatError
from gradtool.models.errors import CommandError
from gradtool.models.loader import Request
from gradtool.models.opening import opened
from gradtool.models.questions.why import Why

from .answers import RUNS, SCRIPTS, answered


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_real_paddle_and_gradtool_are_answered_about_alike(script):
    assert answered(RUNS / f"{script.stem}.paddlerun") == answered(script)


@pytest.mark.parametrize(("name", "parameters", "near"), [("network", 11, 1e-5), ("mixed_precision", 4, 2e-2)])
def test_gradients_are_those_of_paddle(name, parameters, near):
    assert answered(RUNS / f"{name}.paddlerun") == []
    with opened(Request(str(RUNS / f"{name}.paddlerun"))) as model:
        gradients = model.run(lambda event: None)
        assert len(gradients) == parameters
        for leaf, gradient in gradients.items():
            of_paddle = leaf.grad.array  # the ``.grad`` that the script had
            np.testing.assert_allclose(gradient, of_paddle, rtol=near, atol=near * np.max(np.abs(of_paddle)) + 1e-7)


@pytest.mark.parametrize("command", ["nan", "stats", "saved", "graph", "backward", "report", "where net.b.bias"])
def test_commands_answer_about_a_run(gradtool, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *words = command.split()
    options = ["-o", "answer.svg"] if name == "graph" else ["--html", "answer.html"] if name == "report" else []
    done = gradtool(name, *words, str(RUNS / "network.paddlerun"), *options)
    assert done.code == 0, done.err


def test_a_python_that_does_not_start_is_named(monkeypatch):
    monkeypatch.setenv("GRADTOOL_PYTHON", "/nowhere/python")
    with pytest.raises(CommandError, match="/nowhere/python, which does not start"):
        Why().ask(Request(str(SCRIPTS[0]), engine="paddle"))


def test_without_paddle_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setenv("GRADTOOL_PYTHON", sys.executable)
    with pytest.raises(CommandError, match="is to run in PaddlePaddle") as raised:
        Why().ask(Request(str(SCRIPTS[0]), engine="paddle"))
    assert "pip install paddlepaddle" in raised.value.hint


def test_damaged_runs_are_refused(tmp_path):
    whole = (RUNS / "gradient_accumulation.paddlerun").read_bytes()
    draw = random.Random(3)
    damaged = tmp_path / "damaged.paddlerun"
    for _ in range(20):
        data = bytearray(whole)
        data[draw.randrange(len(data))] = draw.randrange(256)
        del data[draw.randrange(len(data) // 2, len(data)) :]
        damaged.write_bytes(data)
        with pytest.raises((FileFormatError, CommandError)):
            Why().ask(Request(str(damaged)))
