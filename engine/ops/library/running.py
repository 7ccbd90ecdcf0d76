"""Running products, sums of exponentials, and extremes along a dimension."""

from __future__ import annotations

from ...core.errors import DtypeError
from ...core.spec import dtype as dtype_of
from ..accumulation import accumulate
from ..infer import axis_in, product
from ..opdef import Like, Trait, op
from ..samples import distinct, exactly, ints
from ..writing import put


@op("shift", "X -> Out", attrs={"axis": 0, "by": 1}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def shift(k, x, *, axis, by):
    """*x* moved by *by* places along *axis*; zeros come in."""
    source, target = k.xp.moveaxis(x, axis, 0), k.xp.moveaxis(k.xp.zeros(x.shape, x.dtype), axis, 0)
    places, values = (slice(by, None), source[:-by]) if by > 0 else (slice(by), source[-by:])
    return k.xp.moveaxis(put(target, places, values), 0, axis)


@shift.gradient
def _(k, dout, *, axis, by):
    return k.shift(dout, axis=axis, by=-by)


@op("recur", "X Y -> Out", attrs={"axis": 0, "reverse": False}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def recur(k, x, y, *, axis, reverse):
    """``out[i] = y[i] + x[i]·out[i-1]`` along *axis*, or from its end backwards; the first of *x* is unused."""
    steps, factors = k.xp.moveaxis(k.xp.array(y), axis, 0), k.xp.moveaxis(x, axis, 0)
    if reverse:
        steps, factors = steps[::-1], factors[::-1]

    def step(before, each):
        value, factor = each
        value = value + factor * before
        return value, value

    if len(steps) > 1:
        steps = put(steps, slice(1, None), k.scan(step, steps[0], (steps[1:], factors[1:]))[1])
    return k.xp.moveaxis(steps[::-1] if reverse else steps, 0, axis)


@recur.gradient
def _(k, x, out, dout, *, axis, reverse):
    by = -1 if reverse else 1
    each = k.recur(k.shift(x, axis=axis, by=-by), dout, axis=axis, reverse=not reverse)
    return (lambda: each * k.shift(out, axis=axis, by=by)), each


# -- products ---------------------------------------------------------------------------------------------------------


@op("cumprod", "X -> Out", attrs={"dim": 0, "exclusive": False, "reverse": False}, trait=Trait.HOLOMORPHIC)
def cumprod(k, x, *, dim, exclusive, reverse):
    """Products of the elements up to each along *dim*; exclusive: before it, reverse: from it on."""
    xp = k.xp
    if not x.ndim:
        return xp.ones_like(x) if exclusive else x
    turned = xp.flip(x, dim) if reverse else x
    out = accumulate(xp, "cumprod", turned, dim, x.dtype)
    if exclusive:
        moved = put(xp.moveaxis(xp.ones_like(out), dim, 0), slice(1, None), xp.moveaxis(out, dim, 0)[:-1])
        out = xp.moveaxis(moved, 0, dim)
    return xp.flip(out, dim) if reverse else out


@cumprod.infer
def _(x, *, dim):
    axis_in(dim, x.ndim, "cumprod")
    return x


@cumprod.gradient
def _(k, x, out: Like, dout, *, dim, exclusive, reverse):
    # An element stands in all products behind it: with what comes before it, and with what follows, which a recurrence
    # adds up. Nothing is divided, so zeros are like other numbers.
    if not x.ndim:
        return k.zeros_like(dout) if exclusive else dout
    before = k.cumprod(x, dim=dim, exclusive=True, reverse=reverse)
    by = 1 if reverse else -1
    arriving = k.shift(dout, axis=dim, by=by) if exclusive else dout
    after = k.recur(k.shift(x, axis=dim, by=by), arriving, axis=dim, reverse=not reverse)
    return before * after


# -- sums of exponentials ---------------------------------------------------------------------------------------------


@op(
    "logcumsumexp",
    "X -> Out",
    attrs={"axis": -1, "flatten": False, "exclusive": False, "reverse": False},
)
def logcumsumexp(k, x, *, axis, flatten, exclusive, reverse):
    """``log Σ exp`` of the elements up to each along *axis*, without overflow; of none it is the smallest number."""
    xp = k.xp
    if flatten:
        x, axis = x.reshape(-1), 0
    if not x.ndim:
        return x
    turned = xp.flip(x, axis) if reverse else x
    out = xp.logaddexp.accumulate(turned, axis=axis) if x.size else turned
    if exclusive:
        moved = xp.full_like(xp.moveaxis(out, axis, 0), xp.finfo(x.dtype).min)
        moved = put(moved, slice(1, None), xp.moveaxis(out, axis, 0)[:-1])
        out = xp.moveaxis(moved, 0, axis)
    return xp.flip(out, axis) if reverse else out


@logcumsumexp.infer
def _(x, *, axis, flatten):
    if flatten:
        return x.replace_shape((product(x.shape),))
    axis_in(axis, x.ndim, "logcumsumexp")
    return x


@logcumsumexp.gradient
def _(k, x, out, dout, *, axis, flatten, exclusive, reverse):
    if not out.ndim:
        return dout
    at = 0 if flatten else axis
    flat = k.reshape(x, shape=(-1,))[0] if flatten else x
    by = 1 if reverse else -1
    arriving, reached = dout, out
    if exclusive:
        # What arrives behind an element arrives at the sum that ends with it.
        arriving = k.shift(dout, axis=at, by=by)
        reached = k.logcumsumexp(flat, axis=at, reverse=reverse)
    # Sums only grow, so none of the factors from one to the one before is above 1.
    factors = k.exp(reached - k.roll(reached, shifts=(by,), axis=(at,)))
    total = k.recur(factors, arriving, axis=at, reverse=not reverse)
    return k.reshape_like(total * k.exp(flat - reached), x)


# -- extremes ---------------------------------------------------------------------------------------------------------


def _extreme(name, function, doc):
    def kernel(k, x, *, axis, dtype):
        xp = k.xp
        kind = dtype_of(dtype).numpy
        if not x.ndim or not x.size:
            return x, xp.zeros(x.shape, kind)
        # where an element is the extreme of those up to it, it is the latest such
        out = function(xp).accumulate(x, axis=axis)
        values, best = xp.moveaxis(x, axis, 0), xp.moveaxis(out, axis, 0)
        taken = values == best
        if x.dtype.kind == "f":
            taken = taken | xp.isnan(values)
        steps = xp.arange(len(values), dtype=kind).reshape((-1,) + (1,) * (x.ndim - 1))
        places = xp.maximum.accumulate(xp.where(taken, steps, steps[:1]), axis=0)
        return out, xp.moveaxis(places, 0, axis)

    kernel.__doc__ = doc
    defined = op(name, "x -> out indices", attrs={"axis": -1, "dtype": 3})(kernel)

    @defined.infer
    def _(x, *, axis, dtype):
        axis_in(axis, x.ndim, name)
        if dtype_of(dtype).name not in ("int32", "int64"):
            raise DtypeError(f"{name}: places are int32 or int64, not {dtype_of(dtype).name}")
        return x, x.replace_dtype(dtype)

    @defined.gradient
    def _(k, x: Like, indices, dout, *, axis):
        return k.put_along(dout, indices, x, axis=axis)

    @defined.samples
    def _(make):
        yield make(x=distinct((3, 4)))
        yield make(x=distinct((4, 2, 3)), axis=0, dtype=2)
        yield make(x=ints((3, 4), 3), axis=1, smooth=False)
        yield make(x=())
        yield make(x=(0, 4))

    return defined


cummax = _extreme("cummax", lambda xp: xp.maximum, "Largest element up to each, and where the last such stands.")
cummin = _extreme("cummin", lambda xp: xp.minimum, "Smallest element up to each, and where the last such stands.")


@cumprod.samples
def _(make):
    yield make(x=(3, 4))
    yield make(x=(4, 2, 3), dim=-1)
    yield make(x=(4, 3), exclusive=True)
    yield make(x=(4, 3), reverse=True)
    yield make(x=(4, 3), dim=1, exclusive=True, reverse=True)
    yield make(x=exactly([0.5, 0.0, 2.0, 0.0, 3.0]))
    yield make(x=())
    yield make(x=(0, 3))


@logcumsumexp.samples
def _(make):
    yield make(x=(3, 4), flatten=True)
    yield make(x=(3, 4), axis=0)
    yield make(x=(4, 2, 3))
    yield make(x=(4, 3), axis=0, reverse=True)
    yield make(x=())
    yield make(x=(0, 3))
