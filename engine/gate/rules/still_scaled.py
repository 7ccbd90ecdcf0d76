"""GT709: Gradients that are clipped or used in a step while they are still multiplied by the scale of the loss."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for named in evidence.first_steps.scaled:
        use, names = named.seen, named.names
        what = f"{use.by} clips" if use.clips else f"a step of {use.by} goes by"
        often = f"; it happens {use.times} times" if use.times > 1 else ""
        yield Hit(
            names[0],
            f"{what} gradients that are {use.scale:g} times as large as they are meant: of a scaled loss",
            use.loc,
            names[1:],
            (
                f"the scaler divides them by {use.scale:g} only after that{often}"
                if use.clips
                else f"nobody has divided them by {use.scale:g}{often}",
            ),
            "call scaler.unscale_(optimizer) before it" if use.clips else "call scaler.step(optimizer) in its place",
            numbers={"scale": use.scale, "times": use.times},
        )


RULE = Rule(
    code="GT709",
    name="still-scaled",
    summary="Gradients that are clipped or used in a step while they are still multiplied by the scale of the loss.",
    why=(
        "A GradScaler multiplies the loss, and so all gradients, by some ten thousand, and divides them in its step(). "
        "A clip before that takes nearly every norm for too large, and the updates become that many times too small. A "
        "step without the scaler makes them that many times too large."
    ),
    severity=Severity.ERROR,
    look=_look,
    wrong="""\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
for step in range(3):
    with paddle.amp.auto_cast():
        loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    scaler.scale(loss).backward()
    paddle.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # of norms of some thousand
    scaler.step(opt)
    scaler.update()
    opt.clear_grad()
""",
    right="""\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
for step in range(3):
    with paddle.amp.auto_cast():
        loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    paddle.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    opt.clear_grad()
""",
)
