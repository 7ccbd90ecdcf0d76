"""The operators of a model one by one, and each forward operator beside its gradient operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.answer import Answered
from ..core.records import dataclass
from ..core.source import Place
from .about import About


@dataclass(frozen=True, slots=True)
class ListedOperator:
    """An operator.

    Attributes:
        line: the operator as its model writes it.
        reads, writes: the names of its tensors, in their order.
        inputs, outputs: slot -> the names in it.
        role: as programs number it; *role_name* is what people call it.
        gradient_of: the id of the forward operator that it differentiates.
        source: ``model.py:9``, or empty.
    """

    id: str
    name: str
    type: str
    line: str
    reads: Sequence[str]
    writes: Sequence[str]
    inputs: Mapping[str, Sequence[str]]
    outputs: Mapping[str, Sequence[str]]
    attributes: Mapping[str, Any]
    role: int
    role_name: str
    gradient_of: str | None
    source: Place

    def data(self) -> dict[str, Any]:
        """The operator in JSON's types."""
        return {
            "id": self.id,
            "name": self.name,
            "type": self.type,
            "inputs": dict(self.inputs),
            "outputs": dict(self.outputs),
            "attributes": dict(self.attributes),
            "role": self.role,
            "gradient_of": self.gradient_of,
            "source": self.source.whole or None,
        }


@dataclass(frozen=True, slots=True)
class ListedBlock:
    """A block of a program, or all of a tape.

    Attributes:
        above, below: the lines before and after the operators.
        variables: its tensors in JSON's types.
    """

    index: int
    parent: int
    above: Sequence[str]
    variables: Sequence[Mapping[str, Any]]
    operators: Sequence[ListedOperator]
    below: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PairedOperator:
    """One side of a pair.

    Attributes:
        call: ``y float32[4, 8] = relu(x)``.
        saved: the forward values that a gradient operator keeps alive, each once.
    """

    name: str
    call: str
    saved: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A forward operator and its gradient operators, or a backward operator that belongs to none."""

    forward: PairedOperator | None
    backward: Sequence[PairedOperator]
    source: Place


@dataclass(frozen=True, slots=True)
class Listing(Answered):
    """A model's operators.

    Attributes:
        part: ``fwd``, ``bwd`` or ``both``.
        pairs: makes the pairs of all operators, whatever *part* is.
        words: those that ask again about the same model.
    """

    about: About
    part: str
    blocks: Sequence[ListedBlock]
    pairs: Callable[[], list[Pair]]
    words: Sequence[str]
