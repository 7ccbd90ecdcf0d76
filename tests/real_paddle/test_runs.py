"""What real Paddle did is answered about as what gradtool's own engine does with the same script."""

import random
import sys

import numpy as np
import pytest

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.loading.opening import open_model
from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

from .answers import PROGRAMS, RUNS, SCRIPTS, STATIC, answered


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_real_paddle_and_gradtool_are_answered_about_alike(script):
    assert answered(RUNS / f"{script.stem}.paddlerun") == answered(script)


@pytest.mark.parametrize(("name", "parameters", "near"), [("network", 11, 1e-5), ("mixed_precision", 4, 2e-2)])
def test_gradients_are_those_of_paddle(name, parameters, near):
    assert answered(RUNS / f"{name}.paddlerun") == []
    with open_model(Request(str(RUNS / f"{name}.paddlerun"))) as model:
        gradients = model.run(lambda event: None)
        assert len(gradients) == parameters
        for leaf, gradient in gradients.items():
            of_paddle = leaf.grad.array  # the ``.grad`` that the script had
            np.testing.assert_allclose(gradient, of_paddle, rtol=near, atol=near * np.max(np.abs(of_paddle)) + 1e-7)


@pytest.mark.parametrize(
    "command", ["nan", "stats", "stats --memory", "graph", "backward", "report", "graph --where net.b.bias"]
)
def test_commands_answer_about_a_run(gradtool, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *words = command.split()
    options = ["-o", "answer.svg"] if command == "graph" else ["--html", "answer.html"] if name == "report" else []
    done = gradtool(name, *words, str(RUNS / "network.paddlerun"), *options)
    assert done.code == 0, done.err


def test_what_processes_wait_for_is_told(gradtool):
    done = gradtool("why", str(RUNS / "parallel.paddlerun"))
    assert "net._layers.auxiliary.weight   grad = None   verdict: UNUSED IN FORWARD" in done.out
    assert "all processes wait for its gradient, and it never comes" in done.out
    assert "waited for since  parallel.py:19" in done.out


def test_what_to_static_decorates_is_seen_line_by_line():
    assert answered(RUNS / "to_static.paddlerun") == ["DETACHED net.a.weight at line 17"]


@pytest.mark.parametrize(("form", "place"), [("description", "static_program.py"), ("new_ir", "program.json")])
def test_the_static_program_that_was_run_is_asked_about(gradtool, form, place, tmp_path, monkeypatch):
    python = tmp_path / "python"  # does what real Paddle did in the other process: it leaves these files
    python.write_text(f'#!/bin/sh\nfor folder; do :; done\ncp {PROGRAMS / form}/* "$folder"\n')
    python.chmod(0o755)
    monkeypatch.setenv("GRADTOOL_PYTHON", str(python))
    done = gradtool("why", "--engine", "paddle", str(STATIC), "--format", "json")
    assert done.code == 0, done.err
    (finding,) = [a for a in done.data["answers"] if a["finding"]]
    assert (finding["verdict"], finding["name"][:4]) == ("stop_gradient", "fc_0")
    run = gradtool("backward", "--run", "--engine", "paddle", str(STATIC))
    assert run.code == 0, run.err
    assert "feed: x from the last Executor.run" in run.err
    assert place in gradtool("why", "--engine", "paddle", str(STATIC)).out


def test_a_python_that_does_not_start_is_named(monkeypatch):
    monkeypatch.setenv("GRADTOOL_PYTHON", "/nowhere/python")
    with pytest.raises(CommandError, match="/nowhere/python, which does not start"):
        Why().ask(Request.create(str(SCRIPTS[0]), engine="paddle"))


def test_without_paddle_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setenv("GRADTOOL_PYTHON", sys.executable)
    with pytest.raises(CommandError, match="is to run in PaddlePaddle") as raised:
        Why().ask(Request.create(str(SCRIPTS[0]), engine="paddle"))
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
