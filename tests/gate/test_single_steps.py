"""GT702 in files that make one step: at the line of the rate, the clip, the hook or the optimizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

pytestmark = pytest.mark.usefixtures("no_rule_raises")

EAGER = """\
import paddle
paddle.seed(0)
net = paddle.nn.Linear(3, 1)
opt = paddle.optimizer.SGD({rate}, parameters=net.parameters(){clip})
{hook}
loss = net(paddle.ones([4, 3])).square().mean()
loss.backward()
{step}
opt.clear_grad()
"""
STATIC = """\
import numpy as np
import paddle
paddle.enable_static()
loss = paddle.static.nn.fc(paddle.static.data("x", [4, 3]), 1).square().mean()
opt = paddle.optimizer.SGD({rate})
opt.minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
for _ in range({steps}):
    exe.run(feed={{"x": np.ones([4, 3], "float32")}}, fetch_list=[loss])
"""
WARM = "paddle.optimizer.lr.LinearWarmup(0.1, 10, 0.0, 0.1)"
HOOK = "for p in net.parameters(): p.register_hook(lambda g: g * 0)"


def eager(rate: str = "0.1", clip: str = "", hook: str = "", step: str = "opt.step()") -> str:
    return EAGER.format(rate=rate, clip=clip, hook=hook, step=step)


def lines(folder: Path, text: str) -> list[int]:
    """Return the lines of what GT702 finds."""
    file = folder / "model.py"
    file.write_text(text, encoding="utf-8")
    found = findings(Request(str(file)), file.name, Selection(select=("GT702",)))
    return [f.spot.line for f in found if f.spot is not None]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (eager("0.0"), 4),
        (eager(clip=", grad_clip=paddle.nn.ClipGradByNorm(1e-30)"), 4),
        (eager(hook=HOOK), 5),
        (eager(step="pass"), 4),
        (STATIC.format(rate="0.0", steps=1), 5),
        (STATIC.format(rate="0.0", steps=4), 5),
    ],
    ids=["rate", "clip", "hook", "no step", "program, one run", "program, four runs"],
)
def test_a_step_that_changes_nothing_is_found(tmp_path: Path, text: str, line: int) -> None:
    assert lines(tmp_path, text) == [line]


FROZEN = """\
import paddle
paddle.seed(0)
net, head = paddle.nn.Linear(3, 4), paddle.nn.Linear(4, 1)
{freeze}
opt = paddle.optimizer.SGD(0.1, parameters=[*net.parameters(), *head.parameters()])
for _ in range(3):
    loss = head(net(paddle.ones([4, 3]))).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""


@pytest.mark.parametrize("name", ["net.stop_gradient = True", "net.requires_grad = False", "net.trainable = False"])
def test_an_attribute_of_a_layer_that_freezes_nothing_is_found(tmp_path: Path, name: str) -> None:
    assert lines(tmp_path, FROZEN.format(freeze=name)) == [4]


@pytest.mark.parametrize(
    "text",
    [
        eager(),
        FROZEN.format(freeze="net.stop_gradient = True; net.weight.stop_gradient = net.bias.stop_gradient = True"),
        FROZEN.format(freeze="net.stop_gradient = False"),
        eager(WARM),
        eager(step="", hook="opt.clear_grad()").replace("\nopt.clear_grad()\n", "\n", 2),
        STATIC.format(rate="0.1", steps=1),
        STATIC.format(rate=WARM, steps=1),
    ],
    ids=[
        "a rate",
        "frozen as well",
        "set to what it is",
        "a rate that rises",
        "gradients alone",
        "program",
        "program, a rate that rises",
    ],
)
def test_nothing_is_said_of_what_may_go_on(tmp_path: Path, text: str) -> None:
    assert lines(tmp_path, text) == []
