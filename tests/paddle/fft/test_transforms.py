"""Fourier transforms beyond the recorded calls: inverses of each other, moved places, refusals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gradtool import paddle


@pytest.fixture(autouse=True)
def dynamic() -> Iterator[None]:
    paddle.disable_static()
    yield
    paddle.enable_static()


@pytest.mark.parametrize("norm", ["forward", "backward", "ortho"])
@pytest.mark.parametrize(("there", "back"), [("fft", "ifft"), ("rfft", "irfft"), ("ihfft", "hfft")])
def test_a_transform_and_its_inverse(there: str, back: str, norm: str) -> None:
    x = paddle.to_tensor(np.arange(12.0).reshape(3, 4))
    for ending in ("", "2", "n"):
        spectrum = getattr(paddle.fft, there + ending)(x, norm=norm)
        again = getattr(paddle.fft, back + ending)(spectrum, norm=norm).numpy()
        np.testing.assert_allclose(again, x.numpy(), atol=1e-12)


def test_places_are_moved_along_some_dimensions_and_back() -> None:
    x = paddle.to_tensor(np.arange(15.0).reshape(3, 5))
    moved = paddle.fft.fftshift(x, [1])
    np.testing.assert_array_equal(moved.numpy(), np.fft.fftshift(x.numpy(), [1]))
    np.testing.assert_array_equal(paddle.fft.ifftshift(moved, 1).numpy(), x.numpy())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("fft(x, axis=5)", r"Invalid FFT axis \(5\)"),
        ("fft(x, 0)", r"n\(0\), it should be positive"),
        ("fft(x, norm='x')", "Unexpected norm: x"),
        ("fftn(x, (2, 3), (0,))", "does not match"),
        ("fftn(x, None, (0, 0))", "twice"),
        ("fft2(x, (2,))", "sequence of 2 integers"),
        ("irfft(x[:, :1])", "last_dim_size"),
    ],
)
def test_what_does_not_fit_is_refused(call: str, message: str) -> None:
    x = paddle.ones([2, 3])
    with pytest.raises(ValueError, match=message):
        eval(f"paddle.fft.{call}", {"paddle": paddle, "x": x})


def test_complex_numbers_are_no_real_signal() -> None:
    with pytest.raises(TypeError, match="fft_r2c: X must be float32 or float64"):
        paddle.fft.rfft(paddle.ones([3], "complex64"))
