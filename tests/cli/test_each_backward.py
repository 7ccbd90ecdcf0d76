"""``--backward each``: one answer about every distinct backward pass, and one exit code."""

from __future__ import annotations

import importlib
import importlib.util
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import gradtool.cli
from gradtool.cli import commands, context
from gradtool.engine.core.errors import GradientError
from gradtool.engine.core.notes import Notes
from gradtool.engine.loading import loader
from gradtool.engine.questions.why import Verdicts, Why
from gradtool.engine.request.request import Request
from tests.cli.conftest import Run, Write

SCHEMA = Path(gradtool.cli.__path__[0]) / "schemas" / "each.json"

TWO = """\
import paddle
first, second = paddle.nn.Linear(2, 1), paddle.nn.Linear(2, 2)
x = paddle.ones([4, 2])
for step in range(2):
    good = first(x).mean() ** 2
    good.backward()
    bad = first(second(x).detach()).mean() ** 2
    bad.backward()
    first.clear_gradients()
"""

STATIC = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [4, 3])
h = paddle.static.nn.fc(x, 3, name="body")
good = paddle.mean(paddle.square(h - 1))
bad = paddle.mean(paddle.square(paddle.static.nn.fc(h.detach(), 1, name="head") - 1))
paddle.static.append_backward(good, parameter_list=["body.w_0", "body.b_0"])
paddle.static.append_backward(bad)
"""


def test_one_answer_per_line_clearly_headed(gradtool: Run, model: Write) -> None:
    done = gradtool("why", model(TWO), "--backward", "each")
    assert done.code == 0
    heads = [line for line in done.out.splitlines() if line.startswith("== ")]
    assert heads == [
        "== backward 1, 3 · good · model.py:6   good.backward()",
        "== backward 2, 4 · bad · model.py:8   bad.backward()",
    ]
    above, below = done.out.split("== ")[1:]
    assert "DETACHED" not in above
    assert "verdict: DETACHED" in below
    assert "2 distinct of 4 backward calls, of each line the last · " in done.out
    assert done.out.splitlines()[-1].startswith("next: gradtool why ")
    assert "--backward 4" in done.out.splitlines()[-1]


def test_an_answer_about_one_loss_says_which_others_it_left_out(gradtool: Run, model: Write) -> None:
    lines = gradtool("why", model(STEPS)).out.splitlines()
    assert any(line.endswith(" about good") for line in lines), lines
    (left_out,) = [line for line in lines if line.startswith("not looked at: the gradients of bad: ")]
    assert left_out.endswith("--backward each")
    alone = gradtool("why", "model.py", "--backward", "2").out
    assert "not looked at" not in alone


KINDS = {"stats --time": "profile"}
"""Kinds of JSON that are not called as their commands are."""


@pytest.mark.parametrize("command", [name for name in context.OF_EACH if name not in ("gradcheck", "nan")])
@pytest.mark.parametrize("text", [TWO, STATIC], ids=["eager", "static"])
def test_as_json(gradtool: Run, model: Write, command: str, text: str) -> None:
    done = gradtool(command, model(text), "--backward", "each", "--format", "json")
    assert done.code == 0, done.err
    data = json.loads(done.out)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(data)
    assert [entry["call"]["loss"] for entry in data["answers"]] == ["good", "bad"]
    assert [entry["answer"]["schema"] for entry in data["answers"]] == [f"gradtool/{KINDS.get(command, command)}/1"] * 2
    alone = json.loads(gradtool("why", "model.py", "--backward", "1", "--format", "json").out)
    if command == "why":
        assert data["answers"][0]["answer"]["loss"] == alone["loss"]


ZERO = """\
import paddle
first = paddle.nn.Linear(2, 1)
x = paddle.ones([4, 2])
good = first(x).mean() ** 2
good.backward()
bad = ((first(x) * 0 - 1) ** 2).mean()
bad.backward()
"""

STEPS = """\
import paddle
first = paddle.nn.Linear(2, 1)
opt = paddle.optimizer.SGD(0.1, parameters=first.parameters())
x = paddle.ones([4, 2])
bad = ((first(x) * 0 - 1) ** 2).mean()
bad.backward()
opt.step()
opt.clear_grad()
good = first(x).mean() ** 2
good.backward()
opt.step()
"""
"""One step with a bad loss, and then one with a good one."""


def test_the_bare_command_answers_about_losses_that_nobody_asked_about(gradtool: Run, model: Write) -> None:
    file = model(STEPS)
    for options, code in (((), 0), (("--exit-code",), 1)):
        done = gradtool(file, *options)
        assert done.code == code
        assert "this is about the gradients of bad" in done.out
        assert "the gradients of bad: 1 finding: gradtool why model.py --backward 1" in done.out


@pytest.mark.parametrize("command", ["why", "backward", "stats"])
def test_an_exit_code_counts_what_is_found_about_losses_that_nobody_asked_about(
    gradtool: Run, model: Write, command: str
) -> None:
    file = model(STEPS)
    done = gradtool(command, file)
    assert done.code == 0
    assert "not looked at" in done.out
    assert f"the gradients of bad: gradtool {command} model.py --backward each" in " ".join(done.out.split())
    done = gradtool(command, file, "--exit-code")
    assert done.code == 1
    assert "the gradients of bad: 1 finding: gradtool why model.py --backward 1" in done.out
    for options, findings in (((), None), (("--exit-code",), 1)):
        data = gradtool(command, file, *options, "--format", "json").data
        assert data["others"] == [{"backward": 1, "findings": findings, "loss": "bad"}]
    assert gradtool(command, file, "--exit-code", "--backward", "2").code == 0
    assert gradtool(command, file, "--backward", "2", "--format", "json").data["others"] == []


def test_a_gate_looks_at_every_loss(gradtool: Run, model: Write) -> None:
    lines = ZERO.splitlines(keepends=True)
    file = model("".join([*lines[:3], *lines[5:], *lines[3:5]]))
    done = gradtool("check", file)
    assert done.code == 1
    assert "GT205 zero-gradient" in done.out
    assert "  this is about the backward call at model.py:5, which gives only zeros\n" in done.out
    assert gradtool("check", file, "--backward", "2").code == 0


def test_a_gate_looks_at_losses_of_other_steps(gradtool: Run, model: Write) -> None:
    done = gradtool("check", model(STEPS))
    assert done.code == 1
    assert "  this is about the gradients of bad\n" in done.out


def test_calls_of_one_step_are_one_gradient(gradtool: Run, model: Write) -> None:
    """The sum of both is what the optimizer takes; each call alone is asked about by its number."""
    file = model(TWO)
    table = gradtool("backward", file, "--format", "json").data
    assert [p["backward"] for p in table["passes"]] == [3, 4]
    total = table["parameters"][0]["values"]["norm"]
    parts = [gradtool("backward", file, "--backward", str(n), "--format", "json").data for n in (3, 4)]
    alone = [part["parameters"][0]["values"]["norm"] for part in parts]
    assert total not in alone
    assert [part["passes"][0]["backward"] for part in parts] == [3, 4]


def test_a_loss_that_cannot_be_looked_at_is_no_all_clear(
    gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """\
import paddle
import warnings
warnings.simplefilter("ignore")
w, v = paddle.ones([1]), paddle.ones([1])
v.stop_gradient = False
w.backward()
loss = (v * v).sum()
loss.backward()
"""
    assert "GT901 not-checked · note: the gradients of w: " in gradtool("check", model(text)).out

    def refuse(question: Why, request: Request, notes: Notes) -> Verdicts:
        raise GradientError("it is gone")

    monkeypatch.setattr(Why, "ask", refuse)
    done = gradtool("stats", "model.py", "--exit-code")
    assert done.code == 4
    assert "not looked at: the gradients of w: it is gone" in done.out


def test_one_exit_code(gradtool: Run, model: Write) -> None:
    done = gradtool("why", model(ZERO), "--backward", "each", "--exit-code")
    assert done.code == 1
    assert "1 finding, in number 2" in done.out
    assert gradtool("why", "model.py", "--backward", "1", "--exit-code").code == 0
    assert gradtool("gradcheck", "model.py", "--backward", "each").code == 0


LATER = """\
import paddle
first = paddle.nn.Linear(2, 1)
loss = first(paddle.ones([4, 2])).mean() ** 2
loss.backward()
point = paddle.ones([4, 2])
point.stop_gradient = False
(slope,) = paddle.grad((point ** 3).sum(), [point])
"""


@pytest.mark.parametrize("options", [("--backward", "1"), ("--backward", "line:model.py:5"), ("--backward", "each")])
def test_earlier_passes_are_compared_with_differences_of_their_own_loss(
    gradtool: Run, model: Write, options: tuple[str, ...]
) -> None:
    done = gradtool("gradcheck", model(ZERO), *options)
    assert done.code == 0, done.out
    assert "2 of 2 gradients checked and right" in done.out


def test_what_is_compared_is_what_was_backpropagated_last(gradtool: Run, model: Write) -> None:
    done = gradtool("gradcheck", model(LATER), "--format", "json")
    assert done.code == 0
    assert [entry["name"] for entry in json.loads(done.out)["entries"]] == ["first.weight", "first.bias"]


def test_notes_are_told_once_and_tables_are_joined(
    gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "PATIENCE", 0.0)
    loop = TWO.replace("range(2)", "range(99)")
    done = gradtool("stats", model(loop), "--backward", "each", "--format", "tsv")
    assert gradtool("stats", "model.py", "--backward", "each").out.count("was stopped at") == 1
    assert done.cells[0][:2] == ["backward", "parameter"]
    assert {row[0] for row in done.cells[1:]} == {"49", "50"}


def test_an_answer_that_there_is_not_is_told_in_its_place(gradtool: Run, model: Write) -> None:
    frozen = """\
import paddle
import warnings
warnings.simplefilter("ignore")
w, v = paddle.ones([1]), paddle.ones([1])
v.stop_gradient = False
w.backward()
loss = (v * v).sum()
loss.backward()
"""
    done = gradtool("backward", model(frozen), "--backward", "each")
    assert done.code == 4
    assert "has no recorded graph" in done.out
    assert "1 of 2 leaves get a gradient" in done.out or "1 of 1 leaf gets a gradient" in done.out


def test_a_file_without_a_backward_pass_is_refused(gradtool: Run, model: Write) -> None:
    done = gradtool("why", model(""), "--backward", "each")
    assert done.code == 2
    assert "asks for no backward pass" in done.err


def test_what_shows_one_pass_refuses(gradtool: Run, model: Write) -> None:
    file = model(TWO)
    for command in (("graph",), ("graph --text",), ("stats --memory",), ("report", "--html", "r.html")):
        done = gradtool(command[0], file, *command[1:], "--backward", "each")
        assert done.code == 2
        assert "answer about each backward pass" in done.err
    assert gradtool("backward", file, "--dot", "g.dot", "--backward", "each").code == 2
    assert gradtool("stats", "--time", file, "--flame", "f.txt", "--backward", "each").code == 2


def test_the_commands_that_take_it_are_those_that_ask_so() -> None:
    def asks(name: str) -> bool:
        file = f"gradtool.cli.callbacks.{commands.file_name(name)}"
        return importlib.util.find_spec(file) is not None and hasattr(importlib.import_module(file), "ask")

    assert {name for name in commands.every() if asks(name)} == set(context.OF_EACH)
