"""GT301: A gradient that is not the derivative of the loss: a wrong gradient rule of the user's own."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.engine.answers.gradcheck import WRONG
from gradtool.engine.eager.pylayer import LayerNode

from ..evidence import Evidence, OtherLoss
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    losses: list[Evidence | OtherLoss] = [evidence, *evidence.others]
    checked = [loss for loss in losses if options["every"] or _has_own_rules(loss)]
    wrong = [e for loss in checked for e in loss.comparison.story.entries if e.status == WRONG]
    if wrong:
        first, *others = wrong
        told = (
            "" if first.element is None else f": {first.element[0]:.4g}, where differences say {first.element[1]:.4g}"
        )
        message = f"the gradient of {first.name} is wrong{told}"
        said = tuple(text for text in (first.cause, first.suspect and f"on its way: {first.suspect}") if text)
        also = dict.fromkeys(e.name for e in others if e.name != first.name)
        yield Hit(first.name, message, first.loc, tuple(also), said)


def _has_own_rules(loss: Evidence | OtherLoss) -> bool:
    """Whether the gradient of an operator is the user's own; gradtool's are checked by its tests."""
    return any(isinstance(o.origin, LayerNode) for o in loss.sizes.story.operators)


RULE = Rule(
    code="GT301",
    name="wrong-gradient",
    summary="A gradient that is not the derivative of the loss: a wrong gradient rule of the user's own.",
    why="A wrong gradient mostly still makes the loss fall, more slowly and to a worse place than it could.",
    severity=Severity.ERROR,
    look=_look,
    options={"every": (0, "1 compares gradients of models without gradient rules of their own, too")},
    wrong="""\
import paddle
from paddle.autograd import PyLayer

paddle.seed(0)


class Cube(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return dy * 2 * x * x  # the derivative is 3 x²


net = paddle.nn.Linear(4, 3)
loss = Cube.apply(net(paddle.rand([8, 4]))).mean()
loss.backward()
""",
    right="""\
import paddle
from paddle.autograd import PyLayer

paddle.seed(0)


class Cube(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return dy * 3 * x * x


net = paddle.nn.Linear(4, 3)
loss = Cube.apply(net(paddle.rand([8, 4]))).mean()
loss.backward()
""",
)
