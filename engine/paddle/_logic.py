"""``paddle.equal``, ``paddle.logical_and``, ``paddle.isnan``, …: comparisons and logic, without gradients."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.state import in_static_mode
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, tensor
from ._creation import full
from ._dispatch import apply

BITS = ("bool", "uint8", "int8", "int16", *INTEGERS)
"""Types that bitwise operations take."""


def _two(op_type: str, x: Any, y: Any, name: str | None, dtypes: tuple[str, ...] = (), out: Any = None) -> AnyTensor:
    where = f"paddle.{op_type}"
    x, y = tensor(x, "x", where, dtypes), tensor(y, "y", where, dtypes)
    return apply(  # type: ignore[no-any-return]
        op_type, x, y, name=name, outputs={"Out": out} if out is not None else None
    )


def _one(op_type: str, x: Any, name: str | None, public: str, out: Any = None) -> AnyTensor:
    return apply(  # type: ignore[no-any-return]
        op_type, tensor(x, "x", f"paddle.{public}"), name=name, outputs={"Out": out} if out is not None else None
    )


def _compared(op_type: str, x: Any, y: Any, name: str | None) -> AnyTensor:
    out = _two(op_type, x, y, name)
    out.stop_gradient = True
    return out


def equal(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """Return whether the elements of *x* and *y* (a tensor or a number) are equal."""
    if isinstance(y, (int, float)):
        y = full([], y, tensor(x, "x", "paddle.equal").dtype)
    return _compared("equal", x, y, name)


def not_equal(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """Return whether the elements of *x* and *y* differ."""
    return _compared("not_equal", x, y, name)


def less_than(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """Return whether the elements of *x* are smaller."""
    return _compared("less_than", x, y, name)


less = less_than


def less_equal(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """Return whether the elements of *x* are smaller or equal."""
    return _compared("less_equal", x, y, name)


def greater_than(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """Return whether the elements of *x* are larger."""
    return _compared("greater_than", x, y, name)


def greater_equal(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """Return whether the elements of *x* are larger or equal."""
    return _compared("greater_equal", x, y, name)


def logical_and(x: Any, y: Any, out: Any = None, name: str | None = None) -> AnyTensor:
    """Return whether both elements are true (not zero)."""
    return _two("logical_and", x, y, name, out=out)


def logical_or(x: Any, y: Any, out: Any = None, name: str | None = None) -> AnyTensor:
    """Return whether either element is true (not zero)."""
    return _two("logical_or", x, y, name, out=out)


def logical_xor(x: Any, y: Any, out: Any = None, name: str | None = None) -> AnyTensor:
    """Return whether exactly one of both elements is true (not zero)."""
    return _two("logical_xor", x, y, name, out=out)


def logical_not(x: Any, out: Any = None, name: str | None = None) -> AnyTensor:
    """Return whether the element is false (zero)."""
    return _one("logical_not", x, name, "logical_not", out)


def bitwise_and(x: Any, y: Any, out: Any = None, name: str | None = None) -> AnyTensor:
    """And of each bit; of truth values, whether both hold."""
    return _two("bitwise_and", x, y, name, BITS, out)


def bitwise_or(x: Any, y: Any, out: Any = None, name: str | None = None) -> AnyTensor:
    """Or of each bit; of truth values, whether either holds."""
    return _two("bitwise_or", x, y, name, BITS, out)


def bitwise_xor(x: Any, y: Any, out: Any = None, name: str | None = None) -> AnyTensor:
    """Exclusive or of each bit; of truth values, whether exactly one holds."""
    return _two("bitwise_xor", x, y, name, BITS, out)


def bitwise_not(x: Any, out: Any = None, name: str | None = None) -> AnyTensor:
    """Each bit turned over; of truth values, whether they do not hold."""
    return _one("bitwise_not", tensor(x, "x", "paddle.bitwise_not", BITS), name, "bitwise_not", out)


bitwise_invert = bitwise_not


def isnan(x: Any, name: str | None = None) -> AnyTensor:
    """Return whether each element is no number."""
    return _one("isnan_v2", x, name, "isnan")


def isinf(x: Any, name: str | None = None) -> AnyTensor:
    """Return whether each element is infinite."""
    return _one("isinf_v2", x, name, "isinf")


def isfinite(x: Any, name: str | None = None) -> AnyTensor:
    """Return whether each element is a finite number."""
    return _one("isfinite_v2", x, name, "isfinite")


def equal_all(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """Return whether two tensors have the same shape and elements, as a 0-d tensor."""
    return _two("equal_all", x, y, name)


def isclose(
    x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, name: str | None = None
) -> AnyTensor:
    """Return whether elements differ by at most ``atol + rtol·|y|``."""
    return _near("isclose", x, y, rtol, atol, equal_nan, name)


def allclose(
    x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, name: str | None = None
) -> AnyTensor:
    """Return whether all elements differ by at most ``atol + rtol·|y|``, as a 0-d tensor."""
    return _near("allclose", x, y, rtol, atol, equal_nan, name)


def _near(op_type: str, x: Any, y: Any, rtol: float, atol: float, equal_nan: bool, name: str | None) -> AnyTensor:
    where = f"paddle.{op_type}"
    rtol, atol = (v.item() if isinstance(v, AnyTensor) and not in_static_mode() else v for v in (rtol, atol))
    attrs = {"rtol": str(rtol), "atol": str(atol), "equal_nan": bool(equal_nan)}
    return apply(  # type: ignore[no-any-return]
        op_type, tensor(x, "x", where), tensor(y, "y", where), attrs=attrs, name=name
    )


def is_tensor(x: object) -> bool:
    """Return whether *x* is a tensor or a variable."""
    return isinstance(x, AnyTensor)


def is_floating_point(x: Any) -> bool:
    """Return whether the dtype of *x* is a floating-point one."""
    return tensor(x, "x", "paddle.is_floating_point").dtype.is_floating


def is_integer(x: Any) -> bool:
    """Return whether the dtype of *x* is a whole-number one."""
    return tensor(x, "x", "paddle.is_integer").dtype.is_integer


def is_complex(x: Any) -> bool:
    """Return whether the dtype of *x* is a complex one."""
    return tensor(x, "x", "paddle.is_complex").dtype.is_complex
