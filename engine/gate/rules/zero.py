"""GT205: A gradient that is zero in every element, without a reason in the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...answers.why.verdicts import Verdict
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule, answer_hit, look_for_verdict


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    hits = list(look_for_verdict("GT205")(evidence, options))
    yield from hits or _find_rest(evidence)


def _find_rest(evidence: Evidence) -> Iterator[Hit]:
    """Losses that are least from the first step to the last: nothing has led there, so that nothing is trained."""
    steps = evidence.run.history.steps if evidence.has_passed else []
    points = [point for step in steps for point in step.points.values()]
    if len(steps) < _SEVERAL or any(point.gradient.norm or point.gradient.nonfinite for point in points):
        return
    for loss, answer in evidence.answers:
        if answer.verdict is Verdict.AT_MINIMUM:
            message = f"every gradient of {len(steps)} steps is 0, that of {answer.name} too: {answer.label}"
            said = (*(text.partition("; ")[0] for text in answer.said), "it was there before the first step")
            yield replace(answer_hit(answer, loss), message=message, explanation=said, numbers={"steps": len(steps)})


_SEVERAL = 2
"""One pass may be made where the training has come to its end."""

RULE = Rule(
    code="GT205",
    name="zero-gradient",
    summary="A gradient that is zero in every element, without a reason in the model.",
    why=(
        "It was multiplied by 0, clipped out of range, cancelled, or cleared before the step. The parameter does not "
        "move, and no error says so."
    ),
    severity=Severity.ERROR,
    look=_look,
    explains=True,
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
weight = 0.0  # of a term that was to be switched on later
loss = weight * (net(paddle.rand([8, 4])) - 1).square().mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
weight = 0.5
loss = weight * (net(paddle.rand([8, 4])) - 1).square().mean()
loss.backward()
""",
)
