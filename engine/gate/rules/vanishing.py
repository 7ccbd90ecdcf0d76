"""GT204: A gradient so small that its parameter does not change, or one that shrinks from layer to layer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from ...answers.numbers import VANISHING
from ...answers.stats import SMALLEST_RATIO, TREND, Line
from ...answers.why.advice import advice
from ...answers.why.verdicts import Verdict
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Rule, Thresholds, answer_hit, loss_note, worst


def _look(evidence: Evidence, options: Thresholds) -> Iterator[Hit]:
    # What is zero with a reason, a bias before batch norm say, is rounding and nothing that vanishes.
    zero = {answer.name for _, answer in evidence.answers if not answer.finding}
    rounding = _find_rounding(evidence)
    begun = min((_scale_size(line) for _, line in evidence.parameters), default=1.0)

    def size(line: Line) -> tuple[float, str] | None:
        return (
            None
            if line.name in zero or line.name in rounding
            else _size(line, options.options_for(line.name)["ratio"] * begun**2)
        )

    small = list(worst(evidence, size))
    # One scale of 1 has no layer that stands still with it: how far it is to move is its own affair.
    scales = {line.name for _, line in evidence.parameters if line.shape in ((), (1,))}
    if all(scales.issuperset((hit.subject, *hit.also)) for hit in small):
        small = []
    yield from small or _underflows(evidence) or _find_falls(evidence, options)


def _underflows(evidence: Evidence) -> list[Hit]:
    """Return gradients that became smaller than any number of their type, and are 0."""
    gone = ((loss, a) for loss, a in evidence.answers if a.finding and a.verdict is Verdict.VANISHED)
    return [answer_hit(a, loss) for loss, a in gone if a.gradient is None or not a.gradient.norm]


def _find_falls(evidence: Evidence, options: Thresholds) -> Iterator[Hit]:
    """Gradients that shrink in order over the layers, long before the first parameter does not notice them."""
    for loss, story in evidence.stories:
        lines = {line.name: line for line in story.parameters if line.gradient is not None}
        if any(line.gradient.nonfinite for line in lines.values() if line.gradient is not None):
            continue  # which other rules tell
        course = story.course
        if (
            course is None
            or course.kind != VANISHING
            or 10**-course.decades > options.options_for(course.first)["fall"]
        ):
            continue
        said = (
            f"gradients fall to {10**-course.decades:.3g} of their size from {course.last} back to {course.first}, "
            f"× {course.factor:.3g} per layer"
        )
        yield Hit(
            course.first,
            said,
            lines[course.first].loc,
            explanation=loss_note(loss),
            advice=advice(Verdict.VANISHED),
            numbers={"fall": 10**-course.decades, "factor": course.factor},
        )


def _find_rounding(evidence: Evidence) -> set[str]:
    """Return the biases whose gradients are rounding next to those of their weights: softmax cancels that of keys."""
    sizes = {line.name: line.size for _, line in evidence.parameters}
    weights = {name: _BIAS.sub(lambda end: _WEIGHTS[end[0]], name) for name in sizes if _BIAS.search(name)}
    return {bias for bias, weight in weights.items() if sizes[bias] < _CANCELLED * sizes.get(weight, 0.0)}


_CANCELLED = 1e-5
_WEIGHTS = {".bias": ".weight", ".b_0": ".w_0"}
_BIAS = re.compile(r"\.(bias|b_0)$")


def _scale_size(line: Line) -> float:
    """Return the size of a number of what is trained and begins near 0, as scales and low ranks do; 1 of others.

    What is behind it gets little until it has grown, and it is multiplied twice where an attention is scaled, too.
    """
    if line.gradient is None or not line.weight or _ADDED.search(line.name):
        return 1.0
    size = line.weight / math.sqrt(max(math.prod(line.shape), 1))
    return size if size < _NEAR_ZERO else 1.0


_NEAR_ZERO = 1e-3
_ADDED = re.compile(r"bias|beta|shift|(^|[._])b(_\d+)?$")
"""Names of parameters that are added, and begin at 0 for that."""


def _size(line: Line, least: float) -> tuple[float, str] | None:
    """Return how many times too small a gradient is, and the message; None if it is not."""
    assert line.gradient is not None
    ratio = line.ratio
    if not ratio or ratio >= least:
        return None
    return least / ratio, f"the gradient of {line.name} has {ratio:.3g} times the norm of the parameter"


RULE = Rule(
    code="GT204",
    name="vanishing-gradient",
    summary="A gradient so small that its parameter does not change, or one that shrinks from layer to layer.",
    why=(
        "float32 holds eight digits: a step that is a smaller part of the parameter changes nothing. If gradients "
        "shrink in each layer on the way back, the first layers hardly learn."
    ),
    severity=Severity.WARNING,
    look=_look,
    by_parameter=True,
    options={
        "ratio": (SMALLEST_RATIO, "a gradient that is a smaller part of its parameter vanishes"),
        "fall": (
            10**-TREND,
            "gradients that fall in order to this part or less, from the last layer to the first, vanish",
        ),
    },
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
