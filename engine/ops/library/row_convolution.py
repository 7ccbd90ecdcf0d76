"""Convolution of each column of a sequence with what comes after it (Amodei et al. 2015)."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Like, Trait, op
from ..writing import add_to, put


def _ahead(x, step):
    """The rows of *x* from number *step* on, and how many there are."""
    rows = max(x.shape[1] - step, 0)
    return x[:, step : step + rows], rows


@op("row_conv", "X Filter -> Out")
def row_conv(k, x, filter):
    """Each row of a sequence as a weighted sum of it and those after it: ``Σ filter[i] · x[t + i]``.

    *x* is ``[batch, rows, columns]`` and *filter* ``[rows ahead + 1, columns]``.
    """
    out = k.xp.zeros_like(x)
    for step in range(filter.shape[0]):
        later, rows = _ahead(x, step)
        out = add_to(out, (slice(None), slice(rows)), later * filter[step])
    return out


@op("row_conv_back", "Y Filter -> Out", trait=Trait.INTERNAL)
def row_conv_back(k, y, filter):
    """Gradient that reaches each row: the transpose of ``row_conv`` as a function of its first operand."""
    out = k.xp.zeros_like(y)
    for step in range(filter.shape[0]):
        rows = max(y.shape[1] - step, 0)
        out = add_to(out, (slice(None), slice(step, step + rows)), y[:, :rows] * filter[step])
    return out


@op("row_conv_filter", "X Y Filter -> Out", trait=Trait.INTERNAL)
def row_conv_filter(k, x, y, like):
    """For each step the products of rows of *y* with those of *x* that come so much later, summed."""
    out = k.xp.zeros(like.shape, x.dtype)
    for step in range(like.shape[0]):
        later, rows = _ahead(x, step)
        out = put(out, step, (later * y[:, :rows]).sum(axis=(0, 1)))
    return out


@row_conv.infer
def _(x, filter):
    if x.ndim != 3 or filter.ndim != 2:
        raise ShapeError(
            f"row_conv: X {list(x.shape)} must be [batch, rows, columns], and Filter {list(filter.shape)} "
            "[rows, columns]"
        )
    if x.shape[2] != filter.shape[1] and UNKNOWN not in (x.shape[2], filter.shape[1]):
        raise ShapeError(f"row_conv: X {list(x.shape)} and Filter {list(filter.shape)} must have as many columns")
    return x


@row_conv.gradient
def _(k, x, filter, dout):
    return lambda: k.row_conv_back(dout, filter), lambda: k.row_conv_filter(x, dout, filter)


@row_conv_back.gradient
def _(k, y, filter, dout):
    return lambda: k.row_conv(dout, filter), lambda: k.row_conv_filter(dout, y, filter)


@row_conv_filter.gradient(wrt="X Y")
def _(k, x, y, like: Like, dout):
    return lambda: k.row_conv_back(y, dout), lambda: k.row_conv(x, dout)


@row_conv.samples
def _(make):
    yield make(x=(2, 5, 3), filter=(3, 3))
    yield make(x=(1, 2, 3), filter=(4, 3))
    yield make(x=(2, 4, 2), filter=(1, 2))
    yield make(x=(0, 4, 2), filter=(2, 2))
