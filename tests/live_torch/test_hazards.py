"""Forms of PyTorch that come to a singular point later are warned of in the first pass; guarded ones are not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

BEGIN = """\
import torch
import torch.nn.functional as F

torch.manual_seed(0)
net = torch.nn.Linear(4, 4)
x = torch.rand(8, 4)
"""

RISKY = {
    "focal": "p = torch.sigmoid(net(x)[:, 0])\nloss = -((1 - p) ** 2 * torch.log(p)).mean()",
    "cosine by hand": "h = F.relu(net(x))\n"
    "k = F.relu(net(x + 1))\n"
    "loss = ((h * k).sum(1) / (h.norm(dim=1) * k.norm(dim=1))).mean()",
    "info nce": "s = net(x) @ net(x).t()\ne = torch.exp(s / 0.07)\nloss = -torch.log(e.diagonal() / e.sum(1)).mean()",
    "policy": "p = F.softmax(net(x), 1)\n"
    "a = torch.zeros(8, 1, dtype=torch.int64)\n"
    "loss = -torch.log(p.gather(1, a)).mean()",
    "kl by hand": "p = F.softmax(net(x), 1)\nq = F.softmax(net(x + 1), 1)\nloss = (p * torch.log(p / q)).sum(1).mean()",
    "log1p rest": "p = torch.sigmoid(net(x))\nloss = -torch.log1p(-p).mean()",
    "share": "h = F.relu(net(x))\nloss = (h / h.sum(1, keepdim=True))[:, 0].mean()",
    "sac": "u = net(x)\nloss = -torch.log(1 - torch.tanh(u) ** 2).sum(1).mean()",
    "atanh": "loss = torch.atanh(torch.tanh(net(x))).mean()",
    "poincare": "d = ((net(x) - x) ** 2).sum(1)\nloss = torch.acosh(1 + d).mean()",
    "softplus by hand": "loss = torch.log(1 + torch.exp(net(x))).mean()",
    "sigmoid by hand": "loss = (1 / (1 + torch.exp(-net(x)))).mean()",
    "tanh by hand": "h = net(x)\na, b = torch.exp(h), torch.exp(-h)\nloss = ((a - b) / (a + b)).mean()",
    "pow minus half": "loss = (F.relu(net(x)).sum(1) ** -0.5).mean()",
    "log2": "loss = torch.log2(F.softmax(net(x), 1)).mean()",
    "asin": "h = net(x)\nloss = torch.asin(h / h.norm(dim=1, keepdim=True)).mean()",
    "xlogx": "p = F.softmax(net(x), 1)\nloss = -(p * p.log()).sum(1).mean()",
    "bce by hand": "p = torch.sigmoid(net(x))\n"
    "y = (x > 0.5).float()\n"
    "loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()",
    "erfinv": "loss = torch.erfinv(torch.tanh(net(x))).mean()",
    "logit": "loss = torch.logit(torch.sigmoid(net(x))).mean()",
    "where div": "h = net(x)\nloss = torch.where(h > 0, 1 / h, torch.zeros_like(h)).mean()",
    "logsigmoid sum": "loss = torch.log(torch.exp(net(x)).sum(1)).mean()",
    "cumprod": "loss = torch.log(torch.cumprod(torch.sigmoid(net(x)), 1)).mean()",
    "dice": "p = F.relu(net(x))\ny = (x > 2).float()\nloss = 1 - 2 * (p * y).sum() / (p.sum() + y.sum())",
}

GUARDED = {
    "sqrt relu": "loss = F.relu(net(x)).sqrt().mean()",
    "sqrt of a sum of relu": "loss = F.relu(net(x)).sum(1).sqrt().mean()",
    "focal": "p = torch.sigmoid(net(x)[:, 0])\nloss = -((1 - p) ** 2 * torch.log(p + 1e-8)).mean()",
    "cosine": "h = F.relu(net(x))\n"
    "k = F.relu(net(x + 1))\n"
    "loss = ((h * k).sum(1) / (h.norm(dim=1) * k.norm(dim=1)).clamp(min=1e-8)).mean()",
    "cosine f": "loss = F.cosine_similarity(F.relu(net(x)), F.relu(net(x + 1))).mean()",
    "info nce": "s = net(x) @ net(x).t()\nloss = F.cross_entropy(s / 0.07, torch.arange(8))",
    "policy": "p = F.log_softmax(net(x), 1)\nloss = -p[:, 0].mean()",
    "policy dist": "d = torch.distributions.Categorical(logits=net(x))\n"
    "loss = -(d.log_prob(torch.zeros(8)) + d.entropy()).mean()",
    "gauss softplus": "s = F.softplus(net(x)) + 1e-6\nloss = (torch.log(s) + (x - 1) ** 2 / s ** 2).mean()",
    "gauss logvar": "v = net(x)\nloss = (v + (x - 1) ** 2 * torch.exp(-v)).mean()",
    "vae": "h = net(x)\nmu, v = h[:, :2], h[:, 2:]\nloss = -0.5 * (1 + v - mu ** 2 - v.exp()).sum(1).mean()",
    "kl": "loss = F.kl_div(F.log_softmax(net(x), 1), F.softmax(x, 1), reduction='batchmean')",
    "atan2": "h = F.relu(net(x)) + 1e-3\nloss = torch.atan2(h[:, 0], h[:, 1]).mean()",
    "masked row": "s = net(x).masked_fill(x < 0.1, -1e9)\nloss = F.softmax(s, 1)[:, 0].mean()",
    "causal": "s = net(x) @ net(x).t()\n"
    "m = torch.triu(torch.ones(8, 8, dtype=torch.bool), 1)\n"
    "loss = F.softmax(s.masked_fill(m, float('-inf')), 1)[:, 0].mean()",
    "log1p": "loss = torch.log1p(net(x) ** 2).mean()",
    "log1p relu": "loss = torch.log1p(F.relu(net(x))).mean()",
    "log clamped": "loss = torch.log(net(x).clamp(min=1e-6)).mean()",
    "share": "h = F.relu(net(x)) + 1e-6\nloss = (h / h.sum(1, keepdim=True))[:, 0].mean()",
    "share eps": "h = F.relu(net(x))\nloss = (h / (h.sum(1, keepdim=True) + 1e-6))[:, 0].mean()",
    "sac": "u = net(x)\nloss = -torch.log(1 - torch.tanh(u) ** 2 + 1e-6).sum(1).mean()",
    "sac softplus": "u = net(x)\nloss = -(2 * (0.693 - u - F.softplus(-2 * u))).sum(1).mean()",
    "atanh": "loss = torch.atanh(torch.tanh(net(x)).clamp(-0.999, 0.999)).mean()",
    "reciprocal": "loss = (1 / (net(x) ** 2 + 1)).mean()",
    "poincare": "d = ((net(x) - x) ** 2).sum(1)\nloss = torch.acosh(1 + d + 1e-5).mean()",
    "poincare clamp": "d = ((net(x) - x) ** 2).sum(1)\nloss = torch.acosh((1 + d).clamp(min=1 + 1e-5)).mean()",
    "softplus": "loss = F.softplus(net(x)).mean()",
    "sigmoid": "loss = torch.sigmoid(net(x)).mean()",
    "rsqrt": "h = net(x)\nloss = (h * torch.rsqrt((h ** 2).mean(1, keepdim=True) + 1e-6)).mean()",
    "rms": "h = net(x)\nloss = (h / torch.sqrt((h ** 2).mean(1, keepdim=True) + 1e-6)).mean()",
    "norm eps": "h = F.relu(net(x))\nloss = (h ** 2).sum(1).add(1e-12).sqrt().mean()",
    "std eps": "loss = (net(x).var(1) + 1e-6).sqrt().mean()",
    "logit": "loss = torch.logit(torch.sigmoid(net(x)), eps=1e-6).mean()",
    "where": "h = net(x)\n"
    "g = torch.where(h > 0, h, torch.ones_like(h))\n"
    "loss = torch.where(h > 0, 1 / g, torch.zeros_like(h)).mean()",
    "logsumexp": "loss = torch.logsumexp(net(x), 1).mean()",
    "dice": "p = torch.sigmoid(net(x))\n"
    "y = (x > 0.5).float()\n"
    "loss = 1 - (2 * (p * y).sum() + 1) / (p.sum() + y.sum() + 1)",
    "dice sig": "p = torch.sigmoid(net(x))\ny = (x > 0.5).float()\nloss = 1 - 2 * (p * y).sum() / (p.sum() + y.sum())",
    "bce clamped": "p = torch.sigmoid(net(x)).clamp(1e-7, 1 - 1e-7)\n"
    "y = (x > 0.5).float()\n"
    "loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()",
    "maxexp": "h = net(x)\n"
    "e = torch.exp(h - h.max(1, keepdim=True).values)\n"
    "loss = (e / e.sum(1, keepdim=True))[:, 0].mean()",
    "ratio ppo": "lp = F.log_softmax(net(x), 1)[:, 0]\n"
    "r = torch.exp(lp - lp.detach())\n"
    "loss = -torch.min(r, r.clamp(0.8, 1.2)).mean()",
    "charbonnier": "loss = torch.sqrt((net(x) - x) ** 2 + 1e-6).mean()",
    "pow abs": "loss = (net(x).abs() + 1e-6).pow(0.5).mean()",
    "xlogy": "p = F.softmax(net(x), 1)\nloss = -torch.xlogy(p, p.clamp(min=1e-9)).sum(1).mean()",
    "data norm": "z = (x - x.mean(0)) / x.std(0)\nloss = net(z).mean()",
    "pairwise": "loss = F.pairwise_distance(net(x), x).mean()",
    "normalize": "loss = F.normalize(F.relu(net(x)), dim=1)[:, 0].mean()",
    "mean over mask": "m = (x > 0.5).float()\nloss = (net(x) * m).sum() / m.sum()",
    "weighted": "w = torch.rand(8, 4)\nloss = (net(x) * w).sum() / w.sum()",
    "attention softplus": "h = F.elu(net(x)) + 1\nloss = (h / h.sum(1, keepdim=True))[:, 0].mean()",
    "temperature": "t = torch.nn.Parameter(torch.tensor(1.0))\n"
    "loss = F.log_softmax(net(x) / t, 1)[:, 0].mean() + 0 * t",
    "sqrt data": "loss = (net(x) * x.sqrt()).mean()",
    "logcosh": "h = net(x)\nloss = (h + F.softplus(-2 * h) - 0.693).mean()",
    "beta": "h = net(x)\nloss = (torch.exp(h.clamp(max=10)) ).mean()",
}

LATER = tuple(factor * torch.rand(4, 4, generator=torch.manual_seed(1)) for factor in (0, 1e2, -1e3, 1e5))
LATER += (torch.eye(4), -torch.ones(4, 4))
"""Weights that a training may come to: one of these gives NaN or infinity."""


def warnings(folder: Path, text: str) -> list[str]:
    """Return what the rule says of a form."""
    file = folder / "model.py"
    file.write_text(f"{BEGIN}{text}\nloss.backward()\n", encoding="utf-8")
    return [f.message for f in findings(Request(str(file)), file.name, Selection(select=("GT209",)))]


@pytest.mark.parametrize("form", RISKY)
def test_a_form_that_comes_to_a_singular_point_is_warned_of(tmp_path: Path, form: str) -> None:
    found = warnings(tmp_path, RISKY[form])
    assert len(found) == (2 if form == "bce by hand" else 1), found


@pytest.mark.parametrize("form", RISKY)
def test_it_does_come_there(form: str) -> None:
    assert not all(is_finite(RISKY[form], later) for later in LATER)


@pytest.mark.parametrize("form", GUARDED)
def test_a_form_with_a_guard_is_not(tmp_path: Path, form: str) -> None:
    assert warnings(tmp_path, GUARDED[form]) == []


def is_finite(text: str, weight: torch.Tensor) -> bool:
    """Return whether loss and gradients of a form are finite with these weights."""
    net = torch.nn.Linear(4, 4)
    with torch.no_grad():
        net.weight.copy_(weight)
        net.bias.zero_()
    names = {"torch": torch, "F": F, "net": net, "x": torch.rand(8, 4, generator=torch.manual_seed(0))}
    exec(text, names)
    names["loss"].backward()
    return all(bool(t.isfinite().all()) for t in (names["loss"], net.weight.grad, net.bias.grad))


@pytest.mark.parametrize("form", GUARDED)
def test_a_form_with_a_guard_stays_finite(form: str) -> None:
    assert all(is_finite(GUARDED[form], later) for later in LATER if float(later.abs().max()) <= 1)
