"""Commands that stand behind ``next:`` and ``more`` can be typed as they are: none is a usage error."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ROOT = Path(__file__).parents[1]
SCRIPTS = {
    "nothing wrong": "import paddle\nnet = paddle.nn.Linear(2, 1)\nloss = net(paddle.ones([3, 2])).mean()\n"
    "loss.backward()\n",
    "raises later": "import paddle\nnet = paddle.nn.Linear(2, 1)\nloss = net(paddle.ones([3, 2])).mean()\n"
    "loss.backward()\nraise ValueError('bad data')\n",
    "backward twice": "import paddle\nnet = paddle.nn.Linear(2, 1)\nloss = net(paddle.ones([3, 2])).tanh().mean()\n"
    "loss.backward()\nloss.backward()\n",
    "detached": "import paddle\nnet = paddle.nn.Linear(2, 1)\nhead = paddle.nn.Linear(1, 1)\n"
    "loss = head(net(paddle.ones([3, 2])).detach()).mean()\nloss.backward()\n",
    "not a number": "import paddle\nnet = paddle.nn.Linear(2, 1)\n"
    "loss = (net(paddle.ones([3, 2])) * 0).log().mean()\nloss.backward()\n",
    "no gradient at all": "import paddle\nnet = paddle.nn.Linear(2, 1)\n"
    "loss = net(paddle.ones([3, 2])).detach().sum()\n",
    "a program": "import paddle\npaddle.enable_static()\nx = paddle.static.data('x', [3, 2])\n"
    "loss = paddle.static.nn.fc(x, 1).mean()\npaddle.static.append_backward(loss)\n",
}
RUNS = ("b_detach_hidden", "b_log_of_zero", "r_mlp", "b_backward_twice")
USAGE = 2


def suggested(text: str) -> list[str]:
    """The commands at the end of a page, and those behind findings."""
    lines = re.findall(r"^next: (.+)$", text, re.MULTILINE) + re.findall(r"^ *more  (gradtool .+)$", text, re.MULTILINE)
    return list(dict.fromkeys(command for line in lines for command in line.split(" · ")))


def all_run(gradtool: Run, model: str) -> None:
    for words in ((), ("why",), ("nan",), ("stats",)):
        done = gradtool(*words, model)
        for command in suggested(done.out + done.err):
            program, *rest = shlex.split(command)
            assert program == "gradtool"
            then = gradtool(*rest)
            assert then.code != USAGE, (words, command, then.err)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", SCRIPTS)
def test_suggested_commands_of_a_script_run(what: str, gradtool: Run, folder: Path) -> None:
    (folder / "train.py").write_text(SCRIPTS[what], encoding="utf-8")
    all_run(gradtool, "train.py")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", RUNS)
def test_suggested_commands_of_a_recorded_run_run(name: str, gradtool: Run, folder: Path) -> None:
    run = ROOT / "torch" / "runs" / f"{name}.torchrun"
    (folder / run.name).write_bytes(run.read_bytes())
    all_run(gradtool, run.name)
