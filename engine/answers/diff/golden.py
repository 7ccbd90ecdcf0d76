"""An outline as text that people review and files keep: leaves by name, operators in order, no lines of sources.

::

    gradtool graph 1
    mode eager
    loss loss
    parameter net.a.weight float32[4, 8] ok
    data x float32[5, 4] "cut: stop_gradient"

    [net.a] matmul_v2.0 = matmul_v2(X: x, Y: net.a.weight) {"trans_x": false}
    [net.a] relu.0 = relu(X: %matmul_v2.0:Out)

    backward relu_grad of relu.0
    backward matmul_v2_grad of matmul_v2.0

Names that hold anything but letters, digits and ``_.@[]'-:/`` stand as JSON strings. An operator in a branch or a loop
is indented by two blanks for every block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from ...core.errors import UsageError
from .outline import NOTHING, PARAMETER, Leaf, Operand, Operation, Outline

FIRST: Final = "gradtool graph 1"
ENDING: Final = ".gt.txt"

_BARE: Final = re.compile(r"[\w.@\[\]'\-:/]+")
_TEXT: Final = r'(?:"(?:[^"\\]|\\.)*"|[\w.@\[\]\'\-:/]+)'
_LEAF: Final = re.compile(rf"(parameter|data|constant) ({_TEXT}) (\w+)\[([^\]]*)\](?: ({_TEXT}))?")
_SETTING: Final = re.compile(rf"(no_grad|params|checkpoints)((?: {_TEXT})+)")
_READ: Final = rf"[\w@]+: %?{_TEXT}"
_OPERATION: Final = re.compile(rf"( *)\[({_TEXT})?\] ({_TEXT}) = (\w+)\(((?:{_READ}(?:, {_READ})*)?)\)(?: (\{{.*\}}))?")
_OPERAND: Final = re.compile(rf"([\w@]+): (%?)({_TEXT})")
_BACKWARD: Final = re.compile(rf"backward (\w+)(?: of ({_TEXT}))?")


class GoldenError(UsageError):
    """A text is no outline."""


def write(outline: Outline) -> str:
    """The text of an outline; the same for graphs without a difference, but for their names of operators."""
    return "\n".join(_lines(outline)) + "\n"


def _lines(outline: Outline) -> Iterator[str]:
    yield FIRST
    yield f"mode {outline.mode}"
    yield f"loss {_text(outline.loss)}" if outline.loss else "loss"
    for name, values in sorted(outline.settings.items()):
        if values:
            yield f"{name} {' '.join(map(_text, values))}"
    order = sorted(outline.leaves.values(), key=lambda leaf: (leaf.role != PARAMETER, leaf.role, leaf.name))
    for leaf in order:
        gradient = f" {_text(leaf.reason)}" if leaf.gradient else ""
        yield f"{leaf.role} {_text(leaf.name)} {leaf.spec}{gradient}"
    yield ""
    for op in outline.operations[: outline.forward]:
        yield _operation(outline, op)
    yield ""
    for op in outline.operations[outline.forward :]:
        pair = f" of {_text(outline.operations[op.pair].name)}" if op.pair != NOTHING else ""
        yield f"backward {op.type}{pair}"


def _operation(outline: Outline, op: Operation) -> str:
    operands = ", ".join(f"{o.slot}: {_operand(outline, o)}" for o in op.operands)
    attributes = f" {json.dumps(dict(op.attributes), sort_keys=True)}" if op.attributes else ""
    layer = _text(op.layer) if op.layer else ""
    return f"{'  ' * op.depth}[{layer}] {_text(op.name)} = {op.type}({operands}){attributes}"


def _operand(outline: Outline, operand: Operand) -> str:
    if operand.maker == NOTHING:
        return _text(operand.tensor)
    return f"%{_text(f'{outline.operations[operand.maker].name}:{operand.tensor}')}"


def _text(text: str) -> str:
    return text if _BARE.fullmatch(text) else json.dumps(text)


def read(text: str, title: str) -> Outline:
    """The outline that *text* holds.

    Args:
        title: what it is called, such as the file's name.

    Raises:
        GoldenError: it is none, or a line of it is none of an outline.
    """
    lines = text.splitlines()
    if not lines or lines[0] != FIRST:
        raise GoldenError(
            f"{title} is no outline of a graph: its first line is not '{FIRST}'",
            hint="gradtool diff --write-golden FILE MODEL writes one",
        )
    return _Reader(title).read(lines)


class _Reader:
    """Line by line, with what stands before."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.facts: dict[str, str] = {}
        self.settings: dict[str, list[str]] = {}
        self.leaves: dict[str, Leaf] = {}
        self.operations: list[Operation] = []
        self.forward = 0
        self.at: dict[str, int] = {}

    def read(self, lines: list[str]) -> Outline:
        for number, line in enumerate(lines[1:], 2):
            if line.strip() and not (self._head(line) or self._operator(line, number) or self._backward(line, number)):
                self._refuse(number, "is no line of an outline")
        mode, loss = self.facts.get("mode", ""), self.facts.get("loss", "")
        return Outline(self.title, mode, loss, self.forward, self.operations, self.leaves, self.settings)

    def _head(self, line: str) -> bool:
        word, _, rest = line.partition(" ")
        if word in ("mode", "loss"):
            self.facts[word] = _plain(rest)
            return True
        if (setting := _SETTING.fullmatch(line)) is not None:
            self.settings[setting[1]] = [_plain(t) for t in re.findall(_TEXT, setting[2])]
            return True
        leaf = _LEAF.fullmatch(line)
        if leaf is None:
            return False
        role, name, dtype, dims, gradient = leaf.groups()
        shape = tuple(-1 if d == "?" else int(d) for d in dims.split(", ") if d)
        self.leaves[_plain(name)] = Leaf(_plain(name), role, shape, dtype, _plain(gradient or ""))
        return True

    def _operator(self, line: str, number: int) -> bool:
        matched = _OPERATION.fullmatch(line)
        if matched is None:
            return False
        indent, layer, name, kind, operands, attributes = matched.groups()
        read = [self._operand(slot, made, _plain(text), number) for slot, made, text in _OPERAND.findall(operands)]
        self.at[_plain(name)] = len(self.operations)
        values = self._attributes(attributes, number)
        self.operations.append(Operation(_plain(name), kind, _plain(layer or ""), len(indent) // 2, values, read))
        self.forward += 1
        return True

    def _operand(self, slot: str, made: str, text: str, number: int) -> Operand:
        if not made:
            if text not in self.leaves:
                self._refuse(number, f"reads {text}, which is no leaf above")
            return Operand(slot, NOTHING, text)
        name, _, output = text.rpartition(":")
        if name not in self.at:
            self._refuse(number, f"reads from {name}, which is no operator above")
        return Operand(slot, self.at[name], output)

    def _attributes(self, text: str | None, number: int) -> Mapping[str, Any]:
        try:
            values: Mapping[str, Any] = json.loads(text) if text else {}
        except json.JSONDecodeError as error:
            self._refuse(number, f"has attributes that are no JSON: {error}")
        return values

    def _backward(self, line: str, number: int) -> bool:
        matched = _BACKWARD.fullmatch(line)
        if matched is None:
            return False
        kind, pair = matched[1], _plain(matched[2] or "")
        if pair and pair not in self.at:
            self._refuse(number, f"is of {pair}, which is no operator above")
        self.operations.append(Operation(kind, kind, "", 0, {}, (), self.at.get(pair, NOTHING)))
        return True

    def _refuse(self, number: int, what: str) -> NoReturn:
        raise GoldenError(f"{self.title}:{number}: the line {what}", hint="write the file anew with --update")


def _plain(text: str) -> str:
    plain: str = json.loads(text) if text.startswith('"') else text
    return plain
