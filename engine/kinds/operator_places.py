"""Operators with all that is known of where they stand: source, stack, pair, inputs and outputs; of either mode."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from ..core import names, source
from ..core.command_errors import unknown
from ..core.records import dataclass
from ..core.source import Location
from ..view.graph import FORWARD, NodeView
from .selection import same_file

NOT_RECORDED = "not recorded"
_AROUND = 2
"""Lines of source that are shown before and after an operator's own."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor that an operator reads or writes.

    Attributes:
        spec: ``float32[4, 8]``.
        note: ``saved`` for a forward value that backward reads, ``shape only``, or empty.
    """

    slot: str
    tensor: str
    spec: str
    note: str


@dataclass(frozen=True, slots=True)
class OperatorSpot:
    """An operator.

    Attributes:
        part: ``forward``, ``backward``; of calls of dynamic mode that are not behind the loss ``beside the loss``, or
            :data:`NOT_RECORDED` where the tape does not hold them.
        pair: the gradient operator of a forward operator, and the other way round.
        inside: the operators of the branches and loops that it stands in, the outermost first.
    """

    name: str
    type: str
    part: str
    pair: str
    layer: str
    location: Location
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    inside: tuple[str, ...] = ()

    @property
    def stack(self) -> list[str]:
        """The user's frames, outermost first, each followed by its line."""
        return list(source.stack(self.location))

    @property
    def excerpt(self) -> list[str]:
        """The source around the operator's line, which is marked."""
        line_at = source.file_and_line(self.location)
        if line_at is None:
            return []
        line = line_at[1]
        lines = lines_around(self.location)
        width = len(str(line + _AROUND))
        return [f"{'▶' if n == line else ' '} {n:>{width}} │ {text}".rstrip() for n, text in lines]

    def data(self) -> dict[str, Any]:
        """The spot in JSON's types."""
        return {
            "name": self.name,
            "type": self.type,
            "part": self.part,
            "pair": self.pair or None,
            "layer": self.layer or None,
            "source": source.short(self.location).data(),
            "code": source.text(*self.location[0]) if self.location else "",
            "stack": frames(self.location),
            "inputs": [_operand(o) for o in self.inputs],
            "outputs": [_operand(o) for o in self.outputs],
            "inside": [*self.inside],
        }


def lines_around(location: Location) -> list[tuple[int, str]]:
    """The numbers and texts of the lines around the innermost frame; none where the place is not known."""
    line_at = source.file_and_line(location)
    if line_at is None:
        return []
    file, line = line_at
    if source.is_recorded(file):
        return [(line, source.text(*location[0]))]  # the one that the file of the program says
    lines = [(n, linecache.getline(file, n).rstrip()) for n in range(max(1, line - _AROUND), line + _AROUND + 1)]
    while lines and not lines[-1][1] and lines[-1][0] != line:
        lines.pop()
    return lines


def frames(location: Location) -> list[dict[str, Any]]:
    """The user's frames for JSON, outermost first."""
    return [
        {"file": source.file_named(code.co_filename), "line": line, "function": code.co_name}
        for code, line in reversed(location)
    ]


def _operand(o: Operand) -> dict[str, Any]:
    return {"slot": o.slot, "tensor": o.tensor, "spec": o.spec, "note": o.note or None}


class Spots:
    """The operators of a model.

    Args:
        aliases: other names of tensors, such as Python names: alias -> the tensor's name in the graph.
    """

    def __init__(self, spots: Sequence[OperatorSpot], aliases: Mapping[str, str]) -> None:
        self.spots = spots
        self.aliases = aliases

    def find(self, text: str) -> list[OperatorSpot]:
        """The operators that *text* names: an operator (``relu.0``), a type, a line, or a tensor, whose maker it is.

        Raises:
            CommandError: it names nothing.
        """
        bare = text.removeprefix("op:").removeprefix("line:")
        operators = [] if text.startswith("line:") else self._operators(bare)
        if operators:
            return operators
        file, colon, number = bare.rpartition(":")
        if colon and number.isdigit():
            return self._spots_at(file, int(number), text)
        spots = self._find_near(bare)
        if spots:
            return spots
        operands = chain.from_iterable((*s.inputs, *s.outputs) for s in self.spots)
        tensors = dict.fromkeys(o.tensor for o in operands)
        raise unknown("operator, tensor or line:", text, [*(s.name for s in self.spots), *self.aliases, *tensors])

    def _operators(self, text: str) -> list[OperatorSpot]:
        """The operator of that name, or all of that type."""
        return [s for s in self.spots if s.name == text] or [s for s in self.spots if s.type == text]

    def _find_near(self, tensor: str) -> list[OperatorSpot]:
        """The operators that make a tensor, else the forward ones that read it, or what it is the gradient of."""
        name = self.aliases.get(tensor, tensor)
        makers = [s for s in self.spots if _has(name, s.outputs)]
        if makers:
            return makers
        name = self.aliases.get(tensor.removesuffix(names.GRAD), name)
        return [s for s in self.spots if s.part == FORWARD and _has(name, s.inputs)]

    def _spots_at(self, file: str, line: int, text: str) -> list[OperatorSpot]:
        def there(s: OperatorSpot) -> bool:
            place = source.file_and_line(s.location)
            return place is not None and place[1] == line and same_file(place[0], file)

        spots = [s for s in self.spots if there(s)]
        if not spots:
            places = dict.fromkeys(source.short(s.location) for s in self.spots if s.location)
            raise unknown("operator made by line", text.removeprefix("line:"), places)
        return spots


def partners(nodes: Iterable[NodeView]) -> dict[str, str]:
    """Forward operator -> its gradient operator, by id."""
    return {n.pair: n.id for n in nodes if n.part != FORWARD and n.pair is not None}


def spot(
    node: NodeView,
    by_id: Mapping[str, NodeView],
    partner: Mapping[str, str],
    location: Location,
    inputs: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
) -> OperatorSpot:
    """The spot of an operator that a view shows."""
    pair = node.pair or partner.get(node.id)
    name = by_id[pair].name if pair is not None else ""
    return OperatorSpot(node.name, node.type, node.part, name, node.scope, location, inputs, outputs)


def note_of(saved: bool, like: bool) -> str:
    """Return the note about an operand."""
    return "shape only" if like else "saved" if saved else ""


def _has(name: str, operands: Iterable[Operand]) -> bool:
    return any(o.tensor == name for o in operands)
