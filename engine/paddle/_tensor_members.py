"""Further members of tensors: casts by name, tensors like this one, new storage, parts filled in place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine.core.errors import ShapeError, UnsupportedError
from gradtool.engine.core.spec import DType
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.eager.tensor import Tensor, note_lent

from ._tensor_methods import before, take

CASTS = {
    "bfloat16": "bfloat16",
    "bool": "bool",
    "byte": "uint8",
    "cdouble": "complex128",
    "cfloat": "complex64",
    "char": "int8",
    "complex128": "complex128",
    "complex64": "complex64",
    "double": "float64",
    "float": "float32",
    "float16": "float16",
    "float32": "float32",
    "float64": "float64",
    "half": "float16",
    "int": "int32",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "int8": "int8",
    "long": "int64",
    "short": "int16",
    "uint8": "uint8",
}
"""Methods that give the tensor in another type, by name."""


def _cast(method: str, kind: str) -> Callable[[Any], Any]:
    def call(self: Any) -> Any:
        return self.astype(kind)

    call.__name__ = method
    call.__doc__ = f"The same values as {kind}."
    return call


def _type_as(self: Any, other: Any) -> Any:
    """The same values in the type of *other*."""
    return self.astype(other.dtype)


# -- made like this one -----------------------------------------------------------------------------------------------


def _sizes(size: Any) -> list[Any]:
    return [size] if isinstance(size, int) else [*size]


def _new_full(
    var: Any,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor of one value, of that size, in this one's type unless another is given."""
    from ._creation import full

    made = full(_sizes(size), fill_value, var.dtype if dtype is None else dtype)
    made.stop_gradient = not requires_grad
    return made


def _new(value: int, doc: str) -> Callable[..., Any]:
    def call(
        var: Any,
        *sizes: Any,
        size: Any = None,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Any:
        if size is None:
            size = sizes[0] if len(sizes) == 1 else sizes
        return _new_full(var, size, value, dtype=dtype, requires_grad=requires_grad)

    call.__doc__ = f"A tensor of {doc}, of that size, in this one's type unless another is given."
    return call


def _repeat(input: Any, *repeats: Any) -> Any:
    """The tensor, that many times over along each dimension."""
    from ._manipulation import tile

    counts = repeats[0] if len(repeats) == 1 and isinstance(repeats[0], (list, tuple)) else repeats
    return tile(input, [*counts])


def _split_with_sizes(self: Any, split_sizes: Any, dim: int = 0) -> Any:
    """Parts of those sizes along *dim*."""
    from ._manipulation import split

    return split(self, [*split_sizes], dim)


# -- storage ----------------------------------------------------------------------------------------------------------


def _stride(self: Tensor, dim: int | None = None) -> Any:
    """Return the number of elements between neighbours along each dimension, or along *dim*."""
    empty = not self.array.size  # of which NumPy says nothing
    steps = _packed([*self.array.shape]) if empty else [step // self.array.itemsize for step in self.array.strides]
    return steps if dim is None else steps[dim]


def _data_ptr(self: Tensor) -> int:
    """The address of the first element, where a program may write what nobody hears of."""
    note_lent(self, "data_ptr")
    return int(self.array.ctypes.data)


def _get_device(self: Tensor) -> int:
    """-1: the tensor is on the CPU."""
    return -1


def _resize_(self: Tensor, shape: Any, fill_zero: bool = False, name: str | None = None) -> Tensor:
    """Give the tensor another shape, in place; elements keep their order, and zeros come in where there are more."""
    return _set_(self, _resized(self.array, [*shape]))


def _resized(array: Any, shape: list[int]) -> Any:
    count = math.prod(shape)
    if count < 0 or min(shape, default=0) < 0:
        raise ShapeError(f"resize_: dimensions must not be negative, but are {shape}.")
    row = np.zeros(count, array.dtype)
    kept = min(count, array.size)
    row[:kept] = array.reshape(-1)[:kept]
    return row.reshape(shape)


def _set_(
    self: Tensor, source: Any = None, shape: Any = None, stride: Any = None, offset: int = 0, name: str | None = None
) -> Tensor:
    """Let the tensor have the storage of *source* (none when None), with that shape and those strides.

    Args:
        offset: where in the storage to begin, in bytes.

    Raises:
        ShapeError: shape and stride reach beyond the storage (a ValueError).
    """
    self.check_inplace("set_")
    array = np.zeros(0, self.array.dtype) if source is None else getattr(source, "array", source)
    if shape is not None:
        first = offset // array.itemsize
        steps = [*stride] if stride is not None else _packed([*shape])
        last = first + sum(max(n - 1, 0) * s for n, s in zip(shape, steps, strict=True))
        if math.prod(shape) and last >= array.size:
            raise ShapeError(f"set_: element {last} is beyond the {array.size} elements of the storage.")
        flat = array.reshape(-1)[first:]
        array = np.lib.stride_tricks.as_strided(flat, [*shape], [s * array.itemsize for s in steps])
    self.array = array
    self.version.wrote("set_")
    return self


def _packed(shape: list[int]) -> list[int]:
    """The strides of elements that lie one behind another."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def _view_dtype(self: Tensor, kind: DType) -> Tensor:
    """The storage read as another type of elements; no gradient flows through it."""
    if not isinstance(self, Tensor):
        raise UnsupportedError("paddle.view: the storage of a variable cannot be read as another type (as in Paddle).")
    if kind.size != self.dtype.size and (not self.array.ndim or self.array.shape[-1] * self.dtype.size % kind.size):
        raise ShapeError(f"x.view({kind.name!r}): the last dimension of {list(self.array.shape)} cannot be divided.")
    if kind.name == "bool":
        raise UnsupportedError("x.view('bool'): bytes other than 0 and 1 are no truth values; compare x with 0.")
    return Tensor(np.ascontiguousarray(self.array).view(kind.numpy), stop_gradient=True)


def viewed(self: Any, shape_or_dtype: Any, *sizes: Any, name: str | None = None) -> Any:
    """The same storage in another shape, or read as another type of elements.

    Args:
        shape_or_dtype: a list of numbers, one of which may be -1, or a type; the first number of several.
        sizes: the other numbers.
    """
    if isinstance(shape_or_dtype, (list, tuple)):
        return self.reshape([*shape_or_dtype])
    if type(shape_or_dtype) is int:
        return self.reshape([shape_or_dtype, *sizes])
    kind = dtype_of(shape_or_dtype)
    return self if kind is self.dtype else _view_dtype(self, kind)


# -- diagonals, in place ----------------------------------------------------------------------------------------------


def _written(method: str, function: str) -> Callable[..., Tensor]:
    """``_diagonals.<function>`` as a method that changes its tensor."""

    def call(self: Tensor, *args: Any, **named: Any) -> Tensor:
        from . import _diagonals

        self.check_inplace(method)
        return take(self, getattr(_diagonals, function)(before(self), *args, **named), method)

    call.__name__ = method
    call.__doc__ = f"``{function}`` of this tensor, in place; returns it."
    return call


def _drawn(method: str) -> Callable[..., Tensor]:
    """The method of ``_drawing_in_place``, which is imported when it is first called."""

    def call(self: Tensor, *args: Any, **named: Any) -> Tensor:
        from . import _drawing_in_place

        return _drawing_in_place.FILLS[method](self, *args, **named)

    call.__name__ = method
    call.__doc__ = f"Replace the values by random numbers (:func:`gradtool.paddle._drawing_in_place.{method}`)."
    return call


def _fill_diagonal_tensor(self: Any, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, name: Any = None) -> Any:
    """The tensor with *y* on the diagonals of two dimensions."""
    from ._diagonals import fill_diagonal_tensor

    return fill_diagonal_tensor(self, y, offset, dim1, dim2, name)


BOTH: dict[str, Any] = {
    "fill_diagonal_tensor": _fill_diagonal_tensor,
    **{method: _cast(method, kind) for method, kind in CASTS.items()},
    "new_empty": _new(0, "zeros (its values have no meaning)"),
    "new_full": _new_full,
    "new_ones": _new(1, "ones"),
    "new_zeros": _new(0, "zeros"),
    "repeat": _repeat,
    "split_with_sizes": _split_with_sizes,
    "type_as": _type_as,
}
"""Members of variables and tensors."""

SPECIAL: dict[str, Any] = {
    **{m: _drawn(m) for m in ("bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "random_")},
    "data_ptr": _data_ptr,
    "device": property(lambda self: "cpu"),
    "fill_diagonal_": _written("fill_diagonal_", "fill_diagonal"),
    "fill_diagonal_tensor_": _written("fill_diagonal_tensor_", "fill_diagonal_tensor"),
    "get_device": _get_device,
    "grad_": property(lambda self: self.grad),
    "is_cuda": False,
    "itemsize": property(lambda self: self.dtype.size),
    "layout": "NCHW",
    "offset": 0,
    "resize_": _resize_,
    "set_": _set_,
    "stride": _stride,
    "type": property(lambda self: "DenseTensor"),
    "view": viewed,
}
"""Members of tensors."""
