"""GT502: At one operator more bytes are kept for backward than the budget."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule

_MIB = 2**20


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    story = evidence.kept.story
    at = story.peak_operation
    if at is None or story.peak <= options["mebibytes"] * _MIB:
        return
    message = f"{story.peak / _MIB:.4g} MiB are kept for backward at {at.type}, above {options['mebibytes']:g} MiB"
    yield Hit("", message, at.loc, numbers={"bytes": story.peak})


RULE = Rule(
    code="GT502",
    name="peak-bytes",
    summary="At one operator more bytes are kept for backward than the budget.",
    why="The largest number of bytes at any time has to fit. One place of the program decides it.",
    severity=Severity.WARNING,
    look=_look,
    options={"mebibytes": (4096.0, "so many may be kept at any time")},
    shown={"mebibytes": 0.5},
    wrong="""\
import paddle

paddle.seed(0)
x = paddle.rand([64, 64])
w = paddle.create_parameter([64, 64], "float32")
pairs = paddle.tanh(x.unsqueeze(1) * w.unsqueeze(0))  # 64 x 64 x 64
loss = pairs.square().mean()
loss.backward()
""",
    right="""\
import paddle

paddle.seed(0)
x = paddle.rand([64, 64])
w = paddle.create_parameter([64, 64], "float32")
loss = paddle.tanh(x * w).square().mean()
loss.backward()
""",
)
