"""Convolutions of sequences: those of images of which one side is 1 (as in Paddle 3.1)."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply, layer_name
from gradtool.paddle._images import FLOATS, numbers, sequence_last, sequence_windows
from gradtool.paddle._manipulation import squeeze, unsqueeze

from ._conv import check_groups


def _check(x: Any, weight: Any, where: str) -> None:
    for what, v in (("x", x), ("weight", weight)):
        tensor(v, what, where, FLOATS)
        if v.ndim != 3:
            raise UsageError(f"Input {what} should be 3D tensor, but received {what} with the shape of {list(v.shape)}")


def _biased(out: Any, bias: Any, last: bool) -> Any:
    return out if bias is None else apply("elementwise_add", out, bias, attrs={"axis": -1 if last else 1}, direct=True)


def conv1d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """Convolution of sequences.

    Args:
        x: ``[batch, channels, length]``, or ``[batch, length, channels]`` with data_format NLC.
        weight: ``[filters, channels / groups, length]`` in both formats.
        bias: ``[filters]``, or None.
        padding: ``'SAME'``, ``'VALID'``, one number, two for the two ends, or a pair for each dimension of *x*.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).

    >>> from gradtool import paddle
    >>> x, w = paddle.ones([1, 2, 5]), paddle.ones([1, 2, 3])
    >>> paddle.nn.functional.conv1d(x, w).numpy().tolist()
    [[[6.0, 6.0, 6.0]]]
    """
    last = sequence_last(data_format, "conv1d")
    _check(x, weight, "conv1d")
    check_groups("conv1d", x.shape[2 if last else 1], weight.shape[0], groups)
    pads, algorithm = sequence_windows(padding, last)
    attrs = {
        "strides": (1, *numbers(stride, 1, "stride")),
        "paddings": (0, 0, *pads) if len(pads) == 2 else (0, *pads),
        "dilations": (1, *numbers(dilation, 1, "dilation")),
        "groups": groups,
        "padding_algorithm": algorithm,
        "data_format": "NHWC" if last else "NCHW",
    }
    axis = -3 if last else -2
    filters = unsqueeze(apply("assign", weight), -2)
    out = apply("conv2d", unsqueeze(x, axis), filters, attrs=attrs, name=layer_name(name, "conv2d"))
    return squeeze(_biased(out, bias, last), axis)


def conv1d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """Transposed convolution of sequences: what a convolution's gradient by its input computes.

    Args:
        weight: ``[channels, filters / groups, length]``.
        output_padding: how many elements are added at the end, which a stride leaves open.
        output_size: the length of the result instead; excludes output_padding.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    last = sequence_last(data_format, "conv1d_transpose")
    _check(x, weight, "conv1d_transpose")
    channels = x.shape[2 if last else 1]
    check_groups("conv1d_transpose", channels, weight.shape[0], groups)
    if output_size is not None and output_padding != 0:
        raise UsageError("conv1d_transpose: output_padding option is mutually exclusive with output_size")
    pads, algorithm = sequence_windows(padding, last)
    extra = numbers(output_padding, 1, "output_padding")
    attrs = {
        "strides": (*numbers(stride, 1, "stride"), 1),
        "paddings": (*pads, 0, 0) if len(pads) == 2 else (*pads, 0),
        "dilations": (*numbers(dilation, 1, "dilation"), 1),
        "groups": groups,
        "padding_algorithm": algorithm,
        "data_format": "NHWC" if last else "NCHW",
        "output_padding": () if extra == (0,) else (*extra, 0),
        "output_size": () if output_size is None else (*numbers(output_size, 1, "output_size"), 1),
    }
    each = channels == groups != 1 and weight.shape[1] == 1 and not last
    type_ = "depthwise_conv2d_transpose" if each else "conv2d_transpose"
    axis = -2 if last else -1
    image, filters = unsqueeze(x, axis), unsqueeze(weight, -1)
    out = apply(type_, image, filters, None, attrs=attrs, name=layer_name(name, type_))
    return squeeze(_biased(out, bias, last), axis)
