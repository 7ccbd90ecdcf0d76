"""Kernels of entries as data: which operator, with which attributes; so that a saved run can have them again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from ..core.errors import FixedError
from ..core.records import dataclass
from ..core.spec import in_use
from ..ir.operator import Operator
from ..kernels.backend import Backend
from ..kernels.choice import eager
from ..ops import rare_types, registry
from ..ops.opdef import OpDef
from .timeline import NOBODY, Entry

MASKED = frozenset({"dropout"})
"""Random operators that say in a second output what they drew."""

NOT_DRAWN_AGAIN = "its random numbers cannot be drawn again"
"""Why the results of other random operators stay what they are."""

USERS_FUNCTION = "py_func"
"""The operator of static programs that calls Python of the user's."""
USERS = "it is the user's own Python, which a saved session does not hold"


@dataclass(frozen=True, slots=True)
class Binding:
    """Inputs that a kernel is determined by.

    Attributes:
        op: the operator; of a gradient operator, the one that it differentiates.
        sizes: for each result slot, how many values its list holds, or None where it holds one.
        wanted: of a gradient operator, which of its results to compute; None for a forward operator.
        mask: of a random operator, the number of the value that says what it drew.
        padded: whether it may leave out results that were expected, each of them in a slot of its own.
        backend: whose kernel; of a run that comes from a file, what is in use.
        again: what computes it in place of the kernel, as another framework does that computed it; it may have nothing
            for a call.
    """

    op: OpDef
    attrs: Mapping[str, Any]
    sizes: tuple[int | None, ...]
    wanted: tuple[tuple[bool, ...], ...] | None = None
    mask: int = NOBODY
    padded: bool = False
    backend: Backend = field(default_factory=eager)
    again: Callable[[Sequence[Any]], Sequence[Any] | None] | None = None


def bind_on(binding: Binding, backend: Backend) -> Binding:
    """The same kernel as another backend has it."""
    return replace(binding, backend=backend)


_FLAT_DRAWS = frozenset(
    [
        *("bernoulli", "binomial", "cauchy", "exponential", "gaussian_inplace", "geometric", "log_normal"),
        *("multinomial", "normal", "poisson", "uniform", "uniform_random_inplace"),
    ]
)
"""Random operators whose gradient is zero by definition: what they draw does not move with what they read."""


def draws_only(entry: Entry) -> bool:
    """Return whether the results of an entry are numbers that were drawn, whatever it reads: a constant of the run."""
    if entry.fixed != NOT_DRAWN_AGAIN:
        return False
    op = getattr(entry.origin, "op", None)
    return getattr(op, "rule", None) is None or str(entry.type).rpartition(".")[2] in _FLAT_DRAWS


def draws_nothing(op: OpDef, attrs: Mapping[str, Any]) -> bool:
    """Return whether an operator that can draw random numbers draws none."""
    return op.type == "rnn" and not attrs.get("dropout_prob")


def kernel(binding: Binding, mask: Any = None) -> Callable[..., Sequence[Any]]:
    """A function of the operands that returns all results in one flat sequence.

    Args:
        mask: what the operator drew, if the binding names a value that says so.
    """
    op, attrs, backend = binding.op, binding.attrs, binding.backend
    if binding.mask != NOBODY:
        return _mask(backend, op, attrs, mask)
    if binding.wanted is None:
        if binding.again is not None:
            return _ask_framework(binding)
        bound = backend.bind(op, attrs)
        flat = _flatten(rare_types.watch_kernel(op, attrs, bound) if in_use else bound, binding.sizes)
        return _pad(flat, len(binding.sizes)) if binding.padded else flat
    assert op.grad_op is not None
    wanted = [list(w) for w in binding.wanted]
    bound = backend.bind(op.grad_op, attrs, wanted)
    if in_use:
        bound = rare_types.watch_gradient_kernel(op, attrs, bound, backend.general(op.grad_op, attrs, wanted))
    return _flatten(bound, binding.sizes)


def _ask_framework(binding: Binding) -> Callable[..., Sequence[Any]]:
    """Return what asks another framework for the results, and the kernel where that has none."""
    again = binding.again
    assert again is not None
    own: list[Callable[..., Sequence[Any]]] = []

    def run(*operands: Any) -> Sequence[Any]:
        results = None if own else again(operands)
        if results is not None:
            return results
        if not own:
            own.append(kernel(replace(binding, again=None)))
        return own[0](*operands)

    return run


def _mask(backend: Backend, op: OpDef, attrs: Mapping[str, Any], mask: Any) -> Callable[..., Sequence[Any]]:
    rule = op.rule
    assert rule is not None

    def run(x: Any, *rest: Any) -> Sequence[Any]:
        # The rule multiplies the gradient by the mask as the operator does its operand.
        args = [mask if r.kind == "out" else x for r in rule.reads]
        return [rule(backend.ops, args, [[True]], attrs)[0][0], mask]

    return run


def _pad(kernel: Callable[..., Sequence[Any]], count: int) -> Callable[..., Sequence[Any]]:
    return lambda *operands: [*kernel(*operands), *[None] * count][:count]


def _flatten(kernel: Callable[..., Any], sizes: Sequence[int | None]) -> Callable[..., Sequence[Any]]:
    """*kernel* with all its results in one flat sequence."""
    if len(sizes) == 1:
        return kernel if sizes[0] is not None else lambda *operands: (kernel(*operands),)
    if all(s is None for s in sizes):
        return kernel

    def run(*operands: Any) -> list[Any]:
        results: list[Any] = []
        for size, value in zip(sizes, kernel(*operands), strict=True):
            if size is None:
                results.append(value)
            else:
                results += value if value is not None else [None] * size
        return results

    return run


def number_results(entry: Entry, results: Sequence[Any]) -> list[tuple[int, Any]]:
    """Return each result of an operator that was computed again, with the number of its value.

    Raises:
        FixedError: it has another number of results than the recorded run, so that nobody can say which is which.
    """
    if len(results) != len(entry.outs):
        raise FixedError(
            f"{entry.name} cannot be repeated: it gives {len(results)} results, and {len(entry.outs)} in the recorded "
            "run.",
            op=entry.type,
        )
    return [(number, value) for (_, number), value in zip(entry.outs, results, strict=True)]


def runs_again(entry: Entry) -> bool:
    """Return whether the kernel of an entry can be bound again from the registry: it is none of the user's own
    Python.
    """
    if isinstance(entry.origin, Operator):
        return entry.type != USERS_FUNCTION
    b = entry.binding
    return b is not None and registry.find(b.op.type) is b.op


def digest(operands: Sequence[Any]) -> str:
    """Return a digest of operands: equal for equal numbers only."""
    hashed = hashlib.sha256()
    todo = list(operands)[::-1]
    while todo:
        operand = todo.pop()
        if isinstance(operand, (list, tuple)):
            hashed.update(f"list {len(operand)}\n".encode())
            todo += operand[::-1]
        elif operand is None:
            hashed.update(b"none\n")
        else:
            array = np.asarray(operand)
            hashed.update(f"{array.dtype.str} {array.dtype.name} {array.shape}\n".encode())
            hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()


def recall_or_compute(entry: Entry, recalled: Mapping[str, Sequence[Any]]) -> Callable[..., Sequence[Any]]:
    """A kernel that gives what the user's own Python gave for the same operands when it could still run."""

    def run(*operands: Any) -> Sequence[Any]:
        results = recalled.get(digest(operands))
        if results is None:
            raise FixedError(f"{entry.name} cannot run again on other values: {entry.fixed}.", op=entry.type)
        return results

    return run
