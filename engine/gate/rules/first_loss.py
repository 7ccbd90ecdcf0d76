"""GT704: A classifier whose first loss is far above that of one that knows nothing."""

from __future__ import annotations

from collections.abc import Iterator

from ...core import source
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    loss = evidence.first_steps.loss
    if loss is None or loss.value is None or loss.classes < 2:
        return
    if loss.value <= options["times"] * loss.usual:
        return
    nothing = f"a classifier of {loss.classes} classes that knows nothing has {loss.usual:.4g}"
    message = f"the first loss is {loss.value:.4g}; {nothing}"
    said = [f"its logits reach {loss.largest:.4g}"]
    if loss.maker is not None:
        sizes = ", ".join(f"{size:.4g}" for size in loss.sizes)
        said.append(f"{loss.maker[0]}, {source.short(loss.maker[1])}, makes them of numbers up to {sizes}")
    where = loss.loc if loss.maker is None else loss.maker[1]
    yield Hit(
        "",
        message,
        where,
        (),
        tuple(said),
        "scale what this layer reads, or begin with smaller weights",
        places=[("the loss", loss.loc)],
        numbers={"value": loss.value, "usual": loss.usual, "classes": loss.classes, "largest": loss.largest},
    )


RULE = Rule(
    code="GT704",
    name="first-loss",
    summary="A classifier whose first loss is far above that of one that knows nothing.",
    why=(
        "The first epochs only make the logits smaller. Causes are inputs in the wrong unit, weights that begin too "
        "large, or labels of other classes than the logits have."
    ),
    severity=Severity.WARNING,
    look=_look,
    options={"times": (8.0, "the first loss may be so many times the logarithm of the number of classes")},
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 10)
pixels = paddle.rand([8, 4]) * 255  # and never divided by it
loss = F.cross_entropy(net(pixels), paddle.randint(0, 10, [8]))
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 10)
pixels = paddle.rand([8, 4])
loss = F.cross_entropy(net(pixels), paddle.randint(0, 10, [8]))
loss.backward()
""",
)
