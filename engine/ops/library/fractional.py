"""Pooling over windows whose sizes vary at random around a fraction (Graham 2014)."""

from __future__ import annotations

import itertools

import numpy as np

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN, int32
from ..opdef import Like, Trait, op
from ..samples import distinct
from .pool import largest_of
from .window import SIDES, WindowLine


def _line(name, size, index, out, window, random_u):
    """The windows along one dimension, reckoned in single precision as Paddle does.

    Args:
        out: how many there are.
        window: their size, or 0 for windows that follow each other without a gap.
        random_u: where in (0, 1) the sequence of their starts begins.
    """
    single = np.float32
    if size < out - 1 + max(window, 1):
        raise ShapeError(
            f"{name}: {out} windows of {window or 1} or more do not fit into {size} elements of dimension {index + 2}",
            hint="choose a smaller output_size or kernel_size",
        )
    if window:
        alpha = single(size - window) / single(out - 1) if out > 1 else single(0)
        u = single(random_u)
    else:
        alpha, base = single(size) / single(out), size // out
        most = min(single(base + 2) / alpha - 1, single(size + 1 - base) / alpha - single(out - 1))
        u = single(random_u) * single(most)
    origin = int(u * alpha)
    starts = [int(single(i + u) * alpha) - origin for i in range(out + 1)]
    return WindowLine(size, [(a, a + window if window else b) for a, b in itertools.pairwise(starts)])


def _define(name, rank):
    """``fractional_max_pool2d`` or ``fractional_max_pool3d``."""

    @op(
        name,
        "x -> out mask",
        attrs={"output_size": (1,) * rank, "kernel_size": (0,) * rank, "random_u": 0.0, "return_mask": True},
        trait=Trait.RANDOM,
        sized=lambda attrs: "" if attrs["random_u"] else "x",  # which elements a window has is drawn, too
    )
    def definition(k, x, *, output_size, kernel_size, random_u, return_mask):
        """Maximum of every window and its place; a new place to begin at is drawn where ``random_u`` is 0."""
        xp = k.xp
        u = random_u or float(k.draws().random())
        lines = [_line(name, size, i, output_size[i], kernel_size[i], u) for i, size in enumerate(x.shape[2:])]
        best, places = largest_of(xp, x, lines)
        return best, places.astype(xp.int32)

    @definition.infer
    def _(x, *, output_size, kernel_size, random_u):
        if x.ndim != rank + 2:
            raise ShapeError(f"{name}: x {list(x.shape)} must be [batch, channels, {SIDES[rank]}]")
        if len(output_size) != rank or min(output_size) < 1:
            raise OperatorError(f"{name}: output_size must be {rank} numbers of at least 1, not {list(output_size)}")
        if len(kernel_size) != rank or min(kernel_size) < 0:
            raise OperatorError(f"{name}: kernel_size must be {rank} numbers, or 0, not {list(kernel_size)}")
        if not 0 <= random_u < 1:
            raise OperatorError(f"{name}: random_u must lie between 0 and 1, not {random_u}")
        for size, out, window in zip(x.shape[2:], output_size, kernel_size, strict=True):
            if size != UNKNOWN and size < out - 1 + max(window, 1):
                raise ShapeError(
                    f"{name}: {out} windows of {max(window, 1)} or more do not fit into {size} elements",
                    hint="choose a smaller output_size or kernel_size",
                )
        image = x.replace_shape((*x.shape[:2], *output_size))
        return image, image.replace_dtype(int32)

    @definition.gradient
    def _(k, x: Like, mask, dout):
        return k.put_places(dout, mask, x)

    return definition


fractional_max_pool2d = _define("fractional_max_pool2d", 2)
fractional_max_pool3d = _define("fractional_max_pool3d", 3)


@fractional_max_pool2d.samples
def _(make):
    image = distinct((2, 3, 7, 6))
    yield make(x=image, output_size=(3, 4), random_u=0.3)
    yield make(x=image, output_size=(3, 2), kernel_size=(2, 3), random_u=0.7)
    yield make(x=image, output_size=(7, 1), random_u=0.5)


@fractional_max_pool3d.samples
def _(make):
    image = distinct((1, 2, 5, 4, 6))
    yield make(x=image, output_size=(2, 3, 4), random_u=0.4)
    yield make(x=image, output_size=(2, 2, 3), kernel_size=(3, 2, 2), random_u=0.9)
