"""Terms of a loss that give no gradient are found with their line; constants, targets and weights are no such terms."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.gate.finding import Finding
from gradtool.engine.request.request import Request

BEFORE = """\
import numpy as np
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net, other = paddle.nn.Linear(4, 1), paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    x = paddle.rand([8, 4])
    out = net(x)
    fit = F.mse_loss(out, paddle.ones([8, 1]))
    penalty = (net.weight**2).sum()
"""

AFTER = """
    loss.backward()
    opt.step()
    opt.clear_grad()
"""

LOST = {
    "detached": "loss = fit + 0.01 * penalty.detach()  # HERE",
    "detached before": "p = penalty.detach()  # HERE\n    loss = fit + 0.01 * p",
    "no_grad": "with paddle.no_grad():\n        p = net.weight.abs().sum()  # HERE\n    loss = fit + p",
    "float": "loss = fit + float(penalty)  # HERE",
    "item times a weight": "loss = fit + 0.1 * penalty.item()  # HERE",
    "a number with a name": "p = penalty.item()  # HERE\n    loss = fit + p",
    "a sum of a list": "ps = [penalty.item()]  # HERE\n    loss = sum([fit, *ps])",
    "a mean of a list": "ps = []\n    ps.append(float(penalty))  # HERE\n    loss = fit + sum(ps) / len(ps)",
    "to_tensor": "loss = fit + paddle.to_tensor(penalty)  # HERE",
    "numpy": "loss = fit + paddle.to_tensor(np.abs(penalty.numpy()))  # HERE",
    "in a mean of several": "loss = paddle.stack([fit, penalty.detach()]).mean()  # HERE",
    "added in place": "loss = fit\n    loss += penalty.detach()  # HERE",
    "stop_gradient": "penalty.stop_gradient = True  # HERE\n    loss = fit + penalty",
    "without a derivative": "loss = fit + (out > 0).astype('float32').sum()  # HERE",
}

RIGHT = {
    "all terms": "loss = fit + 0.01 * penalty",
    "a weight": "loss = fit * penalty.detach() + penalty",
    "a number as a weight": "loss = fit * penalty.item() + penalty",
    "a quotient": "loss = fit / fit.detach() + penalty",
    "a target": "loss = F.mse_loss(out, net(x + 0.1).detach()) + penalty",
    "straight through": "loss = fit + (penalty - fit).detach()",
    "of another network": "loss = fit + other(x).mean().detach()",
    "a printed number": "loss = fit + penalty\n    print(float(loss), penalty.item())",
    "compared": "loss = fit + (penalty if penalty.item() > 0 else fit)",
    "a constant": "loss = fit + paddle.to_tensor(2.0)",
    "data": "loss = fit + x.sum()",
}


def _found(folder: Path, text: str) -> list[Finding]:
    script = folder / "script.py"
    script.write_text(f"{BEFORE}    {text}{AFTER}", encoding="utf-8")
    return findings(Request.create(str(script), unfinished=True), script.name, Selection(select=("GT111",)))


@pytest.mark.parametrize("what", LOST)
def test_a_term_without_a_gradient_is_found_at_its_line(what: str, tmp_path: Path) -> None:
    (finding,) = _found(tmp_path, LOST[what])
    assert finding.spot is not None
    assert finding.spot.text.endswith("# HERE")
    assert "net.weight" in " ".join(finding.explanation)


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_no_lost_term_is_not(what: str, tmp_path: Path) -> None:
    assert _found(tmp_path, RIGHT[what]) == []


def test_each_loss_of_a_step_has_its_terms(tmp_path: Path) -> None:
    text = "(fit + penalty.detach()).backward()  # HERE\n    loss = (other(x) ** 2).mean() + (net(x) ** 2).mean()"
    (finding,) = _found(tmp_path, text)
    assert finding.spot is not None
    assert finding.spot.text.endswith("# HERE")
