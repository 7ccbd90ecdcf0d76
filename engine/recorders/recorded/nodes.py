"""Nodes of the tape for calls that another framework made: their gradients are those that it has computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError
from ...eager.passes import running
from ...eager.recipe import BoundOp, Recipe
from ...eager.tape import GradNode, Place
from ...kernels.choice import current
from ...ops.opdef import OpDef, Operand, Read, Slot, Trait
from .matching import Again

Arrays = Sequence[Any]

Gradients = Callable[[Arrays, Mapping[str, Any], Arrays, Sequence[int]], Arrays]
"""Computes, from operands, attributes, and what arrives at each result, the gradients of the operands at places."""

_CLOSE = 1e-4
"""By how much gradients may differ, relative to their size, and be the framework's: sums in another order."""


class ForeignRule:
    """The gradient rule of an operator that only the framework knows: nobody else can compute it."""

    expands = False
    takes_none = True
    needs: Mapping[int, Callable[[Mapping[str, Any]], bool]] = MappingProxyType({})

    def __init__(self, type_: str, wrt: Sequence[int], outputs: int, again: Gradients | None = None) -> None:
        """See the class.

        Args:
            again: what the framework computes the gradients with once more, where it is there.
        """
        self.type = type_
        self.again = again
        self.reads = tuple([Read("dout", j) for j in range(outputs)])
        self.wrt = tuple(wrt)

    def __call__(self, k: Any, args: Sequence[Operand], wanted: Any, attrs: Mapping[str, Any]) -> Any:
        raise _only_there(self.type)


def _only_there(type_: str) -> UnsupportedError:
    return UnsupportedError(
        f"the gradient of {type_} is known for what the framework computed alone: gradtool has no operator for it.",
        op=type_,
        hint="query the backward passes that the script runs",
    )


def _no_gradient_error(type_: str) -> UnsupportedError:
    return UnsupportedError(
        f"the run holds no gradient of {type_}: no backward pass went through it, and gradtool has no operator for it.",
        op=type_,
        hint="call backward() of this loss in the script; a .torchrun of an older gradtool is to be recorded again",
    )


_TRAIT = Trait.OPAQUE | Trait.COMPLEX
"""Which types such an operator takes the framework has decided: it ran."""


class ForeignOp(OpDef):
    """An operator that gradtool has no definition of."""

    __slots__ = ()

    def __init__(
        self,
        type_: str,
        inputs: Sequence[str],
        outputs: int,
        wrt: Sequence[int] | None,
        attrs: Sequence[str] = (),
        again: Again | None = None,
        draws: bool = False,
    ) -> None:
        """See :class:`OpDef`.

        Args:
            wrt: the inputs with a gradient; None where it has none.
            attrs: the names of its attributes.
            again: computes it on other operands; None where nothing does.
            draws: whether it draws random numbers, which stay as they were drawn.
        """
        names = ["Out"] if outputs == 1 else [f"Out{j}" for j in range(outputs)]
        super().__init__(
            type_,
            type_,
            tuple(map(Slot, inputs)),
            tuple(map(Slot, names)),
            _kernel(type_, again),
            defaults=dict.fromkeys(attrs),
            trait=_TRAIT | Trait.RANDOM if draws else _TRAIT,
        )
        if wrt is not None:
            self.rule = ForeignRule(type_, wrt, outputs, getattr(again, "gradients", None))

    @property
    def grad_op(self) -> None:
        """None: its rule is not gradtool's."""
        return None


def _kernel(type_: str, again: Again | None) -> Callable[..., Any]:
    def compute(k: Any, /, *operands: Any, **attrs: Any) -> Any:
        if again is None:
            raise UnsupportedError(
                f"{type_} cannot run again: gradtool has no kernel of it.", hint="run the script again"
            )
        return again(operands, attrs)

    return compute


class _ForeignRecipe:
    """The recipe of an operator, whose gradients the framework has computed."""

    __slots__ = ("_own", "backend", "kept_outputs", "op")

    def __init__(self, op: OpDef, own: Recipe | None) -> None:
        self.op = op
        self.backend = current() if own is None else own.backend
        self.kept_outputs: frozenset[int] = frozenset() if own is None else own.kept_outputs
        self._own = own

    def pull(self, node: ForeignNode, entry: Sequence[Any], wrt: Sequence[Place | None]) -> Arrays:
        """Return the framework's gradients for arriving ones that it has seen; those of gradtool's rule for
        anything else.
        """
        given = node.recall(entry[1:])
        if given is not None:
            return [None if place is None else g for place, g in zip(wrt, given, strict=True)]
        node.retained()
        if self._own is None:
            raise _only_there(self.op.type) if node.told else _no_gradient_error(self.op.type)
        if self._own.pull is None:
            work = running()
            assert work is not None
            return work.pull(node, entry[1:], wrt)
        return self._own.pull(node, entry, wrt)  # type: ignore[no-any-return]


class ForeignCall:
    """The call of an operator, with what the tape asks of a :class:`BoundOp`."""

    __slots__ = ("attrs", "bound", "recipe")

    def __init__(self, op: OpDef, attrs: Mapping[str, Any], bound: BoundOp | None) -> None:
        self.attrs = attrs if bound is None else bound.attrs
        self.bound = bound
        own = None if bound is None else bound.recipe
        recipe = _recipes.get(op)
        if recipe is None or recipe._own is not own:
            recipe = _recipes[op] = _ForeignRecipe(op, own)
        self.recipe = recipe

    @property
    def op(self) -> OpDef:
        """The definition."""
        return self.recipe.op

    @property
    def gradients(self) -> Any:
        """Gradient kernels of gradtool's own."""
        assert self.bound is not None
        return self.bound.gradients


_recipes: dict[OpDef, _ForeignRecipe] = {}


class ForeignNode(GradNode):
    """One recorded call of an operator of another framework.

    Attributes:
        told: what arrived and what it gave, for each pass of the framework's own over it, with the number of the pass.
        passing: the number of the pass of the user's that is being played, 0 outside.
        order: by gradient that it gives, which edge of the framework's node that is.
        outs_of: by gradient that arrives, which output of the framework's node that is of.
        adopted: whether no operator was recorded with it, as with an ``autograd.Function``. Of views that are written
            the framework makes such nodes, too: what is in their memory is known all the same.
        read: of an operator of the framework alone, by operand that it read what gives its array while that is there.
        rule_at: of an ``autograd.Function``, where it says what its gradient is.
        ctx: as of a PyLayer's node: what an operator of the framework alone retains.
    """

    told: list[tuple[int, Arrays, Arrays]]
    passing: list[int]
    order: Sequence[int | None]
    outs_of: Sequence[int | None]
    ctx: Any
    read: Sequence[Callable[[], Any]] = ()
    rule_at: Any = ()
    adopted: bool = False

    def recall(self, arriving: Arrays) -> Arrays | None:
        """Return the framework's gradients for *arriving*; None where it has not seen that."""
        now = self.passing[0]
        for number, seen, given in reversed(self.told):
            if (now and number == now) or (not now and _same(seen, arriving)):
                return given
        return None


def _same(seen: Arrays, arriving: Arrays) -> bool:
    return len(seen) == len(arriving) and all(map(close, seen, arriving))


def close(one: Any, other: Any) -> bool:
    """Return whether two gradients are the same but for rounding; zeros stand for none."""
    if one is None or other is None:
        there = other if one is None else one
        return there is None or not np.any(there)
    if one is other:
        return True
    if one.shape != other.shape:
        return False
    with np.errstate(all="ignore"):
        largest = float(np.max(np.abs(np.where(np.isfinite(one), one, 0)), initial=0.0))
        return bool(np.allclose(one, other, rtol=_CLOSE, atol=_CLOSE * largest, equal_nan=True))
