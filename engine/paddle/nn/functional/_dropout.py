"""Dropout of elements, of whole channels, and the form that keeps mean and variance."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.ir import default
from gradtool.paddle import _creation
from gradtool.paddle._arguments import number_of, tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS
from gradtool.paddle._remembered import remembered
from gradtool.paddle._tensor_methods import in_place

SELU = 1.0507009873554805, 1.6732632423543772
"""Scale and alpha of ``selu``, whose activations alpha dropout keeps in proportion."""


def _check(p: Any, where: str) -> None:
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise ArgumentTypeError(f"p argument of {where} should be a number, but received {type(p).__name__}.")
    if not 0 <= p <= 1:
        raise UsageError(f"p argument of {where} should lie between 0 and 1, but received {p}.")


@remembered
def dropout(
    x: Any,
    p: float = 0.5,
    axis: Any = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
    *,
    inplace: bool = False,
) -> Any:
    """Set each element to zero with probability *p*.

    Args:
        inplace: write to *x*, in dynamic mode.
        axis: a dimension or a list of them: elements that differ in the others only are dropped together.
        mode: ``upscale_in_train`` divides the others by ``1 - p`` in training; ``downscale_in_infer`` multiplies all
            by ``1 - p`` outside it.

    Raises:
        UsageError: *p* outside [0, 1], an unknown mode, an axis out of range (a ValueError).
    """
    if isinstance(mode, bool):  # the fifth argument is *inplace* since Paddle 3.3, and was *mode* before
        mode, inplace = "upscale_in_train", mode
    if inplace and not state.in_static_mode():
        return in_place("dropout", "gradtool.paddle.nn.functional")(
            tensor(x, "x", "dropout"), p, axis, training, mode, name
        )
    p = number_of(p)
    if isinstance(p, (int, float)) and p == 0:
        return x
    _check(p, "dropout")
    if mode not in ("downscale_in_infer", "upscale_in_train"):
        raise UsageError(
            f"mode argument of dropout should be 'downscale_in_infer' or 'upscale_in_train', but received {mode!r}."
        )
    tensor(x, "x", "dropout", FLOATS)
    if axis is not None:
        return _along(x, p, axis, training, mode == "upscale_in_train", name)
    seed = default.default_main_program().random_seed if state.in_static_mode() else 0
    attrs = {
        "dropout_prob": p,
        "is_test": not training,
        "dropout_implementation": "downgrade_in_infer" if mode == "downscale_in_infer" else mode,
        "seed": seed,
        "fix_seed": seed != 0,
    }
    out, mask = apply("dropout", x, None, attrs=attrs, name=name)
    mask.stop_gradient = True
    return out


def _along(x: Any, p: float, axis: Any, training: bool, upscale: bool, name: str | None) -> Any:
    """Dropout with one decision for all elements that differ outside *axis* only."""
    if not training:
        return x if upscale else paddle.scale(x, scale=1 - p)
    if p == 1:
        return paddle.scale(x, scale=0.0)
    axes = [axis] if isinstance(axis, int) else axis
    if not isinstance(axes, (list, tuple)) or not axes or not all(isinstance(a, int) for a in axes):
        raise ArgumentTypeError(f"axis of dropout should be int, or a list of them, but received {axis!r}.")
    if min(axes) < 0 or max(axes) > x.ndim - 1:
        raise UsageError(
            f"axis value of dropout should lie between 0 and {x.ndim - 1} for {list(x.shape)}, but received {axis}."
        )
    whole = x
    if upscale:
        x = paddle.scale(x, scale=1 / (1 - p))
    sizes = paddle.shape(whole) if state.in_static_mode() else whole.shape
    ones: list[Any] = [1] * x.ndim
    for a in axes:
        ones[a] = sizes[a]
    drawn = paddle.uniform(ones, dtype="float32", min=0.0, max=1.0)
    mask = paddle.greater_equal(drawn, _creation.fill([1], p, "float32"))
    return paddle.multiply(paddle.cast(x, x.dtype), paddle.cast(mask, x.dtype), name=name)


def dropout2d(x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Set each channel of each image to zero with probability *p* in training, and divide the others by ``1 - p``."""
    return _channels(x, p, training, data_format, ("NCHW", "NHWC"), "dropout2d", name)


def dropout3d(
    x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCDHW", name: str | None = None
) -> Any:
    """Set each channel of each volume to zero with probability *p* in training, and divide the others by ``1 - p``."""
    return _channels(x, p, training, data_format, ("NCDHW", "NDHWC"), "dropout3d", name)


def _channels(
    x: Any, p: float, training: bool, data_format: str, layouts: tuple[str, str], where: str, name: str | None
) -> Any:
    if data_format not in layouts:
        raise UsageError(
            f"Attr(data_format) of {where} should be {layouts[0]!r} or {layouts[1]!r}, but received {data_format!r}."
        )
    tensor(x, "x", where, FLOATS)
    rank = len(layouts[0])
    if x.ndim != rank:
        raise UsageError(f"{where}: x must have {rank} dimensions, but has the shape {list(x.shape)}.")
    return dropout(x, p, [0, 1 if data_format == layouts[0] else rank - 1], training, name=name)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Set each channel of each sequence to zero with probability *p*.

    Args:
        input: ``[batch, channels, length]`` or ``[channels, length]``.
        inplace: taken for the sake of existing code; the input stays as it is, as in Paddle.

    Raises:
        UsageError: *p* outside [0, 1], or another number of dimensions (a ValueError).
    """
    _check(p, "dropout1d")
    tensor(input, "input", "dropout1d", FLOATS)
    if input.ndim not in (2, 3):
        raise SequenceRankError(f"dropout1d expects 2D or 3D input, got {input.ndim}D")
    if input.ndim == 3:
        return dropout(input, p, 1, training)
    return paddle.squeeze(dropout(paddle.unsqueeze(input, 0), p, 1, training), 0)


class SequenceRankError(UsageError, RuntimeError):
    """No sequences (Paddle raises RuntimeError)."""


def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """Dropout for ``selu``: dropped elements take its lowest value, and mean and variance stay (Klambauer et al. 2017).

    Raises:
        UsageError: *p* outside [0, 1] (a ValueError).
    """
    return _alpha("alpha_dropout", x, p, training, list(x.shape), name)


def feature_alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """:func:`alpha_dropout` of whole channels.

    Raises:
        UsageError: *p* outside [0, 1], or *x* without channels (a ValueError).
    """
    _check(p, "feature_alpha_dropout")
    if not training:
        return x
    if x.ndim < 2:
        raise UsageError("Feature alpha dropout needs at least 2D input.")
    return _alpha("feature_alpha_dropout", x, p, training, [*x.shape[:2], *[1] * (x.ndim - 2)], name)


def _alpha(where: str, x: Any, p: float, training: bool, shape: list[int], name: str | None) -> Any:
    """Alpha dropout of parts of *x*; *shape* has one element for each of them."""
    _check(p, where)
    tensor(x, "x", where, ("float32", "float64"))
    if not training:
        return x
    if p == 1:
        return paddle.scale(x, scale=0.0)
    lowest = -SELU[0] * SELU[1]
    slope = ((1 - p) * (1 + p * lowest**2)) ** -0.5
    drawn = paddle.uniform(shape, dtype="float32", min=0.0, max=1.0)
    mask = paddle.cast(paddle.greater_equal(drawn, paddle.full(shape, p, "float32")), x.dtype)
    dropped = paddle.subtract(paddle.full(shape, 1.0, x.dtype), mask)
    shift = paddle.full(shape, -slope * lowest * p, x.dtype)
    mixed = paddle.add(paddle.multiply(x, mask), paddle.scale(dropped, scale=lowest))
    return paddle.add(paddle.scale(mixed, scale=slope), shift, name=name)
