"""GT301: A gradient that is not the derivative of the loss: a wrong gradient rule of your own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...answers import own_rules
from ...answers.gradcheck import UNCHECKED, WRONG, LeafCheck
from ...core.command_errors import CommandError
from ...core.errors import GradtoolError
from ...eager.pylayer import LayerNode
from ...eager.tape import GradNode
from ...recorders.recorded.nodes import ForeignNode
from ..evidence import Evidence, OtherLoss
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    beside = zip(evidence.together, evidence.verdicts.about.together, strict=True)
    own = [loss for loss, of_pass in beside if of_pass.has_own_rules or options["every"]]
    losses: list[Evidence | OtherLoss] = [evidence, *evidence.others, *own]
    checked = [loss for loss in losses if options["every"] or _own_rules(loss)]
    entries = [e for loss in checked for e in _compare(evidence, loss)]
    wrong = [e for e in entries if e.status == WRONG and not e.meant]
    if wrong:
        first, *others = wrong
        told = (
            "" if first.element is None else f": {first.element[0]:.4g}, where differences say {first.element[1]:.4g}"
        )
        message = f"the gradient of {first.name} is wrong{told}"
        said = tuple(text for text in (first.cause, first.suspect and f"on its way: {first.suspect}") if text)
        also = dict.fromkeys(e.name for e in others if e.name != first.name)
        pair = {} if first.element is None else {"gradient": first.element[0], "difference": first.element[1]}
        yield Hit(first.name, message, first.loc, tuple(also), said, numbers=pair)


def _own_rules(loss: Evidence | OtherLoss) -> list[GradNode]:
    """Operators whose gradient is the user's own; gradtool's are checked by its tests."""
    nodes = (o.origin for o in loss.sizes.story.operators)
    return [n for n in nodes if isinstance(n, (LayerNode, ForeignNode)) and own_rules.is_own(n)]


def _compare(evidence: Evidence, loss: Evidence | OtherLoss) -> Sequence[LeafCheck]:
    """Gradients beside differences; of another framework's run where what is not the user's own comes out right."""
    own = _own_rules(loss)
    if not any(isinstance(node, ForeignNode) for node in own):
        return loss.comparison.story.entries
    rules = ", ".join(dict.fromkeys(n.op.type.removeprefix("PyLayer_") for n in own))
    untold = f"whether the gradients that {rules} gives are derivatives"
    try:
        entries = loss.comparison.story.entries
    except (CommandError, GradtoolError) as error:
        evidence.note_untried(f"{untold}: {error.message}")
        return ()
    strange = next((e for e in entries if e.status == WRONG and not e.own), None)
    lost = next((e for e in entries if e.status == UNCHECKED and e.cause), None)
    if strange is not None:
        evidence.note_untried(f"{untold}: computed again, the gradient of {strange.name} is another, too")
        return ()
    if lost is not None:
        evidence.note_untried(f"{untold}: {lost.cause}")
    return entries


RULE = Rule(
    code="GT301",
    name="wrong-gradient",
    summary="A gradient that is not the derivative of the loss: a wrong gradient rule of your own.",
    why="With a wrong gradient the loss mostly still falls, more slowly, and to a worse place.",
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
