"""GT110: A frozen parameter whose like is trained in the layers before and after it."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for answer in evidence.verdicts:
        if answer.beside:
            message = f"{answer.name} is {answer.label}, and its like is trained in the layers before and after it"
            yield Hit(answer.name, message, answer.location, answer.also, answer.said, "look whether that was meant")


RULE = Rule(
    code="GT110",
    name="frozen-alone",
    summary="A frozen parameter whose like is trained in the layers before and after it.",
    why=(
        "What is frozen on purpose is mostly one end of a model, or the same part of every layer. One layer in between "
        "is often a copied setting: trainable=False, or an attribute that two layers share."
    ),
    severity=Severity.NOTE,
    look=_look,
    wrong="""\
import paddle
import paddle.nn as nn

paddle.seed(0)
fixed = paddle.ParamAttr(trainable=False)
net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8, weight_attr=fixed), nn.Linear(8, 8), nn.Linear(8, 2))
loss = (net(paddle.rand([6, 8])) ** 2).mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn as nn

paddle.seed(0)
fixed = paddle.ParamAttr(trainable=False)
net = nn.Sequential(nn.Linear(8, 8, weight_attr=fixed), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 2))
loss = (net(paddle.rand([6, 8])) ** 2).mean()
loss.backward()
""",
)
