"""Sizes as numbers, computations with them, and what is checked of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node, cast, is_tensor
from ..values import SymbolicSize, size_of
from .rows import row


@row("aten.sym_size")
def _size(n: Pt2Node) -> Any:
    return size_of(n.tensor("self"), n.axis())


@row("aten.sym_numel")
def _count(n: Pt2Node) -> Any:
    x = n.tensor("self")
    if all(d >= 0 for d in x.shape):
        return math.prod(int(d) for d in x.shape)
    return SymbolicSize(lambda: paddle.reshape(paddle.cast(paddle.numel(x), "int64"), []))


@row("aten.item", "aten._local_scalar_dense")
def _item(n: Pt2Node) -> Any:
    x = n.tensor("self")
    return SymbolicSize(lambda: paddle.reshape(x, []))


@row(
    "aten._assert_async",
    "aten._assert_scalar",
    "aten._assert_tensor_metadata",
    "aten._functional_assert_async",
    "aten._functional_sym_constrain_range",
    "aten.sym_constrain_range",
    "aten.sym_constrain_range_for_size",
)
def _check(n: Pt2Node) -> Any:
    """Do nothing: PyTorch checked it when the module was exported."""
    return [n("dep_token", None)] * len(n.outputs)


_COMPUTED: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "add": (operator.add, lambda x, y: paddle.add(x, y)),
    "floordiv": (operator.floordiv, lambda x, y: paddle.floor_divide(x, y)),
    "mod": (operator.mod, lambda x, y: paddle.mod(x, y)),
    "mul": (operator.mul, lambda x, y: paddle.multiply(x, y)),
    "sub": (operator.sub, lambda x, y: paddle.subtract(x, y)),
    "truediv": (operator.truediv, lambda x, y: paddle.divide(cast(x, "float64"), cast(y, "float64"))),
    "eq": (operator.eq, lambda x, y: paddle.equal(x, y)),
    "ge": (operator.ge, lambda x, y: paddle.greater_equal(x, y)),
    "gt": (operator.gt, lambda x, y: paddle.greater_than(x, y)),
    "le": (operator.le, lambda x, y: paddle.less_equal(x, y)),
    "lt": (operator.lt, lambda x, y: paddle.less_than(x, y)),
    "ne": (operator.ne, lambda x, y: paddle.not_equal(x, y)),
    "sym_max": (max, lambda x, y: paddle.maximum(x, y)),
    "sym_min": (min, lambda x, y: paddle.minimum(x, y)),
}
"""Operator -> what computes it of numbers, and of variables."""

_ALONE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "neg": (operator.neg, lambda x: paddle.neg(x)),
    "sym_float": (float, lambda x: paddle.cast(x, "float64")),
    "sym_int": (int, lambda x: paddle.cast(paddle.trunc(cast(x, "float64")), "int64")),
    "ceil": (math.ceil, lambda x: paddle.cast(paddle.ceil(cast(x, "float64")), "int64")),
    "floor": (math.floor, lambda x: paddle.cast(paddle.floor(cast(x, "float64")), "int64")),
    "trunc": (math.trunc, lambda x: paddle.cast(paddle.trunc(cast(x, "float64")), "int64")),
    "sym_not": (operator.not_, lambda x: paddle.logical_not(x)),
}


def _as_variable(value: Any) -> Any:
    if isinstance(value, SymbolicSize):
        return value.variable()
    if is_tensor(value):
        return value
    return paddle.full([], value, "float64" if isinstance(value, float) else "int64")


def _operands(n: Pt2Node, count: int) -> list[Any]:
    values = [*n.arguments.values(), *n.positional][:count]
    if len(values) < count or not all(isinstance(v, (int, float, SymbolicSize)) for v in values):
        raise Missing("of what are no numbers")
    return values


def _compute(kind: str) -> Callable[[Pt2Node], Any]:
    of_numbers, of_variables = _COMPUTED[kind]

    def emit(n: Pt2Node) -> Any:
        x, y = _operands(n, 2)
        if not isinstance(x, SymbolicSize) and not isinstance(y, SymbolicSize):
            return of_numbers(x, y)

        def make() -> Any:
            a, b = _as_variable(x), _as_variable(y)
            if a.dtype != b.dtype:
                a, b = cast(a, "float64"), cast(b, "float64")
            return of_variables(a, b)

        return SymbolicSize(make)

    return emit


def _alone(kind: str) -> Callable[[Pt2Node], Any]:
    of_number, of_variable = _ALONE[kind]

    def emit(n: Pt2Node) -> Any:
        (x,) = _operands(n, 1)
        return SymbolicSize(lambda: of_variable(_as_variable(x))) if isinstance(x, SymbolicSize) else of_number(x)

    return emit


for _kind in _COMPUTED:
    row(f"_operator.{_kind}", f"torch.{_kind}", f"math.{_kind}")(_compute(_kind))
for _kind in _ALONE:
    row(f"_operator.{_kind}", f"torch.{_kind}", f"math.{_kind}")(_alone(_kind))


@row("_operator.getitem")
def _part(n: Pt2Node) -> Any:
    values = [*n.arguments.values(), *n.positional]
    if len(values) != 2 or not isinstance(values[0], list) or not isinstance(values[1], int):
        raise Unsound("it takes an element of what is no list")
    return values[0][values[1]]
