"""GT901: Something that a rule would have looked at was not looked at."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for text in evidence.unchecked:
        yield Hit("", text)


RULE = Rule(
    code="GT901",
    name="not-checked",
    summary="Something that a rule would have looked at was not looked at.",
    why=("An all-clear that leaves something out is worth less than a finding; this says what it leaves out."),
    severity=Severity.NOTE,
    look=_look,
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
for step in range(60):  # more passes than are watched
    loss = net(paddle.rand([2, 4])).mean()
    loss.backward()
    net.clear_gradients()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
for step in range(5):
    loss = net(paddle.rand([2, 4])).mean()
    loss.backward()
    net.clear_gradients()
""",
)
