"""Compile a product or maxima with oneDNN: descriptions, and the places of the arrays around them."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_void_p
from typing import Any, NamedTuple

import numpy as np

from ...ops.library import convolve
from .library import ANY_LAYOUT, DIRECT, F32, INFERENCE, MAXIMA, TRAINING, Arg, Library, Query, numbers
from .poolings import Largest
from .primitive import ArrayLayout, Primitive, PrimitiveOperand, describe
from .products import ProductCase


class _Kind(NamedTuple):
    """One of the products.

    Attributes:
        describe: gives its description, or None where oneDNN has none.
        reads: the two parts of a `Case` that it reads, and what they are to oneDNN.
        gives: the part that it gives.
    """

    describe: Callable[..., c_void_p | None]
    reads: tuple[tuple[str, Arg, Query], ...]
    gives: tuple[str, Arg, Query]


def compile_case(library: Library, case: ProductCase | Largest, layouts: tuple[Any, ...]) -> Primitive | None:
    """Return what computes *case*, for arrays of these shapes and strides in elements; None where oneDNN cannot."""
    if isinstance(case, Largest):
        return _maxima(library, case)
    return _product(library, case, layouts)


def _product(library: Library, case: ProductCase, layouts: tuple[Any, ...]) -> Primitive | None:
    kind = KINDS[case.kind]
    windows = convolve.Windows(np, case.filter[2:], case.image[2:], case.result[2:], case.geometry)
    after = _end_padding(windows)
    if after is None:
        return None
    shapes = {"image": case.image, "filter": case.grouped(), "result": case.result}
    any_layout = {
        name: library.make("memory_desc_create_with_tag", len(shape), numbers(shape), F32, ANY_LAYOUT)
        for name, shape in shapes.items()
    }
    steps = [windows.strides, [n - 1 for n in windows.dilations], windows.before, after]
    description = kind.describe(library, *any_layout.values(), *map(numbers, steps))
    for layout in any_layout.values():
        library.call("memory_desc_destroy", layout)
    if description is None:
        return None
    if _slow(library.implementation(description), case):
        library.call("primitive_desc_destroy", description)
        return None
    operands = [
        PrimitiveOperand(arg, query, _group_layout(ArrayLayout(*layout), shapes[name]))
        for (name, arg, query), layout in zip(kind.reads, layouts, strict=True)
    ]
    name, arg, query = kind.gives
    own = getattr(case, name)
    return Primitive(
        library, description, operands, PrimitiveOperand(arg, query, ArrayLayout.row_major(shapes[name])), own
    )


def _slow(implementation: str, case: ProductCase) -> bool:
    """Return whether the reference is faster: where oneDNN has loops alone, or unrolls windows of one channel each."""
    return "ref" in implementation or ("gemm" in implementation and case.filter[1] == 1 < case.groups)


def _group_layout(layout: ArrayLayout, shape: tuple[int, ...]) -> ArrayLayout:
    """The layout of a filter with its groups as a dimension of their own."""
    if len(shape) == len(layout.shape):
        return layout
    return ArrayLayout(shape, (layout.strides[0] * shape[1], *layout.strides))


def _end_padding(windows: convolve.Windows) -> list[int] | None:
    """The padding behind the image with which oneDNN reckons the same number of windows; None if there is none."""
    paddings = []
    for i, (count, size, step, wide) in enumerate(
        zip(windows.result, windows.kernel, windows.strides, windows.dilations, strict=True)
    ):
        extent, inside = (size - 1) * wide + 1, windows.image[i] + windows.before[i]
        after = max((count - 1) * step + extent - inside, 0)
        if (inside + after - extent) // step + 1 != count:
            return None
        paddings.append(after)
    return paddings


def _maxima(library: Library, case: Largest) -> Primitive | None:
    """The largest of windows; or back from them, for which oneDNN seeks them once more and notes where they stand."""
    image, result = (ArrayLayout.row_major(shape) for shape in (case.image, case.result))
    layouts = [describe(library, layout) for layout in (image, result)]
    geometry = [numbers(sizes) for sizes in (case.strides, case.window, (0, 0), case.before, case.after)]
    name = "pooling_forward_primitive_desc_create"
    purpose = TRAINING if case.back else INFERENCE
    forward = library.supports(name, library.engine, purpose, MAXIMA, *layouts, *geometry, library.attributes)
    backward = None
    if forward is not None and case.back:
        arguments = (library.engine, MAXIMA, *layouts, *geometry, forward, library.attributes)
        backward = library.supports("pooling_backward_primitive_desc_create", *arguments)
        if backward is None:
            library.call("primitive_desc_destroy", forward)
    for layout in layouts:
        library.call("memory_desc_destroy", layout)
    source = PrimitiveOperand(Arg.SRC, None, image)
    if forward is None or (case.back and backward is None):
        return None
    if backward is None:
        return Primitive(library, forward, [source], PrimitiveOperand(Arg.DST, None, result), case.result)
    operands = [source, PrimitiveOperand(Arg.DIFF_DST, None, result)]
    return Primitive(library, backward, operands, PrimitiveOperand(Arg.DIFF_SRC, None, image), case.image, forward)


def _forward(library: Library, x: Any, w: Any, y: Any, *geometry: Any) -> c_void_p | None:
    name = "convolution_forward_primitive_desc_create"
    return library.supports(name, library.engine, TRAINING, DIRECT, x, w, None, y, *geometry, library.attributes)


def _image_description(library: Library, x: Any, w: Any, y: Any, *geometry: Any) -> c_void_p | None:
    name = "convolution_backward_data_primitive_desc_create"
    return _describe_with_hint(
        library, lambda hint: (name, library.engine, DIRECT, x, w, y, *geometry, hint), x, w, y, *geometry
    )


def _filter_description(library: Library, x: Any, w: Any, y: Any, *geometry: Any) -> c_void_p | None:
    name = "convolution_backward_weights_primitive_desc_create"
    return _describe_with_hint(
        library, lambda hint: (name, library.engine, DIRECT, x, w, None, y, *geometry, hint), x, w, y, *geometry
    )


def _describe_with_hint(
    library: Library, arguments: Callable[[Any], tuple[Any, ...]], *forward: Any
) -> c_void_p | None:
    """A backward description: oneDNN wants the forward one as a hint."""
    hint = _forward(library, *forward)
    if hint is None:
        return None
    description = library.supports(*arguments(hint), library.attributes)
    library.call("primitive_desc_destroy", hint)
    return description


KINDS = {
    "product": _Kind(
        _forward,
        (("image", Arg.SRC, Query.SRC), ("filter", Arg.WEIGHTS, Query.WEIGHTS)),
        ("result", Arg.DST, Query.DST),
    ),
    "spread": _Kind(
        _image_description,
        (("filter", Arg.WEIGHTS, Query.WEIGHTS), ("result", Arg.DIFF_DST, Query.DIFF_DST)),
        ("image", Arg.DIFF_SRC, Query.DIFF_SRC),
    ),
    "weigh": _Kind(
        _filter_description,
        (("image", Arg.SRC, Query.SRC), ("result", Arg.DIFF_DST, Query.DIFF_DST)),
        ("filter", Arg.DIFF_WEIGHTS, Query.DIFF_WEIGHTS),
    ),
}
