"""``paddle.flops``: how many operations a call of a network takes, counted as Paddle counts them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError
from gradtool.engine.eager.mode import no_grad
from gradtool.engine.ir.program import Program
from gradtool.paddle import nn
from gradtool.paddle._creation import ones
from gradtool.paddle.nn import Layer


class Count:
    """Counts of one layer.

    Attributes:
        operations: of all its calls.
        before, after: the shapes of its last call.
    """

    def __init__(self) -> None:
        self.operations = 0
        self.before: list[int] = []
        self.after: list[int] = []


def _convolution(layer: Any, x: Any, y: Any) -> int:
    """A multiplication and an addition count as one; the bias counts as one more."""
    kernel = math.prod(layer.weight.shape[2:])
    each: int = int(x.shape[1]) // int(layer._groups) * kernel + int(layer.bias is not None)
    return each * int(y.size)


def _linear(layer: Any, x: Any, y: Any) -> int:
    return int(y.size) * int(layer.weight.shape[0])


def _norm(layer: Any, x: Any, y: Any) -> int:
    return 2 * int(x.size)


def _each(layer: Any, x: Any, y: Any) -> int:
    return int(y.size)


def _none(layer: Any, x: Any, y: Any) -> int:
    return 0


def _adaptive(layer: Any, x: Any, y: Any) -> int:
    window = math.prod(int(a) // int(b) for a, b in zip(x.shape[2:], y.shape[2:], strict=True))
    return int(y.size) * (window + 1)


COUNTS: dict[str, Callable[[Any, Any, Any], int]] = {
    **dict.fromkeys(("Conv1D", "Conv2D", "Conv3D"), _convolution),
    **dict.fromkeys(("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"), _convolution),
    **dict.fromkeys(("BatchNorm", "BatchNorm2D"), _norm),
    **dict.fromkeys(("ReLU", "ReLU6", "Dropout"), _none),
    **dict.fromkeys(("LeakyReLU", "AvgPool1D", "AvgPool2D", "AvgPool3D"), _each),
    **dict.fromkeys(("AdaptiveAvgPool1D", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D"), _adaptive),
    "Linear": _linear,
}
"""By the name of a layer of ``paddle.nn``, what counts a call of it; other layers count as nothing."""


def flops(
    net: Any,
    input_size: Sequence[int],
    custom_ops: Mapping[type, Callable[..., Any]] | None = None,
    print_detail: bool = False,
) -> int:
    """Count the operations of *net* for an input of that size, as Paddle counts them.

    Layers that hold other layers count through them, and *net* itself is not counted: a single layer comes to 0.
    The total is printed, and what was not counted is named.

    Args:
        custom_ops: by the type of a layer, a function of the layer, its inputs and its output that adds to
            ``layer.total_ops``.
        print_detail: print a table of the layers.

    Raises:
        UnsupportedError: *net* is a program.
        ArgumentTypeError: *net* is no layer (a TypeError).
    """
    if isinstance(net, Program):
        raise UnsupportedError(
            "paddle.flops of a Program is not part of this version.", hint="count the layer it was built from"
        )
    if not isinstance(net, Layer):
        raise ArgumentTypeError(
            f"Your model must be an instance of paddle.nn.Layer or paddle.static.Program, but is {type(net).__name__}."
        )
    layers = [layer for layer in net.sublayers() if not layer.sublayers()]
    own = [layer for layer in layers if isinstance(layer, Layer)] or ([net] if not net.sublayers() else [])
    counts = {layer: Count() for layer in own}
    said: set[type] = set()
    handles = []
    for layer in own:
        handles.append(layer.register_forward_post_hook(_counting(layer, counts[layer], custom_ops or {}, said)))
    training = net.training
    net.eval()
    try:
        with no_grad():
            net(ones(list(input_size)))
    finally:
        for handle in handles:
            handle.remove()
        if training:
            net.train()
    rows = [(layer, counts[layer]) for layer in dict.fromkeys(layers)]
    total = sum(count.operations for _, count in rows)
    parameters = sum(_parameters(layer) for layer, _ in rows)
    if print_detail:
        print(_table(rows))
    print(f"Total Flops: {total}     Total Params: {parameters}")
    return total


def _counting(
    layer: Any, count: Count, custom: Mapping[type, Callable[..., Any]], said: set[type]
) -> Callable[..., None]:
    """Return the hook that counts the calls of *layer*; it prints once for each type how that is counted."""
    kind = type(layer)
    rule = COUNTS.get(kind.__name__) if kind is getattr(nn, kind.__name__, None) else None
    if kind not in said:
        said.add(kind)
        if kind in custom:
            print(f"Customize Function has been applied to {kind}")
        elif rule is not None:
            print(f"{kind}'s flops has been counted")
        else:
            print(f"Cannot find suitable count function for {kind}. Treat it as zero FLOPs.")

    def note(layer: Any, given: Any, result: Any) -> None:
        x = given[0] if isinstance(given, (list, tuple)) else given
        y = result[0] if isinstance(result, (list, tuple)) else result
        count.before, count.after = list(x.shape), list(y.shape)
        if kind in custom:
            layer.total_ops = 0
            custom[kind](layer, given, result)
            count.operations += int(layer.total_ops)
        elif rule is not None:
            count.operations += rule(layer, x, y)

    return note


def _parameters(layer: Any) -> int:
    """Those of the layer, and statistics that it holds."""
    statistics = layer.buffers(include_sublayers=False) if hasattr(layer, "_mean") else []
    return sum(int(v.size) for v in (*layer.parameters(include_sublayers=False), *statistics))


def _table(rows: Sequence[tuple[Any, Count]]) -> str:
    """The text, a box as Paddle prints it."""
    head = ("Layer Name", "Input Shape", "Output Shape", "Params", "Flops")
    cells = [
        (layer.full_name(), str(count.before), str(count.after), str(_parameters(layer)), str(count.operations))
        for layer, count in rows
    ]
    widths = [max(len(row[i]) for row in (head, *cells)) for i in range(len(head))]
    rule = "+" + "+".join("-" * (w + 2) for w in widths) + "+"
    lines = [_line(row, widths) for row in (head, *cells)]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """The cells in the middle of their columns; what does not come out even stands at the right."""
    parts = []
    for cell, width in zip(row, widths, strict=True):
        room = width - len(cell)
        left = room // 2 + (room % 2 if room % 2 and len(cell) % 2 == 0 else 0)
        parts.append(f" {' ' * left}{cell}{' ' * (room - left)} ")
    return "|" + "|".join(parts) + "|"
