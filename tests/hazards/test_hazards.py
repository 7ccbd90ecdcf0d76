"""Scripts that end in NaN are warned of in time, at the line that makes it; a form that is safe is not."""

import pytest

from . import models, warnings

pytestmark = pytest.mark.usefixtures("no_rule_raises")

AT = {
    "angle": "acos",
    "deviation": "std(h)",
    "direction": "norm(h",
    "distance": "sqrt",
    "entropy": "log(p)",
    "log_in_where": "where",
    "log_of_sigmoid": "log(p)",
    "log_of_softmax": "log(p[",
    "log_of_squares": "log(",
    "log_of_summed_exp": "log(",
    "log_of_the_rest": "log(1 - p)",
    "power_of_abs": "** 0.5",
    "root_of_square": "sqrt",
    "softmax_by_hand": "e / e.sum",
    "variance": "sqrt",
}
"""By kind of script, a piece of the line that a warning is about."""

SAFE = {
    "an epsilon in the logarithm": "p = F.softmax(net(x))\nloss = paddle.log(p + 1e-8).mean()",
    "a clip below the logarithm": "p = F.softmax(net(x)).clip(1e-6, 1.0)\nloss = paddle.log(p).mean()",
    "log_softmax": "loss = F.log_softmax(net(x)).mean()",
    "softplus": "loss = paddle.log(F.softplus(net(x)) + F.relu(net(x))).mean()",
    "bounded scores": "loss = paddle.log(F.softmax(paddle.tanh(net(x)))).mean()",
    "the largest subtracted": "h = net(x)\ne = paddle.exp(h - h.max(axis=1, keepdim=True))\n"
    "loss = (e / e.sum(axis=1, keepdim=True))[:, 0].mean()",
    "an epsilon in the root": "loss = paddle.sqrt(((net(x) - x) ** 2).sum(axis=1) + 1e-8).mean()",
    "a maximum in the root": "d = ((net(x) - x) ** 2).sum(axis=1)\n"
    "loss = paddle.sqrt(paddle.maximum(d, paddle.to_tensor(1e-8))).mean()",
    "a length with an epsilon": "h = F.relu(net(x))\nloss = (h / (h.norm(axis=1, keepdim=True) + 1e-8)).mean()",
    "normalize": "loss = F.normalize(F.relu(net(x))).mean()",
    "a clip below acos": "loss = paddle.acos(paddle.clip(net(x), -0.999, 0.999)).mean()",
    "a safe argument in where": "h = net(x)\ng = paddle.where(h > 0, h, paddle.ones_like(h))\n"
    "loss = paddle.where(h > 0, paddle.log(g.clip(1e-6)), paddle.zeros_like(h)).mean()",
    "data alone": "loss = (net(x) * paddle.log(F.softmax(x))).mean()",
    "under no_grad": "with paddle.no_grad():\n    q = paddle.log(F.softmax(net(x)))\nloss = (net(x) * q).mean()",
    "the norm of a gradient": "h = net(x)\n(g,) = paddle.grad(h.sum(), [net.weight], create_graph=True)\n"
    "loss = h.mean() + ((g**2).sum().sqrt() - 1) ** 2",
    "the root of a variance with an epsilon": "h = net(x)\nv = ((h - h.mean()) ** 2).mean()\n"
    "loss = ((h - h.mean()) / paddle.sqrt(v + 1e-5)).max()",
}
"""Right forms, which nothing is said of."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("model", models(), ids=lambda path: path.stem)
def test_a_script_that_ends_in_nan_is_warned_of(model):
    found = warnings(model)
    piece = AT[model.stem.partition("_")[2]]
    assert any(piece in (f.spot.text if f.spot else "") for f in found), found


SEEN_BY_CHECK = ("log_in_where",)
"""What the graph of gradients does not show, since a condition gets none: check, which has all values, warns of it."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", SAFE)
def test_a_form_that_is_safe_is_not(what, tmp_path):
    begin = "import paddle\nimport paddle.nn.functional as F\n\nnet = paddle.nn.Linear(4, 4)\nx = paddle.rand([8, 4])\n"
    script = tmp_path / "script.py"
    script.write_text(f"{begin}{SAFE[what]}\nloss.backward()\n", encoding="utf-8")
    assert warnings(script) == []
