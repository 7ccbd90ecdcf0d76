"""``gradtool diff``: two files, revisions of git, files with an outline, and what is no side."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

import gradtool.cli as command_line
from tests.cli.conftest import Run

SCHEMA = json.loads((Path(command_line.__file__).parent / "schemas" / "diff.json").read_text(encoding="utf-8"))

TRAINING = """\
import paddle

paddle.seed(0)

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = paddle.nn.Linear(4, 8)
        self.outer = paddle.nn.Linear(8, 1)

    def forward(self, x):
        h = paddle.nn.functional.relu(self.inner(x))
        return self.outer(h)

net = Net()
opt = paddle.optimizer.SGD(RATE, parameters=net.parameters())
for step in range(6):
    x = paddle.rand([5, 4])
    loss = (net(x) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    EXTRA
"""


def written(name: str, *changes: tuple[str, str]) -> str:
    text = TRAINING
    for before, after in (*changes, ("RATE", "0.1"), ("EXTRA", "pass")):
        text = text.replace(before, after)
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_files_that_differ_in_their_names_alone_have_no_difference(gradtool: Run) -> None:
    before, after = written("old.py"), written("new.py", ("import paddle\n", "# the same\n\nimport paddle\n"))
    done = gradtool("diff", before, after, "--exit-code", "--values")
    assert done.code == 0
    assert "no differences" in done.out
    assert "the same to the bit up to backward pass 6" in done.out


def test_an_operator_more_is_the_one_change(gradtool: Run) -> None:
    before, after = written("old.py"), written("new.py", ("return self", "h = paddle.tanh(h)\n        return self"))
    done = gradtool("diff", before, after)
    assert done.code == 0
    assert " +  tanh.0 added" in done.out
    assert "new.py:13" in done.out
    assert "1 change\n" in done.out
    assert gradtool("diff", before, after, "--exit-code").code == 1
    assert gradtool("diff", before, after, "--format", "markdown").out.count("tanh.0 added") == 1


def test_a_detach_is_told_as_the_cut_and_the_gradients_that_it_takes(gradtool: Run) -> None:
    before, after = written("old.py"), written("new.py", ("self.outer(h)", "self.outer(h.detach())"))
    done = gradtool("diff", before, after, "--format", "json")
    answer = json.loads(done.out)
    jsonschema.validate(answer, SCHEMA)
    assert [c["kind"] for c in answer["changes"]] == ["cut"]
    lost = [c["text"] for c in answer["effects"] if c["kind"] == "gradient"]
    assert lost == [
        "net.inner.weight gets no gradient any more: cut: detached, new.py:13",
        "net.inner.bias gets no gradient any more: cut: detached, new.py:13",
    ]


def test_a_parameter_more_in_the_no_grad_set_is_a_setting(gradtool: Run) -> None:
    before = written("old.py")
    assert gradtool("diff", before, before, "--no-grad", "net.outer.bias", "--exit-code").code == 0


def test_values_part_in_the_pass_after_the_step_that_differs(gradtool: Run) -> None:
    before = written("old.py")
    after = written("new.py", ("EXTRA", "opt.set_lr(0.1 if step < 2 else 0.05)"))
    done = gradtool("diff", before, after, "--values", "--format", "json")
    answer = json.loads(done.out)
    jsonschema.validate(answer, SCHEMA)
    assert answer["changes"] == []
    # The rate that is set after the third step is that of the fourth, and the fifth pass sees what it did.
    assert answer["values"]["pass"] == 5
    assert {p["part"] for p in answer["values"]["first"]} == {"leaf"}
    assert gradtool("diff", before, after, "--values", "--exit-code").code == 1


def test_values_tell_where_and_how_far(gradtool: Run) -> None:
    before, after = written("old.py"), written("new.py", ("functional.relu", "functional.gelu"))
    done = gradtool("diff", before, after, "--values")
    assert " ~  relu.0 is gelu.0 now" in done.out
    assert "values in backward pass 1:" in done.out
    assert "gradients: 4 of 4 differ" in done.out


def test_a_graph_is_kept_as_text_and_compared(gradtool: Run) -> None:
    model = written("model.py")
    assert gradtool("diff", model, model, "--write-golden", "graph.gt.txt").code == 0
    text = Path("graph.gt.txt").read_text(encoding="utf-8")
    assert "parameter net.inner.weight float32[4, 8] ok" in text
    assert "[inner] relu.0" not in text
    assert gradtool("diff", "graph.gt.txt", model, "--exit-code").code == 0
    written("model.py", ("Linear(8, 1)", "Linear(8, 1, bias_attr=False)"))
    done = gradtool("diff", "graph.gt.txt", model, "--exit-code")
    assert done.code == 1
    assert "parameter net.outer.bias float32[1] removed" in done.out
    refused = gradtool("diff", "graph.gt.txt", model, "--values")
    assert refused.code == 2
    assert "holds a graph and no values" in refused.err


def git(*words: str) -> None:
    identity = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"]
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


@pytest.fixture
def repository(folder: Path) -> Path:
    """A repository with a model that imports a file beside it; both are changed afterwards."""
    git("init", "-q")
    (folder / "src").mkdir()
    (folder / "src" / "rate.py").write_text("factor = 2.0\n", encoding="utf-8")
    (folder / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")  # what Python leaves of an import
    written("src/train.py", ("import paddle", "import paddle\nimport rate"), ("(net(x)", "(rate.factor * net(x)"))
    git("add", ".")
    git("commit", "-q", "-m", "first")
    (folder / "src" / "rate.py").write_text("factor = 3.0\n", encoding="utf-8")
    return folder


def test_a_revision_is_read_with_what_it_imports(gradtool: Run, repository: Path) -> None:
    done = gradtool("diff", "src/train.py@HEAD")
    assert done.code == 0
    assert "src/train.py@HEAD → train.py" in done.out
    assert "scale 2.0 → 3.0" in done.out
    assert gradtool("diff", "src/train.py@HEAD", "src/train.py@HEAD", "--exit-code").code == 0
    assert (
        subprocess.run(["git", "status", "--porcelain"], capture_output=True, check=True).stdout == b" M src/rate.py\n"
    )


def test_a_revision_with_a_link_to_elsewhere_is_read(gradtool: Run, repository: Path) -> None:
    (repository / "data").symlink_to("/nowhere/data")
    git("add", "data")
    git("commit", "-q", "-m", "data of one machine")
    assert gradtool("diff", "src/train.py@HEAD").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["src/train.py@nothing"], "unknown revision 'nothing'"),
        (["src/other.py@HEAD"], "there is no src/other.py in revision HEAD"),
        (["src/train.py"], "one side is no comparison"),
        (["src/train.py", "src/train.py", "src/train.py"], "3 sides, where there are two"),
        (["src/train.py", "src/nothing.py"], "no such file"),
    ],
)
def test_what_is_no_side_is_refused(gradtool: Run, repository: Path, words: list[str], said: str) -> None:
    done = gradtool("diff", *words)
    assert done.code == 2
    assert said in done.err
    assert not done.out


def test_there_is_no_revision_outside_of_a_repository(gradtool: Run) -> None:
    written("model.py")
    done = gradtool("diff", "model.py@main")
    assert done.code == 2
    assert "is in no git repository" in done.err


STATIC = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [8, 4])
h = paddle.tanh(paddle.static.nn.fc(x, 8, name="first"))
loss = paddle.mean(paddle.static.nn.fc(h, 1, name="second"))
paddle.static.append_backward(loss)
"""


def test_what_a_file_gives_append_backward_is_compared(gradtool: Run) -> None:
    Path("before.py").write_text(STATIC, encoding="utf-8")
    for words, told in (
        ('no_grad_set={"first.b_0"}', "no_grad: nothing → first.b_0"),
        ('parameter_list=["second.w_0"]', "params: nothing → second.w_0"),
    ):
        Path("after.py").write_text(STATIC.replace("(loss)\n", f"(loss, {words})\n"), encoding="utf-8")
        done = gradtool("diff", "before.py", "after.py")
        assert told in done.out
        assert "1 change\n" in done.out


def test_what_a_step_takes_is_compared(gradtool: Run) -> None:
    before, after = written("old.py"), written("new.py", ("return self", "h = paddle.tanh(h)\n        return self"))
    done = gradtool("diff", before, after, "--resources", "--format", "json")
    answer = json.loads(done.out)
    jsonschema.validate(answer, SCHEMA)
    one, two = answer["resources"]["before"], answer["resources"]["after"]
    assert two["operators"] > one["operators"]
    assert two["kept"] == one["kept"] + 5 * 8 * 4  # the tanh keeps its result
    assert one["seconds"] > 0
    told = gradtool("diff", before, after, "--resources").out
    assert " kept for backward" in told
    assert gradtool("diff", before, "x.gt.txt", "--resources").code == 2


def test_a_model_is_compared_with_itself_on_another_backend(gradtool: Run) -> None:
    model = written("old.py")
    done = gradtool("diff", model, "--backend", "numpy", "--against", "numpy")
    assert done.code == 0
    assert done.out.startswith("old.py on numpy → old.py on numpy")
    assert "the same to the bit" in done.out
    done = gradtool("diff", model, "--against", "nmupy")
    assert done.code != 0
    assert "backend 'nmupy' is not part of this version" in done.err


def test_a_picture_shows_what_came_and_went(gradtool: Run) -> None:
    before = written("old.py")
    after = written(
        "new.py", ("functional.relu(", "functional.sigmoid("), ("return self", "h = h * 2.0\n        return self")
    )
    assert gradtool("diff", before, after, "-o", "changes.svg").code == 0
    drawn = Path("changes.svg").read_text(encoding="utf-8")
    fates = {
        sign: sorted(re.findall(rf">F ([\w.]+)</text><text[^>]*>{re.escape(sign)} \w+ ·", drawn)) for sign in "+-~"
    }
    assert fates == {"+": ["scale.0", "sigmoid.0"], "-": ["relu.0"], "~": []}
    assert "B relu_grad.0</text>" in drawn
    assert {"+ added", "- removed"} <= {*re.findall(r">([+-] \w+)</text>", drawn)}
    assert gradtool("diff", before, after, "--format", "html").out.startswith("<!doctype html>")
    gradtool("diff", before, after, "--write-golden", "new.gt.txt")
    done = gradtool("diff", "new.gt.txt", after, "--format", "svg")
    assert (done.code, "new.gt.txt holds a graph as text, and no picture" in done.err) == (2, True)
