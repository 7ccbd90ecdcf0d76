"""GT108: A backward call that needs values which are gone: freed by an earlier call, or overwritten in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule, answer_hit


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    failure = evidence.verdicts.failure
    if failure is not None:
        yield replace(answer_hit(failure), subject="", message=f"backward fails here: {failure.label}")


RULE = Rule(
    code="GT108",
    name="backward-fails",
    summary="A backward call that needs values which are gone: freed by an earlier call, or overwritten in place.",
    why="Training stops there. Compute the loss anew, or edit a copy.",
    severity=Severity.ERROR,
    look=_look,
    wrong="""\
import paddle

w = paddle.create_parameter([4], "float32")
loss = (w * w).sum()
loss.backward()
loss.backward()  # the first one has freed what it needs
""",
    right="""\
import paddle

w = paddle.create_parameter([4], "float32")
for step in range(2):
    loss = (w * w).sum()
    loss.backward()
    w.clear_grad()
""",
)
