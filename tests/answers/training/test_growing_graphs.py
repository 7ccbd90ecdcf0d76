"""Graphs of earlier steps that something keeps: what GT713 and the first page say, and where both are silent."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path
from typing import Any

import pytest

from gradtool.engine.answers.training.growing_graphs import Growth
from gradtool.engine.core import watch
from gradtool.engine.core.state import disable_static
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.gate.finding import Finding
from gradtool.engine.questions.growing import find_storing_line
from gradtool.engine.request.request import Request
from tests.cli.conftest import folder, gradtool  # noqa: F401

HEAD = """\
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())


def step(loss):
    opt.clear_grad()
    loss.backward()
    opt.step()
    return loss


def batch():
    return paddle.randn([8, 3])


"""

WRONG = {
    "a sum": (
        """
total = 0
for _ in range(6):
    loss = step(net(batch()).square().mean())
    total = total + loss  # here
""",
        "total is computed from its own value of the step before, and so keeps the graphs of 6 steps",
        "a step adds 5 nodes of the graph, 0 bytes that they retain for backward",
        "total += loss.item()",
    ),
    "a list": (
        """
losses = []
for _ in range(6):
    losses.append(step(net(batch()).square().mean()))  # here
""",
        "losses holds tensors with their graphs, and so keeps the graphs of 6 steps",
        "a step adds 4 nodes of the graph, 0 bytes that they retain for backward, 4 bytes of the tensors held",
        "keep numbers there, loss.item()",
    ),
    "an entry of a dict, by a function that has returned": (
        """
def train():
    log = {"loss": [], "out": []}
    for _ in range(6):
        out = net(batch())
        log["loss"].append(step(out.square().mean()).item())
        log["out"].append((1, out))  # here
    return log["loss"]


train()
""",
        "log['out'] in train() holds tensors with their graphs, and so keeps the graphs of",
        "a step adds 2 nodes of the graph, 0 bytes that they retain for backward, 32 bytes of the tensors held",
        "the tensors without their graphs: tensor.detach()",
    ),
    "an attribute": (
        """
class Meter:
    mean = 0.0

    def add(self, loss):
        self.mean = 0.9 * self.mean + 0.1 * loss  # here


meter = Meter()
for _ in range(6):
    meter.add(step(net(batch()).square().mean()))
""",
        "meter.mean is computed from its own value of the step before, and so keeps the graphs of 6 steps",
        "a step adds 7 nodes of the graph, 0 bytes",
        "mean += loss.item()",
    ),
    "a metric that no backward goes through": (
        """
error = paddle.zeros([2])
for _ in range(6):
    step(net(batch()).square().mean())
    error = error + net(batch()).abs().mean()  # here
""",
        "error is computed from its own value of the step before",
        "a step adds 5 nodes of the graph, 128 bytes that they retain for backward",
        "detach() error once a step",
    ),
    "a sum of each epoch, with gradients of two batches and updates by hand": (
        """
def train():
    total = 0
    for i in range(8):
        loss = net(batch()).square().mean()
        loss.backward()
        total = total + loss  # here
        if i % 2:
            with paddle.no_grad():
                for p in net.parameters():
                    p.set_value(p - 0.1 * p.grad)
            net.clear_gradients()
    return total.item()


del opt
for _ in range(2):
    train()
""",
        "total in train() is computed from its own value of the step before",
        "0 bytes that they retain",
        "total += loss.item()",
    ),
}

RIGHT = {
    "numbers and detached tensors": """
total, losses, memory = 0.0, [], []
for _ in range(6):
    out = net(batch())
    loss = step(out.square().mean())
    total += loss.item()
    losses.append(loss.detach())
    memory.append(out.detach())
""",
    "losses over time that go backward together": """
for _ in range(4):
    total, state = 0, paddle.zeros([8, 1])
    for t in range(5):
        state = 0.5 * state + net(batch())
        total = total + state.square().mean()
    step(total)
""",
    "a window of losses": """
window = []
for i in range(16):
    window.append(net(batch()).square().mean())
    if len(window) == 4:
        step(sum(window))
        window = []
""",
    "gradients of several batches": """
for i in range(12):
    loss = net(batch()).square().mean() / 3
    loss.backward()
    if i % 3 == 2:
        opt.step()
        opt.clear_grad()
""",
    "losses that wait for a backward while another network makes steps": """
other = nn.Linear(3, 1)
waiting = []
for _ in range(6):
    step(net(batch()).square().mean())
    waiting.append(other(batch()).square().mean())
sum(waiting).backward()
""",
    "the losses of one step, of a network and an optimizer each": """
nets = [nn.Linear(3, 3) for _ in range(5)]
opts = [paddle.optimizer.SGD(0.1, parameters=n.parameters()) for n in nets]
for _ in range(4):
    x, losses = batch(), []
    for n, o in zip(nets, opts):
        x = n(x.detach())
        losses.append(x.square().mean())
        losses[-1].backward()
        o.step()
        o.clear_grad()
""",
    "what two steps leave": """
before = None
for _ in range(8):
    loss = step(net(batch()).square().mean())
    gap, before = (loss - before if before is not None else loss).item(), loss
""",
}

HEAD_OF_TURNS = """
from paddle.nn import functional as F

heads = nn.LayerList([nn.Linear(3, 1) for _ in range(4)])
cell = nn.SimpleRNNCell(3, 3)
for _ in range(2):
    step(net(batch()).square().mean())


"""

WRONG_TURNS = {
    "a sum in a function that has returned": (
        """
def evaluate():
    total = 0
    for _ in range(5):
        total += net(batch()).square().mean()  # here
    return float(total)


evaluate()
""",
        "total in evaluate() is computed from its own value of the turn before, and so keeps the graphs of 5 turns",
        "a turn adds 4 nodes of the graph, 128 bytes that they retain for backward",
        "evaluate inside of no_grad(), or keep no graph: total += loss.item()",
    ),
    "a mean over the loop": (
        """
mean = paddle.zeros([])
for _ in range(4):
    mean = 0.9 * mean + 0.1 * net(batch()).square().mean()  # here
mean = float(mean)
""",
        "mean is computed from its own value of the turn before, and so keeps the graphs of 4 turns",
        "a turn adds 5 nodes of the graph",
        "mean += loss.item()",
    ),
    "a list that is put together": (
        """
def predict():
    outs = []
    for _ in range(5):
        outs.append(net(batch()))  # here
    return paddle.concat(outs).numpy()


predict()
""",
        "outs in predict() holds tensors with their graphs, and so keeps the graphs of 5 turns of its loop",
        "a turn adds 2 nodes of the graph, 96 bytes that they retain for backward, 32 bytes of the tensors held",
        "keep no graph: tensor.detach()",
    ),
    "a list that is there at the end": (
        """
outs = []
for _ in range(4):
    outs.append(net(batch()))  # here
""",
        "outs holds tensors with their graphs, and so keeps the graphs of 4 turns of its loop",
        "a turn adds 2 nodes of the graph",
        "evaluate inside of no_grad()",
    ),
    "an attribute, once in each epoch": (
        """
class Meter:
    sum = 0

    def add(self, loss):
        self.sum = self.sum + loss  # here


for _ in range(3):
    step(net(batch()).square().mean())
    meter = Meter()
    for _ in range(4):
        meter.add(net(batch()).square().mean())
    meter.sum = float(meter.sum)
""",
        "self.sum in add() is computed from its own value of the turn before, and so keeps the graphs of 4 turns",
        "a turn adds 4 nodes of the graph",
        "sum += loss.item()",
    ),
}

RIGHT_TURNS = {
    "numbers": """
total = 0
for _ in range(5):
    total += net(batch()).square().mean().item()
""",
    "under no_grad": """
total = 0
with paddle.no_grad():
    for _ in range(5):
        total += net(batch()).square().mean()
""",
    "losses freed each turn": """
for _ in range(5):
    print(float(net(batch()).square().mean()))
""",
    "a network over time": """
state, total, outs = paddle.zeros([8, 3]), 0, []
for _ in range(5):
    out, state = cell(batch(), state)
    total = total + out.square().mean()
    outs.append(out)
float(total), paddle.concat(outs)
del outs
""",
    "heads with parameters of their own, and a penalty": """
x, total, penalty = batch(), 0, 0
for head in heads:
    total = total + head(x).square().mean()
for p in heads.parameters():
    penalty = penalty + p.square().sum()
float(total + penalty), paddle.concat([head(x) for head in heads])
""",
    "parts of one output": """
out, total = net(batch()), 0
for i in range(4):
    total = total + out[i].square().sum()
float(total)
""",
    "a sum that goes backward": """
for _ in range(3):
    total = 0
    for _ in range(4):
        total = total + net(batch()).square().mean()
    step(total)
""",
    "a list that goes backward by another sum": """
for _ in range(3):
    losses = [net(batch()).square().mean() for _ in range(4)]
    float(paddle.stack(losses).mean())
    step(sum(losses))
del losses
""",
    "blocks with one weight": """
net = nn.Linear(3, 3)
x = batch()
for _ in range(4):
    x = x + net(x)
float(x.sum())
""",
}


def found(place: Path, text: str) -> list[Finding]:
    file = place / "train.py"
    file.write_text(HEAD + text, encoding="utf-8")
    return findings(Request(str(file)), file.name, Selection(select=("GT713",)))


@pytest.mark.parametrize("name", WRONG)
def test_what_keeps_every_graph_is_named_with_its_line_and_size(name: str, tmp_path: Path) -> None:
    text, message, amount, advice = WRONG[name]
    (finding,) = found(tmp_path, text)
    assert finding.message.startswith(message)
    assert amount in finding.explanation[0]
    assert advice in finding.advice
    marked = [i for i, line in enumerate((HEAD + text).splitlines(), 1) if line.endswith("# here")]
    assert finding.spot is not None
    assert [finding.spot.line] == marked


@pytest.mark.parametrize("name", RIGHT)
def test_graphs_that_end_or_are_used_are_no_finding(name: str, tmp_path: Path) -> None:
    assert found(tmp_path, RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG_TURNS)
def test_sums_over_the_turns_of_an_evaluation_are_named_too(name: str, tmp_path: Path) -> None:
    text, message, amount, advice = WRONG_TURNS[name]
    (finding,) = found(tmp_path, HEAD_OF_TURNS + text)
    assert finding.message.startswith(message)
    assert amount in finding.explanation[0]
    assert advice in finding.advice
    marked = [i for i, line in enumerate((HEAD + HEAD_OF_TURNS + text).splitlines(), 1) if line.endswith("# here")]
    assert finding.spot is not None
    assert [finding.spot.line] == marked


@pytest.mark.parametrize("name", RIGHT_TURNS)
def test_what_frees_its_graphs_or_goes_backward_keeps_no_turns(name: str, tmp_path: Path) -> None:
    assert found(tmp_path, HEAD_OF_TURNS + RIGHT_TURNS[name]) == []


@pytest.mark.parametrize("name", WRONG_TURNS)
def test_the_advice_about_turns_makes_the_finding_go(name: str, tmp_path: Path) -> None:
    text = WRONG_TURNS[name][0]
    right = text.replace("total += net(batch()).square().mean()", "total += net(batch()).square().mean().item()")
    for grown in ("outs.append(net(batch())", "0.1 * net(batch()).square().mean()", "self.sum + loss"):
        right = right.replace(grown, f"{grown}.detach()")
    assert right != text
    assert found(tmp_path, HEAD_OF_TURNS + right) == []


@pytest.mark.parametrize("name", ["a sum", "a list", "an attribute", "a metric that no backward goes through"])
def test_the_advice_makes_the_finding_go(name: str, tmp_path: Path) -> None:
    text = WRONG[name][0]
    for grown, right in (
        ("total + loss", "total + loss.item()"),
        (
            "losses.append(step(net(batch()).square().mean()))",
            "losses.append(step(net(batch()).square().mean()).item())",
        ),
        ("0.1 * loss", "0.1 * loss.item()"),
        ("error + net(batch()).abs().mean()", "error + net(batch()).abs().mean().detach()"),
    ):
        text = text.replace(grown, right)
    assert text != WRONG[name][0]
    assert found(tmp_path, text) == []


def test_the_first_page_says_it_too(gradtool: Any, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "train.py"
    file.write_text(HEAD + WRONG["a list"][0], encoding="utf-8")
    done = gradtool(str(file))
    assert " · 1 warning" in done.out
    assert "losses holds tensors with their graphs, and so keeps the graphs of 6 steps" in done.out
    assert "    losses.append(step(" in done.out
    assert "more  gradtool explain GT713" in done.out
    file.write_text(HEAD + RIGHT["numbers and detached tensors"], encoding="utf-8")
    assert "no findings" in gradtool(str(file)).out


def test_nothing_lives_longer_for_being_watched() -> None:
    disable_static()
    growth = Growth()
    w = Tensor([1.0, 2.0], stop_gradient=False)
    nodes = []
    with watch.watch(growth.step, growth):
        for _ in range(4):
            loss = (w * w).sum()
            nodes.append(weakref.ref(loss.node))
            loss.backward()
    enabled = gc.isenabled()
    gc.disable()
    try:
        del loss
        assert [n() for n in nodes] == [None] * 4
    finally:
        if enabled:
            gc.enable()


def test_a_path_that_is_no_expression_has_the_line_of_its_tensors() -> None:
    code = compile("x = 1", __file__, "exec")
    made = ((code, 1),)
    assert find_storing_line("net.<locals>.list", made) == made
    assert find_storing_line("nothing_is_called_so", made) == made
    assert find_storing_line("losses", ()) == ()


def test_what_a_program_reads_fits_its_schema(gradtool: Any, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "train.py"
    file.write_text(HEAD + WRONG["a sum"][0], encoding="utf-8")
    data = json.loads(gradtool(str(file), "--format", "json").out)
    assert [finding["code"] for finding in data["results"]] == ["GT713"]
