"""``paddle.complex``, ``paddle.real``, ``paddle.angle``, …: complex numbers and their parts.

The gradient of a real loss L by a complex tensor z is ``∂L/∂Re z + i·∂L/∂Im z``, the direction of steepest ascent.
"""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.value import AnyTensor

from ._arguments import tensor
from ._dispatch import apply


def complex(real: Any, imag: Any, name: str | None = None) -> AnyTensor:
    """The complex numbers ``real + i·imag``, broadcast against each other.

    Args:
        real, imag: tensors of one dtype, float32 or float64.

    Returns:
        complex64 or complex128.

    Raises:
        DtypeError: other dtypes, or two different ones (a TypeError).

    >>> from gradtool import paddle
    >>> paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
    [(1+2j)]
    """
    parts = tensor(real, "real", "paddle.complex"), tensor(imag, "imag", "paddle.complex")
    return apply("complex", *parts, name=name)  # type: ignore[no-any-return]


def real(x: Any, name: str | None = None) -> AnyTensor:
    """The real part of each complex number.

    Raises:
        DtypeError: *x* is not complex (a TypeError).
    """
    return apply("real", tensor(x, "x", "paddle.real"), name=name)  # type: ignore[no-any-return]


def imag(x: Any, name: str | None = None) -> AnyTensor:
    """The imaginary part of each complex number.

    Raises:
        DtypeError: *x* is not complex (a TypeError).
    """
    return apply("imag", tensor(x, "x", "paddle.imag"), name=name)  # type: ignore[no-any-return]


def conj(x: Any, name: str | None = None) -> AnyTensor:
    """Each complex number with the sign of its imaginary part changed; real numbers as they are."""
    return apply("conj", tensor(x, "x", "paddle.conj"), name=name)  # type: ignore[no-any-return]


def angle(x: Any, name: str | None = None) -> AnyTensor:
    """The angle of each number to the positive real axis, between -π and π; 0 or π for real numbers.

    Raises:
        DtypeError: *x* holds integers (a TypeError).

    >>> from gradtool import paddle
    >>> paddle.angle(paddle.to_tensor([2.0, -2.0, 1j])).tolist()
    [0.0, 3.1415927410125732, 1.5707963705062866]
    """
    return apply("angle", tensor(x, "x", "paddle.angle"), name=name)  # type: ignore[no-any-return]


def as_complex(x: Any, name: str | None = None) -> AnyTensor:
    """Complex numbers from the pairs of real ones in the last dimension of *x*.

    Raises:
        ShapeError: the last dimension is not 2 (a ValueError).
        DtypeError: *x* is neither float32 nor float64 (a TypeError).
    """
    return apply("as_complex", tensor(x, "x", "paddle.as_complex"), name=name)  # type: ignore[no-any-return]


def as_real(x: Any, name: str | None = None) -> AnyTensor:
    """The real and the imaginary part of each complex number, in a new last dimension.

    Raises:
        DtypeError: *x* is not complex (a TypeError).
    """
    return apply("as_real", tensor(x, "x", "paddle.as_real"), name=name)  # type: ignore[no-any-return]


def polar(abs: Any, angle: Any, name: str | None = None) -> AnyTensor:
    """The complex numbers ``abs·(cos angle + i·sin angle)``.

    Args:
        abs, angle: tensors of one dtype, float32 or float64.
    """
    from ._math import cos, sin

    size, turn = tensor(abs, "abs", "paddle.polar"), tensor(angle, "angle", "paddle.polar")
    return complex(size * cos(turn), size * sin(turn), name)
