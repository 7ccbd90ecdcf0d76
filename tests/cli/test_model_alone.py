"""``gradtool MODEL``: all that is quickly said, from one run of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import gradtool.cli
from gradtool.viz.report.checkup import FEW_ROWS, MOST_PROBLEMS
from tests.cli.conftest import Run, Write
from tests.cli.test_exit_codes import CLEAN, DEAD, DETACHED, FROZEN, STATIC_CLEAN, STATIC_DEAD, STATIC_DETACHED

SCHEMA = Path(gradtool.cli.__path__[0]) / "schemas" / "checkup.json"

NAN = """\
import paddle
body, head = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 1)
z = body(paddle.zeros([4, 3]))
loss = (paddle.sqrt(z * 0) * head(paddle.ones([4, 3])).detach()).mean()
"""

SCRIPT = """\
import sys
import paddle
print("ran with", sys.argv[1:])
net, other = paddle.nn.Linear(2, 1), paddle.nn.Linear(2, 1)
for step in range(3):
    first = net(paddle.ones([4, 2])).mean() ** 2
    first.backward()
    second = other(paddle.ones([4, 2])).mean() ** 2
    second.backward()
    net.clear_gradients()
    other.clear_gradients()
"""


def screen(gradtool: Run, *words: str) -> dict[str, Any]:
    done = gradtool(*words, "--format", "json")
    assert done.code == 0, done.err
    data: dict[str, Any] = json.loads(done.out)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(data)
    return data


@pytest.mark.parametrize("text", [CLEAN, FROZEN, STATIC_CLEAN], ids=["clean", "frozen", "static"])
def test_a_short_all_clear_that_says_what_was_looked_at(gradtool: Run, model: Write, text: str) -> None:
    done = gradtool(model(text))
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].endswith(" · no findings in one pass")
    assert "\nlooked at      one backward pass of " in done.out
    assert "\n               NaN and infinity in " in done.out
    assert "whether the gradients are right: gradtool gradcheck model.py" in done.out
    assert lines[-1].startswith("next: gradtool gradcheck model.py · ")
    data = screen(gradtool, "model.py")
    assert (data["findings"], data["results"]) == (0, [])


@pytest.mark.parametrize(
    "text", [DETACHED, DEAD, STATIC_DETACHED, STATIC_DEAD], ids=["cut", "dead", "static-cut", "static-dead"]
)
def test_what_is_wrong_comes_first_and_leads_on(gradtool: Run, model: Write, text: str) -> None:
    file = model(text)
    data = screen(gradtool, file)
    assert 0 < data["findings"] <= json.loads(gradtool("why", file, "--format", "json").out)["findings"]
    problem = data["results"][0]
    assert problem["next"].startswith("gradtool why body")
    done = gradtool(file)
    assert f" · {data['findings']} {problem['severity']}" in done.out.splitlines()[0]
    assert done.out.index(problem["code"]) < done.out.index("‖g‖/‖w‖")
    assert f"   more  {problem['next']}" in done.out
    assert done.out.splitlines()[-1].startswith(f"next: {problem['next']} · ")
    assert gradtool(*problem["next"].split()[1:]).code == 0
    assert gradtool(file, "--exit-code").code == 1
    assert gradtool(file).code == 0


def test_one_cause_is_told_once(gradtool: Run, model: Write) -> None:
    file = model(NAN)
    data = screen(gradtool, file)
    born = [f for f in data["results"] if f["code"] in ("GT201", "GT202")]
    assert len(born) == 1
    assert "sqrt_grad" in born[0]["message"]
    done = gradtool(file)
    assert done.out.splitlines()[2].startswith("1  error GT202  sqrt_grad")
    assert " NaN " in done.out
    assert not any(" ok " in line for line in done.out.splitlines() if "body.weight" in line)


@pytest.mark.parametrize("text", [CLEAN, DETACHED, DEAD, STATIC_DETACHED, NAN, SCRIPT, FROZEN])
def test_findings_are_those_of_the_gate(gradtool: Run, model: Write, text: str) -> None:
    file = model(text)
    here, gate = screen(gradtool, file), json.loads(gradtool("check", file, "--format", "json").out)
    shown = [{k: v for k, v in f.items() if k != "next"} for f in here["results"]]
    assert sorted(shown, key=lambda f: f["fingerprint"]) == sorted(
        (f for f in gate["results"] if f["code"] != "GT901"), key=lambda f: f["fingerprint"]
    )
    assert all(f["message"] in here["not_looked_at"] for f in gate["results"] if f["code"] == "GT901")


@pytest.mark.parametrize(
    ("settings", "severity", "left_out"),
    [
        ('[severities]\nGT1 = "note"\n', "note", ""),
        ('[check]\nignore = ["GT103"]\n', None, "1 rule that settings skip: GT103"),
        ('[per-parameter-ignores]\n"*" = ["GT103"]\n', None, "1 finding that settings skip: GT103"),
        ('[[overrides]]\nfiles = ["other.py"]\nseverities.GT103 = "note"\n', "error", ""),
    ],
)
def test_files_of_settings_hold_as_for_the_gate(
    gradtool: Run, model: Write, folder: Path, settings: str, severity: str | None, left_out: str
) -> None:
    (folder / "gradtool.toml").write_text(settings)
    file = model(DETACHED)
    data = screen(gradtool, file)
    assert [x["severity"] for x in data["results"]] == [severity] * (severity is not None)
    checked = json.loads(gradtool("check", file, "--format", "json").out)
    assert [(x["code"], x["severity"]) for x in checked["results"]] == [
        (x["code"], x["severity"]) for x in data["results"]
    ]
    page = gradtool(file).out
    assert left_out in page
    assert ("settings skip" in page) is bool(left_out)
    assert gradtool(file, "--exit-code").code == (1 if severity == "error" else 0)
    assert screen(gradtool, file, "--isolated")["results"][0]["severity"] == "error"


def test_the_answers_are_those_of_the_commands(gradtool: Run, model: Write) -> None:
    file = model(DETACHED)
    answers = screen(gradtool, file)["answers"]
    for command in ("why", "nan", "backward"):
        assert answers[command] == json.loads(gradtool(command, file, "--format", "json").out)


TERM = """\
import paddle
net = paddle.nn.Linear(2, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    loss = (net(paddle.ones([4, 2])) - 1).square().mean() + (net.weight**2).sum().detach()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""


@pytest.mark.parametrize("text", [TERM, TERM.replace("SGD(0.1", "SGD(0.0").replace(".detach()", "")])
def test_the_command_that_shows_more_works(gradtool: Run, model: Write, text: str) -> None:
    (finding,) = screen(gradtool, model(text))["results"]
    assert finding["code"] in ("GT111", "GT702")
    assert gradtool(*finding["next"].split()[1:]).code == 0


def test_a_script_runs_once_with_its_arguments_and_its_passes_are_told(gradtool: Run, model: Write) -> None:
    done = gradtool(model(SCRIPT), "--", "--lr", "3")
    assert done.code == 0
    assert done.err.count("ran with ['--lr', '3']") == 1
    assert "looked at      backward passes 5, 6 of 6, of one step: model.py:7, 9" in done.out
    assert "of 6 backward passes" in done.out
    done = gradtool("model.py", "--backward", "1", "--steps", "2")
    assert "looked at      backward pass 1 of at least 3: first, model.py:7" in done.out
    assert "model.py was stopped at model.py:7 after 2 backward passes; --steps all lets it run to its end" in done.out


@pytest.mark.parametrize("words", [("-m", "model"), ("--seed", "0", "model.py")])
def test_ways_to_name_a_model(gradtool: Run, model: Write, words: tuple[str, ...]) -> None:
    model(CLEAN)
    done = gradtool(*words)
    assert done.code == 0
    assert done.out.splitlines()[0].endswith("no findings in one pass")


def test_a_mistyped_command_is_an_error_with_near_names(gradtool: Run, model: Write) -> None:
    for words in (("bakward", model(CLEAN)), ("bakward",), ("doktor", "model.py", "--exit-code")):
        done = gradtool(*words)
        assert done.code == 2
        assert f"unknown command '{words[0]}'" in done.err
    assert "closest: backward" in gradtool("bakward", "model.py").err


def test_a_mistyped_file_is_an_error_with_near_names(gradtool: Run, model: Write) -> None:
    model(CLEAN)
    done = gradtool("modle.py")
    assert done.code == 2
    assert "no such file: modle.py" in done.err
    assert "model.py" in done.err


def test_without_a_model_it_is_about_the_installation(gradtool: Run) -> None:
    done = gradtool("self", "version")
    assert done.code == 0
    assert "everything that gradtool needs is here" in done.out or "missing: " in done.out
    assert "backend numpy" in done.out


def test_what_a_file_raised_stands_first(gradtool: Run, model: Write) -> None:
    done = gradtool(model(SCRIPT + "raise ValueError('over')\n"))
    assert done.code == 3
    lines = done.out.splitlines()
    assert lines[0] == "model.py · eager · raised ValueError: over"
    assert lines[1].strip().startswith('File "model.py", line ')
    assert lines[3].strip().startswith("below is what ran, the loss ")
    assert "what would have come after the error" in done.out
    done = gradtool(model("import paddle\nraise ValueError('at once')\n"))
    assert done.code == 3


def test_an_error_that_explains_itself_is_the_answer(gradtool: Run, model: Write) -> None:
    done = gradtool(model(CLEAN + "loss.backward()\nloss.backward()\n"))
    assert done.code == 4
    assert "1  error GT108  " in done.out
    assert "freed graph" in done.out
    assert "   more  gradtool why model.py" in done.out


def test_what_is_frozen_says_which_line_froze_it(gradtool: Run, model: Write) -> None:
    done = gradtool(model(FROZEN))
    assert " frozen: trainable=False, set at model.py:4 " in done.out
    assert done.out.splitlines()[0].endswith("no findings in one pass")


def test_many_parameters_and_findings_are_folded_and_counted(gradtool: Run, model: Write) -> None:
    many = "import paddle\nnet = paddle.nn.Sequential(*(paddle.nn.Linear(2, 2) for _ in range(10)))\n"
    done = gradtool(model(many + "loss = net(paddle.ones([3, 2])).mean()\n"))
    assert f" … {20 - FEW_ROWS} more " in done.out
    assert "20 of 20 parameters get a gradient" in done.out
    cut = "import paddle\nhead = paddle.nn.Linear(2, 2)\nx = paddle.ones([3, 2])\ntotal = 0\n"
    lines = "".join(f"l{i} = paddle.nn.Linear(2, 2)\ntotal = total + l{i}(x).detach()\n" for i in range(9))
    done = gradtool(model(cut + lines + "loss = (head(x) + total).mean()\n"))
    assert " · 9 errors" in done.out.splitlines()[0]
    assert f"{MOST_PROBLEMS}  error GT103  l{MOST_PROBLEMS - 1}.weight" in done.out
    assert f"   and {9 - MOST_PROBLEMS} more errors: gradtool check model.py" in done.out
    assert "head.weight" not in done.out.split("‖g‖/‖w‖")[1].split("get a gradient")[0]


def test_a_notebook_names_its_models(gradtool: Run, folder: Path) -> None:
    cells = [{"cell_type": "code", "source": CLEAN, "metadata": {}, "outputs": [], "execution_count": None}]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (folder / "book.ipynb").write_text(text, encoding="utf-8")
    assert gradtool("book.ipynb").out.startswith("book.ipynb · eager · ")
