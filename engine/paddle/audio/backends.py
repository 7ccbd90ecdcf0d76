"""``paddle.audio.backends``: wave files of 16 bits, read and written by the standard library."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np

from gradtool.engine.core.errors import FileFormatError, FileMissing, UnsupportedError, UsageError
from gradtool.engine.core.records import dataclass
from gradtool.paddle import _lazy
from gradtool.paddle._creation import to_tensor

__path__: list[str] = []  # there are modules below it, in the table of old paths
__all__ = ["get_current_backend", "list_available_backends", "set_backend"]

BACKEND = "wave_backend"
EXPECTED = "a wave file of 16 bits (PCM)"


class NoBackend(UnsupportedError, NotImplementedError):
    """Another reader of sound than there is (Paddle raises NotImplementedError)."""


@dataclass
class AudioInfo:
    """Description of a sound file."""

    sample_rate: int
    num_samples: int
    num_channels: int
    bits_per_sample: int
    encoding: str


def list_available_backends() -> list[str]:
    """Return the backends that read and write sound: wave files, by the standard library."""
    return [BACKEND]


def get_current_backend() -> str:
    """Return the backend that reads and writes sound now."""
    return BACKEND


def set_backend(backend_name: str) -> None:
    """Choose what reads and writes sound; raises :class:`NoBackend` for another (a NotImplementedError)."""
    if backend_name != BACKEND:
        raise NoBackend(
            f"paddle.audio.backends: {backend_name!r} is not there, gradtool reads wave files by the standard library.",
            hint=f"leave it out, or ask for {BACKEND!r}",
        )


def _opened(file: Any) -> wave.Wave_read:
    if isinstance(file, (str, Path)) and not Path(file).is_file():
        raise FileMissing(f"{file} does not exist.", hint="pass the path of a wave file")
    try:
        return wave.open(str(file) if isinstance(file, Path) else file, "rb")
    except (wave.Error, EOFError) as error:
        came = f"it is not one ({error or 'it ends too soon'})"
        raise FileFormatError(str(file), EXPECTED, came, hint="write it as PCM of 16 bits") from None


def info(filepath: Any) -> AudioInfo:
    """Return the description of a wave file.

    Raises:
        FileMissing: it is not there (a FileNotFoundError).
        FileFormatError: it is something else (a ValueError).
    """
    with _opened(filepath) as file:
        bits = 8 * file.getsampwidth()
        return AudioInfo(file.getframerate(), file.getnframes(), file.getnchannels(), bits, "PCM_S")


def load(
    filepath: Any,
    frame_offset: int = 0,
    num_frames: int = -1,
    normalize: bool = True,
    channels_first: bool = True,
) -> tuple[Any, int]:
    """The samples of a wave file ``[channels, samples]`` in float32, and how many there are a second.

    Args:
        frame_offset, num_frames: where to begin, and how many; to the end when -1.
        normalize: as numbers from -1 to 1; otherwise as they stand in the file.
        channels_first: otherwise they are ``[samples, channels]``.

    Raises:
        FileMissing: it is not there (a FileNotFoundError).
        FileFormatError: it is something else, or has another number of bits than 16 (a ValueError).
    """
    with _opened(filepath) as file:
        rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
        data = file.readframes(file.getnframes())
    if width != 2:
        raise FileFormatError(str(filepath), EXPECTED, f"its samples have {8 * width} bits")
    samples = np.frombuffer(data, "<i2").astype(np.float32).reshape(-1, channels)
    if normalize:
        samples = samples / np.float32(2**15)
    end = None if num_frames == -1 else frame_offset + num_frames
    samples = samples[frame_offset:end]
    return to_tensor(np.ascontiguousarray(samples.T if channels_first else samples)), rate


def save(
    filepath: str,
    src: Any,
    sample_rate: int,
    channels_first: bool = True,
    encoding: str | None = None,
    bits_per_sample: int | None = 16,
) -> None:
    """Write samples ``[channels, samples]`` as a wave file of 16 bits: floats from -1 to 1, or int16 as they are.

    Raises:
        UsageError: another number of dimensions, or of bits (a ValueError).
    """
    if len(src.shape) != 2:
        raise UsageError(f"Expected 2D tensor, but received one of shape {list(src.shape)}.")
    if bits_per_sample not in (None, 16):
        raise UsageError("Invalid bits_per_sample, only support 16 bit")
    values = src.numpy()
    values = values.T if channels_first else values
    if values.dtype != np.int16:
        values = np.clip(values * 2.0**15, -(2.0**15), 2.0**15 - 1).astype("<i2")
    with wave.open(str(filepath), "wb") as file:
        file.setnchannels(values.shape[1])
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(np.ascontiguousarray(values, "<i2").tobytes())


__getattr__ = _lazy.refuse(__name__, globals())
