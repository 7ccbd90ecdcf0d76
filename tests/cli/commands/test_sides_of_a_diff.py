"""Dumps and saved sessions as sides of ``gradtool diff``, and what they lack."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import gradtool.cli as command_line
from tests.cli.conftest import Run

SCHEMA = json.loads((Path(command_line.__file__).parent / "schemas" / "outline.json").read_text(encoding="utf-8"))

MODEL = """\
import paddle

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = paddle.nn.Linear(4, 8)
        self.outer = paddle.nn.Linear(8, 1)
        self.spare = paddle.nn.Linear(8, 1)

    def forward(self, x):
        return self.outer(paddle.tanh(self.inner(x)))

net, twin = Net(), Net()
for step in range(3):
    loss = (net(paddle.rand([5, 4])) * twin(paddle.rand([5, 4]))).mean()
    loss.backward(DUMP)
"""
STATIC = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [8, 4])
h = paddle.tanh(paddle.static.nn.fc(x, 8, name="first"))
g = paddle.tanh(paddle.static.nn.fc(h, 8, name="middle"))
loss = paddle.mean(paddle.static.nn.fc(g, 1, name="second"))
paddle.static.append_backward(loss, no_grad_set={"first.b_0"})
"""


@pytest.fixture
def files(folder: Path) -> None:
    for name, text in {"eager": MODEL.replace("DUMP", ""), "static": STATIC}.items():
        Path(f"{name}.py").write_text(text, encoding="utf-8")
        Path(f"{name}_sin.py").write_text(text.replace("paddle.tanh", "paddle.sin", 1), encoding="utf-8")


def told(gradtool: Run, *words: str) -> list[str]:
    done = gradtool("diff", *words, "--format", "json")
    assert done.code == 0, done.err
    return [c["text"] for c in json.loads(done.out)["changes"]]


@pytest.mark.parametrize("mode", ["eager", "static"])
@pytest.mark.usefixtures("files")
def test_a_dump_is_compared_with_what_the_model_is_now(gradtool: Run, mode: str) -> None:
    assert gradtool("graph", "--dump", "kept", f"{mode}.py").code == 0
    assert told(gradtool, "kept", f"{mode}.py") == []
    changes = ["tanh.0 is sin.0 now", "tanh.1 is sin.1 now"] if mode == "eager" else ["tanh.0 is sin.0 now"]
    assert told(gradtool, "kept", f"{mode}_sin.py") == changes
    assert told(gradtool, "kept/outline.json", "kept") == []
    jsonschema.validate(json.loads(Path("kept/outline.json").read_text(encoding="utf-8")), SCHEMA)
    done = gradtool("diff", "kept", f"{mode}_sin.py")
    assert f"{mode}.py:" in done.out  # the lines of the dumped file
    assert ("were not compared" in done.out) == (mode == "eager")
    for words, said in (
        (["--values"], "kept holds a graph and no values"),
        (["-o", "x.svg"], "kept holds a graph as text, and no picture"),
        (["--resources"], "which cannot be run"),
    ):
        refused = gradtool("diff", f"{mode}.py", "kept", *words)
        assert (refused.code, said in refused.err) == (2, True)


@pytest.mark.usefixtures("files")
def test_what_backward_dumps_is_compared_by_the_names_that_a_graph_knows(gradtool: Run, folder: Path) -> None:
    dumping = MODEL.replace("DUMP", "dump_backward_graph_path='graphs' if step == 2 else None")
    Path("dumping.py").write_text(dumping, encoding="utf-8")
    assert gradtool("backward", "dumping.py", "--write").code == 0
    for file in (folder / "graphs").iterdir():
        (folder / "once").mkdir(exist_ok=True)
        (folder / "once" / file.name).write_bytes(file.read_bytes())
    assert told(gradtool, "once", "eager.py") == []
    assert told(gradtool, "eager_sin.py", "once") == ["sin.0 is tanh.0 now", "sin.1 is tanh.1 now"]
    # A second dump in the same folder: which one is meant has to be said.
    assert gradtool("backward", "dumping.py", "--write").code == 0
    refused = gradtool("diff", "graphs", "eager.py")
    assert (refused.code, "graphs holds 2 dumps: which one?" in refused.err) == (2, True)
    last = max(p.name for p in (folder / "graphs").iterdir() if p.name.endswith("outline.json"))
    assert f"graphs/{last}" in refused.err
    assert told(gradtool, f"graphs/{last}", "eager.py") == []


@pytest.mark.usefixtures("files")
def test_drawings_and_what_is_spoiled_are_no_sides(gradtool: Run, folder: Path) -> None:
    assert gradtool("graph", "--dump", "kept", "static.py").code == 0
    text = (folder / "kept" / "outline.json").read_text(encoding="utf-8")
    for spoiled in (
        text[:-9],
        text.replace('"pair":', '"pear":', 1),
        text.replace("gradtool/outline/1", "gradtool/outline/9"),
    ):
        (folder / "kept" / "outline.json").write_text(spoiled, encoding="utf-8")
        assert gradtool("diff", "kept", "static.py").code == 2
    (folder / "kept" / "outline.json").unlink()
    refused = gradtool("diff", "kept", "static.py")
    assert (refused.code, "holds drawings of graphs and no outline.json" in refused.err) == (2, True)


@pytest.mark.parametrize("mode", ["eager", "static"])
@pytest.mark.usefixtures("files")
def test_a_saved_session_is_compared_with_its_values(gradtool: Run, mode: str) -> None:
    for name in (mode, f"{mode}_sin"):
        Path("save.gdt").write_text(f"save {name}.jsonl\n", encoding="utf-8")
        assert gradtool("debug", f"{name}.py", "--batch", "-x", "save.gdt").code == 0
    done = gradtool("diff", f"{mode}.jsonl", f"{mode}.py", "--values", "--exit-code")
    assert (done.code, "the same to the bit" in done.out) == (0, True)
    for sides in ((f"{mode}.jsonl", f"{mode}_sin.py"), (f"{mode}.py", f"{mode}_sin.jsonl")):
        assert "tanh.0 is sin.0 now" in told(gradtool, *sides)
    done = gradtool("diff", f"{mode}.jsonl", f"{mode}_sin.jsonl", "--values")
    assert "tanh.0 is sin.0 now" in done.out
    assert "gradients: " in done.out
    assert "next: gradtool debug --replay" in done.out
    gradtool("graph", "--dump", "kept", f"{mode}.py")
    for words, said in (
        (["kept"], "holds a run, and kept a graph alone"),
        ([f"{mode}.py", "--format", "svg"], "holds a run, and no picture"),
        ([f"{mode}.py", "--resources"], "holds a run that is over"),
    ):
        refused = gradtool("diff", f"{mode}.jsonl", *words)
        assert (refused.code, said in refused.err) == (2, True)


@pytest.mark.usefixtures("files")
def test_a_session_of_one_step_is_compared_with_that_step(gradtool: Run) -> None:
    Path("save.gdt").write_text("save second.jsonl\n", encoding="utf-8")
    assert gradtool("debug", "eager.py", "--step", "2", "--batch", "-x", "save.gdt").code == 0
    done = gradtool("diff", "second.jsonl", "eager.py", "--values")
    assert "the same to the bit up to backward pass 2" in done.out


@pytest.mark.usefixtures("files")
def test_checkpoints_of_the_files_own_call_are_compared(gradtool: Run) -> None:
    for before, after, said in (
        ("", ", checkpoints=[h]", "checkpoints: nothing → tanh_0.tmp_0"),
        (", checkpoints=[h]", ", checkpoints=[h, g]", "checkpoints: tanh_0.tmp_0 → tanh_0.tmp_0, tanh_1.tmp_0"),
        (", checkpoints=[h]", ", checkpoints=[h.name]", ""),
    ):
        for name, words in (("before.py", before), ("after.py", after)):
            Path(name).write_text(STATIC.replace('"first.b_0"})', f'"first.b_0"}}{words})'), encoding="utf-8")
        assert told(gradtool, "before.py", "after.py") == ([said] if said else [])
