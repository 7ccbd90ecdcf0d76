"""``gradtool.load``: Python asks with the words of the command line, and gets what the command shows."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtool
import gradtool as library
from gradtool import paddle
from gradtool.engine.kinds.model import Model
from tests import processes
from tests.cli.conftest import Run

EAGER = """
import paddle
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = paddle.nn.Linear(4, 3)
        self.cut = paddle.nn.Linear(3, 2)
    def forward(self, x):
        return paddle.tanh(self.a(x)).sum() + self.cut(self.a(x)).detach().sum()
net = Net()
loss = net(paddle.ones([2, 4]))
"""
STATIC = """
import paddle
paddle.enable_static()
x = paddle.static.data("x", [2, 4])
h = paddle.static.nn.fc(x, 3, name="head")
loss = paddle.mean(paddle.tanh(h))
"""
QUESTIONS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "backward": (["--no-grad", "*b*"], {"no_grad": "*b*"}),
    "stats": (["--by", "op"], {"by": "op"}),
    "nan": (["--order", "2"], {"order": 2}),
    "saved": ([], {}),
    "gradcheck": ([], {}),
    "why": ([], {}),
}
FORMS = {"saved": ["stats", "--memory"]}


@pytest.fixture(params=[EAGER, STATIC], ids=["eager", "static"])
def model(folder: Path, request: pytest.FixtureRequest) -> Model:
    (folder / "model.py").write_text(request.param)
    loaded: Model = gradtool.load("model.py")
    return loaded


@pytest.mark.parametrize("question", QUESTIONS)
def test_python_gets_what_the_command_shows(gradtool: Run, model: Model, question: str) -> None:
    words, named = QUESTIONS[question]
    answer = getattr(model, question)(**named)
    command = FORMS.get(question, [question])
    shown = gradtool(*command, "model.py", *words)
    assert str(answer) == shown.out.rstrip("\n")
    data = json.loads(gradtool(*command, "model.py", *words, "--format", "json").out)
    del data["schema"]
    assert json.loads(json.dumps(answer.data)) == data


def test_other_questions_answer_too(model: Model) -> None:
    assert model.operators(part="bwd").blocks[0].operators
    assert model.graph().graph.view.nodes
    assert model.profile(repeats=1).data["repeats"] == 1
    assert model.where("tanh.0").spots[0].type == "tanh"
    assert repr(model).startswith("<")
    assert "model.py" in repr(model)


def test_a_sweep_of_python_is_that_of_the_command(gradtool: Run, model: Model, folder: Path) -> None:
    words = ["sweep", "stats", "model.py", "--seeds", "0..2", "--by", "op"]
    swept = model.sweep("stats", seeds=range(3), by="op", results=folder / "rows.jsonl")
    assert str(swept) == gradtool(*words).out.rstrip("\n")
    data = json.loads(gradtool(*words, "--format", "json").out)
    del data["schema"]
    assert swept.data == data
    lines = (folder / "rows.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == swept.rows == data["rows"]
    assert model.sweep("stats", seeds="0..2", by="op", results=folder / "rows.jsonl", resume=True).known == 3
    swept.save(folder / "swept.svg")
    assert (folder / "swept.svg").read_text() == gradtool(*words, "--format", "svg").out
    (folder / "other.py").write_text(
        "import paddle\ndef build(n, k=1):\n    w = paddle.ones([n, k])\n    w.stop_gradient = False\n"
        "    return w.sum()\n"
    )
    both = library.sweep("backward", "other.py", "oth*.py", arg=["n=1"], set={"k": [1, 2]})
    assert [row["set"] for row in both.rows] == [{"k": "1"}, {"k": "2"}]
    assert both.rows == library.load("other.py", arg=["n=1"]).sweep("backward", set=["k=1,2"], models="oth*.py").rows
    with pytest.raises(ValueError, match=r"gradtool.sweep: which model\?"):
        library.sweep("nan", seeds="0..9")
    with pytest.raises(ValueError, match="nothing is gone through"):
        model.sweep("stats")
    with pytest.raises(TypeError, match="seed"):
        model.sweep("stats", seed=1)


def test_what_is_asked_for_and_cannot_be_is_a_value_error(model: Model) -> None:
    with pytest.raises(ValueError, match="nosuch"):
        model.why("nosuch")
    with pytest.raises(TypeError, match="nograd"):
        model.backward(nograd="x")
    with pytest.raises(ValueError, match="no such file"):
        gradtool.load("missing.py")


def test_what_the_file_raises_passes(folder: Path) -> None:
    (folder / "model.py").write_text("raise KeyError('inside')")
    with pytest.raises(KeyError, match="inside"):
        gradtool.load("model.py")


def test_the_running_program_stays_as_it_is(model: Model) -> None:
    before = paddle.in_dynamic_mode(), paddle.static.default_main_program()
    model.backward()
    assert (paddle.in_dynamic_mode(), paddle.static.default_main_program()) == before


def test_saved_values_load_as_in_paddle(folder: Path) -> None:
    paddle.save({"step": 3}, "state.pdparams")
    assert paddle.load("state.pdparams") == {"step": 3}


def test_random_numbers_of_python_and_numpy_are_the_same_in_every_run(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        "import random\nimport numpy as np\nimport paddle\n"
        "w = paddle.to_tensor([random.random(), np.random.rand()], stop_gradient=False)\n"
        "loss = (w * np.random.permutation(2)).sum()\n",
        encoding="utf-8",
    )
    state, arrays = random.getstate(), np.random.get_state()[1].tolist()
    first, second = (gradtool.load(file).backward().loss.value for _ in range(2))
    assert first == second
    assert gradtool.load(file, seed=1).backward().loss.value != first
    assert random.getstate() == state
    assert np.random.get_state()[1].tolist() == arrays


def test_modules_that_a_model_imports_first_are_seeded_as_they_come(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import paddle\nw = paddle.to_tensor([2.0], stop_gradient=False)\n"
        "import random\nimport numpy\nloss = (w * random.random() * numpy.random.rand()).sum()\n",
        encoding="utf-8",
    )
    asked = "from gradtool.cli.main import main; main(['backward', 'model.py', '--format', 'json', '-q'])"
    words = [sys.executable, "-c", asked]
    first, second = (processes.run(words, cwd=tmp_path, check=True).stdout for _ in range(2))
    assert first == second


@pytest.mark.parametrize("as_module", [True, False])
def test_folders_without_an_init_file_are_packages(gradtool: Run, folder: Path, as_module: bool) -> None:
    inside = folder / "outer" / "inner"
    inside.mkdir(parents=True)
    (inside / "sizes.py").write_text("WIDTH = 3\n", encoding="utf-8")
    (inside / "train.py").write_text("from .sizes import WIDTH\nimport outer.inner.sizes\n" + EAGER, encoding="utf-8")
    done = gradtool("backward", *(["-m"] if as_module else []), "outer.inner.train", "-q")
    assert done.code == 0, done.err
    assert "net.a.weight" in done.out
    assert not any(name.partition(".")[0] == "outer" for name in sys.modules)


def test_a_function_called_build_that_a_training_script_calls_is_left_to_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("""
import paddle
def build():
    return paddle.nn.Linear(2, 1)
def main():
    net = build()
    loss = net(paddle.ones([3, 2])).sum()
    loss.backward()
if __name__ == "__main__":
    main()
""")
    answers = gradtool.load(str(tmp_path / "train.py")).backward()
    assert [row.shown for row in answers.rows] == ["net.weight", "net.bias"]


TRAINING = """
import sys
import paddle
net = paddle.nn.Linear(3, 1)
for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 60):
    loss = net(paddle.ones([i + 1, 3])).mean()
    loss.backward()
"""


def test_a_script_is_loaded_with_the_options_of_the_command_line(gradtool: Run, folder: Path) -> None:
    (folder / "train.py").write_text(TRAINING)
    three = library.load("train.py", script=["3"])
    assert "incomplete" not in three.backward().data
    stopped = library.load("train.py", steps=2)
    for answer, command in ((stopped.why(), "why"), (stopped.stats(), "stats"), (stopped.nan(), "nan")):
        shown = gradtool(command, "train.py", "--steps", "2")
        told = "train.py was stopped at train.py:7 after 2 backward passes; --steps all lets it run to its end"
        assert answer.data["incomplete"] == told
        assert told in str(answer)
        if command != "stats":
            assert str(answer) == shown.out.rstrip("\n")
    second = library.load("train.py", script=["3"], backward=2)
    assert second.saved().number == 2
    assert library.load("train.py", steps="all").why().data["findings"] == 0
    by_line = library.load("train.py", script=["3"], backward="line:train.py:7")
    assert by_line.nan().number == 3


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"steps": 0}, "steps: 0 is neither a number of backward passes"),
        ({"backward": "last"}, "backward: 'last' is neither the number of a backward pass"),
        ({"backward": "each"}, "one backward pass"),
        ({"backward": 9}, "there is no such backward pass"),
        ({"limit": 0}, "limit is a number of seconds"),
        ({"script": "3"}, "script is a list of words"),
    ],
)
def test_what_load_cannot_mean_is_a_value_error(folder: Path, named: dict[str, Any], told: str) -> None:
    (folder / "train.py").write_text(TRAINING.replace("60", "3"))
    with pytest.raises(ValueError, match=told):
        gradtool.load("train.py", **named)
