"""GT105: A frozen parameter that an optimizer holds."""

from __future__ import annotations

from collections.abc import Iterator

from ...core import source
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for listing in evidence.frozen_and_listed:
        first, *others = listing.names
        message = f"{first} is frozen, and the optimizer made here holds it"
        said = (f"frozen at {source.short(listing.frozen)}",) if listing.frozen else ()
        yield Hit(first, message, listing.loc, tuple(others), said, "give the optimizer those that are to learn")


RULE = Rule(
    code="GT105",
    name="frozen-and-listed",
    summary="A frozen parameter that an optimizer holds.",
    why=(
        "It does no harm by itself. But nobody can see which of the two was meant: a list of all parameters looks as "
        "if all of them learned."
    ),
    severity=Severity.NOTE,
    look=_look,
    always=False,
    wrong="""\
import paddle

paddle.seed(0)

body, head = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
for parameter in body.parameters():
    parameter.stop_gradient = True
opt = paddle.optimizer.SGD(0.1, parameters=[*body.parameters(), *head.parameters()])
for step in range(3):
    loss = head(body(paddle.rand([5, 4]))).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
    right="""\
import paddle

paddle.seed(0)

body, head = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
for parameter in body.parameters():
    parameter.stop_gradient = True
opt = paddle.optimizer.SGD(0.1, parameters=head.parameters())
for step in range(3):
    loss = head(body(paddle.rand([5, 4]))).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
)
