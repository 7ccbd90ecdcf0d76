"""Tensors to and from other libraries by DLPack, without copies: both sides share the storage."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core import state, watch
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, GradientError, ModeError, UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.eager.tensor import Tensor, note_lent

CPU = (1, 0)
"""DLPack's name for the memory of the processor."""


class ExportError(GradientError, RuntimeError):
    """Another library may not share a tensor that gradients flow into (Paddle raises RuntimeError)."""


class SharingError(UsageError, BufferError):
    """Error for a value of another library that cannot become a tensor."""


class _Capsule:
    """A bare capsule as an object of the protocol."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


def device_of(self: Tensor) -> tuple[int, int]:
    """Return the place of the values in DLPack's terms: ``(1, 0)``, the memory of the processor."""
    return CPU


def exported(self: Tensor, **asked: Any) -> Any:
    """A DLPack capsule of the values, which it shares: ``numpy.from_dlpack(x)``, ``torch.from_dlpack(x)``.

    Args:
        asked: what the protocol lets a consumer ask for: ``stream``, ``max_version``, ``dl_device``, ``copy``.

    Raises:
        ExportError: gradients flow into the tensor (a RuntimeError).
        DtypeError: bfloat16, which cannot be exported through NumPy (a TypeError).
    """
    if not self.stop_gradient:
        raise ExportError(
            "Can't get __dlpack__ from Tensor that requires gradients.",
            variable=self.name,
            hint="use tensor.detach(): who shares the values could change them unnoticed",
        )
    if self.array.dtype.name == "bfloat16":
        raise DtypeError("a bfloat16 tensor cannot be exported by DLPack.", hint="use x.astype('float32')")
    if watch.noting:
        watch.note(watch.Left("__dlpack__", self))
    note_lent(self, "__dlpack__")
    self.version.is_lent = True
    return self.array.__dlpack__(**asked)


def to_dlpack(x: Any) -> Any:
    """A DLPack capsule of *x*, which shares its storage; it can be consumed once.

    Raises:
        ArgumentTypeError: *x* is no Tensor (a TypeError).
    """
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(f"The type of 'x' in to_dlpack must be paddle.Tensor, but received {type(x).__name__}.")
    return exported(x, max_version=(1, 0))


def from_dlpack(dlpack: Any) -> Tensor:
    """A tensor that shares the storage of *dlpack*: an array or tensor of another library, or a DLPack capsule.

    Raises:
        SharingError: it has no values that NumPy can share (a ValueError and BufferError).
        DtypeError: its dtype is none of gradtool's (a TypeError).

    >>> from gradtool import paddle
    >>> import numpy as np
    >>> shared = np.zeros(2, "float32")
    >>> x = paddle.utils.dlpack.from_dlpack(shared)
    >>> shared[0] = 5.0
    >>> x.tolist()
    [5.0, 0.0]
    """
    if state.in_static_mode():
        raise ModeError(
            "from_dlpack makes a tensor of dynamic mode, and static mode is on.", hint="call paddle.disable_static()"
        )
    source = _Capsule(dlpack) if type(dlpack).__name__ == "PyCapsule" else dlpack
    if not hasattr(source, "__dlpack__"):
        raise SharingError(
            f"from_dlpack received an invalid capsule: a {type(dlpack).__name__}.",
            hint="give an array or tensor of a library that knows DLPack, or what its to_dlpack returned",
        )
    try:
        array = np.from_dlpack(source)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise SharingError(
            f"from_dlpack: {str(error).rstrip('.')}.",
            hint="a capsule can be consumed once; values must be in the processor's memory",
        ) from error
    dtype_of(array.dtype)
    made = Tensor(array)
    note_lent(made, "")
    return made
