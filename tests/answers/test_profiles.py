"""``profile``: repeats fall together, groups add up, stacks are folded; nothing depends on how long things take."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradtool import paddle, profile
from gradtool.engine.answers.events import OpEvent
from gradtool.engine.answers.profile import Clock, Cost, ProfileStory
from gradtool.engine.view.graph import BACKWARD, FORWARD
from tests.cli.conftest import folder, gradtool, model  # noqa: F401


def cost(name: str, part: str, *seconds: float, layer: str = "") -> Cost:
    return Cost(name, name.partition(".")[0], part, (), None, 8, list(seconds), layer)


STORY = ProfileStory(
    [
        cost("mul.0", FORWARD, 2.0, layer="fc"),
        cost("mul_grad.1", BACKWARD, 1.0, 4.0, 2.0, layer="fc"),
        cost("mul_grad.0", BACKWARD, 1.0, 1.0, 1.0, layer="f;c"),
    ]
)


def test_groups_add_up_repeat_by_repeat() -> None:
    grads, mul = STORY.group_by("type")
    assert (grads.name, grads.calls, grads.nbytes, grads.seconds) == ("mul_grad", 2, 16, [2.0, 5.0, 3.0])
    assert (grads.median, grads.spread) == (3.0, 3.0)
    assert (mul.seconds, mul.spread) == ([2.0], 0.0)
    assert STORY.total.seconds == [4.0, 7.0, 5.0]  # what was measured once counts in every repeat
    assert [g.name for g in STORY.group_by("layer")] == ["fc", "f;c"]
    assert STORY.repeats == 3


def test_folded_stacks() -> None:
    assert STORY.flame() == (
        "forward;fc;(unknown);mul 2000000000\n"
        "backward;fc;(unknown);mul_grad 2000000000\n"
        "backward;f,c;(unknown);mul_grad 1000000000\n"
    )


def test_a_repeat_is_matched_operator_by_operator() -> None:
    clock = Clock()

    def event(type_: str, part: str) -> OpEvent:
        return OpEvent(type_, part, (), {}, [], [], None, 1.0)

    for _ in range(2):
        clock(event("exp", FORWARD))
        clock(event("exp_grad", BACKWARD))
        clock.again()
    clock.again(BACKWARD)
    clock(event("exp_grad", BACKWARD))
    clock(event("other", BACKWARD))
    assert [(c.type, len(c.seconds)) for c in clock.story().costs] == [("exp", 2), ("exp_grad", 3), ("other", 1)]


def test_functions_tensors_and_programs() -> None:
    paddle.disable_static()
    net = paddle.nn.Linear(3, 2)
    x = paddle.ones([4, 3])
    story = profile(lambda: net(x).sum(), repeats=3)
    assert [(c.type, len(c.seconds)) for c in story.costs] == [
        ("matmul_v2", 3),
        ("elementwise_add", 3),
        ("reduce_sum", 3),
        ("reduce_sum_grad", 3),
        ("elementwise_add_grad", 3),
        ("matmul_v2_grad", 3),
    ]
    assert {c.part for c in profile(net(x).sum(), repeats=1).costs} == {BACKWARD}
    assert net.weight.grad is None
    paddle.enable_static()
    v = paddle.static.data("x", [4, 3])
    loss = paddle.static.nn.fc(v, 2, name="head").mean()
    paddle.static.Executor().run(paddle.static.default_startup_program())
    static = profile(loss, feed={"x": np.ones([4, 3], "float32")}, repeats=2)
    assert {len(c.seconds) for c in static.costs} == {2}
    types = {c.type for c in static.costs if c.layer == "head"}
    assert types == {"mul", "elementwise_add", "mul_grad", "elementwise_add_grad"}
    with pytest.raises(ValueError, match="repeats must be at least 1"):
        profile(loss, repeats=0)


def test_the_command_writes_stacks(gradtool: object, model: object, folder: Path) -> None:  # noqa: F811
    text = "import paddle\nnet = paddle.nn.Linear(3, 2)\nloss = net(paddle.ones([4, 3])).sum()\n"
    done = gradtool("stats", "--time", model(text), "--by", "op", "--flame", "stacks.txt", "--format", "tsv")  # type: ignore[operator]
    assert done.code == 0
    forward = ["matmul_v2", "elementwise_add", "reduce_sum"]
    assert {row[0] for row in done.cells[1:]} == {f"{t}{end}.0" for t in forward for end in ("", "_grad")}
    lines = (folder / "stacks.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("forward;net;model.py:3;matmul_v2 ")


def test_the_command_calls_operators_of_the_last_step_again(gradtool: object, model: object) -> None:  # noqa: F811
    """Also those inside of a PyLayer, which are not recorded; and random numbers go on as they would have."""
    text = """
import paddle
import numpy as np

class Double(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return paddle.scale(x, 2.0)

    @staticmethod
    def backward(ctx, dy):
        return dy * 2.0

net = paddle.nn.Linear(3, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(2):
    loss = paddle.mean(Double.apply(paddle.nn.functional.dropout(net(paddle.ones([4, 3])), 0.5)))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
    done = gradtool("stats", "--time", model(text), "--repeats", "3", "--format", "json", "-q")  # type: ignore[operator]
    groups = {g["name"]: g for g in json.loads(done.out)["groups"]}
    assert {"matmul_v2", "dropout", "scale", "PyLayer_Double_grad"} <= set(groups)
    assert "sgd" not in groups
    assert {g["calls"] for g in groups.values()} == {1}
    assert {len(g["seconds"]) for g in groups.values()} == {3}
