"""Deriving gradient operators.

``derive(op)`` makes the operator whose inputs are what the rule of *op* reads and whose outputs are the gradients that
it gives. Its kernel is the rule read over arrays. Its own rule is that rule recorded on a tape and swept backwards, so
the derived operator can be derived again, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core import names
from ..core.spec import in_use
from . import compat, rare_types, registry
from .opdef import Array, Namespace, OpDef, Operand, Read, Slot, Trait
from .readings import Tape, TracedValue, flatten
from .samples import Sample


def derive(op: OpDef) -> OpDef:
    """The gradient operator of *op* (``OpDef.grad_op`` keeps it)."""
    rule = op.rule
    assert rule is not None
    renamed = compat.slots(op.type)

    def slot(place: int, read: Read) -> Slot:
        base = (op.inputs if read.kind == "in" else op.outputs)[read.place]
        plain = base.name + (names.GRAD if read.kind == "dout" else "")
        absent = read.late or (read.kind == "dout" and rule.takes_none)
        unlisted = place in rule.needs or (read.kind == "out" and base.optional)
        return Slot(renamed.get(plain, plain), base.many, base.optional or absent, unlisted)

    inputs = _distinct([slot(i, r) for i, r in enumerate(rule.reads)])
    outputs = _distinct([Slot(renamed.get(n, n), s.many, True) for s, n in _grad_outputs(op)])

    def kernel(backend: Any, *operands: Operand, wanted: Any = None, **attrs: Any) -> Any:
        masks = wanted or [[True] * _length(v) for v in _forward_operands(op, operands)]
        k = backend.ops
        grads = rare_types.pull(op, k, operands, masks, attrs) if in_use else rule(k, operands, masks, attrs)
        shaped = tuple(g if s.many else g[0] for g, s in zip(grads, outputs, strict=True))
        return shaped[0] if len(shaped) == 1 else shaped

    kernel.__doc__ = f"Gradient of {op.type}: from the gradients of its outputs to those of its inputs."
    new = OpDef(
        f"{op.name}_grad",
        compat.grad_type(op.type),
        inputs,
        outputs,
        kernel,
        defaults=op.defaults,
        trait=op.trait & (Trait.INTERNAL | Trait.VALUES),
        forward=op,
    )
    new.rule = DerivedRule(new)
    return new


def _length(operand: Operand) -> int:
    return len(operand) if isinstance(operand, (list, tuple)) else 1


def _distinct(slots: Iterable[Slot]) -> tuple[Slot, ...]:
    """*slots*; one that is called like an earlier one gets a number.

    In third order ``X@GRAD@GRAD`` is an operand of the operator of second order, and the gradient of its ``X@GRAD``.
    """
    seen: dict[str, int] = {}
    distinct = []
    for s in slots:
        seen[s.name] = seen.get(s.name, 0) + 1
        distinct.append(s if seen[s.name] == 1 else s._replace(name=f"{s.name}@{seen[s.name]}"))
    return tuple(distinct)


def _grad_outputs(op: OpDef) -> list[tuple[Slot, str]]:
    assert op.rule is not None
    return [(op.inputs[i], op.inputs[i].name + names.GRAD) for i in op.rule.wrt]


def _forward_operands(op: OpDef, operands: Sequence[Operand]) -> list[Operand]:
    """Return the input slots of *op* with gradients that the gradient operator reads."""
    assert op.rule is not None
    at = {r.place: v for r, v in zip(op.rule.reads, operands, strict=True) if r.kind == "in"}
    return [at.get(i, [None] if op.inputs[i].many else None) for i in op.rule.wrt]


class DerivedRule:
    """The rule of a gradient operator: the forward rule, recorded and swept back.

    Which of its inputs it has to read, and for which it gives a gradient at all, is learned once by running the
    samples of the forward operator (:func:`_structure`).
    """

    expands: bool = False
    takes_none: bool = True
    needs: Mapping[int, Callable[[Mapping[str, Any]], bool]] = MappingProxyType({})

    def __init__(self, op: OpDef) -> None:
        self.op = op
        self._signature: tuple[tuple[Read, ...], tuple[int, ...]] | None = None

    @property
    def reads(self) -> tuple[Read, ...]:
        return self._structure()[0]

    @property
    def wrt(self) -> tuple[int, ...]:
        return self._structure()[1]

    def _structure(self) -> tuple[tuple[Read, ...], tuple[int, ...]]:
        if self._signature is None:
            self._signature = _structure(self.op)
        return self._signature

    def __call__(
        self,
        k: Namespace,
        args: Sequence[Operand],
        wanted: Sequence[Sequence[bool]],
        attrs: Mapping[str, Any],
    ) -> list[list[Array | None]]:
        count = len(self.op.inputs)
        operands: list[Operand] = [None] * count
        cotangents: list[Operand] = [None] * len(self.op.outputs)
        for read, arg in zip(self.reads, args, strict=True):
            (operands if read.kind == "in" else cotangents)[read.place] = arg
        for i in _unread_places(self.reads, count):
            # Only a unary operator's Out@GRAD is ever dropped, and its value is not read: any tensor of that shape.
            operands[i] = next(c for c in cotangents if c is not None)
        grads = _pull_through(self.op, k, operands, cotangents, attrs)
        chosen = []
        for i, mask in zip(self.wrt, wanted, strict=True):
            group, like = (v if isinstance(v, (list, tuple)) else [v] for v in (grads[i], operands[i]))
            chosen.append([_or_zeros(k, g, v) if w else None for g, v, w in zip(group, like, mask, strict=True)])
        return chosen


def _or_zeros(k: Namespace, gradient: Array | None, operand: Array | None) -> Array | None:
    """*gradient*; zeros where the gradients that did arrive do not depend on the operand (``x`` in ``∂²(x·x)``)."""
    return k.zeros_like(operand) if gradient is None and operand is not None else gradient


def _unread_places(reads: tuple[Read, ...], count: int) -> set[int]:
    return set(range(count)) - {r.place for r in reads if r.kind == "in"}


def _pull_through(
    op: OpDef, k: Any, operands: Sequence[Operand], cotangents: Sequence[Operand], attrs: Mapping[str, Any]
) -> list[Any]:
    """Gradients for every operand of the gradient operator *op*, in the nesting of *operands*."""
    forward = op.forward
    assert forward is not None
    assert forward.rule is not None
    rule = forward.rule
    k = k.tracer
    tape = Tape()
    traced = [v if read.like else tape.watch(v, k) for read, v in zip(rule.reads, operands, strict=True)]
    slots = zip(op.outputs, cotangents, _forward_operands(forward, operands), strict=True)
    entries = [_entries(cotangent, operand if slot.many else None) for slot, cotangent, operand in slots]
    wanted = [[e is not None for e in group] for group in entries]
    groups = rare_types.pull(forward, k, traced, wanted, attrs) if in_use else rule(k, traced, wanted, attrs)
    results = chain.from_iterable(groups)
    pairs = zip(results, chain.from_iterable(entries), strict=True)
    seeds = [(r, c) for r, c in pairs if r is not None and c is not None]
    flat = [v if isinstance(v, TracedValue) else None for v in flatten(traced, range(len(traced)))]
    gradients = iter(k.backward(tape, seeds, flat))
    return [[next(gradients) for _ in v] if isinstance(v, (list, tuple)) else next(gradients) for v in traced]


def _entries(cotangent: Operand, listed: Operand) -> list[Any]:
    """The gradients that a slot holds: one, or a list, which may be missing as a whole where *listed* says how long."""
    if isinstance(cotangent, (list, tuple)):
        return list(cotangent)
    if cotangent is None and isinstance(listed, (list, tuple)):
        return [None] * len(listed)
    return [cotangent]


def _structure(op: OpDef) -> tuple[tuple[Read, ...], tuple[int, ...]]:
    """Return what the rule of the gradient operator *op* reads and which of its inputs it gives gradients for.

    Found by running the forward operator's samples: an input to which no sample propagates anything has a gradient
    that is zero by structure, and an input whose values can be poisoned without changing any result is only read for
    its shape. A unary operator's output gradient that is read for its shape alone is left out.
    """
    forward = op.forward
    assert forward is not None
    assert forward.rule is not None
    if forward.forward is not None and not forward.has_samples:
        forward.samples(lambda make: grad_samples(forward))
    inputs = _Inputs(op)
    for sample in grad_samples(op):
        inputs.probe(sample)
    rule = forward.rule
    places = range(len(op.inputs))
    # Without samples that say otherwise every input counts, but for those that the rule itself reads for their shape.
    valued = inputs.valued | (set(places) - inputs.tried)
    wrt = inputs.used if inputs.tried else {i for i in places if not rule.reads[i].like}
    reads = []
    for i in places:
        shape_only = rule.reads[i].like or i not in valued
        if shape_only and rule.reads[i].kind == "dout" and Trait.UNARY in forward.trait:
            continue
        reads.append(Read("in", i, shape_only))
    reads += [Read("dout", j) for j in range(len(op.outputs))]
    return tuple(reads), tuple(i for i in places if i in wrt)


class _Inputs:
    """Facts that samples show about the inputs of the gradient operator *op*.

    Attributes:
        used: inputs to which something propagates.
        tried: inputs whose values have been poisoned.
        valued: those of them where that changes a result.
    """

    def __init__(self, op: OpDef) -> None:
        self.used: set[int] = set()
        self.tried: set[int] = set()
        self.valued: set[int] = set()
        self._op = op
        self._backend = registry.reference_backend()

    def probe(self, sample: Sample) -> None:
        """Run *sample* as it is, and with one input after another poisoned."""
        op, operands = self._op, sample.operands
        rng = np.random.default_rng(1)
        with np.errstate(all="ignore"):
            result = op.run(self._backend, operands, sample.attrs)
            results = result if isinstance(result, tuple) else (result,)
            cotangents = [_random_like(r, rng) for r in results]
            grads = _pull_through(op, self._backend.ops, operands, cotangents, sample.attrs)
            self.used.update(i for i, g in enumerate(grads) if not _is_absent(g))
            for i, operand in enumerate(operands):
                if i in self.valued or operand is None:
                    continue
                self.tried.add(i)
                if any(self._matters(i, poison, sample, cotangents, grads) for poison in _poisons(operand, rng)):
                    self.valued.add(i)

    def _matters(
        self, i: int, poison: Any, sample: Sample, cotangents: Sequence[Operand], grads: Sequence[Any]
    ) -> bool:
        """Return whether the gradients are others with *poison* as input *i*; to be safe, also where it has no
        poison.
        """
        if poison is None:
            return True
        poisoned = [*sample.operands[:i], poison, *sample.operands[i + 1 :]]
        return not _same(grads, _pull_through(self._op, self._backend.ops, poisoned, cotangents, sample.attrs))


def _is_absent(gradient: Any) -> bool:
    """Return whether there is no gradient, also in none of the places of a list."""
    return all(e is None for e in (gradient if isinstance(gradient, list) else [gradient]))


def _sample_of(read: Read, operands: Sequence[Any], results: Sequence[Any], rng: np.random.Generator) -> Any:
    if read.kind == "in":
        return operands[read.place]
    return results[read.place] if read.kind == "out" else _random_like(results[read.place], rng)


def grad_samples(op: OpDef) -> Any:
    """Samples for the gradient operator *op*, made from those of the operator that it differentiates."""
    forward = op.forward
    assert forward is not None
    assert forward.rule is not None
    backend = registry.reference_backend()
    if forward.forward is not None and not forward.has_samples:
        forward.samples(lambda make: grad_samples(forward))
    for n, sample in enumerate(forward.make_samples()):
        with np.errstate(all="ignore"):
            result = forward.run(backend, sample.operands, sample.attrs)
        results = result if isinstance(result, tuple) else (result,)
        rng = np.random.default_rng(n)
        operands = [_sample_of(r, sample.operands, results, rng) for r in forward.rule.reads]
        yield Sample(op, operands, sample.attrs, f"{sample.label}", sample.smooth)


def _random_like(value: Any, rng: np.random.Generator) -> Any:
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [_random_like(v, rng) for v in value]
    kind, shape = np.asarray(value).dtype, np.shape(value)
    drawn = rng.uniform(0.5, 1.5, shape)
    return (drawn + 1j * rng.uniform(0.5, 1.5, shape) if kind.kind == "c" else drawn).astype(kind)


def _poisons(value: Any, rng: np.random.Generator) -> list[Any]:
    """*value* with every number replaced, by NaN and at random; None stands for one that cannot be poisoned."""
    if isinstance(value, (list, tuple)):
        columns = [_poisons(v, rng) for v in value]
        return [None] if any(c[0] is None for c in columns) else [list(row) for row in zip(*columns, strict=True)]
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return [None]
    unit = 1 + 1j if array.dtype.kind == "c" else 1
    return [np.full_like(array, np.nan * unit), (unit * rng.uniform(-3, 3, array.shape)).astype(array.dtype)]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list):
        return all(_same(x, y) for x, y in zip(a, b, strict=True))
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b))
