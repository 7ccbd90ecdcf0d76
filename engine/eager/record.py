"""``apply``: compute an operator on tensors and record it; and every operator as a function of tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..ops.opdef import OpDef, Operand, Trait
from ..ops.readings import Arithmetic
from ..ops.registry import get_by_name
from .recipe import BoundOp, recipes
from .tensor import Tensor, array_of


def apply(op: OpDef, operands: Sequence[Operand], attrs: Mapping[str, Any]) -> Any:
    """Compute *op* and record it if any operand needs a gradient.

    Args:
        operands: tensors per input slot, lists of them for list slots, None for empty ones.
        attrs: every attribute, in the order of the operator's defaults.

    Returns:
        The output tensor, or a tuple of them (lists for list slots).

    Raises:
        ShapeError, DtypeError: the operands do not fit.
        KernelError: the operator failed otherwise.
    """
    recipe = recipes[op]
    if len(operands) < recipe.count:
        operands = (*operands, *recipe.padding[len(operands) :])
    return recipe.record(recipe.call(attrs), *operands)


class TensorOps:
    """Every operator as a function of tensors (arrays are taken as constants), computed at once and recorded."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = get_by_name(name)
        padding: tuple[Operand, ...] = tuple([[] if s.many else None for s in op.inputs])

        def call(*operands: Operand, **attrs: Any) -> Any:
            recipe = recipes[op]
            bound = recipe.bind(attrs) if attrs else recipe.default
            filled = (*self._lift(op, operands), *padding[len(operands) :])
            return self._result(self._record(bound, filled))

        setattr(self, name, call)
        return call

    def primitive(self, own: Callable[..., Any]) -> Callable[..., Any]:
        """*own* itself: what stands in for it over arrays records nothing."""
        return own

    def _record(self, call: BoundOp, operands: Sequence[Operand]) -> Any:
        return call.recipe.record(call, *operands)

    @staticmethod
    def _lift(op: OpDef, operands: Sequence[Operand]) -> list[Operand]:
        return [lift(v) for v in operands]

    def _result(self, result: Any) -> Any:
        return result


class RuleOps(TensorOps):
    """The namespace of a rule that is itself recorded; its values are :class:`Recorded`."""

    @staticmethod
    def _lift(op: OpDef, operands: Sequence[Operand]) -> list[Operand]:
        """The operands; where numbers are multiplied by a mask, the mask is one of zeros and ones of their type."""
        kinds = [v.dtype for v in operands if isinstance(v, Recorded)]
        if Trait.ELEMENTWISE not in op.trait or not kinds:
            return [lift(v) for v in operands]
        return [lift(v.astype(kinds[0]) if type(v) is np.ndarray and v.dtype.kind == "b" else v) for v in operands]

    def _result(self, result: Any) -> Any:
        return tuple(map(read_for_rule, result)) if isinstance(result, tuple) else read_for_rule(result)


class Recorded(Arithmetic):
    """A tensor as a rule sees it: with the operators of rules, whatever operators the public API gives tensors."""

    __slots__ = ("tensor",)
    __array_ufunc__ = None  # `array * recorded` is ours to answer

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def k(self) -> RuleOps:
        return rule_ops

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.tensor.array.shape
        return shape

    @property
    def dtype(self) -> Any:
        return self.tensor.array.dtype

    @property
    def ndim(self) -> int:
        return self.tensor.ndim

    # Comparisons are constants as far as derivatives go, so their results are plain arrays.

    def __gt__(self, other: Any) -> Any:
        return self.tensor.array > values(other)

    def __ge__(self, other: Any) -> Any:
        return self.tensor.array >= values(other)

    def __lt__(self, other: Any) -> Any:
        return self.tensor.array < values(other)

    def __le__(self, other: Any) -> Any:
        return self.tensor.array <= values(other)


def values(v: Any) -> Any:
    """The array of a tensor; anything else as it is."""
    return v.tensor.array if isinstance(v, Recorded) else array_of(v)


def lift(v: Any) -> Any:
    """*v* as a tensor, or a list of them."""
    if v is None or isinstance(v, Tensor):
        return v
    if isinstance(v, Recorded):
        return v.tensor
    return [lift(e) for e in v] if isinstance(v, (list, tuple)) else Tensor(v)


def read_for_rule(v: Any) -> Any:
    """*v*, a tensor, an array or a list of them, as rules see it."""
    if v is None or isinstance(v, Recorded):
        return v
    return [read_for_rule(e) for e in v] if isinstance(v, (list, tuple)) else Recorded(lift(v))


tensor_ops = TensorOps()
rule_ops = RuleOps()
