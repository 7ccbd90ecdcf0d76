"""Short-time Fourier transform: the parts of a signal, window by window."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..composed import compose
from ..infer import product
from ..opdef import Trait, op


@compose("X Window Out@GRAD", wrt="X")
@op(
    "stft",
    "X Window -> Out",
    attrs={"n_fft": 0, "hop_length": 0, "normalized": False, "onesided": True},
    trait=Trait.COMPLEX,
)
def stft(k, x, window, *, n_fft, hop_length, normalized, onesided):
    """The Fourier transforms of the windows of a real signal: ``[…, frequencies, windows]``.

    Args:
        window: what each of the *n_fft* elements of a window is multiplied with.
        hop_length: how far the starts of two windows are apart.
        normalized: divide by the root of *n_fft*.
        onesided: without the second half, which is the first one's mirror image.
    """
    if product(window.shape) not in (n_fft, UNKNOWN):
        raise ShapeError(f"stft: Window {list(window.shape)} must have n_fft elements, {n_fft}")
    frames = k.ops.frame(x, frame_length=n_fft, hop_length=hop_length)
    weighed = k.ops.mul(frames, k.ops.reshape(window, shape=(n_fft, 1))[0])
    norm = "ortho" if normalized else "backward"
    return k.ops.fft_r2c(weighed, axes=(frames.ndim - 2,), normalization=norm, forward=True, onesided=onesided)


@stft.samples
def _(make):
    yield make(x=(2, 16), window=(8,), n_fft=8, hop_length=3)
    yield make(x=(16,), window=(5,), n_fft=5, hop_length=4, normalized=True, onesided=False)
