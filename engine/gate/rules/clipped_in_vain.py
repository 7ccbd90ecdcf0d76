"""GT712: A clip of gradients that no step uses: after the step, or of no gradients at all."""

from __future__ import annotations

from collections.abc import Iterator

from ...core import source
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for named in evidence.first_steps.vain:
        vain, names = named.seen, named.names
        if vain.times < options["times"]:
            continue
        if not names:
            yield Hit(
                vain.by,
                f"{vain.by} is given no gradients, {vain.times} times",
                vain.loc,
                (),
                ("what it is given has none; a generator such as parameters() is empty once it was read",),
                "give it net.parameters() itself, after backward and before the step",
                numbers={"times": vain.times},
            )
            continue
        when = (
            "were cleared before" if vain.after is None else f"the step at {source.short(vain.after)} went by already"
        )
        yield Hit(
            names[0],
            f"{vain.by} clips gradients that no step goes by, {vain.times} times",
            vain.loc,
            names[1:],
            (f"they {when}" if vain.after is None else f"{when}",),
            "clip between backward and step",
            places=[] if vain.after is None else [("the step", vain.after)],
            numbers={"times": vain.times},
        )


_MODEL = """\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
"""

RULE = Rule(
    code="GT712",
    name="clipped-in-vain",
    summary="A clip of gradients that no step uses: after the step, or of no gradients at all.",
    why="Gradients are clipped against the one batch that ruins a training. A clip that comes too late does not help.",
    severity=Severity.ERROR,
    look=_look,
    options={"times": (2, "so often it must happen, and no other way at that line")},
    wrong=f"{_MODEL}    opt.step()\n    paddle.nn.utils.clip_grad_norm_(net.parameters(), 0.1)\n    opt.clear_grad()\n",
    right=f"{_MODEL}    paddle.nn.utils.clip_grad_norm_(net.parameters(), 0.1)\n    opt.step()\n    opt.clear_grad()\n",
)
