"""Start of a backward pass: its roots, with the gradients that were given there, and further requests."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.records import dataclass
from .passes import Pass
from .tape import GradNode, Place
from .tensor import Leaf, Tensor, array_of


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
        inputs: the places whose gradients it computes; None for all leaves.
    """

    roots: tuple[Tensor, ...]
    gradients: tuple[Any, ...]
    inputs: frozenset[Place] | None = None

    @classmethod
    def of(
        cls,
        roots: Tensor | Start | Sequence[Tensor],
        gradients: Sequence[Any] = (),
        inputs: Sequence[Tensor] | None = None,
    ) -> Start:
        """Return the start from these roots, with copies of the gradients that were given."""
        if isinstance(roots, Start):
            return roots
        tensors = (roots,) if isinstance(roots, Tensor) else tuple(roots)
        given = tuple(gradients) or (None,) * len(tensors)
        places = None if inputs is None else frozenset(t.tape_place() for t in inputs if not t._stop)
        return cls(tensors, tuple([None if g is None else np.array(array_of(g)) for g in given]), places)

    @property
    def loss(self) -> Tensor:
        """The root that stands for all of them: the first that takes a gradient, else the first."""
        return next((t for t in self.roots if not t._stop), self.roots[0])

    @property
    def differentiated(self) -> tuple[Tensor, ...]:
        """The roots that a pass does not skip; all of them where it would skip all."""
        return tuple([t for t in self.roots if not t._stop]) or self.roots

    @property
    def is_plain(self) -> bool:
        """True if it is one root, with ones."""
        return len(self.differentiated) == 1 and all(g is None for g in self.gradients)

    def pairs(self) -> list[tuple[Tensor, Any]]:
        """The roots that a pass does not skip, each with its gradient."""
        return [(t, g) for t, g in zip(self.roots, self.gradients, strict=True) if not t._stop]

    def begin(
        self,
        *,
        retain_graph: bool = True,
        create_graph: bool = False,
        fill: bool = False,
        constants: Collection[Place] = (),
    ) -> Pass:
        """Return a pass that starts here, as :class:`.passes.Pass` takes its arguments; it has to be run."""
        stops = frozenset(constants)
        needed = None if self.inputs is None else nodes_between(self.inputs, self.differentiated, stops)
        work = Pass(
            retain_graph=retain_graph,
            create_graph=create_graph,
            fill=fill,
            targets=self.inputs or (),
            needed=needed,
            constants=stops,
        )
        for tensor, gradient in self.pairs():
            work.seed(tensor, None if gradient is None else Tensor(gradient))
        return work


def nodes_between(wanted: Collection[Place], roots: Sequence[Tensor], constants: Collection[Place]) -> set[GradNode]:
    """Return the nodes between *roots* and *wanted*, found without recursion."""
    seen: set[GradNode] = set()
    todo = [t.node for t in roots if t.node is not None and t.tape_place() not in constants]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        todo += [p[0] for p in node.wrt if p is not None and p not in constants and not isinstance(p, Leaf)]
    leading: set[GradNode] = set()
    for node in sorted(seen, key=lambda n: -n.key):
        ways = [p for p in node.wrt if p is not None and p not in constants]
        if any(p in wanted or (not isinstance(p, Leaf) and p[0] in leading) for p in ways):
            leading.add(node)
    return leading
