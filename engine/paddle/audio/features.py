"""``paddle.audio.features``: layers from signals to features."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UsageError
from gradtool.paddle import _lazy, signal
from gradtool.paddle.nn.layer import Layer

from . import functional

__path__: list[str] = []  # there are modules below it, in the table of old paths
__all__ = ["MFCC", "LogMelSpectrogram", "MelSpectrogram", "Spectrogram"]


class Spectrogram(Layer):
    """The strength of each frequency in each piece of a signal.

    Called with ``[batch, samples]`` it gives ``[batch, n_fft // 2 + 1, pieces]``.

    Args:
        n_fft: how many samples are transformed at a time.
        hop_length: from one piece to the next; a quarter of *n_fft* when None.
        win_length: of the window; *n_fft* when None.
        window: as for ``functional.get_window``.
        power: of the strength: 1 for magnitudes, 2 for powers.
        center, pad_mode: as for ``paddle.signal.stft``.

    Raises:
        UsageError: *power* is not above 0 (a ValueError).

    >>> from gradtool import paddle
    >>> list(paddle.audio.features.Spectrogram(8, 4)(paddle.ones([2, 16])).shape)
    [2, 5, 5]
    """

    def __init__(
        self,
        n_fft: int = 512,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 1.0,
        center: bool = True,
        pad_mode: str = "reflect",
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        if power <= 0:
            raise UsageError("Power of spectrogram must be > 0.")
        self.power = power
        win_length = n_fft if win_length is None else win_length
        self._settings = {
            "n_fft": n_fft,
            "hop_length": hop_length,
            "win_length": win_length,
            "center": center,
            "pad_mode": pad_mode,
        }
        self.register_buffer("fft_window", functional.get_window(window, win_length, True, dtype))

    def forward(self, x: Any) -> Any:
        transformed = signal.stft(x, window=self.fft_window, **self._settings)
        return paddle.pow(paddle.abs(transformed), self.power)


class MelSpectrogram(Layer):
    """The strength of each of *n_mels* bands of frequencies in each piece of a signal.

    Args:
        sr: samples a second.
        n_mels, f_min, f_max, htk, norm: as for ``functional.compute_fbank_matrix``; others as of :class:`Spectrogram`.
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 2048,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, hop_length, win_length, window, power, center, pad_mode, dtype)
        self.n_mels, self.f_min, self.htk, self.norm = n_mels, f_min, htk, norm
        self.f_max = sr // 2 if f_max is None else f_max
        bank = functional.compute_fbank_matrix(sr, n_fft, n_mels, f_min, self.f_max, htk, norm, dtype)
        self.register_buffer("fbank_matrix", bank)

    def forward(self, x: Any) -> Any:
        return paddle.matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """A :class:`MelSpectrogram` in decibels; *ref_value*, *amin* and *top_db* as for ``functional.power_to_db``."""

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._melspectrogram = MelSpectrogram(
            sr,
            n_fft,
            hop_length,
            win_length,
            window,
            power,
            center,
            pad_mode,
            n_mels,
            f_min,
            f_max,
            htk,
            norm,
            dtype,
        )
        self.ref_value, self.amin, self.top_db = ref_value, amin, top_db

    def forward(self, x: Any) -> Any:
        return functional.power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


class MFCC(Layer):
    """*n_mfcc* coefficients of a cosine transform of a :class:`LogMelSpectrogram`, for each piece of a signal.

    Raises:
        UsageError: more coefficients than *n_mels* (a ValueError).
    """

    def __init__(
        self,
        sr: int = 22050,
        n_mfcc: int = 40,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        if n_mfcc > n_mels:
            raise UsageError(f"n_mfcc cannot be larger than n_mels: {n_mfcc} vs {n_mels}")
        self._log_melspectrogram = LogMelSpectrogram(
            sr,
            n_fft,
            hop_length,
            win_length,
            window,
            power,
            center,
            pad_mode,
            n_mels,
            f_min,
            f_max,
            htk,
            norm,
            ref_value,
            amin,
            top_db,
            dtype,
        )
        self.register_buffer("dct_matrix", functional.create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x: Any) -> Any:
        bands = paddle.transpose(self._log_melspectrogram(x), [0, 2, 1])
        return paddle.transpose(paddle.matmul(bands, self.dct_matrix), [0, 2, 1])


__getattr__ = _lazy.refuse(__name__, globals())
