"""GT304: A gradient taken at a kink of the loss, where there is no derivative."""

from __future__ import annotations

from collections.abc import Iterator

from ...answers.gradcheck import KINK
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    kinks = [e for e in evidence.comparison.story.entries if e.status == KINK]
    if kinks:
        first, *others = kinks
        message = f"the gradient of {first.name} is taken where there is no derivative"
        yield Hit(first.name, message, first.loc, tuple(e.name for e in others), (first.cause,) if first.cause else ())


RULE = Rule(
    code="GT304",
    name="kink",
    summary="A gradient taken at a kink of the loss, where there is no derivative.",
    why=(
        "The gradient there is one of the slopes on the two sides, by convention. It matters if inputs are there by "
        "design, as in abs and relu of zeros. Off unless it is selected, since it computes differences."
    ),
    severity=Severity.NOTE,
    look=_look,
    always=False,
    wrong="""\
import paddle

w = paddle.create_parameter([4], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
loss = (w.abs() + w).sum()  # |w| has no derivative at 0, where all of it stands
loss.backward()
""",
    right="""\
import paddle

w = paddle.create_parameter([4], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))
loss = (w.abs() + w).sum()
loss.backward()
""",
)
