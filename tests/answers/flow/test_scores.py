"""Probabilities where a loss takes scores, and numbers that are no logarithms where it takes these: rule GT708."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.request.request import Request

HEAD = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 3)
x, y = paddle.rand([8, 4]), paddle.randint(0, 3, [8])
"""

STATIC = """\
import paddle

paddle.enable_static()
x, y = paddle.static.data("x", [8, 4]), paddle.static.data("y", [8, 1], "int64")
p = paddle.static.nn.fc(x, 3, activation="softmax")
loss = paddle.nn.functional.softmax_with_cross_entropy(p, y).mean()
paddle.static.append_backward(loss)
"""

WRONG = {
    "softmax in a program": (STATIC, "softmax_with_cross_entropy takes scores, and gets the probabilities of softmax"),
    "softmax in another shape": (
        HEAD + "F.cross_entropy(F.softmax(net(x)).reshape([4, 2, 3])[:, 1], y[::2]).backward()",
        "softmax_with_cross_entropy takes scores, and gets the probabilities of softmax",
    ),
    "sigmoid before the loss that has one": (
        HEAD + "F.binary_cross_entropy_with_logits(F.sigmoid(net(x)), F.one_hot(y, 3)).backward()",
        "sigmoid_cross_entropy_with_logits takes scores, and gets the probabilities of sigmoid",
    ),
    "scores for logarithms": (HEAD + "F.nll_loss(net(x) + 1, y).backward()", "nll_loss takes logarithms"),
    "probabilities for a divergence": (
        HEAD + "F.kl_div(F.softmax(net(x) / 4), F.softmax(x[:, :3])).backward()",
        "kl_div takes logarithms of probabilities",
    ),
    "probabilities for logarithms": (HEAD + "F.nll_loss(F.softmax(net(x)), y).backward()", "nll_loss takes logarithms"),
}

RIGHT = {
    "scores": "F.cross_entropy(net(x), y)",
    "probabilities that are told": "F.cross_entropy(F.softmax(net(x)), y, use_softmax=False)",
    "logarithms": "F.nll_loss(F.log_softmax(net(x)), y)",
    "a divergence of logarithms": "F.kl_div(F.log_softmax(net(x)), F.softmax(x[:, :3]))",
    "their logarithm once more": "F.cross_entropy(paddle.log(F.softmax(net(x))), y)",
    "probabilities on the way": "F.cross_entropy(F.softmax(net(x)) * 4, y)",
    "probabilities that do not learn": "F.cross_entropy(F.softmax(x[:, :3]), y) + net(x).mean()",
}


def told(folder: Path, text: str) -> list[str]:
    file = folder / "model.py"
    file.write_text(text, encoding="utf-8")
    return [f.message for f in findings(Request(str(file)), "model.py", Selection(select=("GT708",)))]


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_score_is_told(name: str, tmp_path: Path) -> None:
    text, message = WRONG[name]
    results = told(tmp_path, text)
    assert len(results) == 1
    assert message in results[0]


@pytest.mark.parametrize("name", RIGHT)
def test_scores_are_no_finding(name: str, tmp_path: Path) -> None:
    assert told(tmp_path, f"{HEAD}loss = {RIGHT[name]}\nloss.backward()\n") == []


def test_the_least_loss_is_told(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(STATIC, encoding="utf-8")
    (finding,) = findings(Request(str(file)), "model.py", Selection(select=("GT708",)))
    assert "with 3 classes it cannot fall below 0.5514" in finding.explanation  # log(1 + 2 / e)
