"""``paddle.fft.fftfreq``, ``rfftfreq``, ``fftshift``, ``ifftshift``: what the elements of a transform stand for."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import integer, integers, tensor
from gradtool.paddle._creation import arange, cast
from gradtool.paddle._manipulation import concat, roll
from gradtool.paddle._short_names import delivered
from gradtool.paddle._sizes import known
from gradtool.paddle.framework import get_default_dtype


def _frequencies(places: AnyTensor, n: int, d: float, dtype: Any, out: Any, requires_grad: bool) -> AnyTensor:
    result = cast(places, dtype or get_default_dtype()) * (1.0 / (n * d))
    result.stop_gradient = not requires_grad
    return delivered(result, out)  # type: ignore[no-any-return]


def fftfreq(
    n: int,
    d: float = 1.0,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> AnyTensor:
    """The frequency of each of the *n* elements of a transform; the negative ones come behind the others.

    Args:
        d: the time between two elements of the signal.
        dtype: of the result; the default type when None.
        out: a tensor for the result.
        device: accepted for compatibility.
        requires_grad: whether gradients of the result are wanted.
    """
    count = integer(n, "n", "paddle.fft.fftfreq")
    half = (count - 1) // 2 + 1
    places = concat([arange(0, half, dtype="int64"), arange(-(count // 2), 0, dtype="int64")])
    return _frequencies(places, count, d, dtype, out, requires_grad)


def rfftfreq(
    n: int,
    d: float = 1.0,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> AnyTensor:
    """The frequency of each element of what ``rfft`` gives for *n* numbers; the arguments are those of ``fftfreq``."""
    count = integer(n, "n", "paddle.fft.rfftfreq")
    return _frequencies(arange(0, count // 2 + 1, dtype="int64"), count, d, dtype, out, requires_grad)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> AnyTensor:
    """The elements of a transform with the frequency 0 moved to the middle.

    Args:
        axes: the dimensions to move along; all of them when None.
    """
    return _shifted(tensor(x, "x", "paddle.fft.fftshift"), axes, False, name)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> AnyTensor:
    """The inverse of :func:`fftshift`.

    Args:
        axes: the dimensions to move along; all of them when None.
    """
    return _shifted(tensor(x, "x", "paddle.fft.ifftshift"), axes, True, name)


def _shifted(x: AnyTensor, axes: Any, back: bool, name: str | None) -> AnyTensor:
    dims = [*range(x.ndim)] if axes is None else integers(axes, "axes", "paddle.fft.fftshift")
    sizes = [known(x, d, "paddle.fft.ifftshift" if back else "paddle.fft.fftshift") for d in dims]
    shifts = [-(n // 2) if back else n // 2 for n in sizes]
    return roll(x, shifts, dims, name)
