"""Gradients that are cleared unread, and clips that no step goes by: what rules GT711 and GT712 leave alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.request.request import Request

HEAD = """\
import paddle
import paddle.nn as nn

paddle.seed(0)
net = nn.Linear(3, 2)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
x = paddle.randn([8, 3])


def closure(scale=1.0):
    opt.clear_grad()
    loss = (net(x) - scale).square().mean()
    loss.backward()
    return loss


"""

RIGHT = {
    "gradients of several losses that are put together": """
for _ in range(3):
    both = []
    for scale in (1.0, 2.0):
        closure(scale)
        both.append([p.grad.clone() for p in net.parameters()])
    for p, one, two in zip(net.parameters(), *both):
        p.grad = one + two
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
""",
    "sharpness-aware steps": """
for _ in range(3):
    closure()
    moves = [p.grad * 0.05 for p in net.parameters()]
    with paddle.no_grad():
        for p, move in zip(net.parameters(), moves):
            p.set_value(p + move)
    closure()
    with paddle.no_grad():
        for p, move in zip(net.parameters(), moves):
            p.set_value(p - move)
    opt.step()
""",
    "two networks through one function": """
other = nn.Linear(2, 1)
of_other = paddle.optimizer.SGD(0.1, parameters=other.parameters())


def update(optimizer, loss):
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()


for _ in range(4):
    update(of_other, other(net(x).detach()).mean())
    update(opt, other(net(x)).mean())
""",
    "batches that are left over": """
for epoch in range(3):
    opt.clear_grad()
    for batch in range(7):
        (net(x) - 1).square().mean().backward()
        if batch % 4 == 3:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            opt.clear_grad()
""",
    "losses that are not finite": """
for batch in range(6):
    loss = (net(x) - 1).square().mean() * (1.0 if batch % 3 == 0 else float("nan"))
    loss.backward()
    if loss.isfinite():
        opt.step()
    opt.clear_grad()
""",
    "norms that are measured after the step": """
for _ in range(3):
    closure()
    opt.step()
    nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
""",
    "gradients that paddle.grad gives": """
for _ in range(3):
    found = paddle.grad((net(x) - 1).square().mean(), net.parameters())
    for p, g in zip(net.parameters(), found):
        p.grad = g
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
""",
}

WRONG = {
    "no gradients at all": (
        """
parameters = iter(net.parameters())
list(parameters)
for _ in range(3):
    closure()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    opt.step()
""",
        "GT712",
        "is given no gradients, 3 times",
    ),
    "before backward": (
        """
for _ in range(3):
    opt.clear_grad()
    nn.utils.clip_grad_value_(net.parameters(), 1.0)
    (net(x) - 1).square().mean().backward()
    opt.step()
""",
        "GT712",
        "no gradients",
    ),
    "every second pass": (
        "for batch in range(6):\n    closure()\n    if batch % 2:\n        opt.step()\n",
        "GT711",
        "3 of 6 backward passes",
    ),
}


def found(folder: Path, text: str) -> list[tuple[str, str]]:
    file = folder / "model.py"
    file.write_text(HEAD + text, encoding="utf-8")
    told = findings(Request(str(file)), "model.py", Selection(select=("GT711", "GT712")))
    return [(f.code, f.message) for f in told]


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_meant_is_no_finding(tmp_path: Path, case: str) -> None:
    assert found(tmp_path, RIGHT[case]) == []


@pytest.mark.parametrize("case", WRONG)
def test_what_is_unread_is_found(tmp_path: Path, case: str) -> None:
    text, code, said = WRONG[case]
    ((found_code, message),) = found(tmp_path, text)
    assert found_code == code
    assert said in message
