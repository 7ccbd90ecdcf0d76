"""Cuts that are recognised as meant: no note about them; and cuts of the same form that are none."""

from __future__ import annotations

import textwrap
from bisect import bisect_left
from collections.abc import Mapping
from pathlib import Path

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

HEAD = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
x, y = paddle.randn([6, 4]), paddle.randn([6, 3])
total = paddle.zeros([])
"""

MODEL = """\


class Net{i}(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.pred = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(3, 3)

    def forward(self, x):
        h = paddle.tanh(self.body(x))
{body}


net = Net{i}()
{loss}
total = total + loss
"""

END = "return self.pred(self.head(h))"
LOSS = "loss = F.mse_loss(net(x), y)"

MEANT = {
    "straight through": (f"q = paddle.round(h * 4) / 4\nh = h + (q - h).detach()\n{END}", LOSS),
    "straight through, the cut first": (f"q = paddle.sign(h)\nh = (q - h).detach() + h\n{END}", LOSS),
    "straight through in three terms": (f"q = paddle.sign(h)\nh = q.detach() + h - h.detach()\n{END}", LOSS),
    "straight through by a difference": (f"q = paddle.round(h)\nh = h - (h - q).detach()\n{END}", LOSS),
    "straight through under no_grad": (
        f"with paddle.no_grad():\n    d = paddle.round(h) - h\nh = h + d\n{END}",
        LOSS,
    ),
    "a hard sample of a soft one": (
        f"s = F.softmax(h)\nhard = F.one_hot(s.argmax(-1), 8)\nh = hard - s.detach() + s\n{END}",
        LOSS,
    ),
    "softmax without overflow": (
        (
            "s = self.head(h)\nm = s.max(axis=-1, keepdim=True).detach()\ne = paddle.exp(s - m)\n"
            "return self.pred(e / e.sum(axis=-1, keepdim=True))"
        ),
        LOSS,
    ),
    "shifted by the largest of all": (
        "s = self.head(h)\ns = s - s.max().detach()\nreturn self.pred(F.softmax(s))",
        LOSS,
    ),
    "logarithm of a sum of exponentials": (
        (
            "s = self.head(h)\nm = s.detach().max(axis=-1, keepdim=True)\n"
            "l = m + paddle.log(paddle.exp(s - m).sum(axis=-1, keepdim=True))\nreturn self.pred(s - l)"
        ),
        LOSS,
    ),
    "the same under no_grad": (
        (
            "s = self.head(h)\nwith paddle.no_grad():\n    m = s.max(axis=-1, keepdim=True)\n"
            "l = m + paddle.log(paddle.exp(s - m).sum(axis=-1, keepdim=True))\nreturn self.pred(s - l)"
        ),
        LOSS,
    ),
    "a norm without a gradient": (f"h = h / h.norm(axis=-1, keepdim=True).detach()\n{END}", LOSS),
    "a scale of detached values": (
        f"scale = h.detach().abs().mean(axis=-1, keepdim=True)\nh = h / (scale + 1e-6)\n{END}",
        LOSS,
    ),
    "a reciprocal norm": (f"h = h * (1.0 / h.norm(axis=-1, keepdim=True)).detach()\n{END}", LOSS),
    "a weight that balances losses": (
        END,
        "a = F.mse_loss(net(x), y)\nb = net(x).square().mean()\nloss = a + b * (a / b).detach()",
    ),
    "twin networks that compare directions": (
        "z = self.head(h)\nreturn self.pred(z), z.detach()",
        (
            "p, z = net(x)\np2, z2 = net(x * 1.1)\n"
            "loss = -(F.cosine_similarity(p, z2).mean() + F.cosine_similarity(p2, z).mean())"
        ),
    ),
    "twin networks that compare values": (
        "z = self.head(h)\nreturn self.pred(z), z.detach()",
        "p, z = net(x)\np2, z2 = net(x * 1.1)\nloss = F.mse_loss(p, z2) + F.mse_loss(p2, z)",
    ),
    "the word that a decoder reads next": (
        (
            "s = self.head(h)\nnext_word = s.topk(1, axis=-1)[1].squeeze(-1).detach()\n"
            "return self.pred(s) + self.pred(F.one_hot(next_word, 3))"
        ),
        LOSS,
    ),
    "bootstrapped values": (
        END,
        "t = (y.mean(-1) + 0.9 * net(x * 1.1).max(axis=-1)).detach()\nloss = F.smooth_l1_loss(net(x)[:, 0], t)",
    ),
    "distillation": (
        END,
        "s = net(x)\nt = F.softmax(s).detach()\nloss = F.kl_div(F.log_softmax(net(x * 0.9)), t) + F.mse_loss(s, y)",
    ),
    "a codebook": (
        "e = self.head(h)\nq = paddle.round(e)\nreturn self.pred(e + (q - e).detach()), e, q",
        "o, e, q = net(x)\nloss = F.mse_loss(o, y) + F.mse_loss(e, q.detach())",
    ),
}

LOST = {
    "a gate": ("g = F.sigmoid(self.pred(self.head(h.detach())))\nreturn g * self.head(h)", LOSS),
    "a term of a sum": (f"s = self.head(h)\n{END} + s.detach()", LOSS),
    "attention": ("s = self.head(h)\nw = F.softmax(self.pred(s.detach()))\nreturn w * s", LOSS),
    "a residual that is taken off": ("s = self.head(h)\nreturn self.pred(s) - s.detach()", LOSS),
    "the largest values": (
        "s = self.head(h)\nm = s.topk(2, axis=-1)[0].detach().sum(-1, keepdim=True)\nreturn self.pred(s * m)",
        LOSS,
    ),
    "a way through NumPy": ("s = self.head(h)\nreturn self.pred(s) + paddle.to_tensor(s.numpy())", LOSS),
}


def notes(cases: Mapping[str, tuple[str, str]], tmp_path: Path) -> list[str]:
    """Return the names of the cases that a note stands in."""
    path, text, ends = tmp_path / "model.py", HEAD, []
    for i, (body, loss) in enumerate(cases.values()):
        text += MODEL.format(i=i, body=textwrap.indent(body, " " * 8), loss=loss)
        ends.append(text.count("\n"))
    path.write_text(f"{text}total.backward()\n")
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT1",)))
    names = [*cases]
    return [f"{names[bisect_left(ends, f.spot.line)]}: {f.code}" for f in said if f.spot is not None]


def test_cuts_that_are_meant_are_no_notes(tmp_path: Path) -> None:
    assert notes(MEANT, tmp_path) == []


def test_a_use_that_is_lost_is_a_note(tmp_path: Path) -> None:
    assert notes(LOST, tmp_path) == [f"{name}: GT112" for name in LOST]
