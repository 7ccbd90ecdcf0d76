"""Random models as text, and one change planted into each of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

UNARY = {"tanh": "paddle.tanh({0})", "sigmoid": "F.sigmoid({0})", "relu": "F.relu({0})", "exp": "paddle.exp({0})"}
BINARY = {"elementwise_add": "{0} + {1}", "elementwise_mul": "{0} * {1}", "elementwise_max": "paddle.maximum({0}, {1})"}
SCALED = {"scale": "paddle.scale({0}, {1})", "leaky_relu": "F.leaky_relu({0}, {1})"}

PLANTED = {"log1p": "paddle.log1p({0})", "sin": "paddle.sin({0})"}

HEAD = """\
import paddle
import paddle.nn.functional as F
{begin}
w = [paddle.create_parameter([3, 4], 'float32', name=f'w[{{i}}]') for i in range(4)]
"""


@dataclass(frozen=True)
class Statement:
    """One line: what it makes of what, by which operator."""

    target: str
    type: str
    operands: tuple[str, ...]
    number: float = 0.5

    @property
    def text(self) -> str:
        if self.type in UNARY or self.type in PLANTED:
            right = (UNARY | PLANTED)[self.type].format(*self.operands)
        elif self.type in BINARY:
            right = BINARY[self.type].format(*self.operands)
        else:
            right = SCALED[self.type].format(*self.operands, self.number)
        return f"{self.target} = {right}"


@dataclass(frozen=True)
class Drawn:
    """A random model."""

    statements: tuple[Statement, ...]
    before: tuple[str, ...] = ()

    def text(self, mode: str) -> str:
        """The model as a file; the loss takes in every result that nothing else reads."""
        read = {name for s in self.statements for name in s.operands}
        ends = [s.target for s in self.statements if s.target not in read]
        begin = "paddle.enable_static()" if mode == "static" else "paddle.seed(1)"
        lines = [*self.before, *(s.text for s in self.statements)]
        return HEAD.format(begin=begin) + "\n".join([*lines, f"loss = ({' + '.join(ends)}).mean()", ""])


def drawn(source: random.Random) -> Drawn:
    """A model of 5 to 20 operators over four parameters."""
    names = [f"w[{i}]" for i in range(4)]
    statements: list[Statement] = []
    for index in range(source.randint(5, 20)):
        kind = source.choice([*UNARY, *BINARY, *SCALED])
        # Each parameter is read early, so that no change leaves one without a use.
        pool = [names[index]] if index < 4 else names[4:] or names
        operands = [source.choice(pool)]
        if kind in BINARY:
            operands.append(source.choice(names))
        statements.append(Statement(f"h{index}", kind, tuple(operands), source.choice([0.25, 0.5, 0.75])))
        names.append(f"h{index}")
    return Drawn(tuple(statements))


@dataclass(frozen=True)
class Planted:
    """A change.

    Attributes:
        kind: what it is to be told as.
        word: stands in what is told.
    """

    model: Drawn
    kind: str
    word: str


def planted(source: random.Random, model: Drawn) -> Planted:
    """A model with one change."""
    return source.choice([added, removed, attribute, replaced, rewired, frozen])(source, model)


def added(source: random.Random, model: Drawn) -> Planted:
    at = source.randrange(len(model.statements))
    after = model.statements[at].target
    more = Statement("more", "log1p", (after,))
    rest = [_reading(s, after, "more") for s in model.statements[at + 1 :]]
    return Planted(Drawn((*model.statements[: at + 1], more, *rest)), "added", "log1p")


def removed(source: random.Random, model: Drawn) -> Planted:
    """Without an operator of one operand; what read its result reads that operand."""
    choices = [i for i, s in enumerate(model.statements) if len(s.operands) == 1 and s.operands[0].startswith("h")]
    readers = {name for s in model.statements for name in s.operands}
    choices = [i for i in choices if model.statements[i].target in readers]
    if not choices:
        return added(source, model)
    at = source.choice(choices)
    gone = model.statements[at]
    rest = [_reading(s, gone.target, gone.operands[0]) for s in model.statements[at + 1 :]]
    return Planted(Drawn((*model.statements[:at], *rest)), "removed", gone.type)


def attribute(source: random.Random, model: Drawn) -> Planted:
    choices = [i for i, s in enumerate(model.statements) if s.type in SCALED]
    return number(model, source.choice(choices)) if choices else added(source, model)


def number(model: Drawn, at: int) -> Planted:
    """Another number at one operator."""
    return Planted(_with(model, at, replace(model.statements[at], number=2.5)), "attributes", "2.5")


def replaced(source: random.Random, model: Drawn) -> Planted:
    choices = [i for i, s in enumerate(model.statements) if s.type in UNARY]
    if not choices:
        return added(source, model)
    at = source.choice(choices)
    return Planted(_with(model, at, replace(model.statements[at], type="sin")), "replaced", "sin")


def rewired(source: random.Random, model: Drawn) -> Planted:
    """The second operand of an operator is another parameter."""
    choices = [i for i, s in enumerate(model.statements) if len(s.operands) == 2 and s.operands[1].startswith("w")]
    if not choices:
        return added(source, model)
    at = source.choice(choices)
    was = model.statements[at]
    other = source.choice([f"w[{i}]" for i in range(4) if f"w[{i}]" != was.operands[1]])
    now = replace(was, operands=(was.operands[0], other))
    return Planted(_with(model, at, now), "rewired", other)


def frozen(source: random.Random, model: Drawn) -> Planted:
    leaf = f"w[{source.randrange(4)}]"
    return Planted(replace(model, before=(f"{leaf}.stop_gradient = True",)), "frozen", leaf)


def _with(model: Drawn, at: int, statement: Statement) -> Drawn:
    return replace(model, statements=(*model.statements[:at], statement, *model.statements[at + 1 :]))


def _reading(statement: Statement, before: str, after: str) -> Statement:
    return replace(statement, operands=tuple(after if name == before else name for name in statement.operands))
