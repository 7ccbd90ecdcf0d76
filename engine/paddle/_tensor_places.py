"""Members of tensors about where and how they are stored, and those that fill them with random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError
from gradtool.engine.core.spec import DType
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ops import registry

from ._arguments import tensor
from ._dispatch import compute
from ._on_cpu import stays_on_cpu
from ._tensor_methods import before, take
from .device import CPUPlace, CUDAPlace


class NeedsNoGradient(UsageError, RuntimeError):
    """A function of values was applied to a tensor that gradients flow into (Paddle raises RuntimeError)."""


def _detach_(self: Tensor) -> Tensor:
    """Take the tensor out of its graph: from now on it is a leaf that stops gradients; returns it."""
    self.node = None
    self.stop_gradient = True
    return self


def _apply(self: Tensor, func: Callable[[Tensor], Tensor]) -> Tensor:
    """``func(x)``, for a tensor without gradients.

    Raises:
        NeedsNoGradient: gradients flow into the tensor (a RuntimeError).
    """
    if not self.stop_gradient:
        raise NeedsNoGradient("Cannot apply function on a tensor that required gradient.", hint="use x.detach()")
    return func(self)


def _apply_(self: Tensor, func: Callable[[Tensor], Tensor]) -> Tensor:
    """Replace the values by those of ``func(x)``; returns the tensor."""
    return take(self, _apply(self, func), "apply_")


def _strides(self: Tensor) -> list[int]:
    """Return the number of elements between neighbours along each dimension."""
    return [step // self.array.itemsize for step in self.array.strides]


def _is_contiguous(self: Tensor) -> bool:
    """Return whether its elements lie in memory in their order."""
    return bool(self.array.flags.c_contiguous)


def _is_same_shape(self: Tensor, y: Tensor) -> bool:
    """Return whether *y* has the same shape."""
    tensor(y, "y", "is_same_shape")
    return bool(self.array.shape == y.array.shape)


def _value(self: Tensor) -> Tensor:
    """The tensor itself."""
    return self


def _set_data(self: Tensor, value: Tensor) -> None:
    self.set_value(value)


def _cuda(self: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
    """The tensor itself, with a warning: tensors are on the CPU."""
    stays_on_cpu("gpu", "x.cuda()")
    return self


def _to(self: Tensor, *args: Any, device: Any = None, dtype: Any = None, blocking: bool | None = None) -> Tensor:
    """The tensor in another dtype, or the tensor itself where nothing changes.

    Args:
        args: a device, a dtype, a device and a dtype, or a tensor whose dtype to take; then perhaps ``blocking``.

    On a GPU it stays on the CPU, with a warning.

    Raises:
        BackendError: any other device.
    """
    for value in args:
        if isinstance(value, Tensor):
            dtype = value.dtype
        elif isinstance(value, bool) or value is None:
            continue
        elif isinstance(value, (CPUPlace, CUDAPlace)) or (isinstance(value, str) and _device(value)):
            device = value
        else:
            dtype = value
    stays_on_cpu(device, f"x.to({device!r})")
    kind = self.dtype if dtype is None else dtype_of(dtype)
    return self if kind is self.dtype else self.astype(kind)


def _device(name: str) -> bool:
    return name.partition(":")[0] in ("cpu", "gpu", "xpu", "gpu_pinned", "cuda")


def _drawn(method: str, op_type: str, **settings: float) -> Callable[..., Tensor]:
    """An in-place method that replaces the values by random numbers; *settings* are its arguments."""
    names = tuple(settings)

    def call(self: Tensor, *args: float, name: str | None = None, **named: float) -> Tensor:
        unknown = [n for n in named if n not in names]
        if unknown or len(args) > len(names):
            raise ArgumentTypeError(f"{method} takes {', '.join(names)}, but received {unknown or list(args)}.")
        self.check_inplace(method)
        attrs = {**settings, **dict(zip(names, args, strict=False)), **named}
        shape = {"shape": self.array.shape, "dtype": self.dtype.code}
        sample = compute(registry.get_by_type(op_type), (None, ()), {**attrs, **shape})
        filled = compute(registry.get_by_type("fill_any"), (before(self),), {"value": 0.0})
        return take(self, filled.placed(sample.array), method)

    call.__name__ = method
    call.__doc__ = (
        f"Replace the values by random numbers, as ``{op_type}`` draws them; returns the tensor. What it was computed "
        "from gets zeros as gradients."
    )
    return call


def _view(self: Tensor, shape_or_dtype: Any, name: str | None = None) -> Tensor:
    """The same storage in another shape.

    Args:
        shape_or_dtype: a list of numbers, one of which may be -1.

    Raises:
        UnsupportedError: another dtype.
    """
    if not isinstance(shape_or_dtype, (list, tuple)):
        if isinstance(shape_or_dtype, (str, DType)) and dtype_of(shape_or_dtype) is self.dtype:
            return self
        raise UnsupportedError(
            f"x.view({shape_or_dtype!r}): reading the storage as another dtype is not part of this version of gradtool."
        )
    return self.reshape(list(shape_or_dtype))  # type: ignore[no-any-return]


def _view_as(self: Tensor, other: Tensor, name: str | None = None) -> Tensor:
    """The same storage in the shape of *other*."""
    return _view(self, list(other.array.shape))


SPECIAL: dict[str, Any] = {
    "apply": _apply,
    "apply_": _apply_,
    "cuda": _cuda,
    "data": property(_value, _set_data),
    "detach_": _detach_,
    "get_strides": _strides,
    "is_contiguous": _is_contiguous,
    "is_dist": lambda self: False,
    "is_same_shape": _is_same_shape,
    "is_sparse": lambda self: False,
    "is_sparse_coo": lambda self: False,
    "is_sparse_csr": lambda self: False,
    "normal_": _drawn("normal_", "gaussian_random", mean=0.0, std=1.0),
    "pin_memory": lambda self, blocking=True: self,
    "strides": property(_strides),
    "to": _to,
    "to_dense": _value,
    "uniform_": _drawn("uniform_", "uniform_random", min=-1.0, max=1.0, seed=0),
    "value": _value,
    "view": _view,
    "view_as": _view_as,
}
"""Members that only tensors have."""
