"""GT703: One batch that cannot be learned, and what keeps its loss up."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, NotAsked, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit | NotAsked]:
    batch = evidence.one_batch(int(options["steps"]), options["part"])
    if isinstance(batch, str):
        yield NotAsked()
        return
    if batch is None or batch.learned:
        return
    message = f"the first batch cannot be learned: the loss goes from {batch.first:.4g} to {batch.best:.4g}"
    numbers = {"first": batch.first, "best": batch.best}
    yield Hit("", f"{message}, as {batch.stopped_by} keeps it there", batch.loc, (), batch.said, numbers=numbers)


RULE = Rule(
    code="GT703",
    name="one-batch",
    summary="One batch that cannot be learned, and what keeps its loss up.",
    why=(
        "What cannot learn one batch by heart learns no data either. It is the quickest test of a training, made on a "
        "copy of the parameters. Off unless it is selected, since it computes many steps."
    ),
    severity=Severity.WARNING,
    look=_look,
    options={
        "steps": (60, "so many steps are tried, by each rate"),
        "part": (0.1, "by that part the loss has to fall"),
    },
    always=False,
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 1), paddle.nn.Sigmoid())
loss = F.mse_loss(net(paddle.rand([8, 4])), paddle.rand([8, 1]) + 40)  # a sigmoid ends at 1
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 1))
loss = F.mse_loss(net(paddle.rand([8, 4])), paddle.rand([8, 1]) + 4)
loss.backward()
""",
)
