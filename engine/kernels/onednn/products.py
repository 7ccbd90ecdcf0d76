"""The three products of convolutions by oneDNN: of float32, in two spatial dimensions or three, in groups or not.

What oneDNN does not compute (other types, sizes of nothing, windows beyond its arithmetic of sizes) is left to the
definition's own product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import c_void_p
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...ops.library import convolve
from ..backend import primitive
from .library import ANY_LAYOUT, DIRECT, F32, TRAINING, Arg, Library, Query, numbers
from .primitive import Layout, Operand, Primitive

KEPT = 512
"""How many compiled products are kept: a network has three for each of its convolutions."""


class Case(NamedTuple):
    """A product of arrays of certain sizes.

    Attributes:
        kind: a row of `_KINDS`.
        image: the sizes of the image, with batch and channels first.
        filter: those of the filter.
        result: those of the result.
        geometry: how the windows lie.
    """

    kind: str
    image: tuple[int, ...]
    filter: tuple[int, ...]
    result: tuple[int, ...]
    geometry: convolve.Geometry

    @property
    def groups(self) -> int:
        """How many groups the channels are in."""
        return self.image[1] // self.filter[1]

    def grouped(self) -> tuple[int, ...]:
        """The sizes of the filter as oneDNN has them: groups are a dimension of their own."""
        if self.groups == 1:
            return self.filter
        return (self.groups, self.filter[0] // self.groups, *self.filter[1:])

    @property
    def padded(self) -> bool:
        """Whether windows may reach beyond the image."""
        algorithm = self.geometry.padding_algorithm
        return algorithm == "SAME" or (algorithm == "EXPLICIT" and any(self.geometry.paddings))

    def computable(self) -> bool:
        """Whether oneDNN can be asked: no size is 0, and the groups share out the channels."""
        sizes = (*self.image, *self.filter, *self.result)
        return 0 not in sizes and self.image[1] == self.filter[1] * self.geometry.groups


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


def register(library: Library) -> None:
    """Offer the three products."""
    compiled = lru_cache(KEPT)(lambda case, layouts: _compiled(library, case, layouts))

    def computed(case: Case, *arrays: Any) -> Any | None:
        """What oneDNN gives; None where it does not compute that."""
        if not case.computable() or any(array.dtype != np.float32 for array in arrays):
            return None
        part = compiled(case, tuple(_layout(array) for array in arrays))
        return None if part is None else part(*arrays)

    def meets_zeros(case: Case, factor: Any) -> bool:
        """Whether NumPy would multiply something that is not finite in *factor* with zeros of a padding, which gives
        NaN as in Paddle; oneDNN leaves padding out. A finite sum has finite summands; one that overflows does no harm.
        """
        return bool(case.padded and not np.isfinite(factor.sum()))

    @primitive(convolve.product, "onednn")
    def product(xp: Any, x: Any, w: Any, result: Sequence[int], geometry: Any) -> Any:
        """The convolution of *x* with *w*, of the spatial size *result*."""
        case = Case("product", x.shape, w.shape, (x.shape[0], w.shape[0], *result), _hashable(geometry))
        out = None if meets_zeros(case, w) else computed(case, _strided(x), _strided(w))
        return convolve.product(xp, x, w, result, geometry) if out is None else out

    @primitive(convolve.spread, "onednn")
    def spread(xp: Any, w: Any, y: Any, image: Sequence[int], geometry: Any) -> Any:
        """The derivative by the image, of the spatial size *image*."""
        sizes = (y.shape[0], w.shape[1] * geometry.groups, *image)
        out = computed(Case("spread", sizes, w.shape, y.shape, _hashable(geometry)), _strided(w), _strided(y))
        return convolve.spread(xp, w, y, image, geometry) if out is None else out

    @primitive(convolve.weigh, "onednn")
    def weigh(xp: Any, x: Any, y: Any, shape: Sequence[int], geometry: Any) -> Any:
        """The derivative by the filter, of that *shape*."""
        case = Case("weigh", x.shape, tuple(shape), y.shape, _hashable(geometry))
        out = None if meets_zeros(case, y) else computed(case, _strided(x), _strided(y))
        return convolve.weigh(xp, x, y, shape, geometry) if out is None else out


def _hashable(geometry: convolve.Geometry) -> convolve.Geometry:
    """The same, whether its numbers came as tuples or as lists."""
    return geometry._replace(
        strides=tuple(geometry.strides), paddings=tuple(geometry.paddings), dilations=tuple(geometry.dilations)
    )


def _strided(array: Any) -> Any:
    """*array*, or a copy where oneDNN cannot read it as it lies: backwards, or one element many times."""
    if all(step > 0 and not step % 4 for step in array.strides):
        return array
    return np.ascontiguousarray(array)


def _layout(array: Any) -> Layout:
    return Layout(array.shape, tuple(step // array.itemsize for step in array.strides))


# -- making one --------------------------------------------------------------------------------------------------------


def _compiled(library: Library, case: Case, layouts: tuple[Layout, ...]) -> Primitive | None:
    """The product; None where oneDNN cannot compute it."""
    kind = _KINDS[case.kind]
    windows = convolve.Windows(np, case.filter[2:], case.image[2:], case.result[2:], case.geometry)
    after = _after(windows)
    if after is None:
        return None
    shapes = {"image": case.image, "filter": case.grouped(), "result": case.result}
    any_layout = {
        name: library.made("memory_desc_create_with_tag", len(shape), numbers(shape), F32, ANY_LAYOUT)
        for name, shape in shapes.items()
    }
    steps = [windows.strides, [n - 1 for n in windows.dilations], windows.before, after]
    description = kind.describe(library, *any_layout.values(), *map(numbers, steps))
    for layout in any_layout.values():
        library.call("memory_desc_destroy", layout)
    if description is None:
        return None
    operands = [
        Operand(arg, query, _in_groups(layout, shapes[name]))
        for (name, arg, query), layout in zip(kind.reads, layouts, strict=True)
    ]
    name, arg, query = kind.gives
    own = getattr(case, name)
    return Primitive(library, description, operands, Operand(arg, query, Layout.packed(shapes[name])), own)


def _in_groups(layout: Layout, shape: tuple[int, ...]) -> Layout:
    """The layout of a filter with its groups as a dimension of their own."""
    if len(shape) == len(layout.shape):
        return layout
    return Layout(shape, (layout.strides[0] * shape[1], *layout.strides))


def _after(windows: convolve.Windows) -> list[int] | None:
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


def _forward(library: Library, x: Any, w: Any, y: Any, *geometry: Any) -> c_void_p | None:
    name = "convolution_forward_primitive_desc_create"
    return library.supports(name, library.engine, TRAINING, DIRECT, x, w, None, y, *geometry, library.attributes)


def _by_image(library: Library, x: Any, w: Any, y: Any, *geometry: Any) -> c_void_p | None:
    name = "convolution_backward_data_primitive_desc_create"
    return _hinted(library, lambda hint: (name, library.engine, DIRECT, x, w, y, *geometry, hint), x, w, y, *geometry)


def _by_filter(library: Library, x: Any, w: Any, y: Any, *geometry: Any) -> c_void_p | None:
    name = "convolution_backward_weights_primitive_desc_create"
    return _hinted(
        library, lambda hint: (name, library.engine, DIRECT, x, w, None, y, *geometry, hint), x, w, y, *geometry
    )


def _hinted(library: Library, arguments: Callable[[Any], tuple[Any, ...]], *forward: Any) -> c_void_p | None:
    """A backward description: oneDNN wants the forward one as a hint."""
    hint = _forward(library, *forward)
    if hint is None:
        return None
    description = library.supports(*arguments(hint), library.attributes)
    library.call("primitive_desc_destroy", hint)
    return description


_KINDS = {
    "product": _Kind(
        _forward,
        (("image", Arg.SRC, Query.SRC), ("filter", Arg.WEIGHTS, Query.WEIGHTS)),
        ("result", Arg.DST, Query.DST),
    ),
    "spread": _Kind(
        _by_image,
        (("filter", Arg.WEIGHTS, Query.WEIGHTS), ("result", Arg.DIFF_DST, Query.DIFF_DST)),
        ("image", Arg.DIFF_SRC, Query.DIFF_SRC),
    ),
    "weigh": _Kind(
        _by_filter,
        (("image", Arg.SRC, Query.SRC), ("result", Arg.DIFF_DST, Query.DIFF_DST)),
        ("filter", Arg.DIFF_WEIGHTS, Query.DIFF_WEIGHTS),
    ),
}
