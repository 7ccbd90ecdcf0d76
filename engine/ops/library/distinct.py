"""The distinct elements of a tensor."""

from __future__ import annotations

from ...core.spec import UNKNOWN, TensorSpec
from ...core.spec import dtype as dtype_of
from ..infer import axis_in, product
from ..opdef import Trait, op
from ..samples import exactly, ints

UNIQUE = {
    "axis": (),
    "dtype": 3,
    "is_sorted": False,
    "return_index": False,
    "return_inverse": False,
    "return_counts": False,
}


# There are as many results as distinct elements.
@op("unique", "X -> Out Indices Index Counts", attrs=UNIQUE, trait=Trait.VALUES, differentiable=False)
def unique(k, x, *, axis, dtype, is_sorted):
    """The distinct elements (or slices along *axis*), where each first stands, which one each is, how many.

    They come in order with ``is_sorted``, else as they are met first.
    """
    xp, along = k.xp, axis[0] if axis else 0
    flat = x if axis else x.reshape(-1)
    values, first, which, counts = xp.unique(
        flat, return_index=True, return_inverse=True, return_counts=True, axis=along if axis else None
    )
    if not is_sorted:
        met = xp.argsort(first)
        values, first, counts = xp.take(values, met, axis=along), first[met], counts[met]
        which = xp.argsort(met)[which.reshape(-1)]
    kind = dtype_of(dtype).numpy
    return values, *(a.reshape(-1).astype(kind) for a in (first, which, counts))


@unique.infer
def _(x, *, axis, dtype):
    some = TensorSpec((UNKNOWN,), dtype)
    if not axis:
        return x.replace_shape((UNKNOWN,)), some, TensorSpec((product(x.shape),), dtype), some
    at = axis_in(axis[0], x.ndim, "unique")
    shape = (*x.shape[:at], UNKNOWN, *x.shape[at + 1 :])
    return x.replace_shape(shape), some, TensorSpec((x.shape[at],), dtype), some


@unique.samples
def _(make):
    yield make(x=ints((3, 4), 5), is_sorted=True)
    yield make(x=exactly([3, 1, 2, 3, 1], "int64"))
    yield make(x=exactly([[1.0, 3.0, 1.0], [1.0, 2.0, 1.0]]), axis=(1,), dtype=2)
    yield make(x=(), return_index=True)
    yield make(x=(0,), return_inverse=True, return_counts=True)
