"""Checking and preparing the arguments of public functions: tensors, numbers, shapes that hold variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, UsageError, expect_type
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor

from ._remembered import read_value

INTEGERS = ("int32", "int64")


class RefusedValue(UsageError, AssertionError):
    """A value that a function does not take (where Paddle raises AssertionError)."""


def tensor(value: object, what: str, where: str, dtypes: Sequence[str] = ()) -> AnyTensor:
    """*value*, if it is a variable of one of *dtypes* (of any dtype when there are none).

    Args:
        what: the argument's name.
        where: the public name of the function.

    Raises:
        ArgumentTypeError: it is no variable (a TypeError).
        DtypeError: it has another dtype (a TypeError).
    """
    if not isinstance(value, AnyTensor):
        raise ArgumentTypeError(
            f"The type of '{what}' in {where} must be Variable, but received {type(value).__name__}.",
            hint="turn a NumPy array or a list into a variable with paddle.assign, a number with paddle.full",
        )
    if dtypes and value.dtype.name not in dtypes:
        raise DtypeError(
            f"The data type of '{what}' in {where} must be {' or '.join(dtypes)}, but '{value.name}' is "
            f"{value.dtype.name}.",
            hint=f"cast it, for example with {value.name}.astype({dtypes[0]!r})",
        )
    return value


def tensors(values: object, what: str, where: str) -> list[AnyTensor]:
    """The variables in a list or tuple.

    Raises:
        ArgumentTypeError: no list or tuple, an empty one, or an element that is no variable (a TypeError).
    """
    expect_type(values, (list, tuple), what, where)
    assert isinstance(values, (list, tuple))
    if not values:
        raise ArgumentTypeError(f"'{what}' in {where} must hold at least one variable.")
    return [tensor(v, f"{what}[{i}]", where) for i, v in enumerate(values)]


def number_of(value: object) -> Any:
    """The number or list of numbers that a tensor of dynamic mode stands for; anything else as it is."""
    if not isinstance(value, Tensor):
        return value
    read_value()
    return value.tolist()


def integer(value: object, what: str, where: str) -> int:
    """*value* as an int, if it is a whole number of Python, NumPy or a tensor, and no truth value."""
    value = number_of(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or not hasattr(value, "__index__") or isinstance(value, AnyTensor):
        raise ArgumentTypeError(f"The type of '{what}' in {where} must be int, but received {type(value).__name__}.")
    return int(value.__index__())


def integers(value: object, what: str, where: str) -> list[int]:
    """A number or a list of numbers, as a list."""
    if isinstance(value, (list, tuple)):
        return [integer(v, f"{what}[{i}]", where) for i, v in enumerate(value)]
    return [integer(value, what, where)]


class Dims(NamedTuple):
    """A shape (or another list of whole numbers) as operators take it.

    Attributes:
        numbers: the numbers for the attribute, with a placeholder where a variable stands.
        whole: the variable that holds them all, or None.
        parts: one variable per number, or none.
    """

    numbers: list[int]
    whole: AnyTensor | None = None
    parts: Sequence[AnyTensor] = ()


def dims(
    value: object, what: str, where: str, *, ndim: int | None = 1, placeholder: int = -1, name: str | None = None
) -> Dims:
    """Return what the argument *value* represents: a list of numbers and 0-d or one-element variables, or one variable.

    Args:
        ndim: dimensions of the constants made for numbers beside variables (0 or 1); None makes none.
        placeholder: what stands for a variable in ``numbers``.
        name: the layer that these constants are named after; otherwise they are ``fill_constant_N.tmp_0``.

    Raises:
        ArgumentTypeError: anything else (a TypeError).
    """
    if type(value) in (list, tuple) and {*map(type, value)} <= {int}:  # type: ignore[call-overload]
        return Dims([*value])  # type: ignore[misc]
    if isinstance(value, AnyTensor):
        return Dims([], tensor(value, what, where, INTEGERS))
    if hasattr(value, "tolist"):
        value = value.tolist()
    expect_type(value, (list, tuple, AnyTensor), what, where)
    assert isinstance(value, (list, tuple))
    if not any(isinstance(d, AnyTensor) for d in value):
        return Dims(integers(value, what, where))
    from ._creation import fill

    numbers, parts = [], []
    for i, d in enumerate(value):
        if isinstance(d, AnyTensor):
            tensor(d, f"{what}[{i}]", where, INTEGERS)
            if d.spec.count not in (1, -1):
                raise UsageError(f"{what}[{i}] in {where} must have one element, but its shape is {list(d.shape)}.")
            numbers.append(placeholder)
            parts.append(d)
        else:
            numbers.append(integer(d, f"{what}[{i}]", where))
            if ndim is not None:
                parts.append(fill([1] * ndim, numbers[-1], "int32", force_cpu=True, name=name))
    return Dims(numbers, parts=parts)
