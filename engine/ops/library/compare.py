"""Comparisons and logic: no gradient passes through them."""

from __future__ import annotations

from ..opdef import Trait, op
from ..samples import bools, ints


def _compare(name, function, doc):
    def kernel(k, x, y):
        return function(k.xp)(x, y)

    kernel.__doc__ = doc
    defined = op(name, "X Y -> Out", attrs={"axis": -1, "force_cpu": False}, trait=Trait.COMPARE, differentiable=False)(
        kernel
    )

    @defined.samples
    def _(make):
        yield make(x=ints((4, 3), 3), y=ints((3,), 3))
        yield make(x=(2, 3), y=(2, 3))
        yield make(x=(), y=())

    return defined


equal = _compare("equal", lambda xp: xp.equal, "Whether elements are equal.")
not_equal = _compare("not_equal", lambda xp: xp.not_equal, "Whether elements differ.")
less_than = _compare("less_than", lambda xp: xp.less, "Whether the first is smaller.")
less_equal = _compare("less_equal", lambda xp: xp.less_equal, "Whether the first is smaller or equal.")
greater_than = _compare("greater_than", lambda xp: xp.greater, "Whether the first is larger.")
greater_equal = _compare("greater_equal", lambda xp: xp.greater_equal, "Whether the first is larger or equal.")


def _logic(name, function, doc):
    def kernel(k, x, y):
        return function(k.xp)(x, y)

    kernel.__doc__ = doc
    defined = op(name, "X Y -> Out", trait=Trait.COMPARE, differentiable=False)(kernel)

    @defined.samples
    def _(make):
        yield make(x=bools((4, 3)), y=bools((3,)))
        yield make(x=ints((2, 3), 2), y=ints((2, 3), 2))

    return defined


logical_and = _logic("logical_and", lambda xp: xp.logical_and, "Whether both hold.")
logical_or = _logic("logical_or", lambda xp: xp.logical_or, "Whether either holds.")
logical_xor = _logic("logical_xor", lambda xp: xp.logical_xor, "Whether exactly one holds.")


@op("logical_not", differentiable=False)
def logical_not(k, x):
    """Whether it does not hold."""
    return k.xp.logical_not(x)


@logical_not.infer
def _(x):
    return x.with_dtype("bool")


@logical_not.samples
def _(make):
    yield make(x=bools((2, 3)))
    yield make(x=ints((2, 3), 2))
