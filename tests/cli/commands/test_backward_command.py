"""``gradtool backward``: the table, its forms, and what goes with it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import DOCUMENT, Run, Write

GOLDEN = Path(__file__).parents[1] / "golden"

EMBEDDING = ["embedding_0.w_0", "embedding_0.w_0@GRAD"]
WEIGHT = ["my_fc.w_0", "my_fc.w_0@GRAD"]
BIAS = ["my_fc.b_0", "my_fc.b_0@GRAD"]


@pytest.mark.parametrize("form", ["text", "json", "tsv", "markdown"])
def test_the_documented_example(gradtool: Run, model: Write, form: str) -> None:
    done = gradtool("backward", model(""), "--no-grad", "my_fc.b_0", "--format", form)
    assert done.code == 0
    assert done.out == (GOLDEN / f"backward.{form}").read_text(encoding="utf-8")
    assert done.err == "--no-grad my_fc.b_0 matched my_fc.b_0\n"


def test_the_result_is_the_same_in_a_file(gradtool: Run, model: Write, folder: Path) -> None:
    done = gradtool("backward", model(""), "--no-grad", "my_fc.b_0", "-o", "table.txt", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    expected = (GOLDEN / "backward.text").read_text(encoding="utf-8")
    assert (folder / "table.txt").read_text(encoding="utf-8") == expected
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], [EMBEDDING, WEIGHT, BIAS]),
        (["--params", "*w_0"], [EMBEDDING, WEIGHT]),
        (["--params", "my_fc.w_0,embedding_0.w_0"], [WEIGHT, EMBEDDING]),
        (["--no-grad", "x_emb"], [WEIGHT, BIAS]),
        (["--no-grad", "my_fc.b_0"], [EMBEDDING, WEIGHT]),
        (["--params", "*w_0", "--no-grad", "*w_0"], []),
        (["--params", "layer:my_fc"], [WEIGHT, BIAS]),
        (["--params", "my_fc.w_0@GRAD"], [WEIGHT]),
        (["--params", "op:lookup_table_v2"], [EMBEDDING]),
        (["--params", "line:model.py:9"], [WEIGHT, BIAS]),
        (["--no-grad", "op:lookup_table_v2.0"], [WEIGHT, BIAS]),
        (["--no-grad", "op:mul_grad"], [BIAS]),
        (["--params", "@wanted.txt"], [WEIGHT, BIAS]),
        (["--params", "my_fc.b_0", "--params", "embedding_0.w_0"], [BIAS, EMBEDDING]),
    ],
)
def test_only_grads_is_the_list_that_append_backward_returns(
    gradtool: Run, model: Write, folder: Path, options: list[str], expected: list[list[str]]
) -> None:
    (folder / "wanted.txt").write_text("# of the layer\nmy_fc.*\n\n", encoding="utf-8")
    done = gradtool("backward", model(""), "--only-grads", "--format", "json", *options)
    assert json.loads(done.out)["pairs"] == expected
    text = gradtool("backward", model(""), "--only-grads", *options).out
    assert text == f"[{', '.join(f'({p}, {g})' for p, g in expected)}]\n"


def test_an_empty_result_is_a_table_of_reasons(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(""), "--no-grad", "*w_0", "--params", "*w_0", "--format", "tsv")
    assert done.code == 0
    status = {row[0]: row[4] for row in done.cells[1:]}
    assert status == {
        "embedding_0.w_0": "cut: no_grad_set (--no-grad)",
        "my_fc.w_0": "cut: no_grad_set (--no-grad)",
        "my_fc.b_0": "not in --params, still computed",
    }


REASONS = """\
import paddle
paddle.enable_static()

def fc(x, size, name, **settings):
    attr = paddle.ParamAttr(name=name, **settings)
    return paddle.static.nn.fc(x, size, weight_attr=attr, bias_attr=False)

x = paddle.static.data("x", [None, 4])
frozen = fc(x, 4, "frozen", trainable=False)
detached = fc(x, 4, "detached").detach()
stopped = fc(x, 4, "stopped")
stopped.stop_gradient = True
compared = (fc(x, 4, "compared") > 0.0).astype("float32")
aside = fc(x, 4, "aside")
unused = paddle.static.create_parameter([4], "float32", name="unused")
late = fc(frozen, 4, "late")
late.block.var("late").trainable = False
held = fc(x, 4, "held")
held.block.var("held").stop_gradient = True
total = detached + stopped + compared + late + held
loss = paddle.mean(fc(total, 1, "used"))
"""


def test_every_reason(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(REASONS), "--format", "tsv")
    assert {row[0]: row[4] for row in done.cells[1:]} == {
        "frozen": "frozen: trainable=False, set at model.py:6",
        "detached": "cut: detached, model.py:10",
        "stopped": "cut: stop_gradient of fc_2.tmp_0, model.py:12",
        "compared": "cut: greater_than has no gradient, model.py:13",
        "aside": "used, but no path to the loss",
        "unused": "unused",
        "late": "frozen: trainable=False, still computed",
        "held": "cut: stop_gradient",
        "used": "ok",
    }
    data = json.loads(gradtool("backward", "model.py", "--format", "json").out)
    assert [p["name"] for p in data["parameters"] if p["returned"]] == ["used"]
    assert data["pairs"] == [["used", "used@GRAD"]]


def test_a_tensor_that_is_no_parameter_may_be_asked_for(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(""), "--params", "x_emb", "--format", "tsv")
    rows = {row[0]: row for row in done.cells[1:]}
    assert rows["embedding_0.tmp_0"][2:5] == ["embedding_0.tmp_0@GRAD", "mul_grad.0", "ok"]
    assert rows["my_fc.w_0"][4] == "not in --params, still computed"


def test_run_gives_the_values_of_the_executor(gradtool: Run, model: Write, folder: Path) -> None:
    text = """\
import numpy as np
import paddle
paddle.enable_static()
x = paddle.static.data("x", [None, 2])
w = paddle.static.create_parameter([2], "float32", name="w", default_initializer=paddle.nn.initializer.Constant(3.0))
loss = paddle.mean(x * w)
"""
    np.savez(folder / "feed.npz", x=np.array([[1, 2], [3, 6]], "float32"))
    done = gradtool("backward", model(text), "--feed", "feed.npz", "--format", "json")
    data = json.loads(done.out)
    assert data["loss"]["value"] == 9.0
    [row] = data["parameters"]
    expected = {"norm": 5**0.5, "max_abs": 2.0, "mean": 1.5, "zeros": 0, "nonfinite": 0, "elements": 2}
    assert row["values"] == pytest.approx(expected)
    assert "feed: 1 array from feed.npz" in done.err
    header, values = gradtool("backward", "model.py", "--feed", "feed.npz", "--format", "tsv").cells
    assert dict(zip(header, values, strict=True))["‖g‖"] == "2.236"


def test_values_that_are_not_finite(gradtool: Run, model: Write) -> None:
    text = """\
import paddle
paddle.enable_static()
w = paddle.static.create_parameter([2], "float32", name="w", default_initializer=paddle.nn.initializer.Constant(0.0))
feed = {}
loss = paddle.mean(w / (w * w))
"""
    done = gradtool("backward", model(text), "--run", "--format", "json")
    data = json.loads(done.out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert data["loss"]["value"] is None
    assert data["parameters"][0]["values"]["norm"] is None
    assert data["parameters"][0]["values"]["nonfinite"] == 2
    text_form = gradtool("backward", "model.py", "--run").out
    assert "nan" in text_form


def test_random_feeds_are_announced_and_fit(gradtool: Run, model: Write) -> None:
    first = gradtool("backward", model(""), "--run", "--seed", "5")
    assert first.code == 0
    assert "feed: made at random (seed 5): x int64[4, 13], y float32[4, 1]; --feed FILE.npz gives your own" in first.err
    assert gradtool("backward", "model.py", "--run", "--seed", "5").out == first.out
    assert gradtool("backward", "model.py", "--run", "--seed", "6").out != first.out


def test_quiet_leaves_stderr_empty(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(""), "--run", "--no-grad", "my_fc.*", "-q")
    assert (done.code, done.err) == (0, "")


def test_callbacks_see_every_gradient_operator(gradtool: Run, model: Write, folder: Path) -> None:
    (folder / "hooks.py").write_text(
        "def show(block, context):\n    print('made', context['__current_op_desc__'].type())\n", encoding="utf-8"
    )
    done = gradtool("backward", model(""), "--callbacks", "hooks.py:show")
    types = [line.split()[1] for line in done.err.splitlines() if line.startswith("made")]
    assert types[0] == "reduce_mean_grad"
    assert types[-1] == "lookup_table_v2_grad"
    assert "made" not in done.out
    own = model(DOCUMENT + "\ndef mine(block, context):\n    raise KeyError('mine')\n")
    failed = gradtool("backward", own, "--callbacks", ":mine")
    assert failed.code == 3
    assert "raised KeyError: 'mine'" in failed.err
    assert 'File "model.py", line 14, in mine' in failed.err


def test_dot_and_dump_come_with_the_table(gradtool: Run, model: Write, folder: Path) -> None:
    done = gradtool("backward", model(""), "--dot", "g.dot", "--part", "bwd", "--dump", "out", "-q")
    assert done.out.startswith("program  model.py")
    dot = (folder / "g.dot").read_text(encoding="utf-8")
    assert dot.startswith("// backward graph of model.py\n// made by: gradtool backward model.py --dot g.dot\n")
    names = {"backward_graph.dot", "ref_forward_graph.dot", "call_stack.log", "manifest.json"}
    assert {p.name for p in (folder / "out").iterdir()} == names


def test_names_with_markup_and_line_breaks_survive(gradtool: Run, model: Write) -> None:
    text = """\
import paddle
paddle.enable_static()
for name in ("[bold]w[i]", "a|b", "tab\\there", "line\\nbreak", "日本"):
    h = paddle.static.create_parameter([1], "float32", name=name)
    loss = h if name == "[bold]w[i]" else loss + h
loss = paddle.mean(loss)
"""
    done = gradtool("backward", model(text), "--format", "tsv")
    assert [row[0] for row in done.cells[1:]] == ["[bold]w[i]", "a|b", r"tab\there", r"line\nbreak", "日本"]
    data = json.loads(gradtool("backward", "model.py", "--format", "json").out)
    assert [p["name"] for p in data["parameters"]] == ["[bold]w[i]", "a|b", "tab\there", "line\nbreak", "日本"]
    assert "| \\[bold\\]w\\[i\\] |" in gradtool("backward", "model.py", "--format", "markdown").out
    coloured = gradtool("backward", "model.py", "--color", "always").out
    assert "\x1b[" in coloured
    assert "[bold]w[i]" in coloured


def test_ascii_and_colours(gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gradtool("backward", model(""), "--ascii").out.isascii()
    assert "\x1b[" not in gradtool("backward", "model.py").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in gradtool("backward", "model.py").out
    assert "\x1b[" not in gradtool("backward", "model.py", "--color", "never").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in gradtool("backward", "model.py").out
