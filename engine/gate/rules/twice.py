"""GT504: The same values are computed and kept several times."""

from __future__ import annotations

from collections.abc import Iterator

from ...core import source
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    story = evidence.kept.story
    if story.duplicated < max(options["part"] * story.total, options["bytes"]):
        return
    copies = [b for b in story.kept if b.duplicate_of is not None]
    largest = max(copies, key=lambda b: b.nbytes)
    first = next((b for b in story.buffers if b.number == largest.duplicate_of), None)
    maker = largest.producer
    said: tuple[str, ...] = ()
    if first is not None and first.producer is not None:
        said = (f"the first of them is made by {first.producer.type}, {source.short(first.producer.loc)}",)
    message = f"{story.duplicated} of the {story.total} bytes that backward keeps have the contents of others"
    yield Hit("", message, () if maker is None else maker.loc, (), said, "compute it once and pass it on")


RULE = Rule(
    code="GT504",
    name="computed-twice",
    summary="The same values are computed and kept several times.",
    why="A forward pass that is called twice in place of once costs twice the time and memory.",
    severity=Severity.NOTE,
    look=_look,
    options={
        "part": (0.25, "that part of what is kept may be there twice"),
        "bytes": (65536, "and so many bytes in any case"),
    },
    shown={"bytes": 1024},
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
body, head = paddle.nn.Linear(8, 32), paddle.nn.Linear(32, 1)
x = paddle.rand([16, 8])
loss = head(F.tanh(body(x))).square().mean()
penalty = F.tanh(body(x)).square().mean()  # once more what is there already
(loss + penalty).backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
body, head = paddle.nn.Linear(8, 32), paddle.nn.Linear(32, 1)
h = F.tanh(body(paddle.rand([16, 8])))
loss = head(h).square().mean()
penalty = h.square().mean()
(loss + penalty).backward()
""",
)
