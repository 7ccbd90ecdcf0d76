"""GT705: A gradient that is finite at first and turns NaN or infinite at a later step."""

from __future__ import annotations

from collections.abc import Iterator

from ...answers.over_time.step_events import NOT_FINITE
from ...core import source
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, NotAsked, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit | NotAsked]:
    training = evidence.training(int(options["steps"]) or None)
    if training is None:
        yield NotAsked()
        return
    first = next((h for h in training.happenings if h.kind == NOT_FINITE), None)
    if first is None or first.step < 2:
        return
    birth = next(iter(evidence.births.story.births), None)
    tracks = [t.name for t in first.tracks]
    who = tracks[0] if tracks else "the parameters"
    message = f"the gradient of {who} is not finite from step {first.step} on"
    said: tuple[str, ...] = ()
    if birth is not None:
        operator = evidence.births.names.operator(birth)
        said = (f"{operator} makes the first {birth.kind}, {source.short(birth.loc)}", *filter(None, (birth.cause,)))
    where, numbers = first.loc if birth is None else birth.loc, {"step": first.step}
    yield Hit(who, message, where, tuple(tracks[1:]), said, numbers=numbers)


RULE = Rule(
    code="GT705",
    name="turns-not-finite",
    summary="A gradient that is finite at first and turns NaN or infinite at a later step.",
    why=(
        "GT201 and GT202 name the operator; this names the step, and says that all steps before were fine. One batch "
        "has a bad number, or values grow with every step. Off unless it is selected."
    ),
    severity=Severity.ERROR,
    look=_look,
    options={"steps": (0, "so many steps are watched; 0: as many as the file is watched for")},
    always=False,
    wrong="""\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for step in range(5):
    x = paddle.rand([6, 3]) + 0.1
    if step == 3:
        x[2, 1] = 0.0
    loss = net(paddle.log(x)).square().mean()  # of 0 in the fourth batch
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
    right="""\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for step in range(5):
    x = paddle.rand([6, 3]) + 0.1
    if step == 3:
        x[2, 1] = 0.0
    loss = net(paddle.log(x + 1e-3)).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
)
