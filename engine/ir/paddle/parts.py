"""Rules read over the variables of a program: each operator that a rule calls becomes one that is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.spec import TensorSpec, bool_, dtype
from ...ops import registry, types
from ...ops.opdef import OpDef, Trait
from ...ops.readings import Arithmetic, TapeOver, TracedValue, flatten
from .. import build
from ..operator import Operator
from ..program import Program
from ..variable import Variable


class NotInPaddle(Exception):
    """Error of an operator that can be computed only with an operator that Paddle does not have."""


class OperatorPart(Arithmetic):
    """A value between the operators that one is written as, or one of its operands."""

    __slots__ = ("_parts", "_variable")

    def __init__(self, variable: Variable, parts: Parts) -> None:
        self._variable = variable
        self._parts = parts

    @property
    def variable(self) -> Variable:
        """The variable that holds it."""
        return self._variable

    @property
    def k(self) -> Parts:
        return self._parts

    @property
    def spec(self) -> TensorSpec:
        return self.variable.spec

    @property
    def shape(self) -> tuple[int, ...]:
        return self.variable.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.variable.dtype.numpy

    @property
    def ndim(self) -> int:
        return len(self.variable.shape)

    @property
    def known(self) -> bool:
        """True if all its dimensions are."""
        return -1 not in self.shape

    def _compare(self, type_: str, other: Any) -> OperatorPart:
        if not isinstance(other, OperatorPart):
            other = self._parts.append("fill_any_like", {"X": self}, value=float(other))
        return self._parts.append(type_, {"X": self, "Y": other})

    def __gt__(self, other: Any) -> OperatorPart:
        return self._compare("greater_than", other)

    def __ge__(self, other: Any) -> OperatorPart:
        return self._compare("greater_equal", other)

    def __lt__(self, other: Any) -> OperatorPart:
        return self._compare("less_than", other)

    def __le__(self, other: Any) -> OperatorPart:
        return self._compare("less_equal", other)


class UnwrittenPart(OperatorPart):
    """Result of an operator that Paddle does not have. Nobody may read it: rules are read with what they
    differentiate.
    """

    __slots__ = ("_type",)

    def __init__(self, type_: str, parts: Parts) -> None:
        self._type = type_
        self._parts = parts

    @property
    def variable(self) -> Variable:
        """None, and nothing that is read of one."""
        raise NotInPaddle(self._type)


class FreshNames:
    """Names of new variables, none of which the program has."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._count = 0

    def name_after(self, name: str) -> str:
        """The next one, called after the variable *name*."""
        while True:
            new = f"{name}@PART@{self._count}"
            self._count += 1
            if not any(new in block.vars for block in self._program.blocks):
                return new


class Parts:
    """The operators that one is written as; a namespace for its rule.

    Attributes:
        op: that one.
        ops: in order.
        variables: those that they write.

    Args:
        told: by name, what writes operators in the place of those that only rules call.
    """

    def __init__(self, op: Operator, called: FreshNames, told: Mapping[str, Callable[..., Any]]) -> None:
        self.op = op
        self._told = told
        self.ops: list[Operator] = []
        self.variables: list[Variable] = []
        self._called = called
        self._stem = next(v.name for v in op.output_variables())

    @property
    def tracer(self) -> TapeOver:
        """The same operators over traced values."""
        return TapeOver(self)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = registry.get_by_name(name)
        told = self._told.get(name)
        plain = partial(told, self) if told is not None else partial(self.call, op)

        def call(*operands: Any, **attrs: Any) -> Any:
            # What a part does with a traced value is traced.
            traced = next((v for v in flatten(operands, range(len(operands))) if isinstance(v, TracedValue)), None)
            return plain(*operands, **attrs) if traced is None else traced.k.call(op, *operands, **attrs)

        return call

    def call(self, op: OpDef, /, *operands: Any, **keywords: Any) -> Any:
        """Write *op*; its results, as kernels give them."""
        if op.trait & Trait.INTERNAL and op.infer_fn is None:
            none = UnwrittenPart(op.type, self)
            return none if len(op.outputs) == 1 else (none,) * len(op.outputs)
        results = [as_list(r) for r in self.write(op, operands, op.attributes(keywords))]
        return results[0] if len(results) == 1 else tuple(results)

    def append(self, type_: str, inputs: Mapping[str, OperatorPart | None], **attrs: Any) -> OperatorPart:
        """Write an operator of that type; its first result."""
        op = registry.get_by_type(type_)
        operands = [inputs.get(s.name, () if s.many else None) for s in op.inputs]
        result = self.write(op, operands, op.attributes(attrs))[0]
        assert isinstance(result, OperatorPart)
        return result

    def pull(self, type_: str, inputs: Mapping[str, Any], slot: str, like: Any, **attrs: Any) -> Any:
        """Write a gradient operator of that type for the one result that stands in *slot* and is like *like*."""
        op = registry.get_by_type(type_)
        operands = [inputs.get(s.name, () if s.many else None) for s in op.inputs]
        specs = [each_of(_spec, like) if s.name == slot else None for s in op.outputs]
        return self.write(op, operands, op.attributes(attrs), specs)[op.output_index[slot]]

    def write(
        self, op: OpDef, operands: Sequence[Any], attrs: Mapping[str, Any], specs: Sequence[Any] | None = None
    ) -> tuple[Any, ...]:
        """Write *op*, its operands cast to what it computes in; *specs* says what it makes where no rule does."""
        filled = [*operands, *([None] * (len(op.inputs) - len(operands)))]
        filled = [_as_tuple(v) if s.many else v for v, s in zip(filled, op.inputs, strict=True)]
        if op.forward is None and op.type != "cast":
            if op.trait & Trait.ELEMENTWISE:
                filled = self._numbers(filled)
            wanted = types.compute_specs(op, [each_of(_spec, v) for v in filled])
            filled = [each_of(self._cast, v, spec) for v, spec in zip(filled, wanted, strict=True)]
        inputs = tuple([each_of(_variable, v) for v in filled])
        outputs = tuple([each_of(self._new, s) for s in (specs or build.infer(op, inputs, attrs))])
        like = self.op
        self.ops.append(
            Operator(like.block, op, inputs, outputs, attrs, loc=like.loc, role=like.role, scope=like.scope)
        )
        return tuple([each_of(lambda v: OperatorPart(v, self), v) for v in outputs])

    def _numbers(self, operands: list[Any]) -> list[Any]:
        """*operands* with numbers in the place of bools, if others are numbers."""
        kinds = [part.spec.dtype for part in operands if part is not None]
        number = next((kind for kind in kinds if kind is not bool_), None)
        return [self.cast_to(v, number) if number is not None and v.spec.dtype is bool_ else v for v in operands]

    def _new(self, spec: TensorSpec) -> Variable:
        v = Variable(self.op.block, self._called.name_after(self._stem), spec)
        self.variables.append(v)
        return v

    def _cast(self, part: OperatorPart, spec: TensorSpec) -> OperatorPart:
        return self.cast_to(part, spec.dtype)

    def cast_to(self, part: OperatorPart, kind: Any) -> OperatorPart:
        """*part* in that type."""
        before, after = part.spec.dtype, dtype(kind)
        if before is after:
            return part
        return self.append("cast", {"X": part}, in_dtype=before.code, out_dtype=after.code)


def _spec(part: OperatorPart) -> TensorSpec:
    return part.spec


def _variable(part: OperatorPart) -> Variable:
    return part.variable


def each_of(function: Callable[..., Any], operand: Any, *others: Any) -> Any:
    """*function* of an operand, or of each in a list; None stays None."""
    if isinstance(operand, tuple):
        rows = zip(operand, *others, strict=True)
        return tuple([each_of(function, v, *row) for v, *row in rows])
    return None if operand is None else function(operand, *others)


def _as_tuple(operand: Any) -> Any:
    return () if operand is None else tuple(operand)


def as_list(operand: Any) -> Any:
    """A list of what stands in a list slot, as rules take it."""
    return list(operand) if isinstance(operand, tuple) else operand
