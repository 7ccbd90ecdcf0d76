"""``check_type`` and the like: what functions of users check their arguments with."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor


def convert_dtype(dtype: Any) -> str:
    """The name of a type: ``float32``.

    Raises:
        DtypeError: it is none (a TypeError).
    """
    return dtype_of(dtype).name


def check_type(input: Any, input_name: str, expected_type: Any, op_name: str, extra_message: str = "") -> None:
    """Raise :class:`ArgumentTypeError` unless *input* is of *expected_type*; in dynamic mode nothing is checked.

    Raises:
        ArgumentTypeError: it is of another type (a TypeError).
    """
    if state.in_static_mode() and not isinstance(input, expected_type):
        raise ArgumentTypeError(
            f"The type of '{input_name}' in {op_name} must be {expected_type}, but received {type(input)}. "
            f"{extra_message}"
        )


def check_dtype(input_dtype: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = "") -> None:
    """Raise :class:`DtypeError` unless *input_dtype* is one of *expected_dtype*; in dynamic mode nothing is checked.

    Raises:
        DtypeError: it is none of them (a TypeError).
    """
    if not state.in_static_mode():
        return
    name = convert_dtype(input_dtype)
    expected = [expected_dtype] if isinstance(expected_dtype, str) else expected_dtype
    if name not in expected:
        raise DtypeError(
            f"The data type of '{input_name}' in {op_name} must be {expected_dtype}, but received {name}. "
            f"{extra_message}"
        )


def check_variable_and_dtype(
    input: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = ""
) -> None:
    """:func:`check_type` for a variable, and :func:`check_dtype` for its type.

    Raises:
        ArgumentTypeError: it is no variable (a TypeError).
        DtypeError: it is of another type (a TypeError).
    """
    check_type(input, input_name, AnyTensor, op_name, extra_message)
    if isinstance(input, AnyTensor):
        check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)
