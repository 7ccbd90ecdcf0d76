"""GT901: Something that a rule would have looked at was not looked at."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    unchecked = evidence.unchecked
    for text in evidence.stops:  # no rule has seen what comes after
        yield Hit("", text, severity=Severity.WARNING)
    for text in unchecked:
        yield Hit("", text)


RULE = Rule(
    code="GT901",
    name="not-checked",
    summary="Something that a rule would have looked at was not looked at.",
    why="A check that skips something must say so. This finding names what was skipped, and why.",
    severity=Severity.NOTE,
    look=_look,
    wrong="""\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
y = paddle.static.nn.fc(x, 2)
large = y.mean() > 1e6
loss = paddle.static.nn.cond(large, lambda: y.square().mean(), lambda: y.mean())  # the first branch does not run
paddle.static.append_backward(loss)
""",
    right="""\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
y = paddle.static.nn.fc(x, 2)
large = y.mean() > 1e6
loss = paddle.where(large, y.square().mean(), y.mean())
paddle.static.append_backward(loss)
""",
)
