"""Where a backward pass starts: its roots, with the gradients that were given there, and what else was asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .passes import Pass
from .tensor import Tensor, array_of


class PassRequest(NamedTuple):
    """The arguments of a call that runs backward.

    Attributes:
        gradients: the gradient given at each root, None for ones.
        inputs: the tensors whose gradients are asked for; None for all leaves.
        retain_graph: whether the graph is kept for another pass.
    """

    gradients: Sequence[Any] = ()
    inputs: Sequence[Tensor] | None = None
    retain_graph: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """The roots of a backward pass.

    Attributes:
        roots: the tensors that it starts from.
        gradients: the array given at each of them, None for ones.
    """

    roots: tuple[Tensor, ...]
    gradients: tuple[Any, ...]

    @classmethod
    def of(cls, roots: Tensor | Start | Sequence[Tensor], gradients: Sequence[Any] = ()) -> Start:
        """Return the start from these roots, with copies of the gradients that were given."""
        if isinstance(roots, Start):
            return roots
        tensors = (roots,) if isinstance(roots, Tensor) else tuple(roots)
        given = tuple(gradients) or (None,) * len(tensors)
        return cls(tensors, tuple([None if g is None else np.array(array_of(g)) for g in given]))

    @property
    def loss(self) -> Tensor:
        """The root that stands for all of them: the first that takes a gradient, else the first."""
        return next((t for t in self.roots if not t.stop_gradient), self.roots[0])

    @property
    def differentiated(self) -> tuple[Tensor, ...]:
        """The roots that a pass does not skip; all of them where it would skip all."""
        return tuple([t for t in self.roots if not t.stop_gradient]) or self.roots

    @property
    def is_plain(self) -> bool:
        """Whether it is one root, with ones."""
        return len(self.differentiated) == 1 and all(g is None for g in self.gradients)

    def pairs(self) -> list[tuple[Tensor, Any]]:
        """The roots that a pass does not skip, each with its gradient."""
        return [(t, g) for t, g in zip(self.roots, self.gradients, strict=True) if not t.stop_gradient]

    def seed(self, work: Pass) -> None:
        """Have a pass start here."""
        for tensor, gradient in self.pairs():
            work.seed(tensor, None if gradient is None else Tensor(gradient))
