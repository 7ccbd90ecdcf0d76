"""GT204: A gradient so small that its parameter does not notice it."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.engine.answers.stats import SMALLEST_RATIO, Line

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Rule, Thresholds, worst


def _look(evidence: Evidence, options: Thresholds) -> Iterator[Hit]:
    yield from worst(evidence, lambda line: _size(line, options.of(line.name)["ratio"]))


def _size(line: Line, least: float) -> tuple[float, str] | None:
    """How many times too small a gradient is, and what is said of it; None if it is not."""
    assert line.gradient is not None
    ratio = line.ratio
    if not ratio or ratio >= least:
        return None
    return least / ratio, f"the gradient of {line.name} has {ratio:.3g} times the norm of the parameter"


RULE = Rule(
    code="GT204",
    name="vanishing-gradient",
    summary="A gradient so small that its parameter does not notice it.",
    why=("float32 holds eight digits: a step that is a smaller part of the parameter than that changes nothing."),
    severity=Severity.WARNING,
    look=_look,
    by_parameter=True,
    options={"ratio": (SMALLEST_RATIO, "a gradient that is a smaller part of its parameter vanishes")},
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

layers = [paddle.nn.Linear(4, 4) for _ in range(16)]
h = paddle.rand([8, 4])
for layer in layers:
    h = F.sigmoid(layer(h) * 0.1)
loss = h.mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

layers = [paddle.nn.Linear(4, 4) for _ in range(16)]
h = paddle.rand([8, 4])
for layer in layers:
    h = h + F.sigmoid(layer(h))
loss = h.mean()
loss.backward()
""",
)
