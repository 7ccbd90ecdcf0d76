"""The reverse sweep over nodes that stand in order: static programs and the derivation of gradient operators.

Both differentiate by walking nodes from the last to the first and handing each the gradients of its outputs. They
differ in what a value is and in what it means to emit a gradient and to add two of them; those are the sweep's
arguments. (The tape of dynamic mode has no list to walk: its nodes come out of a heap, see ``eager/passes.py``.)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeVar

Value = TypeVar("Value", bound=Hashable)
ValueOut = TypeVar("ValueOut", bound=Hashable, covariant=True)
Grad = TypeVar("Grad")


class Node(Protocol[ValueOut]):
    """One application of an operator, as the sweep sees it."""

    @property
    def wrt(self) -> Sequence[ValueOut | None]:
        """The inputs that the gradient rule can give a gradient for; None for one that is absent."""
        ...

    @property
    def outs(self) -> Sequence[ValueOut | None]:
        """The outputs whose gradients the rule reads."""
        ...


N = TypeVar("N", bound=Node)  # type: ignore[type-arg]


def sweep(
    nodes: Iterable[N],
    parts: dict[Value, list[Grad]],
    wanted: Callable[[Value], bool],
    accumulate: Callable[[Value, list[Grad]], Grad],
    emit: Callable[[N, list[Grad | None], list[bool]], Iterable[Grad | None]],
) -> None:
    """Walk *nodes* (last first) and collect in *parts* every value's gradient contributions.

    Args:
        nodes: the operators in reverse order of execution.
        parts: contributions by value, seeded by the caller, filled in order of appearance. A value whose gradient
            was needed holds exactly one entry afterwards, the accumulated one; others keep their parts.
        wanted: whether a value's gradient is asked for or leads to one that is.
        accumulate: turns the contributions to one value into its gradient; called once per value that is needed.
        emit: the node's gradients, one per entry of ``node.wrt``, from those of ``node.outs`` (None where no
            gradient arrives) and the mask of wanted entries; None stands for a structural zero.

    Linear in the number of operands; no recursion.
    """
    for node in nodes:
        outs = node.outs
        if parts.keys().isdisjoint(outs):
            continue
        mask = []  # no comprehension here: it is a call, and there may be a million nodes
        for v in node.wrt:
            mask.append(v is not None and wanted(v))
        if True not in mask:
            continue
        arriving: list[Grad | None] = []
        for value in outs:
            terms = parts.get(value) if value is not None else None
            if not terms:
                arriving.append(None)
                continue
            if len(terms) > 1:
                assert value is not None
                terms[:] = [accumulate(value, terms)]
            arriving.append(terms[0])
        for value, gradient in zip(node.wrt, emit(node, arriving, mask), strict=True):
            if gradient is not None and value is not None:
                parts.setdefault(value, []).append(gradient)
