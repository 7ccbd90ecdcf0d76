"""Scripts that raise: the error first, an answer about what had run until then, and the exit code of the error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Write

EAGER = """
import paddle

def main():
    net = paddle.nn.Linear(3, 2)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for i in range(5):
        loss = net(paddle.ones([4, 3])).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        if i == 2:
            raise OSError("the disk is full")

if __name__ == "__main__":
    main()
"""
STATIC = """
import numpy as np
import paddle
paddle.enable_static()
x = paddle.static.data("x", [4, 3])
loss = paddle.mean(paddle.static.nn.fc(x, 2))
paddle.optimizer.SGD(0.1).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
for i in range(5):
    exe.run(feed={"x": np.ones((4, 3), "float32")}, fetch_list=[loss])
    if i == 2:
        raise OSError("the disk is full")
"""
STATE = """
import paddle

def main():
    cell = paddle.nn.SimpleRNNCell(3, 4)
    state = paddle.zeros([2, 4])
    for step in range(4):
        out, state = cell(paddle.ones([2, 3]), state)
        loss = out.square().mean()
        loss.backward()

if __name__ == "__main__":
    main()
"""
OVERWRITTEN = """
import paddle

def main():
    h = paddle.nn.Linear(3, 2)(paddle.ones([4, 3]))
    e = paddle.exp(h)
    e.add_(paddle.ones_like(e))
    e.sum().backward()

if __name__ == "__main__":
    main()
"""
MORE = {"export": ["-o", "m.pdmodel"], "debug": ["--batch", "-x", "hunt.gdt"]}
ANSWERS = [
    *("backward", "gradcheck", "graph", "graph --dump", "graph --text", "nan", "stats", "stats --memory"),
    *("stats --time", "why"),
]


@pytest.fixture(params=[EAGER, STATIC], ids=["eager", "static"])
def script(model: Write, request: pytest.FixtureRequest) -> str:
    return model(request.param)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", ANSWERS)
def test_the_answer_is_about_what_had_run(gradtool: Run, script: str, command: str, folder: Path) -> None:
    done = gradtool(command, script, *MORE.get(command, ()))
    assert done.code == 3, done.err
    assert done.out or (folder / "out").is_dir()
    assert "error: model.py raised OSError: the disk is full\n" in done.err
    told = "  code  GT-E020: gradtool explain GT-E020\n  reported is what had run until then: 3 backward passes\n"
    assert '\n      raise OSError("the disk is full")\n' + told in done.err


@pytest.mark.parametrize(("end", "code"), [("", 4), ("1 / 0\n", 3)])
@pytest.mark.parametrize("command", ["backward", "stats"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_of_a_loss_without_a_graph_the_finding_is_told_beside_the_error(
    gradtool: Run, model: Write, command: str, end: str, code: int
) -> None:
    head = "import paddle\nnet = paddle.nn.Linear(2, 1)\n"
    text = head + "with paddle.no_grad():\n    loss = net(paddle.ones([1, 2])).mean()"
    done = gradtool(command, model(text + "\nloss.backward()\n" + end))
    assert done.code == code
    assert "net.weight   grad = None   verdict: COMPUTED UNDER NO_GRAD" in done.out
    assert "ZeroDivisionError" in done.err if end else "has no recorded graph" in done.err
    assert "below is what gradtool why finds" in done.err


def test_the_result_is_what_it_is_without_the_error(gradtool: Run, script: str) -> None:
    raised = json.loads(gradtool("backward", script, "--format", "json").out)
    Path(script).write_text(Path(script).read_text().replace('raise OSError("the disk is full")', "break"))
    done = gradtool("backward", script, "--format", "json")
    assert done.code == 0
    assert json.loads(done.out)["parameters"] == raised["parameters"]


def test_the_error_decides_the_exit_code(gradtool: Run, script: str) -> None:
    assert gradtool("why", script, "--exit-code").code == 3
    assert gradtool("why", script, "--quiet").err.startswith("error: model.py raised OSError")


@pytest.mark.parametrize("command", ["backward", "why", "nan", "stats", "gradcheck", "stats --memory"])
def test_where_nothing_had_run_the_error_is_all(gradtool: Run, model: Write, command: str) -> None:
    done = gradtool(command, model("import paddle\nraise OSError('no data')\n"))
    assert (done.code, done.out) == (3, "")
    assert done.err.count("raised OSError: no data") == 1
    assert "until then" not in done.err


def test_a_model_that_leaves_by_sys_exit_is_done(gradtool: Run, script: str) -> None:
    text = Path(script).read_text()
    for end, code in (("0", 0), ("'no'", 3)):
        left = text.replace('raise OSError("the disk is full")', f"raise SystemExit({end})")
        Path(script).write_text(left)
        done = gradtool("why", script)
        assert (done.code, bool(done.out)) == (code, True), done.err
        assert ("called sys.exit" in done.err) == bool(code)


@pytest.mark.parametrize("form", ["guard", "module", "notebook"])
@pytest.mark.parametrize(
    ("text", "verdict", "passes"), [(STATE, "FREED GRAPH", 1), (OVERWRITTEN, "OVERWRITTEN IN PLACE", 0)]
)
def test_errors_of_backward_are_explained_at_once(
    gradtool: Run, model: Write, folder: Path, text: str, verdict: str, passes: int, form: str
) -> None:
    if form == "guard":
        words = [model(text)]
    elif form == "module":
        (folder / "package").mkdir()
        (folder / "package" / "__init__.py").write_text("")
        (folder / "package" / "train.py").write_text(text)
        words = ["-m", "package.train"]
    else:
        cells = [{"cell_type": "code", "source": part} for part in (text, "print('never here')")]
        words = ["book.ipynb"]
        (folder / "book.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    plain, asked = gradtool("why", *words), gradtool("why", *words, "--error")
    assert f"verdict: {verdict}" in plain.out
    assert plain.out == asked.out
    assert (plain.code, plain.err) == (4, "")
    for command in ("backward", "nan", "stats"):
        done = gradtool(command, *words)
        assert done.code == 4
        assert f"; gradtool why {' '.join(words)} shows both sides\n" in done.err
        assert bool(done.out) == bool(passes), "about what had run, if something had"
        assert ("reported is what had run until then: 1 backward pass\n" in done.err) == bool(passes)


def test_a_gate_says_it_and_fails(gradtool: Run, script: str) -> None:
    done = gradtool("check", script)
    assert done.code == 1
    assert "GT903 not-loaded · error: model.py raised OSError: the disk is full" in done.out


def test_a_report_says_it_and_exits_so(gradtool: Run, script: str, folder: Path) -> None:
    done = gradtool("report", script, "--md", "r.md")
    assert done.code == 3
    assert "error: model.py raised OSError: the disk is full" in done.err
    assert "raised: model.py raised OSError: the disk is full" in (folder / "r.md").read_text()


def test_a_debugger_opens_at_an_error_when_asked(gradtool: Run, script: str, folder: Path) -> None:
    (folder / "hunt.gdt").write_text("list\n")
    done = gradtool("debug", script, *MORE["debug"])
    assert (done.code, done.out) == (3, "")
    done = gradtool("debug", script, "--on-error", *MORE["debug"])
    assert (done.code, bool(done.out)) == (0, True)


def test_a_search_over_steps_says_it_too(gradtool: Run, script: str) -> None:
    done = gradtool("nan", script, "--steps", "10")
    assert done.code == 3
    assert "reported is what had run until then: 3 backward passes\n" in done.err
    assert "PART   no finding in 3 passes before the error" in done.out


OVERWRITTEN = """\
import paddle
net, out = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 1)
for i in range(4):
    h = paddle.nn.functional.sigmoid(net(paddle.ones([3 + i, 4])))
    if i == 2:
        h.add_(paddle.ones([5, 4]))
    loss = out(h).mean()
    loss.backward()
"""

KEPT_STATE = """\
import paddle
net, out = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 1)
state = paddle.zeros([3, 4])
for i in range(4):
    state = paddle.tanh(net(state + 1.0))
    loss = out(state).mean()
    loss.backward()
"""


@pytest.mark.parametrize(("text", "verdict", "number"), [(OVERWRITTEN, "overwritten", 2), (KEPT_STATE, "freed", 1)])
@pytest.mark.parametrize("command", ["backward", "stats"])
def test_a_pass_that_fails_is_explained_below_the_one_before(
    gradtool: Run, model: Write, command: str, text: str, verdict: str, number: int
) -> None:
    file = model(text)
    done = gradtool(command, file, "--format", "json")
    assert (done.code, done.data["findings"], done.data["failure"]["verdict"]) == (4, 1, verdict)
    assert f"reported is what had run until then: {number} backward pass" in done.err
    shown = gradtool(command, file).out
    assert "4 of 4 parameters get a gradient · 1 finding" in shown
    explained = gradtool("why", file).out.partition("\nnext: ")[0]
    assert f"\nthe next backward pass failed:\n{explained}\n" in shown
    assert f"\nnext: gradtool why {file} · " in shown


TWO_LINES = """\
import paddle
h = paddle.nn.Linear(4, 3)(paddle.ones([8, 4])).tanh()
h.sum().backward()
h.mean().backward()
"""


@pytest.mark.parametrize("text", [OVERWRITTEN, KEPT_STATE, TWO_LINES])
@pytest.mark.parametrize("command", ["backward", "stats", "gradcheck", "nan", "why"])
def test_a_file_whose_last_pass_fails_runs_once(gradtool: Run, model: Write, command: str, text: str) -> None:
    done = gradtool(command, model('print("the script runs")\n' + text))
    assert (done.out + done.err).count("the script runs") == 1


def test_the_pass_that_failed_was_not_searched(gradtool: Run, model: Write) -> None:
    done = gradtool("nan", model(OVERWRITTEN), "--format", "json")
    assert (done.code, done.data["steps"]) == (4, 2)


def test_what_a_script_prints_of_its_own_lines_is_as_without_gradtool(
    gradtool: Run, model: Write, folder: Path
) -> None:
    text = "import traceback\nimport paddle\n"
    text += "try:\n    raise ValueError\nexcept ValueError:\n    traceback.print_exc()\n"
    text += "print((lambda: 0).__code__.co_filename == __file__)\n"
    text += "(paddle.create_parameter([2], 'float32') * 2).sum().backward()\n"
    said = gradtool("why", model(text)).err
    assert f'  File "{folder / "model.py"}", line 4, in <module>\n' in said
    assert "True\n" in said


CUT = """\
import paddle
body, head = paddle.nn.Linear(3, 4), paddle.nn.Linear(4, 1)
loss = head(body(paddle.ones([4, 3])).detach()).mean()
{}
print(body.weight.grad.numpy())
"""


def test_a_cut_is_told_beside_the_error_that_it_caused(gradtool: Run, model: Write) -> None:
    file = model(CUT.format("loss.backward()"))
    for command in ((), ("check",)):
        done = gradtool(*command, file)
        assert "GT103" in done.out
        assert "'NoneType' object has no attribute 'numpy'" in done.out
    assert "GT103" not in gradtool("check", model(CUT.format("pass"))).out  # no pass, and no loss is guessed
