"""Shares of ``profile``: forward and backward apart, and each adds up to 100 %."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gradtool.engine.answers.profile import Cost, ProfileStory
from gradtool.engine.core.wording import percentages

Write = Callable[[str], str]
Run = Callable[..., Any]

DYNAMIC = """\
import paddle

first, second = paddle.nn.Linear(5, 7), paddle.nn.Linear(7, 3)
loss = paddle.nn.functional.softmax(second(paddle.tanh(first(paddle.ones([2, 5])))))[:, 0].sum()
"""

STATIC = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 8])
loss = paddle.mean(paddle.static.nn.fc(paddle.tanh(paddle.static.nn.fc(x, 3, name="body")), 1, name="head"))
"""


@pytest.mark.parametrize("by", ["op", "type", "layer", "line", "part"])
@pytest.mark.parametrize("text", [DYNAMIC, STATIC], ids=["dynamic", "static"])
def test_shares_add_up(text: str, by: str, gradtool: Run, model: Write) -> None:
    file = model(text)
    cells = gradtool("stats", "--time", file, "--by", by, "--repeats", "3", "--format", "tsv").cells
    for part in ("forward", "backward"):
        column = [row[cells[0].index(part)] for row in cells[1:]]
        tenths = [round(10 * float(cell.removesuffix(" %"))) for cell in column if cell != "–"]
        assert sum(tenths) == 1000, column
    groups = json.loads(gradtool("stats", "--time", file, "--by", by, "--repeats", "3", "--format", "json").out)[
        "groups"
    ]
    for part in ("forward", "backward"):
        assert sum(g["shares"].get(part, 0.0) for g in groups) == pytest.approx(1.0)


def test_a_share_is_of_its_own_part() -> None:
    costs = [
        Cost("a", "a", "forward", (), None, 0, [1.0, 9.0, 3.0]),
        Cost("b", "b", "forward", (), None, 0, [9.0, 1.0, 1.0]),
        Cost("a_grad", "a_grad", "backward", (), None, 0, [12.0, 12.0, 12.0]),
    ]
    story = ProfileStory(costs)
    assert {g.name: g.parts for g in story.group_by("type")} == {
        "a": {"forward": 3.0},
        "b": {"forward": 1.0},
        "a_grad": {"backward": 12.0},
    }
    assert story.total.parts == {"forward": 4.0, "backward": 12.0}


@pytest.mark.parametrize("shares", [[1, 1, 1], [1e-9, 1], [2, 3, 5, 7, 11, 13, 17], [1] * 700, [5.0]])
def test_percentages_are_a_whole(shares: list[float]) -> None:
    tenths = [round(10 * float(text.removesuffix(" %"))) for text in percentages(shares)]
    assert sum(tenths) == 1000
    assert all(abs(t - 1000 * s / sum(shares)) < 1 for t, s in zip(tenths, shares, strict=True))
