"""A graph as plain data, of either mode, so that two of them can be compared without the programs they came from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Final, NamedTuple

from ...core.records import dataclass
from ...core.vocabulary import PADDLE, TORCH

NOTHING: Final = -1
"""The maker of a leaf, and the pair of an operator that has none."""


PARAMETER: Final = "parameter"
DATA: Final = "data"
CONSTANT: Final = "constant"

_STOPPED: Final = tuple([f"cut: {words.stopped}" for words in (PADDLE, TORCH)])
"""The reason of what takes no gradient by itself, in the words of each framework."""

_LINE: Final = re.compile(r", [^,]*:\d+$")
"""The place at the end of a reason: ``cut: detached, model.py:9``."""


_NUMBERED: Final = frozenset({"forward_callable_id", "backward_callable_id"})
"""Attributes that count what a process has made: they say nothing about a graph."""


def attributes_of(values: Mapping[str, Any], plain: Callable[[Any], Any]) -> dict[str, Any]:
    """Attributes of an operator as an outline has them.

    Args:
        plain: makes of a value one of JSON's types.
    """
    return {str(name): plain(value) for name, value in values.items() if name not in _NUMBERED}


class OutlineOperand(NamedTuple):
    """An operand of an operator.

    Attributes:
        slot: ``X``.
        maker: the position of the operator that made it, or :data:`NOTHING` for a leaf.
        tensor: of a leaf its name; else the slot of the maker that it comes from, such as ``Out`` or ``Out.1``.
    """

    slot: str
    maker: int
    tensor: str


@dataclass(frozen=True, slots=True)
class OutlineOperation:
    """An operator of an outline.

    Attributes:
        name: ``relu.0``.
        layer: the layer whose parameters it reads or that it was made in, or empty.
        depth: how many blocks (branches, loops) it stands in.
        attributes: in JSON's types; None where they are not known.
        operands: of a forward operator.
        pair: of a gradient operator the position of the operator that it differentiates.
        source: ``model.py:9``, or empty.
    """

    name: str
    type: str
    layer: str
    depth: int
    attributes: Mapping[str, Any] | None
    operands: Sequence[OutlineOperand]
    pair: int = NOTHING
    source: str = ""


@dataclass(frozen=True, slots=True)
class OutlineLeaf:
    """A tensor that no operator of the graph makes.

    Attributes:
        name: what people call it.
        role: :data:`PARAMETER`, :data:`DATA` or :data:`CONSTANT`.
        gradient: ``ok``, the reason why it gets no gradient, or empty where none was asked for.
        source: the line that made it, or empty.
        path: of a leaf that takes gradients what it is called where the graph alone is known: its path in its layer
            with its own name, ``0.weight (linear_0.w_0)``, or this alone; of others empty.
    """

    name: str
    role: str
    shape: tuple[int, ...]
    dtype: str
    gradient: str = ""
    source: str = ""
    path: str = ""

    @property
    def reason(self) -> str:
        """``gradient`` without the line in it: the same when lines move."""
        return _LINE.sub("", self.gradient)

    @property
    def is_frozen(self) -> bool:
        """Return whether it takes no gradient by itself, wherever it is used."""
        return self.gradient.startswith(("frozen", *_STOPPED))

    @property
    def spec(self) -> str:
        """``float32[4, 8]``."""
        return f"{self.dtype}[{', '.join('?' if d < 0 else str(d) for d in self.shape)}]"


@dataclass(frozen=True)
class Outline:
    """Operators in the order of execution, forward ones first, and leaves by name.

    Attributes:
        loss: the name of what is differentiated; empty without a backward part.
        forward: how many of the operators are forward ones.
        settings: what the backward part was made with: ``no_grad``, ``params``, ``checkpoints``.
        recorded: whether the recorded graph alone was known, as where a pass writes it down: leaves are called by their
            paths, what takes no gradient is a constant, and a leaf that no gradient reaches is not there.
    """

    title: str
    mode: str
    loss: str
    forward: int
    operations: Sequence[OutlineOperation]
    leaves: Mapping[str, OutlineLeaf]
    settings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    recorded: bool = False

    @property
    def backward(self) -> int:
        """Return how many of the operators are backward ones."""
        return len(self.operations) - self.forward

    @cached_property
    def gradients(self) -> Mapping[int, Sequence[int]]:
        """Position of a forward operator -> those of its gradient operators."""
        gradients: dict[int, list[int]] = {}
        for at in range(self.forward, len(self.operations)):
            gradients.setdefault(self.operations[at].pair, []).append(at)
        return gradients

    def parameters(self) -> list[OutlineLeaf]:
        """The parameters."""
        return [leaf for leaf in self.leaves.values() if leaf.role == PARAMETER]
