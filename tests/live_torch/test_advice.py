"""Advice about scripts of PyTorch: each is given about a script of its kind, and followed, the finding is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.answers.why.advice import EVERY
from gradtool.engine.answers.why.examples import EXAMPLES, Example
from gradtool.engine.core.vocabulary import say, use_vocabulary
from gradtool.engine.questions.why import Why
from gradtool.engine.recorders.recorded.frameworks import TORCH
from gradtool.engine.request.request import Request

BEGIN = """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.rand(8, 4)
"""
LAYER = """\
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1

    @staticmethod
    def backward(ctx, g):
        return {back}

net = nn.Linear(4, 3)
loss = Own.apply(net(x)).mean()"""
TWO = "one, two = nn.Linear(4, 3), nn.Linear(3, 1)\n"
ONE = "net = nn.Linear(4, 3)\n"
DEEP = """\
net = nn.Sequential(*[layer for _ in range(24) for layer in (nn.Linear(4, 4), {act})])
for layer in net[::2]:
    {start}
loss = (net(x) - 1).square().mean()"""
SMALL, LARGE = "nn.init.normal_(layer.weight, 0, 0.02)", "nn.init.normal_(layer.weight, 0, 12.0)"
FIT = "nn.init.orthogonal_(layer.weight)"
BIAS = "net = nn.Linear(4, 3)\nnn.init.constant_(net.bias, {})\n"
PENALTY = (
    "net = nn.Linear(4, 1)\nx.requires_grad_()\n(g,) = torch.autograd.grad(net(x).square().sum(), [x]{})\n"
    "loss = ((g.square().sum(1) + 1e-6).sqrt() - 1).square().mean() + net(x).mean()"
)
LOGITS = "net = nn.Linear(4, 3)\nloss = F.binary_cross_entropy_with_logits({}, torch.zeros(8, 3)).mean()"

IN_TORCH = {
    "detached": Example(TWO + "loss = two(one(x).detach()).mean()", TWO + "loss = two(one(x)).mean()"),
    "as a number": Example(
        TWO + "loss = two(torch.ones(8, 3)).mean() + one(x).mean().item()",
        TWO + "loss = two(torch.ones(8, 3)).mean() + one(x).mean()",
    ),
    "under no_grad": Example(
        TWO + "with torch.no_grad():\n    h = one(x)\nloss = two(h).mean()", TWO + "h = one(x)\nloss = two(h).mean()"
    ),
    "made without": Example(
        "w = torch.tensor([1.0, 2.0, 3.0, 4.0])\nnet = nn.Linear(4, 1)\nloss = net(x * w).mean()",
        "w = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)\nnet = nn.Linear(4, 1)\nloss = net(x * w).mean()",
        "w",
    ),
    "a constant gradient": Example(PENALTY.format(""), PENALTY.format(", create_graph=True")),
    "not retained": Example(
        TWO + "h = one(x)\nloss = two(h).mean()", TWO + "h = one(x)\nh.retain_grad()\nloss = two(h).mean()", "h"
    ),
    "unused": Example(TWO + "loss = two(torch.ones(8, 3)).mean()", TWO + "loss = two(one(x)).mean()"),
    "no path": Example(
        TWO + "aside = one(x).mean()\nloss = two(torch.ones(8, 3)).mean()",
        TWO + "aside = one(x).mean()\nloss = two(torch.ones(8, 3)).mean() + aside",
    ),
    "integers": Example(
        TWO + "loss = two(one(x).to(torch.int64).to(torch.float32)).mean()", TWO + "loss = two(one(x)).mean()"
    ),
    "a step": Example(
        TWO + "h = one(x)\nloss = two(torch.round(h)).mean()",
        TWO + "h = one(x)\nloss = two(h + (torch.round(h) - h).detach()).mean()",
    ),
    "argmax as weights": Example(
        "net = nn.Linear(4, 3)\nscale = nn.Linear(1, 1)\nloss = scale(net(x).argmax(1).float().unsqueeze(1)).mean()",
        "net = nn.Linear(4, 3)\nscale = nn.Linear(1, 1)\nplaces = torch.arange(3).float()\n"
        "loss = scale((F.softmax(net(x), 1) * places).sum(1, keepdim=True)).mean()",
    ),
    "dead relu": Example(
        BIAS.format(-50.0) + "loss = (F.relu(net(x)) - 1).square().mean()",
        BIAS.format(5.0) + "loss = (F.relu(net(x)) - 1).square().mean()",
    ),
    "saturated": Example(
        BIAS.format(90.0) + "loss = torch.tanh(net(x)).mean()", ONE + "loss = torch.tanh(net(x)).mean()"
    ),
    "large inputs": Example(ONE + "loss = torch.tanh(net(x * 1e6)).mean()", ONE + "loss = torch.tanh(net(x)).mean()"),
    "squashed before the loss": Example(LOGITS.format("torch.sigmoid(net(x) - 200.0)"), LOGITS.format("net(x)")),
    "cancelled": Example(
        ONE + "loss = (net(x).mean() - net(x).mean() - 1).square()",
        ONE + "loss = (net(x).mean() + net(x).mean() - 1).square()",
    ),
    "one class": Example(
        "net = nn.Linear(4, 1)\nloss = F.softmax(net(x), 1).mean()",
        "net = nn.Linear(4, 1)\nloss = torch.sigmoid(net(x)).mean()",
    ),
    "vanished": Example(DEEP.format(start=SMALL, act="nn.Sigmoid()"), DEEP.format(start=FIT, act="nn.Tanh()")),
    "exploded": Example(
        DEEP.format(start=LARGE, act="nn.LeakyReLU(0.5)"), DEEP.format(start=FIT, act="nn.LeakyReLU(0.9)")
    ),
    "clipped": Example(
        ONE + "loss = torch.clamp(net(x) + 100.0, 0.0, 1.0).mean()",
        ONE + "loss = torch.clamp(net(x) + 100.0, 0.0, 1000.0).mean()",
    ),
    "an operator returns None": Example(LAYER.format(back="None"), LAYER.format(back="g")),
    "an operator returns zeros": Example(LAYER.format(back="torch.zeros_like(g)"), LAYER.format(back="g")),
    "a factor of 0": Example(ONE + "loss = (net(x) * 0.0).mean()", ONE + "loss = (net(x) * 0.5).mean()"),
    "normalised alone": Example(
        "net = nn.Linear(4, 1)\nnorm = nn.LayerNorm(1)\nloss = (norm(net(x)) - 1).square().mean()",
        "net = nn.Linear(4, 3)\nnorm = nn.LayerNorm(3)\nloss = (norm(net(x)) - 1).square()[:, 0].mean()",
    ),
}
ONLY_IN_PADDLE = {"in the no_grad_set", "set on a result", "dropout of all"}
"""PyTorch has no such set, refuses to set ``requires_grad`` of a result, and multiplies by zeros for such a dropout:
nothing is advised then.
"""

PAIRS = [(found, name) for found in EVERY for name in found.examples if name in IN_TORCH]


def answers(folder: Path, text: str, subject: str):
    script = folder / "script.py"
    script.write_text(f"{BEGIN}{text}\nloss.backward()\n", encoding="utf-8")
    return list(Why(variables=(subject,) if subject else ()).ask(Request(str(script))))


def test_each_example_of_paddle_has_its_pair() -> None:
    assert IN_TORCH.keys() | ONLY_IN_PADDLE == EXAMPLES.keys()
    assert not IN_TORCH.keys() & ONLY_IN_PADDLE


@pytest.mark.parametrize(("found", "name"), PAIRS, ids=[name for _, name in PAIRS])
def test_a_finding_goes_when_its_advice_is_followed(found, name, tmp_path: Path) -> None:
    before, after, subject = IN_TORCH[name]
    with use_vocabulary(TORCH.vocabulary):
        text = say(found.text)
    said = [a for a in answers(tmp_path, before, subject) if a.advice == text]
    assert said, [str(a) for a in answers(tmp_path, before, subject)]
    later = answers(tmp_path, after, subject)
    assert not any(a.finding or a.advice == text for a in later), [str(a) for a in later]
