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
    "the largest subtracted, exp written twice": "h = net(x)\nh = h - h.max(axis=1, keepdim=True)\n"
    "loss = (paddle.exp(h) / paddle.exp(h).sum(axis=1, keepdim=True))[:, 0].mean()",
    "an epsilon in the root": "loss = paddle.sqrt(((net(x) - x) ** 2).sum(axis=1) + 1e-8).mean()",
    "a maximum in the root": "d = ((net(x) - x) ** 2).sum(axis=1)\n"
    "loss = paddle.sqrt(paddle.maximum(d, paddle.to_tensor(1e-8))).mean()",
    "a length with an epsilon": "h = F.relu(net(x))\nloss = (h / (h.norm(axis=1, keepdim=True) + 1e-8)).mean()",
    "normalize": "loss = F.normalize(F.relu(net(x))).mean()",
    "a clip below acos": "loss = paddle.acos(paddle.clip(net(x), -0.999, 0.999)).mean()",
    "a safe argument in where": "h = net(x)\ng = paddle.where(h > 0, h, paddle.ones_like(h))\n"
    "loss = paddle.where(h > 0, paddle.log(g.clip(1e-6)), paddle.zeros_like(h)).mean()",
    "a share with an epsilon": "h = F.relu(net(x))\nloss = (h / (h.sum(axis=1, keepdim=True) + 1e-6))[:, 0].mean()",
    "overlap with a smooth term": "p, y = F.relu(net(x)), (x > 2).astype('float32')\n"
    "loss = 1 - (2 * (p * y).sum() + 1) / (p.sum() + y.sum() + 1)",
    "overlap of probabilities": "p, y = F.sigmoid(net(x)), (x > 2).astype('float32')\n"
    "loss = 1 - 2 * (p * y).sum() / (p.sum() + y.sum())",
    "cosine_similarity": "loss = F.cosine_similarity(F.relu(net(x)), F.relu(net(x + 1))).mean()",
    "the density of tanh with an epsilon": "loss = -paddle.log(1 - paddle.tanh(net(x)) ** 2 + 1e-6).sum(axis=1).mean()",
    "atanh with a clip": "loss = paddle.atanh(paddle.tanh(net(x)).clip(-0.999, 0.999)).mean()",
    "logit with an epsilon": "loss = paddle.logit(F.sigmoid(net(x)), eps=1e-6).mean()",
    "a distance with an epsilon": "d = ((net(x) - x) ** 2).sum(axis=1)\nloss = paddle.acosh(1 + d + 1e-5).mean()",
    "kl_div": "loss = F.kl_div(F.log_softmax(net(x)), F.softmax(x), reduction='batchmean')",
    "log1p of a square": "loss = paddle.log1p(net(x) ** 2).mean()",
    "a mean over a mask": "m = (x > 0.5).astype('float32')\nloss = (net(x) * m).sum() / m.sum()",
    "a bounded exponent": "loss = (1 / (1 + paddle.exp(-paddle.tanh(net(x))))).mean()",
    "a variance of an exponent": "h = net(x)\nmu, v = h[:, :2], h[:, 2:]\n"
    "loss = -0.5 * (1 + v - mu**2 - v.exp()).sum(axis=1).mean()",
    "data alone": "loss = (net(x) * paddle.log(F.softmax(x))).mean()",
    "under no_grad": "with paddle.no_grad():\n    q = paddle.log(F.softmax(net(x)))\nloss = (net(x) * q).mean()",
    "the norm of a gradient": "h = net(x)\n(g,) = paddle.grad(h.sum(), [net.weight], create_graph=True)\n"
    "loss = h.mean() + ((g**2).sum().sqrt() - 1) ** 2",
    "the root of a variance with an epsilon": "h = net(x)\nv = ((h - h.mean()) ** 2).mean()\n"
    "loss = ((h - h.mean()) / paddle.sqrt(v + 1e-5)).max()",
}
"""Right forms, which nothing is said of."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("model", models(), ids=lambda path: path.stem)
def test_a_script_that_ends_in_nan_is_warned_of(model):
    found = warnings(model)
    piece = AT[model.stem.partition("_")[2]]
    assert any(piece in (f.spot.text if f.spot else "") for f in found), found


RISKY = {
    "a share of relu": "h = F.relu(net(x))\nloss = (h / h.sum(axis=1, keepdim=True))[:, 0].mean()",
    "overlap without a smooth term": "p, y = F.relu(net(x)), (x > 2).astype('float32')\n"
    "loss = 1 - 2 * (p * y).sum() / (p.sum() + y.sum())",
    "a cosine by hand": "h, k = F.relu(net(x)), F.relu(net(x + 1))\n"
    "loss = ((h * k).sum(1) / (h.norm(axis=1) * k.norm(axis=1))).mean()",
    "log1p of a probability": "loss = -paddle.log1p(-F.sigmoid(net(x))).mean()",
    "the density of tanh": "loss = -paddle.log(1 - paddle.tanh(net(x)) ** 2).sum(axis=1).mean()",
    "atanh of tanh": "loss = paddle.atanh(paddle.tanh(net(x))).mean()",
    "erfinv of tanh": "loss = paddle.erfinv(paddle.tanh(net(x))).mean()",
    "logit of sigmoid": "loss = paddle.logit(F.sigmoid(net(x))).mean()",
    "a distance on a hyperboloid": "d = ((net(x) - x) ** 2).sum(axis=1)\nloss = paddle.acosh(1 + d).mean()",
    "a quotient of probabilities": "p, q = F.softmax(net(x)), F.softmax(net(x + 1))\n"
    "loss = (p * paddle.log(p / q)).sum(axis=1).mean()",
    "a product of probabilities": "loss = paddle.log(paddle.cumprod(F.sigmoid(net(x)), 1)).mean()",
    "softplus by hand": "loss = paddle.log(1 + paddle.exp(net(x))).mean()",
    "sigmoid by hand": "loss = (1 / (1 + paddle.exp(-net(x)))).mean()",
    "tanh by hand": "h = net(x)\na, b = paddle.exp(h), paddle.exp(-h)\nloss = ((a - b) / (a + b)).mean()",
    "softmax by hand, exp written twice": "h = net(x)\n"
    "loss = (paddle.exp(h) / paddle.exp(h).sum(axis=1, keepdim=True))[:, 0].mean()",
    "tanh by hand, exp written twice": "h = net(x)\n"
    "loss = ((paddle.exp(h) - paddle.exp(-h)) / (paddle.exp(h) + paddle.exp(-h))).mean()",
    "logarithm of the exp of a softmax": "h = net(x)\n"
    "loss = -paddle.log(paddle.exp(h)[:, 0] / paddle.exp(h).sum(axis=1)).mean()",
    "a direction, relu written twice": "loss = (F.relu(net(x)) / F.relu(net(x)).norm(axis=1, keepdim=True)).mean()",
    "a root of relu": "loss = paddle.sqrt(F.relu(net(x))).mean()",
}
"""Forms that come to a singular point, a class of public reports each."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", RISKY)
def test_a_form_that_comes_to_a_singular_point_is_warned_of(what, tmp_path):
    begin = "import paddle\nimport paddle.nn.functional as F\n\nnet = paddle.nn.Linear(4, 4)\nx = paddle.rand([8, 4])\n"
    script = tmp_path / "script.py"
    script.write_text(f"{begin}{RISKY[what]}\nloss.backward()\n", encoding="utf-8")
    assert len(warnings(script)) == 1


SEEN_BY_CHECK = ("log_in_where",)
"""What the graph of gradients does not show, since a condition gets none: check, which has all values, warns of it."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", SAFE)
def test_a_form_that_is_safe_is_not(what, tmp_path):
    begin = "import paddle\nimport paddle.nn.functional as F\n\nnet = paddle.nn.Linear(4, 4)\nx = paddle.rand([8, 4])\n"
    script = tmp_path / "script.py"
    script.write_text(f"{begin}{SAFE[what]}\nloss.backward()\n", encoding="utf-8")
    assert warnings(script) == []
