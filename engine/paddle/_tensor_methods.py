"""Members that only tensors of dynamic mode have: quick operators, in-place methods, ``x[i] = v``, copies, places."""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from gradtool.engine.core import source, state, watch
from gradtool.engine.core.attribute_keys import REMEMBERED
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ShapeError, UsageError
from gradtool.engine.eager.grad_fn import grad_fn
from gradtool.engine.eager.mode import is_grad_enabled
from gradtool.engine.eager.parameter import TensorParameter
from gradtool.engine.eager.recipe import BoundOp, recipes
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.kernels.choice import when_chosen
from gradtool.engine.ops import registry

from ..engine.core.identity import identity
from . import _exchange
from ._arguments import tensor
from ._dispatch import compute
from ._printing import tensor_text
from .device import CPUPlace
from .utils import unique_name

SAME_STORAGE = {"flatten", "reshape", "squeeze", "t", "transpose", "unsqueeze"}
"""In-place methods whose result is the same storage in another shape."""

FLATTENS = {"cumprod", "cumsum"}
"""In-place methods whose result may have another shape, in storage of its own."""


def operator(
    method: str, op_type: str, reverse: bool, scalar: Callable[[float], tuple[float, float]] | None, general: Any
) -> Callable[..., Any]:
    """The operator of a tensor with another one or with a number, without detours.

    Args:
        scalar: the ``scale`` and ``bias`` for a number.
        general: answers everything else.
    """
    op = registry.get_by_type(op_type)
    products = op_type == "matmul_v2"  # here, as in Paddle, the operator is not the function
    numbers = _ByNumber(method, op_type, scalar)
    in_static_mode = state.in_static_mode
    when_chosen(lambda before, now: numbers.clear())  # they are bound to a backend

    def operate(self: Tensor, other: Any) -> Any:
        if isinstance(other, Tensor):
            if not in_static_mode() and not (products and self.array.dtype != other.array.dtype):
                recipe = recipes[op]
                if reverse:
                    return recipe.record(recipe.default, other, self)
                return recipe.record(recipe.default, self, other)
        elif type(other) in (float, int):
            if self.array.dtype.kind == "f" and not in_static_mode():
                call = numbers[other]
                if call is not None:
                    return call.recipe.record(call, self)
        elif isinstance(other, np.ndarray) and other.ndim:
            other = Tensor(other if other.dtype.kind == "c" else other.astype(self.array.dtype, copy=False))
        return general(self, other)

    operate.__name__ = method
    operate.__doc__ = f"Compute ``{op_type}``."
    return operate


class _ByNumber(dict[float, "BoundOp | None"]):
    """By number, the operator with that number as its second operand; None where there is none such.

    Args:
        scalar: the ``scale`` and ``bias`` for a number.
    """

    def __init__(self, method: str, op_type: str, scalar: Callable[[float], tuple[float, float]] | None) -> None:
        self._power = method == "__pow__"
        self._divides = op_type == "elementwise_div"  # the quotient of whole numbers is a floating-point number
        self._scalar = scalar

    def __missing__(self, number: float) -> BoundOp | None:
        call = self._call(float(number))
        if number and call is not None:  # 0.0 and -0.0 are one key
            if len(self) >= REMEMBERED:
                self.clear()
            self[float(number)] = call
        return call

    def _call(self, number: float) -> BoundOp | None:
        if self._scalar is not None and (number or not self._divides):
            factor, bias = self._scalar(number)
            return _bound("scale", {"scale": factor, "bias": bias})
        return _bound("pow", {"factor": number}) if self._power else None


def _bound(type_: str, attrs: dict[str, float]) -> BoundOp:
    target = registry.get_by_type(type_)
    return recipes[target].call({**target.defaults, **attrs})


KEEPS_TYPE = ("cumsum",)
"""Functions whose results have another type than whole numbers, but for their in-place form."""


def in_place(function: str, package: str = "gradtool.paddle") -> Callable[..., Any]:
    """``paddle.<function>``, or that of another package, as a method that changes its tensor."""
    method = function + "_"

    def call(self: Tensor, *args: Any, **named: Any) -> Tensor:
        self.check_inplace(method)
        old = before(self, shares=function in SAME_STORAGE)
        others = [old if v is self else v for v in args]
        named = {n: old if v is self else v for n, v in named.items()}
        if function in KEEPS_TYPE and len(others) < 2:
            named.setdefault("dtype", self.dtype)
        result = getattr(importlib.import_module(package), function)(old, *others, **named)
        return take(self, result, method, shares=function in SAME_STORAGE, any_shape=function in FLATTENS)

    call.__name__ = method
    call.__doc__ = f"``paddle.{function}`` of this tensor, in place; returns it."
    return call


def _pow_(self: Tensor, y: float, name: str | None = None) -> Tensor:
    """``paddle.pow`` by a number, in place; returns the tensor.

    Raises:
        ArgumentTypeError: *y* is a tensor, which the form in place does not take (a TypeError).
    """
    if not isinstance(y, int | float):
        raise ArgumentTypeError(f"pow_: y must be a number, but received {type(y).__name__}; use x = paddle.pow(x, y).")
    return in_place("pow")(self, y)  # type: ignore[no-any-return]


def _where_(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """``paddle.where``, written to *x*, which is returned: alone among in-place forms, not its first argument.

    Raises:
        UsageError: *x* or *y* is missing (a ValueError).
        ArgumentTypeError: *x* is a number, which nothing can be written to (a TypeError).
        LeafError: *x* is a leaf that needs a gradient (a ValueError).
    """
    if x is None or y is None:
        raise UsageError("where_: both x and y must be given; the result is written to x.")
    x = tensor(x, "x", "where_")
    x.check_inplace("where_")
    old = before(x)
    condition, y = (old if v is x else v for v in (condition, y))
    return take(x, importlib.import_module("gradtool.paddle").where(condition, old, y), "where_")


def before(x: Tensor, shares: bool = False) -> Tensor:
    """*x* as it is now, for an operator whose result overwrites it: backward may need the old values."""
    keeps = shares or not is_grad_enabled()
    array = x.array if keeps else np.array(x.array)
    by = watch.watcher()
    if by is not None and not keeps:
        by(watch.Doubled(x.array, array))
    return Tensor(
        array,
        stop_gradient=x.stop_gradient,
        node=x.node,
        index=x.index,
        version=x.version if keeps else None,
    )


def take(x: Tensor, result: Tensor, method: str, *, shares: bool = False, any_shape: bool = False) -> Tensor:
    """Let *x* have the values of *result* and its place on the tape.

    Args:
        shares: *result* is the storage of *x* in another shape.
        any_shape: it may have another shape in storage of its own, as it may always have another dtype.
    """
    fits = result.array.shape == x.array.shape
    if not (fits or shares or any_shape):
        raise ShapeError(
            f"{method}: the result has shape {list(result.array.shape)}, the tensor it should be written to "
            f"{list(x.array.shape)}."
        )
    if shares or not fits or result.array.dtype != x.array.dtype:
        x.array = result.array
        x.version.wrote(method)
        if x._leaf is not None:
            state.written.note(x)
        if watch.noting:
            watch.note(watch.Written(x, x.array, method))
    else:
        x.write(result.array, method)
    if is_grad_enabled():
        # Also where no gradient flows through the operator: what x was computed from does not matter any more.
        x.node, x.index, x.stop_gradient = result.node, result.index, result.stop_gradient
    return x


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    """Replace the part that *index* selects; gradients flow into *value*, and no longer into what it replaces."""
    from . import _indexing

    self.check_inplace("set_value_")
    if not isinstance(value, (Tensor, int, float, complex, np.ndarray, np.generic)):
        value = Tensor(np.asarray(value, self.array.dtype))
    take(self, _indexing.replaced(before(self), index, value), "set_value_")


def _filled(method: str, fixed: float | None = None) -> Callable[..., Any]:
    def call(self: Tensor, value: float | None = None) -> Tensor:
        self.check_inplace(method)
        number = fixed if fixed is not None else value
        if number is None:
            raise ArgumentTypeError(f"{method} takes a number.")
        filled = compute(registry.get_by_type("fill_any"), (before(self),), {"value": float(number)})
        return take(self, filled, method)

    call.__name__ = method
    call.__doc__ = "Write one value everywhere; returns the tensor. What it was computed from gets zeros as gradients."
    return call


def _copy_(self: Tensor, other: Tensor, blocking: bool = True) -> Tensor:
    """Take over the values of *other*, and nothing but the values: no gradient flows into it.

    Raises:
        ShapeError: *other* has another shape (a ValueError).
        DtypeError: it has another dtype (a TypeError).
        ArgumentTypeError: it is no tensor (a TypeError).
    """
    tensor(other, "other", "copy_")
    if other.array.shape != self.array.shape:
        raise ShapeError(
            f"copy_: '{self.name}' has shape {list(self.array.shape)}, the other tensor {list(other.array.shape)}."
        )
    if other.array.dtype != self.array.dtype:
        raise DtypeError(f"copy_: '{self.name}' is {self.dtype.name}, the other tensor {other.dtype.name}.")
    self.write(other.array, "copy_")
    if watch.noting:
        watch.note(watch.Left("copy_", other, self))
    return self


def _shape(self: Tensor) -> list[int]:
    """The dimensions."""
    return list(self.array.shape)


def _size(self: Tensor) -> int:
    """The number of elements."""
    return int(self.array.size)


def _place(self: Tensor) -> CPUPlace:
    """Return the place where the tensor is stored."""
    return CPUPlace()


def _clone(self: Tensor) -> Tensor:
    """A copy through which gradients flow."""
    return compute(registry.get_by_type("assign"), (self,), {})  # type: ignore[no-any-return]


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf of its own with the same values, its gradient included, called ``<name>_deepcopy_0``.

    That of a tensor which was computed from others is a leaf, too: no gradient goes from it to them.
    """
    clone = object.__new__(type(self))
    memo[identity(self)] = clone
    Tensor.__init__(
        clone,
        np.array(self.array),
        stop_gradient=self.stop_gradient,
        name=unique_name.generate(f"{self.name}_deepcopy"),
        persistable=self.persistable,
    )
    if isinstance(clone, TensorParameter):
        clone.register(_outside_of_copy())
    for setting in getattr(type(self), "settings", ()):
        setattr(clone, setting, copy.deepcopy(getattr(self, setting), memo))
    if self.grad is not None:
        clone.grad = copy.deepcopy(self.grad, memo)
    if watch.noting and self.node is None:
        before = source.pretend(_outside_of_copy())
        watch.note(watch.DeepCopied(self, clone))
        source.pretend(before)
    return clone


def _outside_of_copy() -> source.Location:
    """The user's line that asked Python's ``copy`` for something."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") == copy.__name__:
        frame = frame.f_back
    return source.locate(source.site(frame))


def _itself(self: Tensor, *_: Any, **__: Any) -> Tensor:
    """The tensor itself: there is one place."""
    return self


def _contains(self: Tensor, value: Any) -> bool:
    return bool((self.array == (value.array if isinstance(value, Tensor) else value)).any())


def _set_requires(self: Tensor, value: bool) -> None:
    self.stop_gradient = not value


def _requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Let gradients flow into it (or not); returns it."""
    self.stop_gradient = not requires_grad
    return self


SPECIAL: dict[str, Any] = {
    "__contains__": _contains,
    "__deepcopy__": _deepcopy,
    "__dlpack__": _exchange.exported,
    "__dlpack_device__": _exchange.device_of,
    "__repr__": tensor_text,
    "__setitem__": _setitem,
    "clone": _clone,
    "contiguous": _itself,
    "copy_": _copy_,
    "cpu": _itself,
    "fill_": _filled("fill_"),
    "grad_fn": property(grad_fn),
    "is_parameter": False,
    "place": property(_place),
    "requires_grad": property(lambda self: not self.stop_gradient, _set_requires),
    "pow_": _pow_,
    "requires_grad_": _requires_grad_,
    "shape": property(_shape),
    "size": property(_size),
    "where_": _where_,
    "zero_": _filled("zero_", 0.0),
}
"""Members that only tensors have, or have in this form."""
