"""Lists of parameters that are chosen by names are meant; a choice of what decays is none of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

MODEL = """\
import paddle
import paddle.nn.functional as F


def main():
    paddle.seed(0)
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 1))
    decay = [p.name for n, p in net.named_parameters() if "bias" not in n]
    head = [p for n, p in net.named_parameters() if n.startswith("2.")]
    x, y = paddle.rand([8, 4]), paddle.rand([8, 1])
    opt = paddle.optimizer.AdamW(
        0.1, parameters={listed}, apply_decay_param_fun=lambda name: name in decay
    )
    for _ in range(2):
        F.mse_loss(net(x), y).backward()
        opt.step()
        opt.clear_grad()


main()
"""


@pytest.mark.parametrize(
    ("listed", "codes"), [("net.parameters()", []), ("head", []), ("list(net.parameters())[:-2]", ["GT701"])]
)
def test_a_choice_of_what_decays_chooses_no_parameters(listed: str, codes: list[str], tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(listed=listed))
    assert [f.code for f in findings(Request.create(str(path)), path.name, Selection(select=("GT7",)))] == codes
