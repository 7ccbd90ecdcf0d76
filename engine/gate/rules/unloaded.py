"""GT903: A model that could not be run: its code raised, or the engine refused."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    """Ask for something, so that what it raises is told; who applies rules makes a finding of that."""
    _ = evidence.verdicts
    yield from ()


RULE = Rule(
    code="GT903",
    name="not-loaded",
    summary="A model that could not be run: its code raised, or the engine refused.",
    why="A model that does not run is not checked at all.",
    severity=Severity.ERROR,
    look=_look,
    wrong="""\
import paddle

net = paddle.nn.Linear(4, 1)
loss = net(paddle.rand([8, 5])).mean()  # 5 features, where the layer has 4
loss.backward()
""",
    right="""\
import paddle

net = paddle.nn.Linear(4, 1)
loss = net(paddle.rand([8, 4])).mean()
loss.backward()
""",
)
