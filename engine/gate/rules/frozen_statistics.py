"""GT714: Batch norm in training mode in a frozen network, whose running statistics move."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for found in evidence.first_steps.moving:
        if found.steps >= options["steps"]:
            yield Hit(
                found.layers[0],
                f"{found.layers[0]} is frozen, and its running statistics move: it is called in training mode",
                found.loc,
                found.layers[1:],
                (f"{found.calls} calls in {found.steps} steps move them; no trained parameter reads what it gives",),
                f"put it in eval() before the training: {found.network}.eval()",
                numbers={"calls": found.calls, "steps": found.steps},
            )


_MODEL = """\
import paddle
from paddle import nn

paddle.seed(0)
teacher = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Linear(8, 2))
student = nn.Linear(4, 2)
for p in teacher.parameters():
    p.stop_gradient = True
{mode}
opt = paddle.optimizer.SGD(0.1, parameters=student.parameters())
for step in range(3):
    x = paddle.randn([8, 4])
    loss = (student(x) - teacher(x)).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""

RULE = Rule(
    code="GT714",
    name="statistics-move",
    summary="Batch norm in training mode in a frozen network, whose running statistics move.",
    why=(
        "A teacher whose parameters are frozen still changes with every batch. Its output for one input depends on the "
        "others, and what is saved is not what was loaded. A frozen body below layers that train is no finding, nor is "
        "a network whose values the script writes."
    ),
    severity=Severity.WARNING,
    look=_look,
    options={"steps": (2, "so many steps must move them")},
    wrong=_MODEL.format(mode="teacher.train()"),
    right=_MODEL.format(mode="teacher.eval()"),
)
