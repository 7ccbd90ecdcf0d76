"""The first steps of a training: what the rules GT702 to GT705 and GT707 say of planted mistakes, and of none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.gate.finding import Finding
from gradtool.engine.request.request import Request

HEAD = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
x = paddle.rand([8, 4])
"""


def found(folder: Path, text: str) -> list[Finding]:
    file = folder / "model.py"
    file.write_text(HEAD + text, encoding="utf-8")
    return findings(Request(str(file)), "model.py", Selection(select=("GT702", "GT703", "GT704", "GT705", "GT707")))


WRONG = {
    "a step between clearing and backward": (
        """
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
for step in range(3):
    opt.clear_grad(set_to_zero=False)
    opt.step()  # here
    (net(x) - 1).square().mean().backward()
""",
        "GT702",
        "steps of Momentum change none of the 2 parameters",
    ),
    "a frozen layer that is updated by hand": (
        """
body, head = paddle.nn.Linear(4, 3), paddle.nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=[*body.parameters(), *head.parameters()])
body.weight.stop_gradient = True
for step in range(2):
    (head(body(x)) - 1).square().mean().backward()
    opt.step()
    opt.clear_grad()
    body.weight.set_value(body.weight * 0.9)  # here
""",
        "GT702",
        "is frozen, an optimizer holds it, and this line changes it",
    ),
    "a target that the output cannot reach": (
        """
net = paddle.nn.Linear(4, 1)
loss = F.mse_loss(F.tanh(net(x)), paddle.full([8, 1], 50.0))  # here
loss.backward()
""",
        "GT703",
        "as loss and target keeps it there",
    ),
    "gradients that are clipped to nothing": (
        """
net = paddle.nn.Linear(4, 1)
clip = paddle.nn.ClipGradByGlobalNorm(1e-4)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters(), grad_clip=clip)
F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
opt.step()  # here
""",
        "GT703",
        "as clipping of gradients keeps it there",
    ),
    "a loop that forgets the step": (
        """
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())  # here
for step in range(3):
    F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
    opt.clear_grad()
""",
        "GT702",
        "the optimizer of 2 parameters makes no step, and their gradients are cleared after 3 passes",
    ),
    "steps after so many batches that there never are": (
        """
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())  # here
for epoch in range(2):
    for i in range(4):
        F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
        if (i + 1) % 32 == 0:
            opt.step()
            opt.clear_grad()
""",
        "GT702",
        "the optimizer of 2 parameters makes no step, and 8 passes add to their gradients",
    ),
    "a schedule that is over long before the training": (
        """
net = paddle.nn.Linear(4, 1)
rate = paddle.optimizer.lr.PolynomialDecay(0.1, decay_steps=2, end_lr=0.0)
opt = paddle.optimizer.SGD(rate, parameters=net.parameters())
for step in range(6):
    F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
    opt.step()  # here
    opt.clear_grad()
    rate.step()
""",
        "GT702",
        "the last 4 of 6 steps of SGD change nothing: the learning rate is 0",
    ),
    "a rate of zero": (
        """
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.Adam(0.0, parameters=net.parameters())  # here
for step in range(3):
    F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
    opt.step()
    opt.clear_grad()
""",
        "GT702",
        "steps of Adam change none of the 2 parameters",
    ),
    "gradients that are clipped below the digits of the weights": (
        """
net = paddle.nn.Linear(4, 1)
clip = paddle.nn.ClipGradByGlobalNorm(1e-9)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters(), grad_clip=clip)
for step in range(3):
    F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
    opt.step()  # here
    opt.clear_grad()
""",
        "GT702",
        "3 steps of SGD leave 1 of its 2 parameters as they are",
    ),
    "recurrent layers that stay in evaluation after the first epoch": (
        """
net = paddle.nn.LSTM(4, 3, num_layers=2, dropout=0.5)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for step in range(3):
    net(x.unsqueeze(0))[0].square().mean().backward()
    opt.step()
    opt.clear_grad()
    net.eval()  # here
""",
        "GT707",
        "2 of 3 steps of SGD are taken in evaluation mode",
    ),
    "units that are dead": (
        """
net, out = paddle.nn.Linear(4, 3), paddle.nn.Linear(3, 1, bias_attr=False)
net.bias.set_value(paddle.full([3], -50.0))
h = F.relu(net(x))  # here
loss = (out(h) - 1).square().mean()
loss.backward()
""",
        "GT703",
        "as dead units keeps it there",
    ),
    "weights that begin too large": (
        """
net = paddle.nn.Sequential(paddle.nn.Linear(4, 16), paddle.nn.ReLU())
head = paddle.nn.Linear(16, 5, paddle.ParamAttr(initializer=paddle.nn.initializer.Normal(0.0, 30.0)))
logits = head(net(x))  # here
loss = F.cross_entropy(logits, paddle.randint(0, 5, [8]))
loss.backward()
""",
        "GT704",
        "a classifier of 5 classes that knows nothing has 1.609",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_planted_mistake_is_found_at_its_line(name: str, tmp_path: Path) -> None:
    text, code, message = WRONG[name]
    results = [f for f in found(tmp_path, text) if f.code == code]
    assert len(results) == 1
    assert message in results[0].message
    line = next(i for i, line in enumerate((HEAD + text).splitlines(), 1) if line.endswith("# here"))
    assert results[0].spot is not None
    assert results[0].spot.line == line


def test_a_training_that_works_has_no_finding(tmp_path: Path) -> None:
    text = """
net = paddle.nn.Sequential(paddle.nn.Linear(4, 16), paddle.nn.ReLU(), paddle.nn.Dropout(0.2), paddle.nn.Linear(16, 5))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    loss = F.cross_entropy(net(x), paddle.arange(8) % 5)
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
    assert found(tmp_path, text) == []


RIGHT = {
    "batch norm that keeps its statistics on purpose": """
norm = paddle.nn.BatchNorm1D(4)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 4), norm, paddle.nn.Linear(4, 1))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
    opt.step()
    opt.clear_grad()
    norm.eval()
""",
    "another network that is in evaluation while this one learns": """
one, two = paddle.nn.Sequential(paddle.nn.Linear(4, 4), paddle.nn.Dropout(0.5)), paddle.nn.Linear(4, 1)
opts = [paddle.optimizer.SGD(0.1, parameters=n.parameters()) for n in (one, two)]
for step in range(4):
    one.train() if step % 2 == 0 else one.eval()
    F.mse_loss(two(one(x)), paddle.full([8, 1], 3.0)).backward()
    opts[step % 2].step()
    for opt in opts:
        opt.clear_grad()
""",
    "an optimizer that a second one takes the place of": """
net = paddle.nn.Linear(4, 1)
first = paddle.optimizer.Adam(0.1, parameters=net.parameters())
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
    opt.step()
    opt.clear_grad()
""",
    "a schedule that warms up from 0 and ends at 0": """
net = paddle.nn.Linear(4, 1)
rates = paddle.optimizer.lr
rate = rates.LinearWarmup(rates.PolynomialDecay(0.1, decay_steps=6, end_lr=0.0), 2, 0.0, 0.1)
opt = paddle.optimizer.SGD(rate, parameters=net.parameters())
for step in range(9):
    F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
    opt.step()
    opt.clear_grad()
    rate.step()
""",
    "gradients of two losses that are looked at, without a step": """
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
F.mse_loss(net(x), paddle.full([8, 1], 2.0)).backward()
print(net.weight.grad)
""",
    "a parameter whose own rate is 0, and one that nothing reads": """
still = paddle.ParamAttr(learning_rate=0.0)
net, spare = paddle.nn.Linear(4, 1, weight_attr=still), paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=[*net.parameters(), *spare.parameters()])
for step in range(3):
    F.mse_loss(net(x), paddle.full([8, 1], 3.0)).backward()
    opt.step()
    opt.clear_grad()
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_meant_is_no_finding(name: str, tmp_path: Path) -> None:
    assert found(tmp_path, RIGHT[name]) == []


def test_samples_that_are_compared_with_samples_are_no_classes(tmp_path: Path) -> None:
    text = """
one, two = paddle.nn.Linear(4, 6), paddle.nn.Linear(4, 6)
scores = 100 * paddle.matmul(F.normalize(one(x)), F.normalize(two(x)), transpose_y=True)
loss = F.cross_entropy(scores, paddle.arange(8).flip(0))
loss.backward()
"""
    assert found(tmp_path, text) == []
