"""Operators that are written in terms of others.

``@composed(...)`` above ``@op(...)`` says that the kernel is nothing but calls of operators, ``k.ops.name(…)`` and
arithmetic. Its shape rule is then the kernel read over specs, and its gradient rule the kernel recorded on a tape and
swept backwards, unless the definition gives one of its own::

    @composed("X Y Out@GRAD")
    @op("product", "X Y -> Out")
    def product(k, x, y):
        \"\"\"The product of two tensors.\"\"\"
        return x * y

The operands are what the gradient operator lists. A slot that is not among them comes as None when the kernel is
recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..core import names
from ..core.errors import OperatorError
from ..core.spec import TensorSpec, bool_
from . import registry
from .infer import broadcast
from .opdef import Array, Namespace, OpDef, Operand, Read, attributes_of
from .readings import Arithmetic, Ops, Tape, TapeOver, TracedValue, flatten

Needs = Mapping[str, Callable[[Mapping[str, Any]], bool]]


def compose(
    reads: str | None = None, *, wrt: str | None = None, needs: Needs | None = None
) -> Callable[[OpDef], OpDef]:
    """Give a definition whose kernel only calls operators its shape rule and its gradient rule.

    Args:
        reads: the slots that the gradient operator lists: inputs, outputs, and gradients of outputs with ``@GRAD``.
            Where none are named there is no gradient rule.
        wrt: the input slots with a gradient, separated by blanks; all that are read, but for optional ones, by default.
        needs: by slot of *reads*: whether an operator with these attributes lists it.
    """

    def complete(op: OpDef) -> OpDef:
        op.infer_fn = _shape_rule(op)
        if reads is not None:
            op.rule = ComposedRule(op, reads.split(), wrt, needs or {})
        return op

    return complete


class _Through:
    """Backend of a kernel that is read over something else than arrays."""

    __slots__ = ("ops",)

    def __init__(self, ops: Any) -> None:
        self.ops = ops


# -- shapes -----------------------------------------------------------------------------------------------------------


class SpecValue(Arithmetic):
    """A spec that can be calculated with."""

    __slots__ = ("spec",)

    def __init__(self, spec: TensorSpec) -> None:
        self.spec = spec

    @property
    def k(self) -> Any:
        return SPECS

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape

    @property
    def dtype(self) -> Any:
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        return self.spec.ndim

    def _compare(self, other: Any) -> SpecValue:
        shape = broadcast(self.shape, other.shape) if isinstance(other, SpecValue) else self.shape
        return SpecValue(TensorSpec(shape, bool_))

    __gt__ = __ge__ = __lt__ = __le__ = _compare


class SpecOps:
    """Every operator as a method, over specs."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = registry.get_by_name(name)

        def compute(*operands: Operand, **keywords: Any) -> Any:
            specs = [_map_nested(lambda v: v.spec, v) for v in operands]
            specs += [() if s.many else None for s in op.inputs[len(specs) :]]
            outs = op.infer_specs(specs, op.attributes(keywords))
            values = tuple(_map_nested(SpecValue, v) for v in outs)
            return values[0] if len(values) == 1 else values

        setattr(self, name, compute)
        return compute


SPECS = SpecOps()


def _map_nested(function: Callable[[Any], Any], operand: Any) -> Any:
    """*function* of each entry of an operand; None stays None."""
    if isinstance(operand, (list, tuple)) and not isinstance(operand, TensorSpec):
        return tuple([_map_nested(function, v) for v in operand])
    return None if operand is None else function(operand)


def _shape_rule(op: OpDef) -> Callable[..., Any]:
    def infer(*specs: Any, **attrs: Any) -> Any:
        values = [_map_nested(SpecValue, v) for v in specs]
        values += [() if s.many else None for s in op.inputs[len(values) :]]
        taken = {n: attrs[n] for n in op.kernel_attrs}
        result = op.kernel(_Through(SPECS), *values, **taken)
        return _map_nested(lambda v: v.spec, result)

    return infer


# -- gradients --------------------------------------------------------------------------------------------------------


class ComposedRule:
    """The gradient rule of an operator that is written in terms of others."""

    expands: bool = False
    takes_none: bool = False

    def __init__(self, op: OpDef, slots: Sequence[str], wrt: str | None, needs: Needs) -> None:
        self.op = op
        self.reads = tuple([_read(op, name) for name in slots])
        listed = [op.inputs[r.place] for r in self.reads if r.kind == "in"]
        chosen = wrt.split() if wrt is not None else [s.name for s in listed if not s.optional]
        self.wrt = tuple([op.input_index[name] for name in chosen])
        self.needs: Mapping[int, Callable[[Mapping[str, Any]], bool]] = MappingProxyType(
            {slots.index(name): needed for name, needed in needs.items()}
        )
        self.attrs = attributes_of(op.kernel, op.defaults)

    def __call__(
        self, k: Namespace, args: Sequence[Operand], wanted: Sequence[Sequence[bool]], attrs: Mapping[str, Any]
    ) -> list[list[Array | None]]:
        inputs: list[Operand] = [None] * len(self.op.inputs)
        arriving: dict[int, Operand] = {}
        for read, arg in zip(self.reads, args, strict=True):
            if read.kind == "in":
                inputs[read.place] = arg
            elif read.kind == "dout":
                arriving[read.place] = arg
        ops: Any = k.tracer if isinstance(k, Ops) else TapeOver(k)
        tape = Tape()
        traced = [tape.watch(v, ops) if i in self.wrt else _plain(v) for i, v in enumerate(inputs)]
        result = self.op.kernel(_Through(ops), *traced, **{n: attrs[n] for n in self.attrs})
        results = result if isinstance(result, tuple) else (result,)
        seeds = [pair for place, dout in arriving.items() for pair in _pairs(results[place], dout)]
        watched = [v if isinstance(v, TracedValue) else None for v in flatten(traced, self.wrt)]
        gradients = iter(ops.backward(tape, seeds, watched))
        like = iter(flatten(inputs, self.wrt))
        groups: list[list[Array | None]] = []
        for mask in wanted:
            group = [_or_zeros(ops, next(gradients), next(like)) for _ in mask]
            groups.append([g if w else None for g, w in zip(group, mask, strict=True)])
        return groups


def _plain(operand: Operand) -> Operand:
    return list(operand) if isinstance(operand, tuple) else operand


def _or_zeros(ops: Any, gradient: Array | None, operand: Array | None) -> Array | None:
    """*gradient*, or zeros where no result depends on the operand."""
    return ops.zeros_like(operand) if gradient is None and operand is not None else gradient


def _pairs(result: Any, dout: Any) -> list[tuple[Any, Any]]:
    listed = list(zip(result, dout, strict=True)) if isinstance(result, (list, tuple)) else [(result, dout)]
    return [(r, d) for r, d in listed if r is not None and d is not None]


def _read(op: OpDef, name: str) -> Read:
    """The slot of that name as something that a rule reads."""
    plain = name.removesuffix(names.GRAD)
    index, kind = (op.output_index, "dout") if plain != name else (op.output_index, "out")
    if plain == name and name in op.input_index:
        index, kind = op.input_index, "in"
    if plain not in index:
        raise OperatorError(f"{op.type}: the gradient reads '{name}', which is no slot of it")
    return Read(kind, index[plain])
