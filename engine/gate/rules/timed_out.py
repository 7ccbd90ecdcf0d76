"""GT905: A model without an answer within the time limit."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, find_nothing

RULE = Rule(
    code="GT905",
    name="timed-out",
    summary="A model without an answer within the time limit.",
    why="A file that waits for ever would hold up the pipeline. Nothing of it was checked.",
    severity=Severity.ERROR,
    look=find_nothing,  # who waits for the process finds this: gate/process.py
    alone=True,
    wrong="""\
import paddle

net = paddle.nn.Linear(4, 1)
loss = net(paddle.rand([8, 4])).mean()
loss.backward()
while True:  # the condition that ends it was forgotten
    pass
""",
    right="""\
import paddle

net = paddle.nn.Linear(4, 1)
loss = net(paddle.rand([8, 4])).mean()
loss.backward()
""",
)
