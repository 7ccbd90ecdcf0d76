"""``gradtool backward`` and ``dump`` on models of dynamic mode."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from gradtool.cli import main as command_line
from tests.cli.conftest import Outcome, Run, Write, in_a_process

SCHEMAS = Path(command_line.__file__).parent / "schemas"

NETWORK = """\
import paddle
import paddle.nn.functional as F

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = paddle.nn.Linear(3, 4)
        self.head = paddle.nn.Linear(4, 1)
        self.spare = paddle.nn.Linear(4, 1)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))

model = Net()
x = paddle.ones([2, 3])
loss = paddle.mean(model(x) ** 2)
"""

SQUARE = """\
import paddle
w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
loss = paddle.sum(w * w)
"""


def rows(done: Outcome) -> dict[str, dict[str, str]]:
    assert done.code == 0, done.err
    heading, *cells = done.cells
    return {row[0]: dict(zip(heading, row, strict=True)) for row in cells}


def test_the_table_of_a_layer(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(NETWORK), "--format", "tsv")
    table = rows(done)
    assert {name: row["status"] for name, row in table.items()} == {
        "model.body.weight": "ok",
        "model.body.bias": "ok",
        "model.head.weight": "ok",
        "model.head.bias": "ok",
        "model.spare.weight": "unused",
        "model.spare.bias": "unused",
        "x": "cut: stop_gradient",
    }
    weight = table["model.head.weight"]
    assert (weight["shape"], weight["from op"], weight["source"]) == ("4×1", "matmul_v2_grad.0", "model.py:8")
    assert table["model.spare.bias"]["‖g‖"] == "–"
    text = gradtool("backward", "model.py").out
    assert text.startswith("tape  model.py · eager · 7 forward ops → 7 backward ops · loss loss [] float32 = ")
    assert "\n4 of 6 parameters get a gradient · 1 finding\nnext: gradtool why model.spare.weight model.py · " in text


@pytest.mark.parametrize("end", ["", "loss.backward()\n", "loss.backward(retain_graph=True)\n"])
def test_the_gradient_is_that_of_one_pass_whatever_the_file_ran(gradtool: Run, model: Write, end: str) -> None:
    data = json.loads(gradtool("backward", model(SQUARE + end), "--format", "json").out)
    assert data["mode"] == "eager"
    assert data["loss"] == {"name": "loss", "shape": [], "dtype": "float32", "value": 25.0}
    [row] = data["parameters"]
    assert row["values"]["norm"] == 10.0
    assert row["python_name"] == "w"


def test_a_freed_graph_still_fails_while_the_file_runs(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(SQUARE + "loss.backward()\nloss.backward()\n"))
    assert done.code == 4
    assert "a second time" in done.err
    assert "model.py:4" in done.err


def test_a_file_that_overwrote_its_parameters(gradtool: Run, model: Write) -> None:
    text = SQUARE + "loss.backward()\nw.set_value(w.numpy() - 1)\n"
    done = gradtool("backward", model(text), "--format", "json")
    assert json.loads(done.out)["parameters"][0]["values"]["norm"] == 10.0
    assert gradtool("backward", "model.py", "--no-grad", "nothing").code == 2
    without = gradtool("backward", model(SQUARE + "w.set_value(w.numpy() - 1)\n"))
    assert without.code == 4
    assert "modified by an inplace operation" in without.err


def test_a_rule_of_the_users_own_is_run_by_the_script_and_for_why(gradtool: Run, model: Write) -> None:
    text = """\
import paddle
class Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x
    @staticmethod
    def backward(ctx, dy):
        print("called")
        (x,) = ctx.saved_tensor()
        return dy * 3.0 * x * x
w = paddle.to_tensor([2.0], stop_gradient=False)
loss = paddle.sum(Cube.apply(w))
loss.backward()
w.set_value(w * 0.0)
"""
    done = gradtool("backward", model(text), "--format", "json")
    [row] = json.loads(done.out)["parameters"]
    assert (row["values"]["norm"], row["operator"]) == (12.0, "PyLayer_Cube_grad.0")
    assert done.err.count("called") == 2


REASONS = """\
import paddle
def leaf(**settings):
    return paddle.to_tensor([1.0, 2.0], **settings)
used = leaf(stop_gradient=False)
data = leaf()
ids = paddle.to_tensor([1, 2])
aside = leaf(stop_gradient=False)
result = aside * 2.0
behind = leaf(stop_gradient=False)
h = behind * 3.0
read = h.detach()
direct = leaf(stop_gradient=False)
unused = leaf(stop_gradient=False)
copy = direct.detach()
loss = paddle.sum(used * read * copy * data)
"""


def test_every_reason(gradtool: Run, model: Write) -> None:
    table = rows(gradtool("backward", model(REASONS), "--format", "tsv"))
    assert {name: row["status"] for name, row in table.items()} == {
        "used": "ok",
        "data": "cut: stop_gradient",
        "ids": "cut: int64 has no gradient",
        "aside": "used, but no path to the loss",
        "behind": "cut: detached, model.py:11",
        "read": "cut: detached",
        "direct": "cut: detached, model.py:14",
        "unused": "unused",
        "copy": "cut: detached",
    }


def test_a_frozen_parameter(gradtool: Run, model: Write) -> None:
    text = NETWORK.replace("x = paddle", "model.head.weight.stop_gradient = True\nx = paddle")
    table = rows(gradtool("backward", model(text), "--format", "tsv"))
    assert table["model.head.weight"]["status"] == "frozen: stop_gradient=True, set at model.py:15"
    assert table["model.body.weight"]["status"] == "ok"


@pytest.mark.parametrize(
    ("options", "got"),
    [
        (["--no-grad", "head.bias"], {"body.weight", "body.bias", "head.weight"}),
        (["--no-grad", "model.body.*"], {"head.weight", "head.bias"}),
        (["--no-grad", "layer:body"], {"head.weight", "head.bias"}),
        (["--no-grad", "op:relu"], {"head.weight", "head.bias"}),
        (["--no-grad", "line:model.py:12"], set()),
        (["--params", "layer:model.head"], {"head.weight", "head.bias"}),
        (["--params", "body.weight,head.bias@GRAD"], {"body.weight", "head.bias"}),
        (["--params", "*.weight", "--no-grad", "head.weight"], {"body.weight"}),
        (["--params", "op:matmul_v2.0"], {"body.weight"}),
        (["--params", "op:elementwise_add_grad"], {"body.bias", "head.bias"}),
        (["--no-grad", "loss"], set()),
    ],
)
def test_selectors(gradtool: Run, model: Write, options: list[str], got: set[str]) -> None:
    done = gradtool("backward", model(NETWORK), *options, "--format", "json")
    data = json.loads(done.out)
    assert {p["layer_path"] for p in data["parameters"] if p["returned"]} == got
    assert len(data["pairs"]) == len(got)
    assert done.err.startswith(f"{options[0]} {options[1].split(',')[0]} matched ")


def test_a_result_may_be_asked_for(gradtool: Run, model: Write) -> None:
    text = SQUARE.replace("loss = paddle.sum(w * w)", "h = w * w\nloss = paddle.sum(h * h)")
    table = rows(gradtool("backward", model(text), "--params", "h", "--format", "tsv"))
    assert (table["h"]["status"], table["h"]["source"]) == ("ok", "model.py:3")
    assert table["w"]["status"] == "not in --params, still computed"


def test_a_function_returns_its_loss_and_its_model(gradtool: Run, model: Write) -> None:
    body = NETWORK.split("model = Net()")[0]
    text = body + "def build(n=2):\n    net = Net()\n    return paddle.mean(net(paddle.ones([n, 3]))), net\n"
    table = rows(gradtool("backward", model(text), "--arg", "n=5", "--format", "tsv"))
    assert list(table)[:2] == ["net.body.weight", "net.body.bias"]
    alone = rows(gradtool("backward", model(text.replace(", net\n", "\n")), "--format", "tsv"))
    assert [row["status"] for row in alone.values()] == ["ok"] * 4 + ["unused"] * 2
    assert list(alone)[4:] == ["Net.spare.weight", "Net.spare.bias"]


@pytest.mark.parametrize(
    ("text", "arguments", "code", "said"),
    [
        ("import paddle\nloss = paddle.ones([1])\n", [], 4, ["'loss' has no recorded graph", "stop_gradient"]),
        ("import paddle\nx = paddle.ones([2])\n", [], 2, ["defines no loss"]),
        (SQUARE.replace("loss", "mine") + "other = paddle.sum(w)\n", [], 2, ["several candidates", "mine, other"]),
        (SQUARE, ["--loss", "los"], 2, ["unknown loss 'los'", "closest: loss"]),
        (SQUARE, ["--no-grad", "v"], 2, ["unknown tensor for --no-grad: 'v'", "w"]),
        (SQUARE, ["--params", "op:mul"], 2, ["unknown operator for --params: 'mul'", "elementwise_mul"]),
        (SQUARE, ["--params", "line:model.py:1"], 2, ["unknown line for --params", "model.py:3"]),
        (SQUARE, ["--params", "layer:body"], 2, ["unknown layer for --params: 'body'"]),
        (SQUARE, ["--feed", "f.npz"], 2, ["--feed works on static programs"]),
        (SQUARE, ["--callbacks", ":f"], 2, ["--callbacks works on static programs"]),
        ("def build():\n    return 3.0\n", ["--mode", "eager"], 2, ["returned float", "return the Tensor"]),
    ],
)
def test_errors(gradtool: Run, model: Write, text: str, arguments: list[str], code: int, said: list[str]) -> None:
    done = gradtool("backward", model(text), *arguments)
    assert (done.code, done.out) == (code, "")
    for part in said:
        assert part in done.err


def test_commands_for_static_programs_say_so(gradtool: Run, model: Write) -> None:
    done = gradtool("gradients", model(SQUARE), "--input", "w")
    assert done.code == 2
    assert "model.py works in dynamic mode" in done.err


def test_the_dump_of_a_recorded_graph(gradtool: Run, model: Write, folder: Path) -> None:
    assert gradtool("graph", "--dump", "out", model(NETWORK + "loss.backward()\n")).code == 0
    texts = {p.name: p.read_text(encoding="utf-8") for p in (folder / "out").iterdir()}
    assert sorted(texts) == [
        "backward_graph.dot",
        "call_stack.log",
        "manifest.json",
        "outline.json",
        "ref_forward_graph.dot",
    ]
    stack = (
        'op0 matmul_v2.0\n  File "model.py", line 16, in <module>\n      loss = paddle.mean(model(x) ** 2)\n'
        '  File "model.py", line 12, in forward\n      return self.head(F.relu(self.body(x)))\n'
    )
    assert stack in texts["call_stack.log"]
    assert "P model.body.weight\\n" in texts["ref_forward_graph.dot"]
    assert gradtool("graph", "--dump", "again", "model.py").code == 0
    assert {p.name: p.read_text(encoding="utf-8") for p in (folder / "again").iterdir()} == texts
    refused = gradtool("graph", "--dump", "out", "model.py", "--no-grad", "x")
    assert refused.code == 2
    assert "--no-grad: a recorded graph is shown as a whole" in refused.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["backward"],
        ["backward", "--only-grads"],
        ["backward", "--no-grad", "x", "--params", "*"],
        ["graph --dump"],
        ["graph --text"],
        ["graph --pairs"],
    ],
    ids=" ".join,
)
def test_json_fits_its_schema(gradtool: Run, model: Write, folder: Path, arguments: list[str]) -> None:
    done = gradtool(arguments[0], model(NETWORK), *arguments[1:], "--format", "json")
    texts = [done.out]
    if arguments[0] == "graph --dump":
        texts.append((folder / "out" / "manifest.json").read_text(encoding="utf-8"))
    for text in texts:
        data = json.loads(text)
        schema = json.loads((SCHEMAS / f"{data['schema'].split('/')[1]}.json").read_text(encoding="utf-8"))
        Draft202012Validator(schema).validate(data)


def test_dot_and_dump_come_with_the_table(gradtool: Run, model: Write, folder: Path) -> None:
    done = gradtool("backward", model(SQUARE), "--dot", "g.dot", "--part", "bwd", "--dump", "out")
    assert done.out.startswith("tape  model.py")
    dot = (folder / "g.dot").read_text(encoding="utf-8")
    assert dot.startswith("// backward graph of model.py\n// made by: gradtool backward model.py --dot g.dot\n")
    assert len(list((folder / "out").iterdir())) == 4


def test_the_tape_as_text(gradtool: Run, model: Write) -> None:
    text = SQUARE.replace("w * w", "(w * w) * paddle.to_tensor(2.0)")
    lines = gradtool("graph", "--text", model(text + "loss.backward()\n"), "--source").out.splitlines()
    arriving = ["elementwise_mul.1@GRAD; elementwise_mul.0", "constant.0"]
    assert lines == [
        "tape of model.py: 3 recorded calls behind loss",
        "    leaf w : float32[2]",
        "    constant constant.0 : float32[]",
        "    seed loss@GRAD : float32[]",
        "",
        "    op0: elementwise_mul.0 float32[2] = elementwise_mul(w, w)  // model.py:3",
        "    op1: elementwise_mul.1 float32[2] = elementwise_mul(elementwise_mul.0, constant.0)  // model.py:3",
        "    op2: loss float32[] = reduce_sum(elementwise_mul.1)  // model.py:3",
        "    op3: elementwise_mul.1@GRAD = reduce_sum_grad(loss@GRAD; elementwise_mul.1)  // model.py:3",
        f"    op4: elementwise_mul.0@GRAD = elementwise_mul_grad({', '.join(arriving)})  // model.py:3",
        "    op5: w@GRAD = elementwise_mul_grad(elementwise_mul.0@GRAD; w)  // model.py:3",
        "next: gradtool graph model.py --pairs",
    ]
    forward = gradtool("graph", "--text", "model.py", "--part", "fwd", "--format", "tsv").cells
    assert [row[0] for row in forward] == ["id", "op0", "op1", "op2"]
    assert forward[2][2:] == ["elementwise_mul.0, constant.0", "elementwise_mul.1", "forward", "model.py:3"]


def test_recorded_calls_beside_their_gradient_operators(gradtool: Run, model: Write) -> None:
    done = gradtool("graph", model(SQUARE), "--pairs", "--format", "json")
    assert json.loads(done.out)["pairs"] == [
        {
            "forward": "elementwise_mul.0",
            "backward": [{"name": "elementwise_mul_grad.0", "saved": ["w"]}],
            "source": "model.py:3",
        },
        {"forward": "reduce_sum.0", "backward": [{"name": "reduce_sum_grad.0", "saved": []}], "source": "model.py:3"},
    ]
    assert "2 of 2 forward ops have a gradient op\n" in gradtool("graph", "model.py", "--pairs").out


def test_pictures_use_python_names(gradtool: Run, model: Write, folder: Path) -> None:
    gradtool("backward", model(NETWORK), "--dot", "g.dot")
    dot = (folder / "g.dot").read_text(encoding="utf-8")
    for shown in ("C x\\n", "P model.head.bias\\n", "G model.head.bias@GRAD\\n", "L loss\\n"):
        assert shown in dot


def test_what_hooks_on_leaves_made_of_a_gradient_stands_beside_it(gradtool: Run, model: Write) -> None:
    text = SQUARE + "w.register_hook(lambda g: g * 0.5)\nloss.backward()\n"
    done = gradtool("backward", model(text), "--format", "json")
    [row] = json.loads(done.out)["parameters"]
    assert (row["values"]["norm"], row["held"]["norm"]) == (10.0, 5.0)
    table = gradtool("backward", "model.py", "--format", "tsv").cells
    assert dict(zip(table[0], table[1], strict=True))["‖.grad‖"] == "5"


def test_a_training_loop_shows_the_gradients_of_its_last_step(gradtool: Run, model: Write) -> None:
    start = SQUARE.partition("loss")[0]
    text = (
        start + "sgd = paddle.optimizer.SGD(0.1, parameters=[w])\nfor step in range(3):\n"
        "    loss = paddle.sum(w * w)\n    loss.backward()\n    sgd.step()\n    sgd.clear_grad()\n"
    )
    done = gradtool("backward", model(text), "--format", "json")
    assert done.code == 0
    assert json.loads(done.out)["parameters"][0]["values"]["norm"] == pytest.approx(10 * 0.8**2, rel=1e-6)


def test_a_training_loop_that_kept_its_graph_and_cleared_its_gradients(gradtool: Run, model: Write) -> None:
    text = SQUARE + "loss.backward(retain_graph=True)\nw.set_value(w.numpy() - 1)\nw.clear_grad()\n"
    done = gradtool("backward", model(text), "--format", "json")
    assert done.code == 0
    assert json.loads(done.out)["parameters"][0]["values"]["norm"] == 10.0  # as backward gave it, before set_value
    later = model(text + "loss = paddle.sum(w * w)\n")  # computed after the last pass: asked about by name alone
    assert json.loads(gradtool("backward", later, "--format", "json").out)["parameters"][0]["values"]["norm"] == 10.0
    fresh = gradtool("backward", later, "--loss", "loss", "--format", "json")
    assert json.loads(fresh.out)["parameters"][0]["values"]["norm"] == pytest.approx(2 * 13**0.5)


def test_two_commands_give_the_same_bytes(folder: Path, model: Write) -> None:
    model(NETWORK + "loss.backward()\n")
    calls = [["backward", "model.py", "--dump", "out"], ["graph", "--text", "model.py", "--format", "json"]]

    def everything(seed: str) -> list[bytes]:
        said = in_a_process(folder, calls, seed)
        return [*said, *(p.read_bytes() for p in sorted((folder / "out").iterdir()))]

    first = everything("0")
    assert len(first) == 6
    assert first[0].count(b"model.head.bias") > 2
    assert everything("1234") == first


def test_what_was_cut_is_called_by_its_python_name(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(NETWORK), "--no-grad", "linear_0.b_0,op:relu")
    assert done.err.splitlines()[0] == "--no-grad linear_0.b_0 matched model.body.bias"
    assert "· --no-grad model.body.bias, eager_tmp_" in done.out


@pytest.mark.parametrize(("folder_name", "said"), [("", "is empty"), ("model.py", "there is a file of that name")])
def test_a_folder_that_cannot_be_one(gradtool: Run, model: Write, folder_name: str, said: str) -> None:
    done = gradtool("graph", "--dump", folder_name, model(SQUARE))
    assert done.code == 2
    assert said in done.err
