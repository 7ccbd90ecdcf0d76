"""Gradients that vanish over many layers, by the commands: what is said, that they agree, and what it costs."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.cli.conftest import Run, Write

MODEL = """\
import paddle
paddle.seed(1)
layers = [paddle.nn.Linear(4, 4) for _ in range({layers})]
x = paddle.randn([2, 4])
for layer in layers:
    x = paddle.tanh(layer(x)) * {factor}
loss = (x - 1.0).square().mean()
"""

STATIC = """\
import paddle
from paddle import static
paddle.enable_static()
x = paddle.ones([2, 4])
for _ in range({layers}):
    x = paddle.tanh(static.nn.fc(x, 4)) * {factor}
loss = ((x - 1.0) ** 2).mean()
"""


@pytest.mark.parametrize("text", [MODEL, STATIC], ids=["dynamic", "static"])
def test_an_answer_costs_in_proportion_to_the_graph(gradtool: Run, model: Write, text: str) -> None:
    """Function calls are counted, and no time is taken."""

    def calls(layers: int) -> int:
        count = 0

        def note(*_: Any) -> None:
            nonlocal count
            count += 1

        file = model(text.format(layers=layers, factor=0.01))
        sys.setprofile(note)
        try:
            done = gradtool("why", file, "-q")
        finally:
            sys.setprofile(None)
        assert "vanished" in done.out
        return count

    calls(10)
    few, many, more = calls(60), calls(120), calls(180)
    assert more - many < 1.2 * (many - few)


def test_stats_says_what_why_says(gradtool: Run, model: Write) -> None:
    done = gradtool("stats", model(MODEL.format(layers=60, factor=0.01)), "-q")
    (headline,) = [line for line in done.out.splitlines() if line.startswith("vanished: × 0.0")]
    assert headline.endswith("model.py:6")
