"""A program whose operators compute in bfloat16 where lists of their types say so, with casts between the two types."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.spec import DType, bfloat16, float32
from gradtool.engine.ir import build
from gradtool.engine.ir.operator import Operands, Operator, each, map_operands
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.variable import DENSE, Variable
from gradtool.engine.ops import registry

from ...engine.core.identity import identity

NORMS = frozenset({"batch_norm", "fused_bn_add_activation", "layer_norm"})
"""Operators that only read their first operand in the narrow type: weights and statistics stay what they are."""

_WORDS = {bfloat16: "bf16", float32: "fp32"}


def narrowed(
    program: Program, narrow: Collection[str], either: Collection[str], wide_names: Collection[str] = ()
) -> None:
    """Let operators of block 0 compute in bfloat16, with casts where the types of what they read are others.

    Args:
        narrow: types that do.
        either: types that do where something that they read is computed in it, and nothing in float32. All others
            read float32.
        wide_names: names of variables whose readers compute in float32.
    """
    _Narrowing(program.global_block(), narrow, either, wide_names).rewrite()
    program.version += 1


class _Narrowing:
    def __init__(
        self, block: Block, narrow: Collection[str], either: Collection[str], wide_names: Collection[str]
    ) -> None:
        self.block = block
        self.narrow, self.either, self.wide_names = narrow, either, wide_names
        self.ops: list[Operator] = []
        self.decided: dict[Variable, bool] = {}
        """By variable, whether the operator that made it computes in the narrow type."""
        self.casts: dict[tuple[Variable, DType], Variable] = {}
        self.fixed = _fixed(block.ops)

    def rewrite(self) -> None:
        for op in list(self.block.ops):
            is_narrow = self._is_narrow(op) and self._made_narrow(op)
            if not is_narrow:
                self._made_wide(op)
            for v in each(op.outputs):
                self.decided[v] = is_narrow
            self.ops.append(op)
        self.block._replace_ops(self.ops)

    def _is_narrow(self, op: Operator) -> bool:
        """Return whether *op* is to compute in the narrow type, by what stands in the lists and by what it reads."""
        if op.op.holds_blocks or any(v.name in self.wide_names for v in each(op.inputs)):
            return False
        if any(v in self.fixed for v in each(op.outputs)):
            return False
        if op.type in self.narrow:
            return True
        made = [self.decided[v] for v in each(op.inputs) if v in self.decided]
        return op.type in self.either and any(made) and all(made)

    def _made_narrow(self, op: Operator) -> bool:
        """Cast what *op* reads, and let what it makes be of the type that follows; False where the types do not fit."""
        first = op.op.inputs[0].name if op.type in NORMS else None
        inputs = tuple(
            value if first is not None and slot.name != first else map_operands((value,), self._narrow_operand)[0]
            for slot, value in zip(op.op.inputs, op.inputs, strict=False)
        )
        attrs = op.op.attributes({**op.attrs, **({"dtype": bfloat16.code} if op.attrs.get("dtype") == 5 else {})})
        try:
            specs = build.infer(op.op, inputs, attrs)
        except GradtoolError:
            return False
        self._take(op, inputs)
        op.attrs = attrs
        for value, spec in zip(op.outputs, specs, strict=False):
            pairs = zip(value, spec, strict=False) if isinstance(value, tuple) else [(value, spec)]
            for v, s in pairs:
                if v is not None and v.dtype is float32:
                    v.spec = v.spec.replace_dtype(s.dtype)
        return True

    def _made_wide(self, op: Operator) -> None:
        if not op.op.holds_blocks:
            self._take(op, map_operands(op.inputs, lambda v: self._cast(v, bfloat16, float32)))

    def _narrow_operand(self, v: Variable) -> Variable:
        return self._cast(v, float32, bfloat16)

    def _cast(self, v: Variable, before: DType, after: DType) -> Variable:
        """*v*, or where it is of the type *before* a variable with its values in the type *after*; not made yet."""
        if v.dtype is not before or v.kind != DENSE:
            return v
        if (v, after) not in self.casts:
            self.casts[v, after] = Variable(
                self.block,
                f"{v.name}.cast_{_WORDS[after]}",
                v.spec.replace_dtype(after),
                stop_gradient=v.stop_gradient,
                loc=v.made_at,
            )
        return self.casts[v, after]

    def _take(self, op: Operator, inputs: Operands) -> None:
        """Let *op* read *inputs*; those that nobody has made so far are made in front of it."""
        made = registry.get_by_type("cast")
        sources = {identity(cast): v for (v, _), cast in self.casts.items()}
        for v in each(inputs):
            if identity(v) in sources and v.op is None:
                of = sources[identity(v)]
                attrs = made.attributes({"in_dtype": of.dtype.code, "out_dtype": v.dtype.code})
                v.op = Operator(self.block, made, (of,), (v,), attrs, loc=op.loc, role=op.role, scope=op.scope)
                self.block.vars[v.name] = v
                self.ops.append(v.op)
        op.inputs = inputs


def _fixed(ops: Iterable[Operator]) -> set[Variable]:
    """Variables that stay what they are: written twice, kept between runs, or used by the blocks of operators."""
    fixed: set[Variable] = set()
    written: set[Any] = set()
    for op in ops:
        for v in each(op.outputs):
            if v in written or v.persistable or v.is_data:
                fixed.add(v)
            written.add(v)
        if op.op.holds_blocks:
            fixed.update((*each(op.inputs), *each(op.outputs)))
    return fixed
