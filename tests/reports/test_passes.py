"""Passes and steps of the reports: gradients that were given, several losses a step, training layer by layer."""

import io
import json
import math

import pytest

from gradtool.cli.main import main
from gradtool.engine.files import container
from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.questions.backward import Backward
from gradtool.engine.questions.calls import list_calls
from gradtool.engine.questions.nan import Nan
from gradtool.engine.questions.stats import Stats
from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

from . import RUNS, model

pytestmark = pytest.mark.usefixtures("no_rule_raises")


def norms(file):
    table = Backward().ask(Request(str(file)))
    return {row.shown: row.values.norm for row in table.rows if row.values is not None}


def codes(file, *select):
    found = findings(Request(str(file)), file.name, Selection(select=select or ("GT1", "GT2", "GT7")))
    return [(f.code, f.subject, f.spot.line if f.spot else 0) for f in found]


def written(folder, text):
    file = folder / "model.py"
    file.write_text(text, "utf-8")
    return file


def test_the_gradient_that_was_given_is_what_it_starts_from():
    file = model("paddle_grad_tensors")
    assert norms(file) == {"w": pytest.approx(math.hypot(0.3, 0.03))}
    (line,) = Stats().ask(Request(str(file))).story.parameters
    assert line.gradient.norm == pytest.approx(math.hypot(0.3, 0.03))


def test_a_gradient_of_zeros_is_a_finding_with_the_line_of_the_call(tmp_path):
    text = model("paddle_grad_tensors").read_text("utf-8").replace("[0.1, 0.01]", "[0.0, 0.0]")
    file = written(tmp_path, text)
    (answer,) = Why().ask(Request(str(file)))
    assert (answer.label, answer.location[0][1]) == ("zero: the gradient given is zero", 5)
    assert ("GT205", "w", 5) in codes(file)


def test_a_list_of_passes_says_what_they_were_given(gradtool, folder):
    data = gradtool("backward", str(model("paddle_grad_tensors")), "--list", "--format", "json").data
    assert [(c["roots"], c["gradients_given"], c["nested"]) for c in data["calls"]] == [(1, True, False)]
    table = gradtool("backward", str(model("paddle_grad_tensors")), "--list", "--format", "tsv").cells
    assert dict(zip(table[0], table[1], strict=True))["from"] == "gradients given"


def test_zeros_for_one_root_are_told_of_the_leaves_behind_it_alone(tmp_path):
    file = written(
        tmp_path,
        "import paddle\n"
        "v, w = (paddle.to_tensor([1., 2.], stop_gradient=False) for _ in range(2))\n"
        "y, z = v * 3.0, (v + w).exp()\n"
        "paddle.autograd.backward([y, z], [None, paddle.zeros([2])])\n",
    )
    told = {a.name: a.finding for a in Why(variables=("v", "w")).ask(Request(str(file)))}
    assert told == {"v": False, "w": True}


def test_a_gradient_that_is_not_finite_is_a_birth_at_the_call(tmp_path):
    text = model("paddle_grad_tensors").read_text("utf-8").replace("0.01", "float('nan')")
    file = written(tmp_path, text)
    (birth,) = Nan().ask(Request(str(file))).story.births
    assert birth.loc[0][1] == 5
    assert "given here is not finite" in birth.cause
    (answer,) = Why().ask(Request(str(file)))
    assert answer.location[0][1] == 5


def test_a_parameter_in_no_optimizer_is_an_error_with_any_number_of_calls():
    file = model("paddle_two_losses")
    assert codes(file) == [("GT701", "embed.weight", 4)]
    table = Backward().ask(Request(str(file)))
    given_by = {row.shown: row.given_by for row in table.rows if row.given_by}
    name = file.name
    assert given_by["critic.weight"] == f"{name}:7"
    assert given_by["actor.weight"] == f"{name}:8"
    assert given_by["embed.weight"] == f"{name}:7, 8"


GAN = """\
import paddle, paddle.nn as nn
paddle.seed(0)
G, D = nn.Linear(4, 6), nn.Linear(6, 1)
og = paddle.optimizer.SGD(.1, parameters=G.parameters())
od = paddle.optimizer.SGD(.1, parameters=D.parameters())
for i in range(3):
    z = paddle.randn([8, 4])
"""
GENERATOR = """\
    g_loss = nn.functional.softplus(-D(G(z))).mean()
    g_loss.backward()
    og.step(); og.clear_grad(); od.clear_grad()
"""
CRITIC = """\
    d_loss = (nn.functional.softplus(D(G(z).detach())) + nn.functional.softplus(-D(paddle.randn([8, 6])))).mean()
    d_loss.backward()
    od.step(); od.clear_grad()
"""


@pytest.mark.parametrize("order", [GENERATOR + CRITIC, CRITIC + GENERATOR])
def test_two_networks_with_an_optimizer_each_lack_nothing(order, tmp_path):
    file = written(tmp_path, GAN + order)
    assert [a for a in Why().ask(Request(str(file))) if a.finding] == []
    assert codes(file) == []
    assert set(norms(file)) == {"G.weight", "G.bias", "D.weight", "D.bias"}


HEADS = """\
import paddle
paddle.seed(0)
trunk = paddle.nn.Linear(3, 4)
heads = [paddle.nn.Linear(4, 1) for _ in range(3)]
every = [*trunk.parameters(), *(p for head in heads for p in head.parameters())]
opt = paddle.optimizer.SGD(0.1, parameters=every)
x = paddle.rand([5, 3])
for step in range(2):
    for head in heads:
        loss = (head(paddle.tanh(trunk(x))) - 1).square().mean()
        loss.backward()
    opt.step()
    opt.clear_grad()
"""


def test_a_call_a_task_on_one_line_gives_each_head_its_gradient(tmp_path):
    file = written(tmp_path, HEADS)
    assert [a for a in Why().ask(Request(str(file))) if a.finding] == []
    assert len(norms(file)) == 8
    table = Backward().ask(Request(str(file)))
    assert [(o.number, o.times) for o in table.origins] == [(6, 3)]


def test_a_head_that_no_optimizer_holds_is_found_among_them(tmp_path):
    file = written(tmp_path, HEADS.replace("for head in heads for p", "for head in heads[1:] for p"))
    assert {code for code, _, _ in codes(file)} == {"GT701"}


def test_a_head_that_no_call_of_the_step_reaches_is_found(tmp_path):
    file = written(tmp_path, HEADS.replace("    for head in heads:", "    for head in heads[:1 + step]:"))
    answers = [a for a in Why().ask(Request(str(file))) if a.finding]
    assert [(a.verdict.name, a.name, a.also) for a in answers] == [("UNUSED", "heads[2].weight", ("heads[2].bias",))]


def test_what_accumulates_is_the_sum_and_what_a_hook_made_of_it_stands_beside(tmp_path):
    file = written(
        tmp_path,
        "import paddle\n"
        "w = paddle.to_tensor([1., 2.], stop_gradient=False)\n"
        "w.register_hook(lambda g: g * 10)\n"
        "for k in (1.0, 2.0, 3.0):\n"
        "    (w * k).sum().backward()\n",
    )
    (row,) = Backward().ask(Request(str(file))).rows
    assert row.values.norm == pytest.approx(6 * math.sqrt(2))
    assert row.held.norm == pytest.approx(60 * math.sqrt(2))


def test_training_layer_by_layer_is_silent():
    run = model("torch_layerwise_detached")
    assert [a for a in Why().ask(Request(str(run))) if a.finding] == []
    assert codes(run) == []
    assert len(norms(run)) == 4


def test_a_pass_inside_of_a_gradient_rule_is_not_the_one_that_is_asked_about(tmp_path):
    file = written(
        tmp_path,
        "import paddle\n"
        "class Inner(paddle.autograd.PyLayer):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n"
        "        return x ** 3\n"
        "    @staticmethod\n"
        "    def backward(ctx, dy):\n"
        "        (x,) = ctx.saved_tensor()\n"
        "        with paddle.enable_grad():\n"
        "            y = x.detach()\n"
        "            y.stop_gradient = False\n"
        "            inner = (y ** 3).sum()\n"
        "            inner.backward()\n"
        "        return dy * y.grad\n"
        "w = paddle.to_tensor([1., 2.], stop_gradient=False)\n"
        "loss = Inner.apply(w).sum()\n"
        "loss.backward()\n",
    )
    table = Backward().ask(Request(str(file)))
    calls = list_calls(Request(str(file)))
    assert [(line.last, line.nested) for line in calls.lines] == [(1, False), (2, True)]
    assert calls.asked == 1
    assert table.loss.name == "loss"
    assert table.arrays[next(row.subject for row in table.rows if row.shown == "w")].tolist() == [3.0, 12.0]


# -- what an optimizer goes by ----------------------------------------------------------------------------------------

CLIPPED = {
    "by the optimizer": ("grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)", "pass"),
    "by the script": ("grad_clip=None", "p.grad.set_value(p.grad * 0.01)"),
}


@pytest.mark.parametrize("how", CLIPPED)
def test_the_gradient_that_an_optimizer_used_stands_next_to_what_backward_gave(gradtool, tmp_path, how):
    clip, write = CLIPPED[how]
    script = tmp_path / "script.py"
    script.write_text(
        "import paddle\n\nnet = paddle.nn.Linear(3, 1)\n"
        f"opt = paddle.optimizer.SGD(1e-3, parameters=net.parameters(), {clip})\n"
        "loss = (net(paddle.ones([4, 3]) * 100) ** 2).mean()\nloss.backward()\n"
        f"for p in net.parameters():\n    {write}\nopt.step()\n",
        encoding="utf-8",
    )
    data = json.loads(gradtool("backward", str(script), "--format", "json").out)
    rows = {row["name"]: row for row in data["parameters"] if row["is_parameter"]}
    gave = math.hypot(*(row["values"]["norm"] for row in rows.values()))
    used = math.hypot(*(row["used"]["norm"] for row in rows.values()))
    assert used == pytest.approx(1.0 if how == "by the optimizer" else gave / 100, rel=1e-4)
    assert "‖g‖ used" in gradtool("backward", str(script)).out


def test_nothing_is_said_of_gradients_that_are_used_as_they_are(gradtool, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import paddle\n\nnet = paddle.nn.Linear(3, 1)\nopt = paddle.optimizer.SGD(1e-3, parameters=net.parameters())\n"
        "loss = net(paddle.ones([4, 3])).mean()\nloss.backward()\nopt.step()\n",
        encoding="utf-8",
    )
    assert "used" not in gradtool("backward", str(script)).out.partition("\n")[2]


def test_a_run_that_was_recorded_without_gradients_is_to_be_recorded_again(tmp_path, monkeypatch, capsys):
    """Older recordings of scripts without a backward call hold no pass at all."""
    arrays, texts = container.read_stream(io.BytesIO((RUNS / "torch_rsub_refused.torchrun").read_bytes()), "run")
    events = [event for event in json.loads(texts["events"]) if event[0] != "Explored"]
    old = tmp_path / "old.torchrun"
    pieces = container.pieces(arrays, {**texts, "events": json.dumps(events)})
    old.write_bytes(b"".join(bytes(piece) for piece in pieces))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["why", "old.torchrun"])
    said = capsys.readouterr().err
    assert left.value.code == 4
    assert said.startswith("error: the run holds no gradient of rsub: no backward pass went through it")
    assert "a .torchrun of an older gradtool is to be recorded again" in said
