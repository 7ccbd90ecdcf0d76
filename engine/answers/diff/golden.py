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

from ...core.errors import FileFormatError
from ...files import jsontext
from ...files.jsontext import shorten_value
from .outline import NOTHING, PARAMETER, Outline, OutlineLeaf, OutlineOperand, OutlineOperation

FIRST: Final = "gradtool graph 1"
ENDING: Final = ".gt.txt"

_HINT: Final = "write the file anew with --update"

_DIGITS: Final = 19
"""Digits that no size has."""

_BARE: Final = re.compile(r"[\w.@\[\]'\-:/]+")
_TEXT: Final = r'(?:"(?:[^"\\]|\\.)*"|[\w.@\[\]\'\-:/]+)'
_LEAF: Final = re.compile(rf"(parameter|data|constant) ({_TEXT}) (\w+)\[([^\]]*)\](?: ({_TEXT}))?")
_SETTING: Final = re.compile(rf"(no_grad|params|checkpoints)((?: {_TEXT})+)")
_READ: Final = rf"[\w@]+: %?{_TEXT}"
_OPERATION: Final = re.compile(rf"( *)\[({_TEXT})?\] ({_TEXT}) = (\w+)\(((?:{_READ}(?:, {_READ})*)?)\)(?: (\{{.*\}}))?")
_OPERAND: Final = re.compile(rf"([\w@]+): (%?)({_TEXT})")
_BACKWARD: Final = re.compile(rf"backward (\w+)(?: of ({_TEXT}))?")


class GoldenError(FileFormatError):
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


def _operation(outline: Outline, op: OutlineOperation) -> str:
    operands = ", ".join(f"{o.slot}: {_operand(outline, o)}" for o in op.operands)
    attributes = f" {json.dumps(dict(op.attributes), sort_keys=True)}" if op.attributes else ""
    layer = _text(op.layer) if op.layer else ""
    return f"{'  ' * op.depth}[{layer}] {_text(op.name)} = {op.type}({operands}){attributes}"


def _operand(outline: Outline, operand: OutlineOperand) -> str:
    if operand.maker == NOTHING:
        return _text(operand.tensor)
    return f"%{_text(f'{outline.operations[operand.maker].name}:{operand.tensor}')}"


def _text(text: str) -> str:
    return text if _BARE.fullmatch(text) else json.dumps(text)


def read(text: str | bytes, title: str) -> Outline:
    """The outline that *text* holds.

    Args:
        title: what it is called, such as the file's name.

    Raises:
        GoldenError: it is none, or a line of it is none of an outline.
    """
    try:
        lines = (text.decode("utf-8") if isinstance(text, bytes) else text).splitlines()
    except UnicodeDecodeError as error:
        raise GoldenError(title, "text in UTF-8", f"byte {error.start} is none", hint=_HINT) from None
    if not lines or lines[0] != FIRST:
        raise GoldenError(
            title,
            f"an outline of a graph, whose first line is '{FIRST}'",
            f"it is {shorten_value(lines[0] if lines else '')}",
            hint="gradtool diff --write-golden FILE MODEL writes one",
        )
    return _Reader(title).read(lines)


class _Reader:
    """Line by line, with what stands before."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.facts: dict[str, str] = {}
        self.settings: dict[str, list[str]] = {}
        self.leaves: dict[str, OutlineLeaf] = {}
        self.operations: list[OutlineOperation] = []
        self.forward = 0
        self.at: dict[str, int] = {}

    def read(self, lines: list[str]) -> Outline:
        for number, line in enumerate(lines[1:], 2):
            forms = (self._head, self._operator, self._backward)
            if line.strip() and not any(form(line, number) for form in forms):
                self._refuse(number, f"is {shorten_value(line)}")
        mode, loss = self.facts.get("mode", ""), self.facts.get("loss", "")
        if mode not in ("static", "eager"):
            raise GoldenError(self.title, "the mode, static or eager", f"it is {shorten_value(mode)}", hint=_HINT)
        return Outline(self.title, mode, loss, self.forward, self.operations, self.leaves, self.settings)

    def _head(self, line: str, number: int) -> bool:
        word, _, rest = line.partition(" ")
        if word in ("mode", "loss"):
            self.facts[word] = self._plain(rest, number)
            return True
        if (setting := _SETTING.fullmatch(line)) is not None:
            self.settings[setting[1]] = [self._plain(t, number) for t in re.findall(_TEXT, setting[2])]
            return True
        leaf = _LEAF.fullmatch(line)
        if leaf is None:
            return False
        role, name, dtype, dims, gradient = leaf.groups()
        name, gradient = self._plain(name, number), self._plain(gradient or "", number)
        if name in self.leaves:
            self._refuse(number, f"has the leaf {shorten_value(name)[1:-1]} a second time")
        self.leaves[name] = OutlineLeaf(name, role, self._shape(dims, number), dtype, gradient)
        return True

    def _shape(self, text: str, number: int) -> tuple[int, ...]:
        dims = [d for d in text.split(", ") if d]
        if not all(d == "?" or (d.isascii() and d.isdecimal() and len(d) < _DIGITS) for d in dims):
            self._refuse(number, f"has {shorten_value(text)} as its sizes")
        return tuple(-1 if d == "?" else int(d) for d in dims)

    def _operator(self, line: str, number: int) -> bool:
        matched = _OPERATION.fullmatch(line)
        if matched is None:
            return False
        indent, layer, name, kind, operands, attributes = matched.groups()
        name, layer = self._plain(name, number), self._plain(layer or "", number)
        if name in self.at:
            self._refuse(number, f"has the operator {shorten_value(name)} a second time")
        if len(self.operations) > self.forward:
            self._refuse(number, "has a forward operator, after backward ones")
        read = [
            self._operand(s, made, self._plain(text, number), number) for s, made, text in _OPERAND.findall(operands)
        ]
        self.at[name] = len(self.operations)
        values = self._attributes(attributes, number)
        self.operations.append(OutlineOperation(name, kind, layer, len(indent) // 2, values, read))
        self.forward += 1
        return True

    def _operand(self, slot: str, made: str, text: str, number: int) -> OutlineOperand:
        if not made:
            if text not in self.leaves:
                self._refuse(number, f"reads {text}, which is no leaf above")
            return OutlineOperand(slot, NOTHING, text)
        name, _, output = text.rpartition(":")
        if name not in self.at:
            self._refuse(number, f"reads from {name}, which is no operator above")
        return OutlineOperand(slot, self.at[name], output)

    def _attributes(self, text: str | None, number: int) -> Mapping[str, Any]:
        values: Mapping[str, Any] = self._json(text, number) if text else {}
        if not isinstance(values, dict):
            self._refuse(number, "has attributes that are no object")
        return values

    def _json(self, text: str, number: int) -> Any:
        try:
            return jsontext.read(text, self.title)
        except FileFormatError as error:
            self._refuse(number, f"has what is no JSON: {error.came}")

    def _plain(self, text: str, number: int) -> str:
        """A text that stands there as it is, or as JSON."""
        plain: str = self._json(text, number) if text.startswith('"') else text
        return plain

    def _backward(self, line: str, number: int) -> bool:
        matched = _BACKWARD.fullmatch(line)
        if matched is None:
            return False
        kind, pair = matched[1], self._plain(matched[2] or "", number)
        if pair and pair not in self.at:
            self._refuse(number, f"is of {pair}, which is no operator above")
        self.operations.append(OutlineOperation(kind, kind, "", 0, {}, (), self.at.get(pair, NOTHING)))
        return True

    def _refuse(self, number: int, what: str) -> NoReturn:
        raise GoldenError(f"{self.title}:{number}", "a line of an outline", f"it {what}", hint=_HINT)
