"""``Tensor.grad_fn``: a look at the recorded graph from a tensor."""

from __future__ import annotations

from ..core import source
from ..core.identity import identity
from ..ops.compat import grad_type
from .tape import GradNode, Place
from .tensor import Leaf, Tensor


class GradFn:
    """Backward step at one place of the recorded graph.

    Two of them are equal when they stand for the same operator call or the same leaf.
    """

    __slots__ = ("_of",)

    def __init__(self, of: GradNode | Leaf) -> None:
        self._of = of

    def name(self) -> str:
        """The gradient operator (``tanh_grad``), or ``accumulate`` for a leaf, whose ``.grad`` is added to."""
        return "accumulate" if isinstance(self._of, Leaf) else grad_type(self._of.op.type)

    @property
    def next_functions(self) -> list[GradFn]:
        """Backward steps that gradients reach from here, in the order of the operator's inputs."""
        wrt = () if isinstance(self._of, Leaf) else self._of.wrt
        return [GradFn(p if isinstance(p, Leaf) else p[0]) for p in wrt if p is not None]

    @property
    def made_at(self) -> str | None:
        """Place where the user's program called the operator: ``train.py:31 in model: z = h * gate``; None for a
        leaf.
        """
        return None if isinstance(self._of, Leaf) else source.describe(self._of.loc)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradFn) and self._of is other._of

    def __hash__(self) -> int:
        return identity(self._of)

    def __repr__(self) -> str:
        about = f" of {self._of.name}" if isinstance(self._of, Leaf) else f", {source.short(self._of.loc)}"
        return f"<{self.name()}{about.removesuffix(', ')}>"


def grad_fn(tensor: Tensor) -> GradFn | None:
    """Return the first backward step at *tensor*; None for one that gets no gradient.

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> (x * x).exp().grad_fn.next_functions[0].name()
    'elementwise_mul_grad'
    """
    if tensor._stop:
        return None
    place: Place = tensor.tape_place()
    return GradFn(place if isinstance(place, Leaf) else place[0])
