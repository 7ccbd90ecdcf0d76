"""``backward --list``: every backward pass that a file asks for, and ``--backward``, which names one of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import gradtool.cli
from tests.cli.conftest import DOCUMENT, Run, Write

SCHEMA = Path(gradtool.cli.__path__[0]) / "schemas" / "calls.json"

GAN = """\
import paddle
paddle.seed(0)
net, critic = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 1)
for step in range(3):
    fake = net(paddle.ones([4, 2]))
    d_loss = critic(fake.detach()).mean() * (step + 1)
    d_loss.backward()
    g_loss = critic(fake).mean()
    g_loss.backward()
    (slope,) = paddle.grad(critic(fake).sum(), [fake], create_graph=True)
"""

STATIC = (
    DOCUMENT
    + """\
paddle.optimizer.SGD(0.1).minimize(avg_loss)
other = paddle.static.gradients([y_predict], [x_emb])
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
import numpy as np
for step in range(3):
    exe.run(feed={"x": np.ones((2, 13), "int64"), "y": np.ones((2, 1), "float32")}, fetch_list=[avg_loss])
"""
)


def listed(gradtool: Run, file: str, *options: str) -> dict[str, Any]:
    done = gradtool("backward", file, "--list", "--format", "json", *options)
    assert done.code == 0, done.err
    data: dict[str, Any] = json.loads(done.out)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(data)
    return data


def test_the_steps_of_a_loop_are_one_line_each(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(GAN), "--list")
    assert done.code == 0
    rows = done.out.splitlines()
    assert rows[0].split() == ["number", "call", "loss", "value", "times", "source", "code"]
    assert rows[1].split()[:5] == ["1,", "4,", "7", "backward", "d_loss"]
    assert rows[2].split()[:5] == ["2,", "5,", "8", "backward", "g_loss"]
    assert rows[3].split()[:5] == ["3,", "6,", "9", "grad", "–"]
    assert " model.py:7 " in rows[1]
    assert rows[1].endswith("d_loss.backward()")
    assert rows[4] == "9 calls on 3 lines · selected is number 8, unless --backward says otherwise"
    assert rows[5] == "next: gradtool why model.py --backward 7 · gradtool why model.py --backward each"


def test_as_json(gradtool: Run, model: Write) -> None:
    data = listed(gradtool, model(GAN), "--backward", "4")
    assert (data["mode"], data["total"], data["asked_about"], data["stopped"]) == ("eager", 9, 4, None)
    first = data["calls"][0]
    assert (first["kind"], first["loss"], first["numbers"], first["times"]) == ("backward", "d_loss", [1, 4, 7], 3)
    assert first["source"] == {"file": "model.py", "line": 7}
    assert first["values"][1] == pytest.approx(3 * first["values"][0])


def test_consecutive_numbers_are_a_range_and_the_limit_is_told(gradtool: Run, model: Write) -> None:
    loop = "import paddle\nw = paddle.ones([1])\nw.stop_gradient = False\nfor i in range(99):\n    (w * w).backward()\n"
    done = gradtool("backward", model(loop), "--list", "--steps", "50")
    assert done.out.splitlines()[1].split()[:3] == ["1-50", "backward", "–"]
    assert "was stopped at model.py:5 after 50 backward passes" in done.out
    assert listed(gradtool, "model.py", "--steps", "50")["stopped"] == {"file": "model.py", "line": 5}
    assert listed(gradtool, "model.py")["total"] == 99


def test_of_a_program_the_runs_are_counted_and_minimize_is_called_so(gradtool: Run, model: Write) -> None:
    data = listed(gradtool, model(STATIC))
    assert data["mode"] == "static"
    told = [(c["kind"], c["loss"], c["runs"], c["selectable"]) for c in data["calls"]]
    assert told == [("minimize", "avg_loss", 3, True), ("gradients", "y_predict", 3, False)]
    assert data["asked_about"] == 1
    refused = gradtool("why", "model.py", "--backward", "2")
    assert refused.code == 2


def test_a_file_that_asks_for_none_says_so(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(""), "--list")
    assert done.code == 0
    assert done.out.startswith("model.py asks for no backward pass itself")
    assert listed(gradtool, "model.py")["calls"] == []


def test_what_a_file_asked_for_before_it_raised(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(GAN + "raise ValueError('over')\n"), "--list")
    assert done.code == 3
    assert "9 calls on 3 lines" in done.out
    assert "model.py raised" in done.err
    assert gradtool("backward", model("raise ValueError('at once')\n"), "--list").code == 3


def test_an_unknown_line_or_number_names_the_near_ones(gradtool: Run, model: Write) -> None:
    done = gradtool("why", model(GAN), "--backward", "line:model.py:8")
    assert done.code == 2
    assert "the nearest is line:model.py:7, line:model.py:9" in done.err
    done = gradtool("why", "model.py", "--backward", "77")
    assert done.code == 2
    assert "there were 9, the nearest is 9" in done.err
    for word in ("0", "last", "line:model.py:x"):
        done = gradtool("why", "model.py", "--backward", word)
        assert done.code == 2
        assert "is neither the number of a backward pass" in done.err


def test_commands_that_go_on_keep_the_words_of_a_script_last(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(GAN), "--list", "--", "--lr", "3")
    assert "gradtool why model.py --backward each -- --lr 3" in done.out
