"""One row of the table: an expression in Paddle's public names, the same in PyTorch's, and the values to put in."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Draw = Callable[[np.random.Generator], Any]


@dataclass(frozen=True)
class Row:
    """What is computed.

    Attributes:
        name: unique; also the seed of the row's inputs, so that new rows leave the old ones alone.
        ours: an expression over the inputs, ``paddle``, ``F``, ``nn`` and ``layer``.
        theirs: the expression for PyTorch, over the inputs, ``torch``, ``F``, ``nn`` and ``layer``.
        inputs: how each input is drawn; floating ones are differentiated.
        fixed: floating inputs that are not differentiated, such as targets.
        smooth: the gradients are differentiated too.
    """

    name: str
    ours: str
    theirs: str
    inputs: Mapping[str, Draw]
    fixed: tuple[str, ...] = ()
    smooth: bool = True

    def values(self) -> dict[str, Any]:
        """The inputs, always the same."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        return {name: draw(rng) for name, draw in self.inputs.items()}


def row(
    name: str, ours: str, theirs: str | None = None, fixed: tuple[str, ...] = (), smooth: bool = True, **inputs: Draw
) -> Row:
    """A row; without *theirs*, PyTorch uses the same names and arguments."""
    return Row(name, ours, ours.replace("paddle.", "torch.") if theirs is None else theirs, inputs, fixed, smooth)


def normal(*shape: int) -> Draw:
    return lambda rng: rng.normal(size=shape)


def between(low: float, high: float, *shape: int) -> Draw:
    return lambda rng: rng.uniform(low, high, shape)


def away(*shape: int) -> Draw:
    """Of either sign, and not near zero."""
    return lambda rng: rng.uniform(0.5, 2.0, shape) * rng.choice([-1.0, 1.0], shape)


def integers(high: int, *shape: int) -> Draw:
    return lambda rng: rng.integers(0, high, shape)


def truths(*shape: int) -> Draw:
    return lambda rng: rng.integers(0, 2, shape).astype(bool)


def shares(*shape: int) -> Draw:
    """Probabilities along the last axis."""
    return lambda rng: (lambda a: a / a.sum(-1, keepdims=True))(rng.uniform(0.1, 1.0, shape))


def exactly(values: Any) -> Draw:
    return lambda rng: np.array(values)
