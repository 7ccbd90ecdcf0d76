"""A layer's parameters and buffers in another dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from gradtool.engine.core.errors import DtypeError, GradtoolError, ModeError, UsageError
from gradtool.engine.core.spec import DType
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._on_cpu import stays_on_cpu


class Convertible:
    """The part of :class:`Layer` that changes the dtype of what it holds."""

    if TYPE_CHECKING:  # defined by Layer

        def sublayers(self, include_self: bool = False) -> list[Any]: ...

    def to(self, device: Any = None, dtype: Any = None, blocking: bool | None = None) -> Self:
        """Change all parameters and buffers, of the layers below it too, to *dtype*; returns the layer.

        Whole numbers among the buffers change, too; :meth:`astype` leaves them as they are.

        Args:
            device: the CPU, if anything; on a GPU it stays on the CPU, with a warning.
            dtype: unchanged when None.

        Raises:
            BackendError: any other device.
            UnknownDtype: no dtype of that name (a ValueError).
            ModeError: the layer is part of a static program.
        """
        stays_on_cpu(device, f"Layer.to({device!r})")
        if dtype is not None:
            _convert(self.sublayers(include_self=True), _dtype(dtype), everything=True)
        return self

    def type(self, dst_type: Any) -> Self:
        """:meth:`to` a type, of whole numbers too."""
        _convert(self.sublayers(include_self=True), _dtype(dst_type, whole=True), everything=True)
        return self

    def double(self) -> Self:
        """:meth:`to` float64."""
        return self.type("float64")

    def half(self) -> Self:
        """:meth:`to` float16."""
        return self.type("float16")

    def cpu(self) -> Self:
        """The layer itself, which is there."""
        return self

    def cuda(self, device: Any = None) -> Self:
        """The layer itself, with a warning: layers are on the CPU."""
        stays_on_cpu("gpu", "Layer.cuda()")
        return self

    def astype(self, dtype: Any = None) -> Self:
        """Change floating parameters and buffers, of the layers below it too, to *dtype*; returns the layer.

        Raises:
            UnknownDtype: no dtype of that name (a ValueError).
            ModeError: the layer is part of a static program.
        """
        _convert(self.sublayers(include_self=True), _dtype(dtype))
        return self

    def float(self, excluded_layers: Any = None) -> Self:
        """:meth:`astype` float32, but for the layers of the classes *excluded_layers*."""
        return self._but("float32", excluded_layers)

    def float16(self, excluded_layers: Any = None) -> Self:
        """:meth:`astype` float16, but for the layers of the classes *excluded_layers*."""
        return self._but("float16", excluded_layers)

    def bfloat16(self, excluded_layers: Any = None) -> Self:
        """:meth:`astype` bfloat16, but for the layers of the classes *excluded_layers*."""
        return self._but("bfloat16", excluded_layers)

    def _but(self, dtype: str, excluded: Any) -> Self:
        listed = tuple(excluded) if isinstance(excluded, (list, tuple)) else (excluded,)
        classes = () if excluded is None else listed
        for kind in classes:
            if not isinstance(kind, type):
                raise UsageError(f"excluded_layers must be classes of layers, but received {kind!r}.")
        _convert([v for v in self.sublayers(include_self=True) if not isinstance(v, classes)], _dtype(dtype))
        return self


class UnknownDtype(UsageError):
    """No dtype that layers can have."""


def _dtype(dtype: Any, whole: bool = False) -> DType:
    try:
        kind = None if dtype is None else dtype_of(dtype)
    except GradtoolError:
        kind = None
    if kind is None:
        raise UnknownDtype(f"dtype value error: {dtype!r} is none; layers take names such as 'float32' and 'float64'.")
    if not (kind.is_floating or whole):
        raise DtypeError(f"a layer cannot compute in {kind.name}.", hint="use a floating-point type")
    return kind


def _convert(layers: Sequence[Any], kind: DType, everything: bool = False) -> None:
    """Give parameters and buffers another type: the floating ones, or all of them."""
    tensors = []
    for layer in layers:
        held = [*layer.__dict__["_parameters"].values(), *layer.__dict__["_buffers"].values()]
        for value in held:
            if value is None or not (everything or value.dtype.is_floating):
                continue
            if not isinstance(value, Tensor):
                raise ModeError(
                    f"'{value.name}' is part of a static program, where its dtype is settled.",
                    hint="call paddle.set_default_dtype before making the layer",
                )
            tensors.append(value)
    for layer in layers:
        layer.__dict__["_dtype"] = kind.name
    for value in tensors:
        value.convert(kind)
