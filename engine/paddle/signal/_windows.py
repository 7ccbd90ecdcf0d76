"""``stft``, ``istft``, ``frame`` and ``overlap_add``: windows of a signal, transformed, and added up to one again."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._arguments import RefusedValue, tensor
from gradtool.paddle._creation import ones, zeros
from gradtool.paddle._dispatch import apply
from gradtool.paddle._manipulation import concat, slice, transpose, unsqueeze
from gradtool.paddle.fft._transforms import fft, ifft, irfft, rfft

LEAST = 1e-11
"""Below this the squares of the windows are no divisor."""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and value > 0


def _expect_axis(axis: Any) -> None:
    if axis not in (0, -1):
        raise UsageError(f"Unexpected axis: {axis}. It should be 0 or -1.")


def _expect_count(value: Any, what: str) -> None:
    if not _is_count(value):
        raise UsageError(f"Unexpected {what}: {value}. It should be an positive integer.")


def frame(x: Any, frame_length: int, hop_length: int, axis: int = -1, name: str | None = None) -> AnyTensor:
    """The windows of a signal.

    Args:
        x: the signal along its last dimension, or its first.
        frame_length: how many elements a window has.
        hop_length: how far the starts of two windows are apart.
        axis: -1 gives ``[…, frame_length, windows]``, 0 gives ``[windows, frame_length, …]``.

    Raises:
        UsageError: another axis, a length below 1, windows longer than the signal (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.signal.frame(paddle.arange(5), 3, 2).tolist()
    [[0, 2], [1, 3], [2, 4]]
    """
    x = tensor(x, "x", "paddle.signal.frame")
    _expect_axis(axis)
    _expect_count(frame_length, "frame_length")
    _expect_count(hop_length, "hop_length")
    if x.ndim and -1 < x.shape[axis] < frame_length:
        raise UsageError(
            "Attribute frame_length should be less equal than sequence length, "
            f"but got ({frame_length}) > ({x.shape[axis]})."
        )
    attrs = {"frame_length": frame_length, "hop_length": hop_length, "axis": axis}
    return apply("frame", x, attrs=attrs, name=name)  # type: ignore[no-any-return]


def overlap_add(x: Any, hop_length: int, axis: int = -1, name: str | None = None) -> AnyTensor:
    """The signal that windows add up to, as :func:`frame` cuts them.

    Args:
        x: ``[…, frame_length, windows]``, or ``[windows, frame_length, …]`` with axis 0.
        hop_length: how far the starts of two windows are apart; at most their length.

    Raises:
        UsageError: another axis, or a distance below 1 (a ValueError).
        ShapeError: fewer than two dimensions, or windows that leave gaps (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.signal.overlap_add(paddle.ones([3, 2]), 2).tolist()
    [1.0, 1.0, 2.0, 1.0, 1.0]
    """
    x = tensor(x, "x", "paddle.signal.overlap_add")
    _expect_axis(axis)
    _expect_count(hop_length, "hop_length")
    return apply("overlap_add", x, attrs={"hop_length": hop_length, "axis": axis}, name=name)  # type: ignore[no-any-return]


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise RefusedValue(message)


def _window(window: Any, n_fft: int, win_length: int, dtype: Any, place: str) -> AnyTensor:
    """The window in the middle of *n_fft* elements, which are 0 beside it; ones where there is none."""
    if window is None:
        window = ones([win_length], dtype)
    else:
        window = tensor(window, "window", place)
        _expect(
            list(window.shape) == [win_length],
            f"expected a 1D window tensor of size equal to win_length({win_length}), "
            f"but got window with shape {list(window.shape)}.",
        )
    if win_length == n_fft:
        return window  # type: ignore[no-any-return]
    before = (n_fft - win_length) // 2
    sides = [zeros([n], window.dtype) for n in (before, n_fft - win_length - before)]
    return concat([sides[0], window, sides[1]])


def stft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    name: str | None = None,
) -> AnyTensor:
    """The Fourier transform of each window of a signal: ``[…, n_fft // 2 + 1, windows]``.

    Args:
        x: the signal ``[…, elements]``, of one or two dimensions; real or complex.
        n_fft: how many elements a window has.
        hop_length: how far the starts of two windows are apart; ``n_fft // 4`` by default.
        win_length: how many elements *window* has; ``n_fft`` by default.
        window: what each window is multiplied by, in its middle; ones by default.
        center: the signal goes on for half a window at both ends, so that windows have their elements in the middle.
        pad_mode: how it goes on: ``"reflect"`` or ``"constant"`` (zeros).
        normalized: divide by the root of *n_fft*.
        onesided: leave out the second half of frequencies, which is the mirror image of the first; the default for
            real numbers. Complex ones have all *n_fft*.

    Raises:
        RefusedValue: what does not fit, as in Paddle (an AssertionError).

    >>> from gradtool import paddle
    >>> paddle.signal.stft(paddle.ones([8]), 4, 2).shape
    [3, 5]
    """
    place = "paddle.signal.stft"
    x = tensor(x, "x", place)
    _expect(x.ndim in (1, 2), f"x should be a 1D or 2D real tensor, but got rank of x is {x.ndim}")
    hop = n_fft // 4 if hop_length is None else hop_length
    _expect(hop > 0, f"hop_length should be > 0, but got {hop}.")
    size = x.shape[-1]
    _expect(n_fft > 0 and (size < 0 or n_fft <= size), f"n_fft should be in (0, seq_length({size})], but got {n_fft}.")
    width = n_fft if win_length is None else win_length
    _expect(0 < width <= n_fft, f"win_length should be in (0, n_fft({n_fft})], but got {width}.")
    window = _window(window, n_fft, width, x.dtype, place)
    signal = x
    if center:
        _expect(
            pad_mode in ("reflect", "constant"),
            f'pad_mode should be "reflect" or "constant", but got "{pad_mode}".',
        )
        signal = _continued(x, n_fft // 2, pad_mode)
    frames = transpose(frame(signal, n_fft, hop), [*range(signal.ndim - 1), signal.ndim, signal.ndim - 1]) * window
    complexes = x.dtype.is_complex or window.dtype.is_complex
    half = not complexes if onesided is None else onesided
    _expect(not (half and complexes), "onesided should be False when input or window is a complex Tensor.")
    norm = "ortho" if normalized else "backward"
    out = rfft(frames, norm=norm) if half else fft(frames, norm=norm)
    return transpose(out, [*range(out.ndim - 2), out.ndim - 1, out.ndim - 2], name)


def _continued(x: AnyTensor, width: int, mode: str) -> AnyTensor:
    """*x* with *width* more elements at both ends of its last dimension."""
    from gradtool.paddle.nn.functional import pad

    rows: AnyTensor = unsqueeze(x, [0, 1] if x.ndim == 1 else [1])
    wider = pad(rows, [width, width], mode, data_format="NCL")
    return wider[0, 0] if x.ndim == 1 else wider[:, 0]  # type: ignore[no-any-return]


def istft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: int | None = None,
    return_complex: bool = False,
    name: str | None = None,
) -> AnyTensor:
    """The signal whose windows have the transforms *x*, as :func:`stft` gives them; of several, the nearest.

    D. W. Griffin and J. S. Lim, "Signal estimation from modified short-time Fourier transform" (1984): windows are
    added up and divided by the sum of the squares of *window*.

    Args:
        x: complex numbers ``[…, frequencies, windows]``, of two or three dimensions.
        n_fft, hop_length, win_length, window, center, normalized: as for :func:`stft`.
        onesided: *x* holds the first half of the frequencies, and the signal is real.
        length: how many elements the signal has; all there are by default.
        return_complex: the signal is complex; otherwise the first half of the frequencies decides alone.

    Raises:
        RefusedValue: what does not fit, as in Paddle (an AssertionError).
        UsageError: squares that add up to 0 somewhere, in dynamic mode (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.arange(8, dtype="float32")
    >>> paddle.signal.istft(paddle.signal.stft(x, 4, 2), 4, 2).round().tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    place = "paddle.signal.istft"
    x = tensor(x, "x", place)
    _expect(x.ndim in (2, 3), f"x should be a 2D or 3D complex tensor, but got rank of x is {x.ndim}")
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    _expect(0 < hop <= width, f"hop_length should be in (0, win_length({width})], but got {hop}.")
    _expect(0 < width <= n_fft, f"win_length should be in (0, n_fft({n_fft})], but got {width}.")
    _expect_frequencies(x.shape[-2], n_fft, onesided)
    kind = "float32" if x.dtype.name in ("complex64", "float32") else "float64"
    window = _window(window, n_fft, width, kind, place)
    if return_complex:
        _expect(
            not onesided,
            "onesided should be False when input(output of istft) or window is a complex Tensor.",
        )
    else:
        _expect(not window.dtype.is_complex, "Data type of window should not be complex when return_complex is False.")
    norm = "ortho" if normalized else "backward"
    rows = transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])
    # A transform of real numbers follows from the first half of its frequencies, which irfft takes.
    frames = ifft(rows, norm=norm) if return_complex else irfft(rows, n_fft, norm=norm)
    weighed = frames * window
    out = overlap_add(transpose(weighed, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]), hop)
    count = x.shape[-1]
    squares = (window * window).unsqueeze(-1)
    total = overlap_add(squares.expand([n_fft, count]) if count > 0 else squares * _ones_along(x), hop)
    start = n_fft // 2 if center else 0
    whole = out.shape[-1] if out.shape[-1] > 0 else 2**31 - 1
    end = start + length if length is not None else (whole - start if whole < 2**31 - 1 else -start or whole)
    out, total = slice(out, [out.ndim - 1], [start], [end]), slice(total, [0], [start], [end])
    if isinstance(total, Tensor) and float(total.abs().min()) < LEAST:
        raise UsageError(
            "Abort istft because Nonzero Overlap Add (NOLA) condition failed: the squares of the windows add up to 0 "
            "where the signal is asked for.",
            hint="take a window without zeros, a smaller hop_length, or length= to ask for less",
        )
    return out / total  # type: ignore[no-any-return]


def _expect_frequencies(size: int, n_fft: int, onesided: bool) -> None:
    if size < 0:
        return
    if onesided:
        half = n_fft // 2 + 1
        _expect(
            size == half,
            f"fft_size should be equal to n_fft // 2 + 1({half}) when onesided is True, but got {size}.",
        )
    else:
        _expect(size == n_fft, f"fft_size should be equal to n_fft({n_fft}) when onesided is False, but got {size}.")


def _ones_along(x: AnyTensor) -> AnyTensor:
    """Ones for each window of *x*, whose number is not known yet."""
    first = x.real()
    while first.ndim > 1:
        first = first[0]
    return first * 0 + 1  # type: ignore[no-any-return]
