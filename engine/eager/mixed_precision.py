"""Automatic mixed precision: what operators are given is cast before, by lists of operators.

Whether it is on says ``mode.casting``, and only then anybody comes here: recipes change what records (``recipe.py``),
and functions that remember operators run as written (``_remembered.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..core.spec import DType, bfloat16, float16, float32
from ..ops.registry import get_by_name
from .tensor import Tensor

CAST: Final = frozenset({float16, bfloat16, float32})
"""The types that are cast: whole numbers, truth values and float64 stay."""

FIRST: Final = frozenset({"batch_norm", "sync_batch_norm", "layer_norm"})
"""Operators of which the first operand alone is looked at and cast: their weights stay as they are."""

LEFT: Final = frozenset({"cast", "assign"})
"""Operators that take everything as it is."""


class Casting:
    """Rule for casting operands.

    Attributes:
        level: ``"O1"``, ``"O2"`` or ``"OD"``.
        dtype: the narrow type.
        white, black: types of operators that compute in it, and in float32.
        promotes: whether the others of level O2 compute in float32 where an operand is float32.
    """

    __slots__ = ("black", "dtype", "level", "promotes", "white")

    def __init__(
        self, level: str, dtype: DType, white: frozenset[str], black: frozenset[str], promotes: bool = True
    ) -> None:
        self.level = level
        self.dtype = dtype
        self.white = white
        self.black = black
        self.promotes = promotes

    def target(self, op_type: str, kinds: Sequence[DType]) -> DType:
        """The type that operands of *kinds* are cast to."""
        if op_type in self.white:
            return self.dtype
        if op_type in self.black or self.level == "OD":
            return float32
        if self.level == "O2" and not self.promotes:
            return self.dtype
        return float32 if float32 in kinds else self.dtype

    def cast_operands(self, op_type: str, operands: Sequence[Any]) -> Sequence[Any]:
        """The operands of an operator, cast."""
        if op_type in LEFT:
            return operands
        looked = operands[:1] if op_type in FIRST else operands
        kinds = [kind for value in looked for kind in _kinds(value)]
        if not kinds:
            return operands
        target = self.target(op_type, kinds)
        if all(kind is target for kind in kinds):
            return operands
        return [*(_cast(value, target) for value in looked), *operands[len(looked) :]]


def _kinds(value: Any) -> list[DType]:
    """The types that are cast, of a tensor or of those in a list."""
    parts = value if isinstance(value, (list, tuple)) else (value,)
    return [v.dtype for v in parts if isinstance(v, Tensor) and v.dtype in CAST]


def _cast(value: Any, target: DType) -> Any:
    if isinstance(value, (list, tuple)):
        return [_cast(v, target) for v in value]
    if not isinstance(value, Tensor) or value.dtype not in CAST or value.dtype is target:
        return value
    from .record import apply  # imports this module

    op = get_by_name("cast")
    return apply(op, [value], op.attributes({"in_dtype": value.dtype.code, "out_dtype": target.code}))
