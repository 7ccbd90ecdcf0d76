"""Events of the steps of a run: operators, and the backward passes over a tape; :mod:`.watch` has the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import field
from typing import Any

from .records import dataclass
from .source import NOWHERE, Location, locate

# Events are reported in the terms of modules above this one: hence ``Any``.
Operator = Any
OpDef = Any
Backend = Any
GradNode = Any
Place = Any
Tensor = Any


@dataclass(slots=True, eq=False, repr=False)
class Entered:
    """A block begins to run; the steps up to the matching :class:`Exited` are in it.

    Attributes:
        op: the operator that the block belongs to, which is told when all its runs are over.
        run: which iteration, from 0. Backward blocks have the number of the forward iteration that they belong to.
    """

    op: Operator
    run: int


@dataclass(slots=True, eq=False, repr=False)
class Exited:
    """The block that was entered last is over."""


@dataclass(slots=True, eq=False, repr=False)
class Computed:
    """An operator was computed on tensors.

    Attributes:
        inputs: one array per slot, a list of them for a list slot, None for an empty one.
        outputs: likewise, one per output slot: the very arrays that the tensors of the results have.
        site: where the user's program called it, see :func:`gradtool.engine.core.source.site`.
        key: the ``key`` of its node, if the call is recorded; if not, the next node of another operator may have it.
        seconds: what the kernel took.
        backend: what computed it.
        leaves: the identities of those of *inputs* that are parameters, or other tensors that take a gradient and no
            recorded operator made; known where somebody watches tensors.
        again: computes the call once more on such inputs, and gives all results in one flat list, where another
            framework computed it and is there; None where the kernel does.
        told: what the first listener made of it, for others who would make the same. It must not refer to the event.
    """

    op: OpDef
    attrs: Mapping[str, Any]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    site: Any
    key: int
    seconds: float
    backend: Backend
    leaves: Set[int] = frozenset()
    again: Callable[[Sequence[Any]], Sequence[Any] | None] | None = None
    told: Any = None

    @property
    def loc(self) -> Location:
        """Place in the user's program that called it."""
        return locate(self.site)


@dataclass(slots=True, eq=False, repr=False)
class OpFailed:
    """An operator was to be computed on tensors, or a recorded one to be differentiated, and raised.

    Attributes:
        error: what it raised.
        op, attrs, inputs, loc: of an operator, as of :class:`Computed`; *op* is None where a gradient failed.
        node: the recorded operator whose gradient, or a hook on it, failed.
        arriving: the gradient of each result of *node*, None where none arrived.
    """

    error: BaseException
    op: OpDef | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Any, ...] = ()
    loc: Location = NOWHERE
    node: GradNode | None = None
    arriving: tuple[Any, ...] = ()


@dataclass(slots=True, eq=False, repr=False)
class Doubled:
    """The values of a tensor were copied, for an operator whose result is going to overwrite them."""

    array: Any
    copy: Any


@dataclass(slots=True, eq=False, repr=False)
class Began:
    """A backward pass begins.

    Attributes:
        roots: the tensors that it starts from.
        recorded: whether the pass is itself recorded (``create_graph``).
        seeds: the gradients that it starts with, by their places.
    """

    roots: tuple[Tensor, ...]
    recorded: bool
    seeds: Mapping[Place, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class Pulled:
    """A recorded operator was differentiated.

    Attributes:
        arriving: the gradient of each result, None where none arrived.
        wrt: where the gradients go, None where none is wanted.
        gradients: one for each of these places, not summed yet with what other operators send there.
        recorded: whether the pass is itself recorded.
        seconds: what the rule took.
        kept: what the node retained (see ``GradNode.kept``), which it may let go of next.
        told: as of :class:`Computed`.
    """

    node: GradNode
    arriving: Sequence[Any]
    wrt: Sequence[Place | None]
    gradients: Sequence[Any]
    recorded: bool
    seconds: float
    kept: Any
    told: Any = None


@dataclass(slots=True, eq=False, repr=False)
class Ended:
    """The backward pass that began last is over."""
