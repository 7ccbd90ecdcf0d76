"""GT501: Backward keeps more bytes alive than the budget."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule

_MIB = 2**20


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    story = evidence.kept.story
    if story.total <= options["mebibytes"] * _MIB:
        return
    largest = max(story.kept, key=lambda b: b.nbytes)
    maker = largest.producer
    freed, count, share = story.recomputable
    said = [f"the largest of {len(story.kept)} buffers has {_size(largest.nbytes)}"]
    if maker is not None:
        said[0] += f", made by {maker.type}"
    message = f"backward keeps {_size(story.total)}, above {options['mebibytes']:g} MiB"
    advice = f"computing {count} operators again ({share} % of the forward work) frees {_size(freed)}" if count else ""
    numbers = {"bytes": story.total, "largest": largest.nbytes, "buffers": len(story.kept)}
    yield Hit("", message, () if maker is None else maker.loc, (), tuple(said), advice, numbers=numbers)


def _size(count: int) -> str:
    return f"{count / _MIB:.4g} MiB"


RULE = Rule(
    code="GT501",
    name="kept-bytes",
    summary="Backward keeps more bytes alive than the budget.",
    why="What forward computed stays until backward has read it. These values fill a device, not the parameters.",
    severity=Severity.WARNING,
    look=_look,
    options={"mebibytes": (4096.0, "so many may be kept")},
    shown={"mebibytes": 0.5},
    wrong="""\
import paddle

paddle.seed(0)
layers = [paddle.nn.Linear(64, 64) for _ in range(12)]
h = paddle.rand([256, 64])
for layer in layers:
    h = paddle.tanh(layer(h))
loss = h.mean()
loss.backward()
""",
    right="""\
import paddle
from paddle.distributed.fleet.utils import recompute

paddle.seed(0)
layers = [paddle.nn.Linear(64, 64) for _ in range(12)]


def half(h, which):
    for layer in which:
        h = paddle.tanh(layer(h))
    return h


h = paddle.rand([256, 64])
for i in range(0, 12, 6):
    h = recompute(half, h, layers[i : i + 6], use_reentrant=False)
loss = h.mean()
loss.backward()
""",
)
