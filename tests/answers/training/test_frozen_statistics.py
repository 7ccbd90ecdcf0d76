"""Batch norm that goes on in a frozen network: what GT714 finds, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.gate.finding import Finding
from gradtool.engine.request.request import Request

HEAD = """\
import copy
import paddle
from paddle import nn

paddle.seed(0)


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Linear(8, 2))


def freeze(net):
    for p in net.parameters():
        p.stop_gradient = True
    return net


def optimizer(net):
    return paddle.optimizer.SGD(0.1, parameters=net.parameters())


def step(opt, loss):
    loss.backward()
    opt.step()
    opt.clear_grad()


def batch():
    return paddle.randn([8, 4])


student, teacher = network(), network()
opt = optimizer(student)
"""

WRONG = {
    "a frozen teacher": (
        """
freeze(teacher)
for _ in range(3):
    x = batch()
    step(opt, (student(x) - teacher(x)).square().mean())  # here
""",
        "teacher.1",
        "teacher.eval()",
    ),
    "a teacher that is called under no_grad alone": (
        """
for _ in range(3):
    x = batch()
    with paddle.no_grad():
        target = teacher(x)  # here
    step(opt, (student(x) - target).square().mean())
""",
        "teacher.1",
        "teacher.eval()",
    ),
    "features of a frozen network in a loss that goes back through it": (
        """
features = freeze(nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1D(8)))
for _ in range(3):
    x = batch()
    step(opt, (features(student(x)) - features(x[:, :2])).square().mean())  # here
""",
        "features.1",
        "features.eval()",
    ),
    "a teacher and a student in one network": (
        """
class Both(nn.Layer):
    def __init__(self):
        super().__init__()
        self.student, self.teacher = network(), freeze(network())

    def forward(self, x):
        return (self.student(x) - self.teacher(x).detach()).square().mean()  # here


both = Both()
opt = optimizer(both.student)
for _ in range(3):
    step(opt, both(batch()))
""",
        "both.teacher.1",
        "both.teacher.eval()",
    ),
    "batch norm without parameters": (
        """
teacher = freeze(nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1D(2, weight_attr=False, bias_attr=False)))
for _ in range(3):
    x = batch()
    step(opt, (student(x) - teacher(x)).square().mean())  # here
""",
        "teacher.1",
        "teacher.eval()",
    ),
}

RIGHT = {
    "in evaluation": """
freeze(teacher).eval()
for _ in range(3):
    x = batch()
    step(opt, (student(x) - teacher(x)).square().mean())
""",
    "a teacher that follows with its statistics": """
freeze(teacher)
for _ in range(3):
    x = batch()
    step(opt, (student(x) - teacher(x)).square().mean())
    with paddle.no_grad():
        for p, q in zip(teacher.parameters(), student.parameters()):
            p.set_value(0.9 * p + 0.1 * q)
        for p, q in zip(teacher.buffers(), student.buffers()):
            p.set_value(q)
""",
    "a teacher that follows with its parameters": """
freeze(teacher)
for _ in range(3):
    x = batch()
    step(opt, (student(x) - teacher(x)).square().mean())
    teacher[1].weight.set_value(0.9 * teacher[1].weight + 0.1 * student[1].weight)
""",
    "a target network that is loaded anew": """
for i in range(4):
    x = batch()
    with paddle.no_grad():
        target = teacher(x)
    step(opt, (student(x) - target).square().mean())
    if i % 2:
        teacher.set_state_dict(student.state_dict())
""",
    "a frozen body under a head that is trained": """
body, head = freeze(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU())), nn.Linear(8, 2)
opt = optimizer(head)
for _ in range(3):
    step(opt, head(body(batch())).square().mean())
""",
    "a frozen half of a network that is fine-tuned": """
for p in student[:3].parameters():
    p.stop_gradient = True
for _ in range(3):
    step(opt, student(batch()).square().mean())
""",
    "a frozen end of a network that is fine-tuned": """
for p in student[1:].parameters():
    p.stop_gradient = True
for _ in range(3):
    step(opt, student(batch()).square().mean())
""",
    "two networks that train in turn": """
g, d = network(), nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1D(4), nn.Linear(4, 1))
of_g, of_d = optimizer(g), optimizer(d)
for _ in range(3):
    with paddle.no_grad():
        fake = g(batch())
    step(of_d, d(fake).mean() - d(batch()[:, :2]).mean())
    freeze(d)
    step(of_g, -d(g(batch())).mean())
    for p in d.parameters():
        p.stop_gradient = False
""",
    "statistics that are gathered anew when training is over": """
average = copy.deepcopy(student)
for _ in range(3):
    step(opt, student(batch()).square().mean())
with paddle.no_grad():
    for _ in range(4):
        average(batch())
""",
    "a validation in training mode": """
for _ in range(3):
    step(opt, student(batch()).square().mean())
    with paddle.no_grad():
        student(batch())
""",
    "statistics that keep their values": """
freeze(teacher)
teacher[1]._momentum = 1.0
for _ in range(3):
    x = batch()
    step(opt, (student(x) - teacher(x)).square().mean())
""",
}


def found(place: Path, text: str) -> list[Finding]:
    file = place / "train.py"
    file.write_text(HEAD + text, encoding="utf-8")
    return findings(Request(str(file)), file.name, Selection(select=("GT714",)))


@pytest.mark.parametrize("name", WRONG)
def test_the_layer_and_the_line_of_its_call_are_named(name: str, tmp_path: Path) -> None:
    text, layer, advice = WRONG[name]
    (finding,) = found(tmp_path, text)
    assert (finding.code, finding.subject) == ("GT714", layer)
    assert finding.message.startswith(f"{layer} is frozen, and its running statistics move")
    assert "calls in 3 steps" in finding.explanation[0]
    assert finding.advice.endswith(advice)
    marked = [i for i, line in enumerate((HEAD + text).splitlines(), 1) if line.endswith("# here")]
    assert finding.spot is not None
    assert [finding.spot.line] == marked


@pytest.mark.parametrize("name", WRONG)
def test_the_advice_makes_the_finding_go(name: str, tmp_path: Path) -> None:
    text, _, advice = WRONG[name]
    assert found(tmp_path, text.replace("for _ in range(3):", f"{advice}\nfor _ in range(3):")) == []


@pytest.mark.parametrize("name", RIGHT)
def test_networks_that_train_or_are_written_are_no_finding(name: str, tmp_path: Path) -> None:
    assert found(tmp_path, RIGHT[name]) == []
