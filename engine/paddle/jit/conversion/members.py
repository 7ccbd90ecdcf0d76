"""Attributes and methods of tensors that variables of a program have in another form, or not at all."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from gradtool import paddle
from gradtool.engine.core.source import is_ours
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _creation

from .growing import array_of, method
from .refusals import Unset, refused
from .tracing import current


def member(owner: Any, name: str) -> Any:
    """``owner.name``."""
    if isinstance(owner, Unset):
        owner = owner.read()
    if isinstance(owner, list) and array_of(owner) is not None:
        return method(owner, name)
    if isinstance(owner, Variable):
        special = _MEMBERS.get(name)
        if special is not None:
            return special(owner)
        if not hasattr(owner, name) and hasattr(Tensor, name):
            raise _no_values(owner, name)
    held = getattr(owner, name)
    if isinstance(held, Tensor):
        trace = current()
        return held if trace is None else trace.captured(held)
    return held


def _no_values(owner: Variable, name: str) -> Exception:
    return refused(
        f"'{name}' of a tensor is asked for while its function is traced: it has no value yet",
        "compute with operators of paddle alone, or leave the part to Python with paddle.jit.not_to_static",
    )


def _shape(x: Variable) -> list[Any]:
    """The dimensions: numbers, and a variable for each that is not known."""
    if x.spec.known:
        return list(x.shape)
    sizes = paddle.shape(x)
    return [d if d >= 0 else sizes[i] for i, d in enumerate(x.shape)]


def _size(x: Variable) -> Any:
    """The number of elements: a number, or a variable where it is not known."""
    return x.spec.count if x.spec.known else paddle.numel(x)


def _itself(x: Variable) -> Callable[..., Variable]:
    return lambda *args, **named: x


def _to(x: Variable) -> Callable[..., Any]:
    def to(*args: Any, **named: Any) -> Any:
        for wanted in (*args, named.get("dtype")):
            if isinstance(wanted, Variable):
                return _creation.cast(x, wanted.dtype)
            try:
                kind = dtype_of(wanted)
            except (TypeError, ValueError):  # a place
                continue
            return _creation.cast(x, kind)
        return x

    return to


def _true(x: Variable) -> Callable[..., bool]:
    return lambda: True


def _refusing(name: str) -> Callable[[Variable], Any]:
    def refuse(x: Variable) -> Any:
        raise _no_values(x, name)

    return refuse


def _set_value(x: Variable) -> Callable[..., None]:
    def set_value(new: Any) -> None:
        _put(x, new if isinstance(new, Variable) else _variable(new, x), "set_value")

    return set_value


def _variable(new: Any, like: Variable) -> Any:
    if isinstance(new, Tensor):
        trace = current()
        if trace is not None:
            return trace.captured(new)
    return _creation.cast(_creation.assign(new), like.dtype)


def _place(x: Variable) -> Any:
    return paddle.CPUPlace()


_MEMBERS: dict[str, Callable[[Variable], Any]] = {
    "shape": _shape,
    "size": _size,
    "place": _place,
    "to": _to,
    "set_value": _set_value,
    "is_contiguous": _true,
    **dict.fromkeys(("cpu", "cuda", "contiguous", "pin_memory"), _itself),
    **{name: _refusing(name) for name in ("numpy", "tolist", "backward", "gradient", "grad", "register_hook", "data")},
}
"""What a variable gives for an attribute of tensors, by name."""


# -- changes in place -------------------------------------------------------------------------------------------------


def in_place(owner: Any, name: str) -> Callable[..., Any]:
    """The method of *owner* that changes it: of a variable, one that writes it anew."""
    if isinstance(owner, Unset):
        owner = owner.read()
    if not isinstance(owner, Variable):
        from .runtime import callee

        ours = isinstance(owner, ModuleType) and is_ours(owner.__name__)
        if ours and hasattr(owner, name[:-1]):
            return partial(_written, getattr(owner, name), getattr(owner, name[:-1]), name)
        return callee(getattr(owner, name))  # type: ignore[no-any-return]
    if name in _FILLS:
        return lambda *given: _put(owner, _creation.full_like(owner, (*_FILLS[name], *given)[0]), name)
    if name == "copy_":
        return lambda other, *args: _put(owner, other, name)
    function = name[:-1]
    plain = getattr(owner, function, None) or getattr(importlib.import_module("gradtool.paddle"), function, None)
    if plain is None or (not hasattr(Tensor, name)):
        raise refused(f"'{name}' of a tensor is not known to programs", "use operators that make a new tensor")
    bound = getattr(owner, function, None)

    def change(*args: Any, **named: Any) -> Any:
        result = bound(*args, **named) if bound is not None else plain(owner, *args, **named)
        return _put(owner, result, name)

    return change


def _written(
    changing: Callable[..., Any], making: Callable[..., Any], name: str, x: Any, *args: Any, **named: Any
) -> Any:
    """``paddle.tanh_(x)``: of a variable, what ``paddle.tanh`` makes of it is written to it."""
    return _put(x, making(x, *args, **named), name) if isinstance(x, Variable) else changing(x, *args, **named)


_FILLS: dict[str, tuple[float, ...]] = {"zero_": (0.0,), "fill_": ()}


def put_part(home: Variable, index: Any, new: Any) -> None:
    """Write a part of a variable."""
    from gradtool.paddle.static import setitem

    _put(home, setitem(home, index, new), "x[...] = value")


def _put(home: Variable, result: Any, method: str) -> Variable:
    """Let *home* have the values of *result* from here on."""
    if result.ndim != home.ndim or any(
        -1 not in pair and pair[0] != pair[1] for pair in zip(result.shape, home.shape, strict=True)
    ):
        raise refused(
            f"{method} changes the shape {list(home.shape)} of a tensor to {list(result.shape)} in place",
            f"use the form that makes a new tensor: x = x.{method.rstrip('_')}(…)",
        )
    if result.dtype is not home.dtype:
        raise refused(
            f"{method} changes a {home.dtype.name} tensor to {result.dtype.name} in place",
            f"use the form that makes a new tensor: x = x.{method.rstrip('_')}(…)",
        )
    _creation.assign(result, home)
    home.stop_gradient = home.stop_gradient and result.stop_gradient
    return home
