"""The transforms of ``paddle.fft``: rows of one table, over one, two or all dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine.core.errors import DtypeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import integer, tensor
from gradtool.paddle._creation import cast
from gradtool.paddle._dispatch import apply
from gradtool.paddle._manipulation import slice
from gradtool.paddle._short_names import delivered

NORMS = ("forward", "backward", "ortho")


def _transform(kind: str, forward: bool, x: AnyTensor, sizes: Any, axes: list[int], norm: str) -> AnyTensor:
    """One of the three operators, of *x* cut or filled up with zeros to *sizes*.

    Args:
        kind: ``"c2c"`` (of real numbers, too), ``"r2c"`` or ``"c2r"``.
    """
    attrs: dict[str, Any] = {"axes": axes, "normalization": norm, "forward": forward}
    if not x.dtype.is_floating and not x.dtype.is_complex:
        if kind == "c2r" or x.dtype.name == "bool":
            raise DtypeError(
                f"paddle.fft: x must hold floating-point or complex numbers, but received {x.dtype.name}.",
                hint="cast it, for example with x.astype('float32')",
            )
        x = cast(x, "float32")
    lengths = [*sizes] if sizes is not None else None
    if kind == "c2r":
        last = lengths[-1] if lengths is not None else 2 * (x.shape[axes[-1]] - 1)
        attrs["last_dim_size"] = last if last > 0 else 0
        if lengths is not None:
            lengths[-1] = lengths[-1] // 2 + 1
        x = x if x.dtype.is_complex else cast(x, "complex64" if x.dtype.name == "float32" else "complex128")
    if lengths is not None:
        x = _resized(x, lengths, axes)
    if kind == "c2c" and not x.dtype.is_complex:
        return apply("fft_r2c", x, attrs={**attrs, "onesided": False})  # type: ignore[no-any-return]
    return apply(f"fft_{kind}", x, attrs=attrs)  # type: ignore[no-any-return]


def _resized(x: AnyTensor, sizes: Sequence[int], axes: Sequence[int]) -> AnyTensor:
    """*x* with *sizes* along *axes*: without the last elements, or with zeros behind them."""
    paddings = [0] * (2 * x.ndim)
    for axis, size in zip(axes, sizes, strict=True):
        if size < x.shape[axis]:
            x = slice(x, [axis], [0], [size])
        elif size > x.shape[axis]:
            paddings[2 * axis + 1] = size - x.shape[axis]
    return apply("pad", x, attrs={"paddings": paddings}) if any(paddings) else x


def _direction(norm: Any) -> str:
    if norm not in NORMS:
        raise UsageError(f"Unexpected norm: {norm}. Norm should be forward, backward or ortho")
    return str(norm)


def _axis(x: AnyTensor, axis: Any, place: str) -> int:
    number = -1 if axis is None else integer(axis, "axis", place)
    if not -x.ndim <= number < x.ndim:
        raise UsageError(f"Invalid FFT axis ({axis}), it should be in range [-{x.ndim}, {x.ndim})")
    return number % x.ndim


def _size(n: Any, place: str) -> int:
    number = integer(n, "n", place)
    if number <= 0:
        raise UsageError(f"Invalid FFT argument n({n}), it should be positive.")
    return number


def _single(name: str, kind: str, forward: bool, doc: str) -> Callable[..., AnyTensor]:
    place = f"paddle.fft.{name}"

    def function(
        x: Any,
        n: int | None = None,
        axis: int | None = -1,
        norm: str = "backward",
        name: str | None = None,
        *,
        out: Any = None,
    ) -> AnyTensor:
        x = tensor(x, "x", place)
        norm = _direction(norm)
        axes = [_axis(x, axis, place)]
        sizes = None if n is None else [_size(n, place)]
        return delivered(_transform(kind, forward, x, sizes, axes, norm), out)  # type: ignore[no-any-return]

    return _named(function, name, f"{doc} along one dimension.", SINGLE)


def _several(name: str, kind: str, forward: bool, doc: str) -> Callable[..., AnyTensor]:
    place = f"paddle.fft.{name}"

    def function(
        x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None, *, out: Any = None
    ) -> AnyTensor:
        x = tensor(x, "x", place)
        norm = _direction(norm)
        sizes = None if s is None else [_size(n, place) for n in s]
        dims = _dims(x, sizes, axes, place)
        return delivered(_transform(kind, forward, x, sizes, dims, norm), out)  # type: ignore[no-any-return]

    return _named(function, name, f"{doc} over several dimensions.", SEVERAL)


def _double(name: str, kind: str, forward: bool, doc: str) -> Callable[..., AnyTensor]:
    whole = _several(name, kind, forward, doc)

    def function(
        x: Any, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None, *, out: Any = None
    ) -> AnyTensor:
        for what, value in (("s", s), ("axes", axes)):
            if value is not None and len(value) != 2:
                raise UsageError(f"Invalid FFT argument {what} ({value}), it should be a sequence of 2 integers.")
        return whole(x, s, axes, norm, name, out=out)

    return _named(function, name, f"{doc} over two dimensions.", SEVERAL)


def _dims(x: AnyTensor, sizes: list[int] | None, axes: Any, place: str) -> list[int]:
    """The dimensions that are transformed: all of them, or the last ones that there are sizes for."""
    if isinstance(axes, int):
        raise UsageError(f"Invalid FFT axes ({axes}), it should be a sequence of integers.")
    if axes is None:
        return [*range(x.ndim)][-len(sizes or range(x.ndim)) :]
    dims = [_axis(x, a, place) for a in axes]
    if len({*dims}) < len(dims):
        raise UsageError(f"{place}: axes {list(axes)} name a dimension twice")
    if sizes is not None and len(sizes) != len(dims):
        raise UsageError(f"Length of s ({len(sizes)}) and length of axes ({len(dims)}) does not match.")
    return dims


SINGLE = """
    Args:
        n: the size along *axis*: *x* is cut, or filled up with zeros; what it is when None.
"""
SEVERAL = """
    Args:
        s: the sizes along *axes*: *x* is cut, or filled up with zeros; what they are when None.
        axes: the dimensions.
"""
REST = """        norm: which direction is divided by the number of elements: ``"backward"``, ``"forward"``, or both by
            its root, ``"ortho"``.
        out: a tensor for the result.
"""


def _named(function: Callable[..., AnyTensor], name: str, doc: str, arguments: str) -> Callable[..., AnyTensor]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc}\n{arguments}{REST}"
    return function


KINDS = (
    ("fft", "c2c", True, "The discrete Fourier transform"),
    ("ifft", "c2c", False, "The inverse of the discrete Fourier transform"),
    ("rfft", "r2c", True, "The first half of the discrete Fourier transform of real numbers"),
    ("irfft", "c2r", False, "The inverse of ``rfft``: real numbers"),
    ("hfft", "c2r", True, "The discrete Fourier transform of the first half of a signal that is its own mirror image"),
    ("ihfft", "r2c", False, "The inverse of ``hfft``: the first half of it"),
)
"""Each name, its operator, its direction, and what it is."""

fft, ifft, rfft, irfft, hfft, ihfft = (_single(*kind) for kind in KINDS)
fftn, ifftn, rfftn, irfftn, hfftn, ihfftn = (
    _several(f"{name}n", kind, forward, doc) for name, kind, forward, doc in KINDS
)
fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = (
    _double(f"{name}2", kind, forward, doc) for name, kind, forward, doc in KINDS
)
