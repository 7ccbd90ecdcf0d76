"""GT503: More operators than the budget."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    operations = evidence.kept.story.operations
    if len(operations) <= options["operators"]:
        return
    lines: dict[object, int] = {}
    for operation in operations:
        lines[operation.loc[:1]] = lines.get(operation.loc[:1], 0) + 1
    most = max(operations, key=lambda o: lines[o.loc[:1]])
    message = f"one step computes {len(operations)} operators, above {options['operators']:g}"
    here = lines[most.loc[:1]]
    said = (f"{here} of them come from this line",)
    yield Hit("", message, most.loc, (), said, numbers={"operators": len(operations), "here": here})


RULE = Rule(
    code="GT503",
    name="operators",
    summary="One step computes more operators than the budget.",
    why="Many small operators cost more than few large ones: a loop over rows in Python is the usual reason.",
    severity=Severity.WARNING,
    look=_look,
    options={"operators": (100_000, "so many may be computed, forward and backward")},
    shown={"operators": 100},
    wrong="""\
import paddle

net = paddle.nn.Linear(4, 1)
x = paddle.rand([64, 4])
loss = sum(net(x[i]).sum() for i in range(64)) / 64
loss.backward()
""",
    right="""\
import paddle

net = paddle.nn.Linear(4, 1)
x = paddle.rand([64, 4])
loss = net(x).sum() / 64
loss.backward()
""",
)
