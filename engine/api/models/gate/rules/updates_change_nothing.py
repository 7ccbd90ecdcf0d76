"""GT702: Steps of an optimizer that change nothing, an optimizer without any, or a frozen parameter that changes."""

from __future__ import annotations

from collections.abc import Iterator

from ...questions.first_steps import IdleOptimizer
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    first = evidence.first_steps
    explained = any(a.finding for a in evidence.verdicts)  # why there is nothing to go by is said there
    for idle in first.idle:
        pushed = [n for n, steps in zip(idle.names, idle.pushed, strict=True) if steps]
        if idle.steps < options["steps"]:
            continue
        if len(idle.names) < idle.held:
            yield from _left_behind(idle, options)
            continue
        if not idle.names or (explained and not pushed):
            continue
        why = f"{len(pushed)} of them have a gradient" if pushed else "none of them has a gradient then"
        message = f"{idle.steps} steps of {idle.by} change none of the {len(idle.names)} parameters that it holds"
        said = (f"{why}; the learning rate is {idle.rate:g}" if idle.rate is not None else why,)
        yield Hit(
            idle.names[0],
            message,
            idle.loc,
            idle.names[1:],
            said,
            "call it after backward and before clear_grad; a rate far below the digits of a parameter is none",
        )
    for optimizer in first.unstepped:
        if optimizer.cleared >= options["steps"] and not evidence.incomplete:
            yield Hit(
                optimizer.names[0],
                f"the optimizer of {len(optimizer.names)} parameters makes no step, and their gradients are cleared "
                f"after {optimizer.cleared} passes",
                optimizer.loc,
                optimizer.names[1:],
                ("nothing reads these gradients before they are gone",),
                "call its step() after backward and before the gradients are cleared",
            )
    for name, loc in first.thawed:
        yield Hit(name, f"{name} is frozen, an optimizer holds it, and this line changes it", loc)


def _left_behind(idle: IdleOptimizer, options: Options) -> Iterator[Hit]:
    """What an optimizer leaves as it is, though it has gradients, while it changes others."""
    still = [n for n, steps in zip(idle.names, idle.pushed, strict=True) if steps >= options["steps"]]
    if still:
        rate = "" if idle.rate is None else f"the learning rate is {idle.rate:g}; "
        yield Hit(
            still[0],
            f"{idle.steps} steps of {idle.by} leave {len(still)} of its {idle.held} parameters as they are",
            idle.loc,
            tuple(still[1:]),
            (f"{rate}they have gradients that are not zero, and no update reaches the digits of their values",),
            "a larger learning rate, a clip that lets more through, or parameters in float32 rather than float16",
        )


RULE = Rule(
    code="GT702",
    name="updates-change-nothing",
    summary="Steps of an optimizer that change nothing, an optimizer without any, or a frozen parameter that changes.",
    why=(
        "A step between clear_grad and backward has nothing to go by: the loop runs, and nothing learns. What was "
        "frozen and is changed by hand all the same is no longer what was loaded."
    ),
    severity=Severity.ERROR,
    look=_look,
    options={"steps": (2, "so many steps must have changed nothing")},
    wrong="""\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1, bias_attr=False)
opt = paddle.optimizer.SGD(1e-12, parameters=net.parameters())  # float32 has eight digits
for step in range(4):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
    right="""\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1, bias_attr=False)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(4):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
)
