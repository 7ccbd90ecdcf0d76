"""Data types and tensor specs, interned: equal ones are the same object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from .errors import DtypeError, did_you_mean

Shape = tuple[int, ...]
"""A tensor's shape; -1 stands for a dimension that is not known until the program runs."""

UNKNOWN: Final = -1


class DType:
    """A tensor's element type.

    Attributes:
        name: Paddle's name, such as ``float32``.
        code: the number that stands for it in operator attributes (as in Paddle 3.1).
        numpy: the NumPy type, or None for bfloat16, which NumPy does not have.
    """

    __slots__ = ("code", "name", "numpy")

    def __init__(self, name: str, code: int, numpy: np.dtype[Any] | None) -> None:
        self.name = name
        self.code = code
        self.numpy = numpy

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (dtype, (self.name,))

    @property
    def is_floating(self) -> bool:
        """Whether values of this type can carry a gradient as real numbers."""
        return self.name.startswith(("float", "bfloat"))

    @property
    def is_integer(self) -> bool:
        return self.name.startswith(("int", "uint"))

    @property
    def size(self) -> int:
        """Bytes per element."""
        return 2 if self.numpy is None else self.numpy.itemsize


def _of(name: str, code: int) -> DType:
    return DType(name, code, np.dtype(name))


bool_ = _of("bool", 0)
int16 = _of("int16", 1)
int32 = _of("int32", 2)
int64 = _of("int64", 3)
float16 = _of("float16", 4)
float32 = _of("float32", 5)
float64 = _of("float64", 6)
uint8 = _of("uint8", 20)
int8 = _of("int8", 21)
bfloat16 = DType("bfloat16", 22, None)
complex64 = _of("complex64", 23)
complex128 = _of("complex128", 24)

DTYPES: Final = (
    bool_,
    int16,
    int32,
    int64,
    float16,
    float32,
    float64,
    uint8,
    int8,
    bfloat16,
    complex64,
    complex128,
)
_BY_NAME = {d.name: d for d in DTYPES}
_BY_CODE = {d.code: d for d in DTYPES}
_BY_NUMPY = {d.numpy: d for d in DTYPES if d.numpy is not None}


def dtype(value: object) -> DType:
    """The :class:`DType` that *value* names: a DType, a name, a NumPy or Python type, or an attribute code.

    Raises:
        DtypeError: *value* names no type that gradtool has.

    >>> dtype("float32") is dtype(5) is dtype(np.float32)
    True
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        found = _BY_NAME.get(value.removeprefix("paddle."))
        if found is None:
            hint = did_you_mean(value, _BY_NAME)
            raise DtypeError(f"data type {value!r} not understood", hint=hint)
        return found
    if isinstance(value, int) and not isinstance(value, bool):
        if value in _BY_CODE:
            return _BY_CODE[value]
        raise DtypeError(f"data type code {value} not understood")
    try:
        return _BY_NUMPY[np.dtype(value)]  # type: ignore[call-overload]
    except (TypeError, KeyError):
        raise DtypeError(f"data type {value!r} not understood") from None


class TensorSpec:
    """Shape and dtype of a tensor; interned, so that equal specs are identical.

    >>> TensorSpec([2, -1], "float32") is TensorSpec((2, -1), float32)
    True
    """

    __slots__ = ("dtype", "shape")
    shape: Shape
    dtype: DType

    def __new__(cls, shape: Iterable[int], dtype_: object) -> TensorSpec:
        key = (tuple(shape), dtype(dtype_))
        found = _SPECS.get(key)
        if found is None:
            found = object.__new__(cls)
            found.shape, found.dtype = key
            _SPECS[key] = found
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return (TensorSpec, (self.shape, self.dtype))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def known(self) -> bool:
        """Whether every dimension is known."""
        return UNKNOWN not in self.shape

    @property
    def count(self) -> int:
        """Number of elements, or -1 when a dimension is not known."""
        total = 1
        for d in self.shape:
            if d == UNKNOWN:
                return UNKNOWN
            total *= d
        return total

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor, or -1 when a dimension is not known."""
        return UNKNOWN if self.count == UNKNOWN else self.count * self.dtype.size

    def with_shape(self, shape: Iterable[int]) -> TensorSpec:
        return TensorSpec(shape, self.dtype)

    def with_dtype(self, dtype_: object) -> TensorSpec:
        return TensorSpec(self.shape, dtype_)

    def __repr__(self) -> str:
        return f"TensorSpec({list(self.shape)}, {self.dtype.name})"

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


_SPECS: dict[tuple[Shape, DType], TensorSpec] = {}
