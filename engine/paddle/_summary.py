"""``paddle.summary``: the layers that a model calls, the shapes that they are given and give, and their parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gradtool.engine.core.errors import UsageError, expect_type
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.mode import no_grad

from ._creation import ones
from .nn._containers import LayerList, Sequential
from .nn._recurrent_networks import RNNBase as Network
from .nn.layer import Layer
from .static._input_spec import InputSpec
from .utils._structure import flatten

MEGABYTE = 1024.0**2


class SummaryRow(NamedTuple):
    """A layer that was called.

    Attributes:
        before, after: the shapes that it was given, and of its result.
        parameters, trainable: how many numbers it holds, and how many of them training changes.
        elements: of its result.
    """

    title: str
    before: Any
    after: Any
    parameters: int
    trainable: int
    elements: int


def summary(net: Layer, input_size: Any = None, dtypes: Any = None, input: Any = None) -> dict[str, int]:
    """Print a table of the layers that *net* calls, and count their parameters, as Paddle counts them.

    Lists of layers are no rows, nor is *net* itself where it holds layers: what it has of its own is not counted.

    Args:
        input_size: the shape of its input, as numbers or an InputSpec, or a list of shapes, one for each input; a
            dimension that is None or -1 is taken as 1.
        dtypes: of the inputs; float32 when None.
        input: what to call it with, instead of ones of that shape: a tensor, or a list or dict that it takes as one
            argument.

    Returns:
        ``total_params`` and ``trainable_params``.

    Raises:
        UsageError: neither a size nor an input, or a dimension that is not positive (a ValueError).
        ArgumentTypeError: *net* is no Layer (a TypeError).
    """
    expect_type(net, Layer, "net", "paddle.summary")
    if input is None and input_size is None:
        raise UsageError("input_size and input cannot be None at the same time")
    calls = _ones(input_size, dtypes) if input is None else [input]
    rows = _called(net, calls)
    counts = {
        "total_params": sum(row.parameters for row in rows),
        "trainable_params": sum(row.trainable for row in rows),
    }
    entered = sum(_size(v) for v in flatten(calls) if isinstance(v, AnyTensor))
    print(_table(rows, counts, entered))
    return counts


def _ones(size: Any, dtypes: Any) -> list[Any]:
    """A tensor for each shape."""
    single = isinstance(size, (int, InputSpec)) or not any(isinstance(p, (list, tuple, InputSpec)) for p in size)
    shapes: list[Any] = [size] if single else list(size)
    kinds = [dtypes] * len(shapes) if dtypes is None or isinstance(dtypes, str) else list(dtypes)
    return [ones(_dimensions(s), k or "float32") for s, k in zip(shapes, kinds, strict=True)]


def _dimensions(shape: Any) -> list[int]:
    if isinstance(shape, InputSpec):
        shape = shape.shape
    sizes = [shape] if isinstance(shape, int) else [*shape]
    if sum(d in (None, -1) for d in sizes) > 1:
        raise UsageError("Option input_size only the dim of batch_size can be None or -1.")
    dims = [1 if d in (None, -1) else d for d in sizes]
    for d in dims:
        if not isinstance(d, int) or d <= 0:
            raise UsageError(f"Expected element in input size greater than zero, but got {d}")
    return dims


def _called(net: Layer, inputs: Sequence[Any]) -> list[SummaryRow]:
    """A row for each layer that *net* calls, where its first call ends."""
    rows: dict[Layer, SummaryRow] = {}

    def note(layer: Layer, given: Any, result: Any) -> None:
        if layer not in rows:
            rows[layer] = _row(layer, given, result)

    handles = [layer.register_forward_post_hook(note) for layer in _shown(net)]
    training = net.training
    net.eval()
    try:
        with no_grad():
            net(*inputs)
    finally:
        for handle in handles:
            handle.remove()
        if training:
            net.train()
    return list(rows.values())


def _shown(net: Layer) -> Iterator[Layer]:
    """The layers that get a row."""
    inside = {cell for layer in net.sublayers(True) if isinstance(layer, Network) for cell in layer.sublayers()}
    for layer in net.sublayers(True):
        whole = layer is net and bool(net.sublayers())
        listed = isinstance(layer, (Sequential, LayerList))
        if isinstance(layer, Network) or not (whole or listed or layer in inside):
            yield layer


def _row(layer: Layer, given: Any, result: Any) -> SummaryRow:
    stem, _, number = layer.full_name().rpartition("_")
    title = f"{type(layer).__name__}-{int(number) + 1 if stem and number.isdigit() else 1}"
    parameters = layer.parameters(include_sublayers=isinstance(layer, Network))
    statistics = layer.buffers(include_sublayers=False) if hasattr(layer, "_mean") else []
    return SummaryRow(
        title,
        [_shape(v) for v in given],
        _shape(result),
        sum(_size(v) for v in (*parameters, *statistics)),
        sum(_size(p) for p in parameters if not p.stop_gradient),
        sum(_size(v) for v in flatten(result) if isinstance(v, AnyTensor)),
    )


def _size(value: Any) -> int:
    """The number of elements of a tensor; of a variable, where a size that is yet unknown counts as one."""
    return abs(math.prod(int(d) for d in value.shape))


def _shape(value: Any) -> Any:
    """The shape of a tensor, shapes of nested ones; None for anything else."""
    if isinstance(value, AnyTensor):
        return list(value.shape)
    return [_shape(v) for v in value] if isinstance(value, (list, tuple)) else None


def _table(rows: Sequence[SummaryRow], counts: dict[str, int], entered: int) -> str:
    """The text, in columns that are as wide as Paddle's."""
    cells = [(row.title, str(row.before), str(row.after), f"{row.parameters:,}") for row in rows]
    widths = [max(least, *(len(c[i]) for c in cells), 0) for i, least in enumerate((15, 20, 20, 15))]
    rule = "-" * (sum(widths) + 5)
    head = ("Layer (type)", "Input Shape", "Output Shape", "Param #")
    lines = [" ".join(f"{cell:^{width}}" for cell, width in zip(c, widths, strict=True)) for c in (head, *cells)]
    total, trainable = counts["total_params"], counts["trainable_params"]
    sizes = [entered, 2 * sum(row.elements for row in rows), total]
    megabytes = [4 * n / MEGABYTE for n in sizes]
    return "\n".join(
        [
            rule,
            lines[0],
            "=" * len(rule),
            *lines[1:],
            "=" * len(rule),
            f"Total params: {total:,}",
            f"Trainable params: {trainable:,}",
            f"Non-trainable params: {total - trainable:,}",
            rule,
            f"Input size (MB): {megabytes[0]:0.2f}",
            f"Forward/backward pass size (MB): {megabytes[1]:0.2f}",
            f"Params size (MB): {megabytes[2]:0.2f}",
            f"Estimated Total Size (MB): {sum(megabytes):0.2f}",
            rule,
            "",
        ]
    )
