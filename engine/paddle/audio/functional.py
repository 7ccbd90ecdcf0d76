"""``paddle.audio.functional``: scales of frequencies, banks of filters, windows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle import _lazy
from gradtool.paddle._creation import to_tensor

from ._windows import get_window

__path__: list[str] = []  # there are modules below it, in the table of old paths
__all__ = [
    "compute_fbank_matrix",
    "create_dct",
    "fft_frequencies",
    "get_window",
    "hz_to_mel",
    "mel_frequencies",
    "mel_to_hz",
    "power_to_db",
]

STEP = 200.0 / 3
"""Hertz of a mel below the knee of Slaney's scale."""
KNEE = 1000.0
GROWTH = math.log(6.4) / 27
"""The logarithm of a mel above the knee."""


def _computed(function: Any, value: Any) -> Any:
    """*function* of a number by NumPy, of a tensor by its own operators."""
    if isinstance(value, AnyTensor):
        return function(value, paddle)
    return float(function(np.float64(value), np))


def hz_to_mel(freq: Any, htk: bool = False) -> Any:
    """Hertz as mel, of a number or a tensor: Slaney's scale, or that of HTK.

    >>> from gradtool import paddle
    >>> paddle.audio.functional.hz_to_mel(440.0)
    6.6
    """

    def mel(f: Any, xp: Any) -> Any:
        if htk:
            return 2595.0 * xp.log10(1.0 + f / 700.0)
        above = f >= KNEE
        safe = xp.where(above, f, f * 0 + KNEE)  # the logarithm is of what is above
        return xp.where(above, KNEE / STEP + xp.log(safe / KNEE) / GROWTH, f / STEP)

    return _computed(mel, freq)


def mel_to_hz(mel: Any, htk: bool = False) -> Any:
    """Mel as hertz, of a number or a tensor."""

    def hertz(m: Any, xp: Any) -> Any:
        if htk:
            return 700.0 * (xp.exp(m * (math.log(10.0) / 2595.0)) - 1.0)
        above = m >= KNEE / STEP
        safe = xp.where(above, m, m * 0 + KNEE / STEP)
        return xp.where(above, KNEE * xp.exp(GROWTH * (safe - KNEE / STEP)), STEP * m)

    return _computed(hertz, mel)


def mel_frequencies(
    n_mels: int = 64, f_min: float = 0.0, f_max: float = 11025.0, htk: bool = False, dtype: str = "float32"
) -> Any:
    """*n_mels* frequencies from *f_min* to *f_max*, evenly spread by mel."""
    mels = np.linspace(hz_to_mel(f_min, htk), hz_to_mel(f_max, htk), n_mels)
    return to_tensor(np.array([mel_to_hz(m, htk) for m in mels]), dtype)


def fft_frequencies(sr: int, n_fft: int, dtype: str = "float32") -> Any:
    """The ``n_fft // 2 + 1`` frequencies of a Fourier transform of *n_fft* samples, *sr* a second."""
    return to_tensor(np.linspace(0, float(sr) / 2, 1 + n_fft // 2), dtype)


def compute_fbank_matrix(
    sr: int,
    n_fft: int,
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float | None = None,
    htk: bool = False,
    norm: str | float | None = "slaney",
    dtype: str = "float32",
) -> Any:
    """A bank of triangular filters ``[n_mels, n_fft // 2 + 1]``, evenly spread by mel.

    Args:
        sr: samples a second.
        f_max: half of *sr* when None.
        norm: ``"slaney"`` makes areas equal, a number the norms of that order; None leaves heights of 1.
    """
    corners = mel_frequencies(n_mels + 2, f_min, sr / 2 if f_max is None else f_max, htk, "float64").numpy()
    lines = fft_frequencies(sr, n_fft, "float64").numpy()
    widths = np.diff(corners)
    ramps = corners[:, None] - lines[None, :]
    rising, falling = -ramps[:-2] / widths[:-1, None], ramps[2:] / widths[1:, None]
    weights = np.maximum(0.0, np.minimum(rising, falling)) + 0.0  # no negative zeros
    if norm == "slaney":
        weights *= (2.0 / (corners[2:] - corners[:-2]))[:, None]
    elif isinstance(norm, (int, float)):
        lengths = np.linalg.norm(weights, ord=norm, axis=-1, keepdims=True)
        weights /= np.where(lengths > 1e-12, lengths, 1e-12)
    return to_tensor(weights, dtype)


def power_to_db(spect: Any, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0) -> Any:
    """Powers as decibels: ``10 · log10(spect / ref_value)``, of at least *amin*.

    Args:
        top_db: nothing is further than this below the largest; None for no limit.

    Raises:
        UsageError: *amin* or *ref_value* not above 0, *top_db* below it (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.audio.functional.power_to_db(paddle.to_tensor([1.0, 100.0])).tolist()
    [0.0, 20.0]
    """
    if amin <= 0:
        raise UsageError("amin must be strictly positive")
    if ref_value <= 0:
        raise UsageError("ref_value must be strictly positive")
    if top_db is not None and top_db < 0:
        raise UsageError("top_db must be non-negative")
    floor = paddle.full([1], amin, spect.dtype)
    decibels = 10.0 * paddle.log10(paddle.maximum(floor, spect)) - 10.0 * math.log10(max(ref_value, amin))
    if top_db is None:
        return decibels
    return paddle.maximum(decibels, decibels.max() - top_db)


def create_dct(n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: str = "float32") -> Any:
    """The matrix ``[n_mels, n_mfcc]`` of a cosine transform, with columns of length 1 if *norm* is ``"ortho"``.

    Raises:
        UsageError: another norm (a ValueError).
    """
    if norm not in ("ortho", None):
        raise UsageError(f"norm must be 'ortho' or None, but received {norm!r}.")
    places = np.arange(n_mels)[:, None] + 0.5
    matrix = np.cos(math.pi / n_mels * places * np.arange(n_mfcc))
    if norm is None:
        return to_tensor(2.0 * matrix, dtype)
    matrix[:, 0] *= 1 / math.sqrt(2)
    return to_tensor(matrix * math.sqrt(2.0 / n_mels), dtype)


def expect_wave(x: Any) -> None:
    """Raise :class:`ShapeError` for what is no batch of signals (a ValueError)."""
    if len(x.shape) not in (1, 2):
        raise ShapeError(f"a signal must be [samples] or [batch, samples], but its shape is {list(x.shape)}.")


__getattr__ = _lazy.refuse(__name__, globals())
