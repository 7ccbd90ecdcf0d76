"""``gradtool why``: what one answer holds, its forms, and what it is proved by. The corpus has the verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gradtool.cli import main as command_line
from tests.cli.conftest import Run, Write

SCHEMA = json.loads((Path(command_line.__file__).parent / "schemas" / "why.json").read_text(encoding="utf-8"))

DETACHED = """\
import paddle
from paddle import nn

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.emb = nn.Linear(4, 4)
        self.det = nn.Linear(4, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        h = self.emb(x)
        k = self.det(h).detach()
        return self.head(h + k)

net = Net()
loss = net(paddle.randn([3, 4])).mean()
loss.backward()
"""

SHARED = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [2, 3])
w = paddle.static.create_parameter([3, 3], "float32", name="w")
first = paddle.matmul(x, w)
second = paddle.matmul(first, w)
loss = paddle.mean(second) - paddle.mean(first)
"""


def answers(done: Any) -> list[dict[str, Any]]:
    data = json.loads(done.out)
    Draft202012Validator(SCHEMA).validate(data)
    told: list[dict[str, Any]] = data["answers"]
    return told


def test_the_answer_for_people(gradtool: Run, model: Write) -> None:
    done = gradtool("why", "net.det.weight", model(DETACHED), "-q")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "net.det.weight   grad = None   verdict: DETACHED"
    assert lines[1].strip() == (
        "loss ← reduce_mean.0 ← elementwise_add.2 ← matmul_v2.1 ← elementwise_add.1 ──✂── "
        "detach.0 ← elementwise_add.3 ← matmul_v2.2 ← net.det.weight"
    )
    assert lines[2] == "  model.py:13    k = self.det(h).detach()"
    assert lines[-2] == "  3 more share this cut: net.emb.weight (partly), net.emb.bias (partly), net.det.bias"
    assert lines[-1].startswith("next: gradtool graph --where line:model.py:13 model.py")


def test_where_knows_every_operator_of_the_answer(gradtool: Run, model: Write) -> None:
    (answer,) = answers(gradtool("why", "net.det.weight", model(DETACHED), "--format", "json", "-q"))
    parts = {}
    for name in (s for s in answer["path"] if "." in s and not s.startswith("net.")):
        (spot,) = json.loads(gradtool("graph", "--where", name, "model.py", "--format", "json", "-q").out)["operators"]
        parts[name] = spot["part"], spot["source"]["line"]
    assert parts["elementwise_add.1"] == ("forward", 14)
    assert parts["detach.0"] == ("not recorded", 13)
    assert parts["matmul_v2.2"] == ("beside the loss", 13)
    assert len(parts) == len(answer["path"]) - 3


def test_without_a_name_there_is_one_answer_per_cause(gradtool: Run, model: Write) -> None:
    done = gradtool("why", model(DETACHED))
    assert done.out.splitlines()[-2] == "4 of 6 parameters get a gradient · 1 finding"
    assert "the same holds for 1 more: net.det.bias" in done.out
    (only,) = [a for a in answers(gradtool("why", "model.py", "--format", "json")) if a["finding"]]
    assert (only["name"], only["also"]) == ("net.det.weight", ["net.det.bias"])


def test_other_forms(gradtool: Run, model: Write) -> None:
    model(DETACHED)
    heading, row, *_ = gradtool("why", "model.py", "--format", "tsv").cells
    assert dict(zip(heading, row, strict=True))["source"] == "model.py:13"
    page = gradtool("why", "model.py", "--format", "markdown").out
    assert "verdict: DETACHED" in page
    plain = gradtool("why", "net.det.weight", "model.py", "--ascii", "-q").out
    assert plain.isascii()
    assert "--x--" in plain


def test_the_model_may_come_first(gradtool: Run, model: Write) -> None:
    assert gradtool("why", model(DETACHED), "net.det.bias", "-q").out.startswith("net.det.bias ")


def test_an_unknown_name(gradtool: Run, model: Write) -> None:
    done = gradtool("why", "net.dett.weight", model(DETACHED))
    assert (done.code, done.out) == (2, "")
    assert "net.det.weight" in done.err


def test_parts_of_a_shared_parameter(gradtool: Run, model: Write) -> None:
    done = gradtool("why", "w", model(SHARED), "--contributions", "--format", "json", "-q")
    (answer,) = answers(done)
    assert {c["operator"] for c in answer["contributions"]} == {"matmul_v2.0", "matmul_v2.1"}
    assert answer["verdict"] == "ok"
    norms = [c["norm"] for c in answer["contributions"]]
    total = answer["gradient"]["norm"]
    assert total <= sum(norms) * 1.0001
    cosines = [c["cosine"] for c in answer["contributions"]]
    assert total == pytest.approx(sum(n * c for n, c in zip(norms, cosines, strict=True)), rel=1e-4)


def test_parts_of_a_parameter_that_a_loop_uses(gradtool: Run, model: Write) -> None:
    text = SHARED.replace(
        "second = paddle.matmul(first, w)",
        "i = paddle.zeros([1], 'int64')\n"
        "i, second = paddle.static.nn.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, "
        "paddle.tanh(paddle.matmul(h, w)) + paddle.matmul(h, paddle.transpose(w, [1, 0]))), [i, first])",
    )
    (answer,) = answers(gradtool("why", "w", model(text), "--contributions", "--format", "json", "-q"))
    parts = answer["contributions"]
    where = {c["operator"]: c["source"] for c in parts}
    assert where == {"matmul_v2.0": "model.py:5", "matmul_v2.1": "model.py:7", "transpose2.0": "model.py:7"}
    total = answer["gradient"]["norm"]
    assert total == pytest.approx(sum(c["norm"] * c["cosine"] for c in parts), rel=1e-4)


def test_a_graph_alone_is_not_run(gradtool: Run, model: Write) -> None:
    done = gradtool("why", "w", model(SHARED), "--no-run", "--format", "json")
    assert answers(done)[0]["gradient"] is None
    assert "feed" not in done.err


def test_the_proof_is_the_gradient_of_the_repaired_model(gradtool: Run, model: Write) -> None:
    (cut,) = answers(gradtool("why", "net.det.weight", model(DETACHED), "--prove", "--format", "json", "-q"))
    model(DETACHED.replace(".detach()", ""))
    (whole,) = answers(gradtool("why", "net.det.weight", "model.py", "--format", "json", "-q"))
    assert cut["proved"] == f"without that cut: ‖g‖ = {whole['gradient']['norm']:.4g} (4×4)   [proved by running again]"


def test_the_proof_in_a_static_program(gradtool: Run, model: Write) -> None:
    text = SHARED.replace("loss = ", "second = second.detach()\nloss = ").replace(" - paddle.mean(first)", "")
    (cut,) = answers(gradtool("why", "w", model(text), "--prove", "--format", "json", "-q"))
    model(text.replace("second = second.detach()\n", ""))
    (whole,) = answers(gradtool("why", "w", "model.py", "--format", "json", "-q"))
    assert cut["verdict"] == "detached"
    assert cut["proved"].startswith(f"without that cut: ‖g‖ = {whole['gradient']['norm']:.4g} ")


def test_what_no_single_change_connects_is_not_proved(gradtool: Run, model: Write) -> None:
    text = DETACHED.replace("self.det(h).detach()", "paddle.to_tensor(self.det(h).numpy())")
    (cut,) = answers(gradtool("why", "net.det.weight", model(text), "--prove", "--format", "json", "-q"))
    assert cut["proved"].startswith("not proved")


def test_options_of_backward_count(gradtool: Run, model: Write) -> None:
    model(SHARED)
    (answer,) = answers(gradtool("why", "w", "model.py", "--no-grad", "second", "--format", "json", "-q"))
    assert answer["verdict"] == "ok"  # the other term still leads to it
    (answer,) = answers(gradtool("why", "w", "model.py", "--no-grad", "first,second", "--format", "json", "-q"))
    assert answer["verdict"] == "no_grad_set"
    assert answer["cut"] in ("matmul_v2_0.tmp_0", "matmul_v2_1.tmp_0")


BLOCKS = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [2, 3])
names = ["cut", "dead", "index", "aside", "fine", "other"]
p = {n: paddle.static.create_parameter([3, 3], "float32", name=n) for n in names}
def taken():
    h = paddle.tanh(paddle.matmul(x, p["cut"]))
    aside = paddle.matmul(x, p["aside"])
    h = h.detach() + paddle.matmul(x, p["fine"])
    h = h + paddle.nn.functional.relu(paddle.matmul(x, p["dead"]) - 100.0)
    return h + paddle.argmax(paddle.matmul(x, p["index"]), -1, keepdim=True).astype("float32")
def other():
    return paddle.matmul(x, p["other"])
h = CONTROL
loss = paddle.mean(paddle.tanh(h))
"""

CONTROLS = {
    "a branch": "paddle.static.nn.cond(paddle.full([], True, 'bool'), taken, other)",
    "a loop": "paddle.static.nn.while_loop(lambda i, h: i < 2, lambda i, h: (i + 1, taken() + h), "
    "[paddle.zeros([1], 'int64'), x])[1]",
    "a branch in a loop": "paddle.static.nn.while_loop(lambda i, h: i < 2, lambda i, h: (i + 1, h + "
    "paddle.static.nn.cond(i < 5, taken, other)), [paddle.zeros([1], 'int64'), x])[1]",
}


@pytest.mark.parametrize("control", list(CONTROLS))
def test_the_cause_is_found_inside_a_block(gradtool: Run, model: Write, control: str) -> None:
    model(BLOCKS.replace("CONTROL", CONTROLS[control]))
    asked = ["cut", "aside", "fine", "dead", "index"]
    told = {a["name"]: a for a in answers(gradtool("why", *asked, "model.py", "--format", "json", "-q"))}
    verdicts = {n: (a["verdict"], (a["source"] or {}).get("line")) for n, a in told.items()}
    assert verdicts == {
        "cut": ("detached", 9),
        "aside": ("no_path", 8),
        "fine": ("ok", 5),
        "dead": ("dead_relu", 10),
        "index": ("non_differentiable", 11),
    }
    assert "inputs in [-10" in told["dead"]["explanation"][0]
    for name in ("cut", "dead", "index"):
        path = told[name]["path"]
        after = path[path.index("✂") + 1]
        (spot,) = json.loads(gradtool("graph", "--where", after, "model.py", "--format", "json", "-q").out)["operators"]
        assert spot["source"] == told[name]["source"] or name == "dead"


def test_a_branch_that_did_not_run_and_one_that_was_not_taken(gradtool: Run, model: Write) -> None:
    model(BLOCKS.replace("CONTROL", CONTROLS["a branch"].replace("True", "False")))
    told = {a["name"]: a for a in answers(gradtool("why", "fine", "other", "model.py", "--format", "json", "-q"))}
    assert (told["fine"]["verdict"], told["other"]["verdict"]) == ("pruned", "ok")
    model(BLOCKS.replace("CONTROL", CONTROLS["a branch in a loop"].replace("i < 5", "i > 5")))
    (answer,) = answers(gradtool("why", "fine", "model.py", "--format", "json", "-q"))
    assert answer["verdict"] == "pruned"


@pytest.mark.parametrize("control", list(CONTROLS))
def test_a_cut_inside_a_block_is_proved(gradtool: Run, model: Write, control: str) -> None:
    text = BLOCKS.replace("CONTROL", CONTROLS[control])
    (cut,) = answers(gradtool("why", "cut", model(text), "--prove", "--format", "json", "-q"))
    (whole,) = answers(gradtool("why", "cut", model(text.replace(".detach()", "")), "--format", "json", "-q"))
    assert whole["verdict"] == "ok"
    assert cut["proved"].startswith(f"without that cut: ‖g‖ = {whole['gradient']['norm']:.4g} ")


def test_the_table_of_backward_names_the_line_in_the_block(gradtool: Run, model: Write) -> None:
    model(BLOCKS.replace("CONTROL", CONTROLS["a branch"]))
    rows = json.loads(gradtool("backward", "model.py", "--format", "json", "-q").out)["parameters"]
    status = {r["name"]: r["status"] for r in rows}
    assert status["cut"] == "cut: detached, model.py:9"
    assert status["index"] == "cut: arg_max has no gradient, model.py:11"


ERRORS = {
    "freed": ("freed graph", "loss.backward()\nloss.backward()\n"),
    "overwritten": ("overwritten in place", "y.add_(paddle.ones_like(y))\nloss.backward()\n"),
}


@pytest.mark.parametrize("verdict", list(ERRORS))
def test_both_sides_of_an_error(gradtool: Run, model: Write, verdict: str) -> None:
    label, end = ERRORS[verdict]
    start = "import paddle\nx = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\ny = paddle.exp(x)\n"
    model(start + "z = y * 2.0\nloss = (z * y).sum()\n" + end)
    done = gradtool("why", "--error", "model.py")
    assert done.code == 0
    assert f"verdict: {label.upper()}" in done.out
    places = {line.split()[0]: line for line in done.out.splitlines() if "model.py:" in line}
    assert len(places) >= 3
    assert gradtool("why", "model.py").code == 4  # not asked for, it is still explained, and still a failure


def test_an_error_that_is_not_there(gradtool: Run, model: Write) -> None:
    done = gradtool("why", "--error", model(DETACHED))
    assert (done.code, done.out) == (2, "")
    assert "raised no error" in done.err


def test_a_model_that_fails_later_is_still_explained(gradtool: Run, model: Write) -> None:
    done = gradtool("why", "net.det.bias", model(DETACHED + "print(net.det.weight.grad.shape)\n"))
    assert done.code == 3
    assert "verdict: DETACHED" in done.out
    assert "AttributeError" in done.err


def test_a_model_that_fails_before_its_loss(gradtool: Run, model: Write) -> None:
    done = gradtool("why", model("import paddle\nraise ValueError('no data')\n"))
    assert (done.code, done.out) == (3, "")
    assert "ValueError: no data" in done.err


def test_where_the_two_parts_end(gradtool: Run, model: Write) -> None:
    text = DETACHED + "other = nn.Linear(2, 2)\nside = other(paddle.randn([1, 2])).sum()\n"
    (answer,) = answers(gradtool("why", "other.weight", model(text), "--loss", "loss", "--format", "json", "-q"))
    assert answer["verdict"] == "no_path"
    assert answer["frontier"] == [{"name": "side", "source": "model.py:20"}]
    assert answer["source"] == {"file": "model.py", "line": 20}


def test_two_runs_give_the_same_bytes(gradtool: Run, model: Write) -> None:
    model(DETACHED)
    first = gradtool("why", "model.py", "--prove", "--format", "json").out
    assert gradtool("why", "model.py", "--prove", "--format", "json").out == first


NOT_FINITE = """\
import paddle
import paddle.nn.functional as F

fc1 = paddle.nn.Linear(4, 4)
h = fc1(paddle.randn([3, 4]))
loss = paddle.sqrt(F.relu(h) - F.relu(h)).mean()
"""


def test_a_gradient_that_is_not_finite_is_not_called_zero(gradtool: Run, model: Write) -> None:
    file = model(NOT_FINITE)
    done = gradtool("why", "fc1.weight", file)
    assert "grad = NaN   verdict: NaN" in done.out
    assert "16 of 16 elements are not finite" in done.out
    assert f"next: gradtool nan {file}" in done.out


def test_gradients_that_are_all_nan_are_one_finding(gradtool: Run, model: Write) -> None:
    file = model(NOT_FINITE)
    done = gradtool("why", file)
    assert "grad = NaN   verdict: NaN" in done.out
    assert "no findings" not in done.out
    assert "of them not finite · 1 finding" in done.out
    assert done.out.splitlines()[-1].startswith(f"next: gradtool nan {file}")


NORMED = """\
import paddle

net = paddle.nn.LayerList([paddle.nn.BatchNorm1D(4), paddle.nn.BatchNorm1D(4)])
x = paddle.randn([5, 4])
loss = sum((norm(x) * paddle.randn([5, 4])).mean() for norm in net)
"""


def test_running_statistics_are_no_parameters_that_someone_froze(gradtool: Run, model: Write) -> None:
    file = model(NORMED)
    assert gradtool("why", file).out.startswith("4 of 4 parameters get a gradient · no findings\n")
    assert "verdict: running statistics" in gradtool("why", "net.0._mean", file).out
    assert "4 of 4 parameters get a gradient" in gradtool("stats", file).out
    table = gradtool("backward", file, "--format", "json").data["parameters"]
    assert [row["status"] for row in table if row["gradient"] is None and row["is_parameter"]] == [
        "running statistics"
    ] * 4
    assert "4 of 4 parameters get a gradient" in gradtool("backward", file).out


def test_what_is_frozen_is_told_in_a_few_words(gradtool: Run, model: Write) -> None:
    text = NORMED.replace("loss =", "for p in net[1].parameters():\n    p.trainable = False\nloss =")
    done = gradtool("why", model(text))
    told = [line for line in done.out.splitlines() if line]
    place = next(i for i, line in enumerate(text.splitlines(), 1) if "trainable = False" in line)
    names = "net.1.weight, net.1.bias"
    assert told[0] == f"frozen: trainable=False, set at model.py:{place} · no finding: {names}"
    assert told[1].startswith(f"  model.py:{place}    p.trainable = False")
    assert told[2].endswith("parameters get a gradient · no findings")
    assert told[3].startswith("next: gradtool backward")


def test_what_stands_behind_a_dead_relu_is_the_same_finding(gradtool: Run, model: Write) -> None:
    text = """\
import paddle
first, second = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
first.bias.set_value(paddle.full([8], -100.0))
h = paddle.nn.functional.relu(first(paddle.ones([3, 4])))
loss = ((second(h) - 1.0) ** 2).mean()
"""
    done = gradtool("why", model(text), "--format", "json")
    [found] = [a for a in done.data["answers"] if a["finding"]]
    assert (found["verdict"], found["name"], found["also"]) == (
        "dead_relu",
        "first.weight",
        ["first.bias", "second.weight"],
    )


def test_updates_by_hand_in_one_block_are_one_finding(gradtool: Run, model: Write) -> None:
    text = """\
import paddle
w, b = paddle.ones([4, 1]), paddle.zeros([1])
w.stop_gradient = b.stop_gradient = False
for i in range(3):
    loss = ((paddle.ones([3, 4]) @ w + b - 1.0) ** 2).mean()
    loss.backward()
    with paddle.no_grad():
        w = w - 0.1 * w.grad
        b = b - 0.1 * b.grad
"""
    done = gradtool("why", model(text), "--steps", "5", "--format", "json")
    [found] = done.data["answers"]
    assert (found["verdict"], found["name"], found["also"], done.data["findings"]) == ("no_grad", "w", ["b"], 1)
