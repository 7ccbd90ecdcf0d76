"""Data types and tensor specs, interned: equal ones are the same object."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
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
        size: bytes per element.
        is_floating: whether its values are real numbers.
        is_integer: whether its values are whole numbers (truth values are not).
        is_complex: whether its values are complex numbers.
        is_differentiable: whether its values can carry a gradient.
        is_half: whether it stores real numbers in 16 bits, too few to compute with.
        is_rare: whether operators on it take special care, which costs nothing until such a type is in use.
    """

    __slots__ = (
        "_numpy",
        "code",
        "is_complex",
        "is_differentiable",
        "is_floating",
        "is_half",
        "is_integer",
        "is_rare",
        "name",
        "size",
    )

    def __init__(self, name: str, code: int, size: int) -> None:
        self.name = name
        self.code = code
        self.size = size
        self.is_floating = name.startswith(("float", "bfloat"))
        self.is_integer = name.startswith(("int", "uint"))
        self.is_complex = name.startswith("complex")
        self.is_differentiable = self.is_floating or self.is_complex
        self.is_half = self.is_floating and size == 2
        self.is_rare = self.is_complex or self.is_half
        self._numpy: np.dtype[Any] | None = None if self.is_rare else np.dtype(name)

    @property
    def numpy(self) -> np.dtype[Any]:
        """The type of its arrays; that of bfloat16 comes from ml_dtypes, which is imported when first asked for."""
        kind = self._numpy
        if kind is None:
            home: Any = importlib.import_module("ml_dtypes") if self.name == "bfloat16" else np
            kind = self._numpy = np.dtype(getattr(home, self.name))
            _BY_NUMPY[kind] = self
            rare_arrays.add(kind)
            _use(self)
        return kind

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __int__(self) -> int:
        return self.code

    def __reduce__(self) -> tuple[Any, ...]:
        return (dtype, (self.name,))


bool_ = DType("bool", 0, 1)
int16 = DType("int16", 1, 2)
int32 = DType("int32", 2, 4)
int64 = DType("int64", 3, 8)
float16 = DType("float16", 4, 2)
float32 = DType("float32", 5, 4)
float64 = DType("float64", 6, 8)
uint8 = DType("uint8", 20, 1)
int8 = DType("int8", 21, 1)
bfloat16 = DType("bfloat16", 22, 2)
complex64 = DType("complex64", 23, 8)
complex128 = DType("complex128", 24, 16)

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
_BY_NUMPY = {d.numpy: d for d in DTYPES if not d.is_rare}

in_use: Final[set[DType]] = set()
"""The rare types that this process has met so far."""

rare_arrays: Final = {np.dtype(name) for name in ("float16", "complex64", "complex128")}
"""The types of arrays of rare types; that of bfloat16 joins them when it is first used."""

_callbacks: list[Callable[[], None]] = []


def when_in_use(callback: Callable[[], None]) -> Callable[[], None]:
    """Have *callback*, which this decorates, called when the first rare type is met."""
    _callbacks.append(callback)
    return callback


def _use(kind: DType) -> None:
    first = not in_use
    in_use.add(kind)
    if first:
        for callback in _callbacks:
            callback()


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
        entry = _BY_NAME.get(value.removeprefix("paddle."))
        if entry is None:
            hint = did_you_mean(value, _BY_NAME)
            raise DtypeError(f"data type {value!r} not understood", hint=hint)
        return entry
    if isinstance(value, int) and not isinstance(value, bool):
        if value in _BY_CODE:
            return _BY_CODE[value]
        raise DtypeError(f"data type code {value} not understood")
    try:
        kind: np.dtype[Any] = np.dtype(value)  # type: ignore[call-overload]
    except TypeError:
        raise DtypeError(f"data type {value!r} not understood") from None
    entry = _BY_NUMPY.get(kind)
    if entry is None:
        named = _BY_NAME.get(kind.name)
        if named is None or named.numpy != kind:
            raise DtypeError(f"data type {value!r} not understood")
        entry = named
    return entry


def promote(x: DType, y: DType) -> DType:
    """The type in which two types of floating-point or complex numbers meet.

    Half precision of either kind gives way to the other's wider type; the two kinds meet in float32. A complex type
    takes real ones in, and is as precise as the more precise of the two.

    >>> promote(float16, bfloat16), promote(complex64, float64)
    (paddle.float32, paddle.complex128)
    """
    if x is y:
        return x
    if x.is_complex or y.is_complex:
        return complex128 if max(map(_size_of_real, (x, y))) > 4 else complex64
    if x.size == y.size:
        return float32
    return x if x.size > y.size else y


def _size_of_real(d: DType) -> int:
    """Bytes of the real part, whole numbers counted as float32."""
    if d.is_complex:
        return d.size // 2
    return d.size if d.is_floating else 4


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
        spec = _SPECS.get(key)
        if spec is None:
            spec = object.__new__(cls)
            spec.shape, spec.dtype = key
            if spec.dtype.is_rare:
                _use(spec.dtype)
            _SPECS[key] = spec
        return spec

    def __reduce__(self) -> tuple[Any, ...]:
        return (TensorSpec, (self.shape, self.dtype))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def known(self) -> bool:
        """True if every dimension is known."""
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

    def replace_shape(self, shape: Iterable[int]) -> TensorSpec:
        return TensorSpec(shape, self.dtype)

    def replace_dtype(self, dtype_: object) -> TensorSpec:
        return TensorSpec(self.shape, dtype_)

    def __repr__(self) -> str:
        return f"TensorSpec({list(self.shape)}, {self.dtype.name})"

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


_SPECS: dict[tuple[Shape, DType], TensorSpec] = {}
