"""Training scripts: run as their authors run them, and asked about what was backpropagated."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import gradtool.cli as command_line
from gradtool.engine.loading import loader

from .conftest import Run, Write

SCRIPT = """\
import sys
import paddle
from paddle import nn

def build(gamma, lr):
    return nn.Linear(2, 1), paddle.optimizer.SGD(lr, parameters=[])

def main():
    net, _ = build(0.9, 0.1)
    other = nn.Linear(2, 1)
    print("argv", sys.argv[1:], __name__)
    try:
        for step in range(4):
            first = net(paddle.ones([1, 2])).mean() * (step + 1)
            first.backward()
            second = other(paddle.ones([1, 2])).mean() * 10
            second.backward()
            net.clear_gradients()
            other.clear_gradients()
        with paddle.no_grad():
            loss = net(paddle.ones([1, 2])).mean()
    finally:
        print("left once")

if __name__ == "__main__":
    main()
"""


def test_what_a_guard_holds_runs_and_takes_the_words_after_two_dashes(gradtool: Run, model: Write) -> None:
    file = model(SCRIPT)
    done = gradtool("backward", file, "--", "--lr", "3")
    assert done.code == 0
    assert f"argv ['--lr', '3'] {'__main__'}" in done.err
    assert gradtool("backward", file).err.count("argv []") == 1


def test_the_last_backward_pass_is_asked_about_or_a_chosen_one(gradtool: Run, model: Write) -> None:
    file = model(SCRIPT)
    assert losses(gradtool, file) == ("second", "other.weight")
    assert losses(gradtool, file, "--backward", "1") == ("first", "net.weight")
    assert losses(gradtool, file, "--backward", "line:model.py:15") == ("first", "net.weight")
    refused = gradtool("backward", file, "--backward", "9")
    assert refused.code == 2
    assert "--backward 9: there is no such backward pass" in refused.err
    assert "there were 8, the nearest is 8; " in refused.err


def losses(gradtool: Run, file: str, *options: str) -> tuple[str, str]:
    """What the loss is called, and the first leaf that gets a gradient."""
    data = json.loads(gradtool("backward", file, "--format", "json", *options).out)
    heading, *rows = gradtool("backward", file, "--format", "tsv", *options).cells
    return data["loss"]["name"], next(row[0] for row in rows if row[heading.index("‖g‖")] != "–")


def test_a_script_is_stopped_where_it_asks_for_more(gradtool: Run, model: Write) -> None:
    file = model(SCRIPT)
    done = gradtool("why", file, "--steps", "3")
    assert done.err.count("left once") == 1
    assert "model.py was stopped at model.py:17 after 3 backward passes; --steps all lets it run to its end" in done.out
    assert "was stopped" not in gradtool("why", file, "--steps", "all").out
    refused = gradtool("why", file, "--steps", "0")
    assert refused.code == 2
    assert "neither a number of backward passes from 1 nor 'all'" in refused.err


def test_a_script_runs_to_its_end_or_for_a_minute(gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty passes are made in any case."""
    text = "import paddle\nw = paddle.ones([2])\nw.stop_gradient = False\nwhile True:\n    (w * w).sum().backward()\n"
    file = model(text.replace("while True", "for _ in range(60)"))
    assert "stopped" not in gradtool("why", file).out
    assert not json.loads(gradtool("check", file, "--select", "GT901", "--format", "json").out)["results"]
    monkeypatch.setattr(loader, "PATIENCE", 0.0)
    said = "model.py was stopped at model.py:5 after 0 s and 50 backward passes; --steps all lets it run to its end"
    done = gradtool("why", model(text))
    assert done.code == 0
    assert said in done.out
    checked = json.loads(gradtool("check", "model.py", "--select", "GT901", "--format", "json").out)["results"]
    assert [(x["severity"], x["message"]) for x in checked] == [("warning", said)]


def test_a_script_may_end_by_sys_exit(gradtool: Run, model: Write) -> None:
    text = SCRIPT.replace("    main()\n", "    sys.exit(main())\n")
    assert gradtool("backward", model(text)).code == 0
    failed = gradtool("backward", model(text.replace("sys.exit(main())", "sys.exit(main() or 3)")))
    assert failed.code == 3
    assert "called sys.exit(3)" in failed.err


def test_a_module_runs_as_python_runs_it(gradtool: Run, folder: Path) -> None:
    package = folder / "figures"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "parts.py").write_text("from paddle import nn\nNet = nn.Linear\n", encoding="utf-8")
    (package / "train.py").write_text(
        "from .parts import Net\nimport paddle\nif __name__ == '__main__':\n"
        "    net = Net(2, 1)\n    net(paddle.ones([1, 2])).mean().backward()\n",
        encoding="utf-8",
    )
    done = gradtool("backward", "-m", "figures.train", "--format", "tsv")
    assert done.code == 0, done.err
    assert [row[0] for row in done.cells[1:]] == ["net.weight", "net.bias"]


def test_names_are_the_ways_to_tensors(gradtool: Run, model: Write) -> None:
    text = """\
import paddle
from paddle import nn

class Trainer:
    def __init__(self):
        self.net = nn.Linear(1, 1)
        self.blocks = [nn.Linear(1, 1)]
        self.params = {"b1": paddle.create_parameter([1], "float32")}

    def fit(self):
        h = self.net(paddle.ones([1, 1])) + self.params["b1"]
        for block in self.blocks:
            h = block(h)
        h.mean().backward()

def main():
    trainer = Trainer()
    trainer.fit()

if __name__ == "__main__":
    main()
"""
    done = gradtool("backward", model(text), "--format", "tsv")
    assert {row[0] for row in done.cells[1:]} == {
        "trainer.net.weight",
        "trainer.net.bias",
        "trainer.blocks[0].weight",
        "trainer.blocks[0].bias",
        "trainer.params['b1']",
    }


def test_a_name_that_is_bound_anew_is_what_it_was_at_the_backward_pass(gradtool: Run, model: Write) -> None:
    text = (
        "import paddle\nw = paddle.full([2], 3.0)\nw.stop_gradient = False\nfor _ in range(3):\n"
        "    loss = (w * w).sum()\n    loss.backward()\n    with paddle.no_grad():\n        w = w - 0.1 * w.grad\n"
        "    w.stop_gradient = False\n"
    )
    data = json.loads(gradtool("why", model(text), "--format", "json").out)
    assert data["findings"] == 0
    table = json.loads(gradtool("backward", "model.py", "--format", "json").out)
    assert [row[0] for row in gradtool("backward", "model.py", "--format", "tsv").cells[1:]] == ["w"]
    assert table["parameters"][0]["values"]["norm"] == pytest.approx(2 * 3 * 0.8**2 * 2**0.5, rel=1e-5)


def test_cells_of_a_notebook_run_in_order(gradtool: Run, folder: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": "text"},
        {"cell_type": "code", "source": ["%time\n", "import paddle\n"]},
        {
            "cell_type": "code",
            "source": "w = paddle.ones([2])\nw.stop_gradient = False\nloss = w.detach().sum() + w.sum()",
        },
    ]
    (folder / "book.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}), encoding="utf-8")
    done = gradtool("backward", "book.ipynb", "--format", "tsv")
    assert [(row[0], row[-1]) for row in done.cells[1:]] == [("w", "In[2]:3")]


@pytest.mark.parametrize("text", ["", "[]", '{"cells": 3}', '{"cells": [{"cell_type": "code", "source": 3}]}'])
def test_what_is_no_notebook(gradtool: Run, folder: Path, text: str) -> None:
    (folder / "book.ipynb").write_text(text, encoding="utf-8")
    done = gradtool("backward", "book.ipynb")
    assert done.code == 2
    assert done.err.startswith("error: book.ipynb is no notebook: ")


def test_a_name_that_begins_with_a_dash_stands_after_two_dashes(gradtool: Run, folder: Path) -> None:
    (folder / "-odd.py").write_text("import paddle\nw = paddle.ones([2])\nw.stop_gradient = False\nloss = w.sum()\n")
    assert gradtool("backward", "--", "-odd.py").code == 0
    assert gradtool("explain", "--", "relu").code == 0


@pytest.mark.parametrize(
    "command", ["backward", "why", "nan", "stats --memory", "graph --text", "graph --where=loss", "gradcheck"]
)
def test_an_answer_says_that_the_file_was_stopped(gradtool: Run, model: Write, command: str) -> None:
    lines = ["import paddle", "w = paddle.create_parameter([2], 'float32')", "for step in range(9):"]
    file = model("\n".join([*lines, "    loss = (w * w).sum() * 0.5", "    loss.backward()", "    w.clear_grad()", ""]))
    said = "model.py was stopped at model.py:5 after 4 backward passes; --steps all lets it run to its end"
    words = [command, file, "--steps", "4", "-q"]
    assert said in gradtool(*words).out
    answer = json.loads(gradtool(*words, "--format", "json").out)
    assert answer["incomplete"] == said
    schema = Path(command_line.__file__).parent / "schemas" / f"{answer['schema'].split('/')[1]}.json"
    jsonschema.validate(answer, json.loads(schema.read_text(encoding="utf-8")))
    assert "incomplete" not in json.loads(gradtool(*words, "--steps", "all", "--format", "json").out)


def test_a_picture_says_on_stderr_that_the_file_was_stopped(gradtool: Run, model: Write) -> None:
    text = "import paddle\nw = paddle.ones([2])\nw.stop_gradient = False\n"
    file = model(text + "for s in range(3):\n    (w * w).sum().backward()\n")
    done = gradtool("graph", file, "--steps", "2", "-o", "g.svg")
    assert "was stopped at model.py:5 after 2 backward passes" in done.err


def test_a_module_that_python_cannot_run_is_refused(gradtool: Run, folder: Path) -> None:
    (folder / "figures").mkdir()
    (folder / "figures" / "__init__.py").write_text("")
    (folder / "figures" / "train.py").write_text("")
    done = gradtool("why", "-m", "figures")
    assert done.code == 2
    assert "-m figures: a package without __main__.py" in done.err
    assert "-m figures.train" in done.err
    done = gradtool("why", "-m", "figure_s")
    assert (done.code, done.err.splitlines()[0]) == (2, "error: -m figure_s: there is no module of that name")
