"""Every question runs a file once; where an answer needs another run, a line says so, and why."""

from __future__ import annotations

import pytest

from gradtool.cli.main import main
from gradtool.engine.script import effects

BEGIN = """\
import paddle
from paddle.autograd import PyLayer

paddle.seed(0)
x = paddle.rand([6, 4])
y = paddle.rand([6, 1])


class Cube(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g * 3 * x**2


def train(loss_of, *layers):
    opt = paddle.optimizer.SGD(0.1, parameters=[p for layer in layers for p in layer.parameters()])
    for _ in range(2):
        loss = loss_of()
        loss.backward()
        opt.step()
        opt.clear_grad()


body, head, back = paddle.nn.Linear(4, 3), paddle.nn.Linear(3, 1), paddle.nn.Linear(3, 4)
"""

SCRIPTS = {
    "training": "train(lambda: (head(body(x)) - y).square().mean(), body, head)",
    "rule of its own": "train(lambda: (Cube.apply(head(body(x))) - y).square().mean(), body, head)",
    "one step": "(head(body(x)) - y).square().mean().backward()",
    "two losses of a step": "head(body(x)).square().mean().backward()\nback(body(x)).abs().mean().backward()",
    "raises": "head(body(x)).square().mean().backward()\nraise ValueError('no more data')",
    "backward fails": "loss = head(body(x)).square().mean()\nloss.backward()\nloss.backward()",
    "function": "def build():\n    return head(body(x)).square().mean()",
}

IN_TURN = """\
opt = paddle.optimizer.SGD(0.1, parameters=[*body.parameters(), *back.parameters()])
for _ in range(2):
    rebuilt = (back(body(x)) - x).square().mean()
    rebuilt.backward()
    opt.step()
    opt.clear_grad()
opt = paddle.optimizer.SGD(0.1, parameters=[*body.parameters(), *head.parameters()])
for _ in range(2):
    loss = (head(body(x)) - y).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
"""A loss first, and another one after an update: at the end the graph of the first is gone."""

QUESTIONS = {
    "bare": [],
    "check": ["check", "--no-cache"],
    **{name: [name] for name in ("why", "nan", "stats", "flow", "gradcheck")},
    "saved": ["stats", "--memory"],
    "profile": ["stats", "--time"],
    "debug": ["debug", "--batch"],
}


@pytest.fixture
def count_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runs = []
    begin_run = effects.begin_run

    def count(file, name):
        begin_run(file, name)
        runs.append(name)

    monkeypatch.setattr(effects, "begin_run", count)

    def ask(text, words):
        (tmp_path / "train.py").write_text(BEGIN + text + "\n", encoding="utf-8")
        runs.clear()
        with pytest.raises(SystemExit):
            main([*words[:1], "train.py", *words[1:]])
        return len(runs), [s for s in capsys.readouterr().err.splitlines() if "runs again" in s]

    return ask


@pytest.mark.sampled(5, "question")
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_question_runs_a_file_once(count_runs, script, question):
    assert count_runs(SCRIPTS[script], QUESTIONS[question]) == (1, [])


def test_another_run_is_announced_with_its_reason(count_runs):
    again = "train.py runs again: the graph of backward pass 2 is gone when the file ends"
    assert count_runs(IN_TURN, ["check", "--no-cache"]) == (2, [again])
    assert count_runs(IN_TURN, []) == (2, [again])
    assert count_runs(IN_TURN, ["why"]) == (1, [])
    again = "train.py runs again: the graph of another loss, rebuilt, is gone when the file ends"
    assert count_runs(IN_TURN, ["why", "--exit-code"]) == (2, [again])
    assert count_runs(IN_TURN, ["why", "--exit-code", "-q"]) == (2, [])


GRAD_LAST = "head(body(x)).square().mean().backward()\n(g,) = paddle.grad(head(x[:, :3]).sum(), head.weight)"


def test_a_pass_of_grad_that_was_recorded_last_is_a_reason(count_runs):
    again = "train.py runs again: what was recorded is its last pass, of a call of grad, and another one is meant"
    assert count_runs(GRAD_LAST, ["gradcheck"]) == (2, [again])
    assert count_runs(GRAD_LAST, ["check", "--no-cache"]) == (1, [])


@pytest.mark.parametrize(
    ("words", "times", "reason"),
    [
        (["why", "--backward", "each"], 3, "--backward each asks about one pass after the other"),
        (["why", "back.weight", "--prove"], 1, ""),
        (["check", "--no-cache", "--select", "GT302"], 2, "the gradients of two runs are compared"),
        (
            ["nan", "--backward", f"line:train.py:{len(BEGIN.splitlines()) + 1}"],
            2,
            "one of its answers needs a run of its own",
        ),
    ],
)
def test_what_a_user_asks_for_says_so_too(count_runs, words, times, reason):
    said = [f"train.py runs again: {reason}"] if reason else []
    assert count_runs(SCRIPTS["two losses of a step"], words) == (times, said)
