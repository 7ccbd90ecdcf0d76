"""Comparisons and logic: no gradient passes through them."""

from __future__ import annotations

import numpy as np

from ...core.spec import TensorSpec
from ..infer import broadcast
from ..opdef import Trait, op
from ..samples import bools, exactly, ints


def _compare(name, function, doc, takes=Trait.NONE):
    def kernel(k, x, y):
        return function(k.xp)(x, y)

    kernel.__doc__ = doc
    attrs = {"axis": -1, "force_cpu": False}
    defined = op(name, "X Y -> Out", attrs=attrs, trait=Trait.COMPARE | takes, differentiable=False)(kernel)

    @defined.samples
    def _(make):
        yield make(x=ints((4, 3), 3), y=ints((3,), 3))
        yield make(x=(2, 3), y=(2, 3))
        yield make(x=(), y=())

    return defined


equal = _compare("equal", lambda xp: xp.equal, "Whether elements are equal.", Trait.COMPLEX)
not_equal = _compare("not_equal", lambda xp: xp.not_equal, "Whether elements differ.", Trait.COMPLEX)
less_than = _compare("less_than", lambda xp: xp.less, "Whether the first is smaller.")
less_equal = _compare("less_equal", lambda xp: xp.less_equal, "Whether the first is smaller or equal.")
greater_than = _compare("greater_than", lambda xp: xp.greater, "Whether the first is larger.")
greater_equal = _compare("greater_equal", lambda xp: xp.greater_equal, "Whether the first is larger or equal.")


def _of_bits(name, doc, trait, high):
    """An operator of the array module's function of that name, on truth values and on integers below *high*."""

    def kernel(k, x, y):
        return getattr(k.xp, name)(x, y)

    kernel.__doc__ = doc
    defined = op(name, "X Y -> Out", trait=trait, differentiable=False)(kernel)

    @defined.samples
    def _(make):
        yield make(x=bools((4, 3)), y=bools((3,)))
        yield make(x=ints((2, 3), high), y=ints((2, 3), high))

    return defined


logical_and = _of_bits("logical_and", "Whether both hold.", Trait.COMPARE | Trait.COMPLEX, 2)
logical_or = _of_bits("logical_or", "Whether either holds.", Trait.COMPARE | Trait.COMPLEX, 2)
logical_xor = _of_bits("logical_xor", "Whether exactly one holds.", Trait.COMPARE | Trait.COMPLEX, 2)


@op("logical_not", trait=Trait.COMPLEX, differentiable=False)
def logical_not(k, x):
    """Logical negation of each element."""
    return k.xp.logical_not(x)


@logical_not.infer
def _(x):
    return x.replace_dtype("bool")


@logical_not.samples
def _(make):
    yield make(x=bools((2, 3)))
    yield make(x=ints((2, 3), 2))


bitwise_and = _of_bits("bitwise_and", "And of each bit; of truth values, whether both hold.", Trait.ELEMENTWISE, 9)
bitwise_or = _of_bits("bitwise_or", "Or of each bit; of truth values, whether either holds.", Trait.ELEMENTWISE, 9)
bitwise_xor = _of_bits("bitwise_xor", "Exclusive or of each bit or truth value.", Trait.ELEMENTWISE, 9)


@op("bitwise_not", trait=Trait.UNARY, differentiable=False)
def bitwise_not(k, x):
    """Each bit turned over; of a truth value, whether it does not hold."""
    return k.xp.invert(x)


@bitwise_not.samples
def _(make):
    yield make(x=bools((2, 3)))
    yield make(x=ints((2, 3), 9))


def _kind(name, type_, function, doc):
    def kernel(k, x):
        return k.xp.asarray(function(k.xp)(x))

    kernel.__doc__ = doc
    defined = op(name, type=type_, trait=Trait.COMPLEX, differentiable=False)(kernel)
    defined.infer(lambda x: x.replace_dtype("bool"))

    @defined.samples
    def _(make):
        yield make(x=exactly([0.5, float("nan"), float("inf"), -float("inf")]))
        yield make(x=())
        yield make(x=(0, 3))
        yield make(x=ints((2,), 3))

    return defined


isnan = _kind("isnan", "isnan_v2", lambda xp: xp.isnan, "Whether each element is no number.")
isinf = _kind("isinf", "isinf_v2", lambda xp: xp.isinf, "Whether each element is infinite.")
isfinite = _kind("isfinite", "isfinite_v2", lambda xp: xp.isfinite, "Whether each element is a finite number.")


@op("equal_all", "X Y -> Out", trait=Trait.COMPLEX, differentiable=False)
def equal_all(k, x, y):
    """True if two tensors have the same shape and elements, as a 0-d tensor."""
    return k.xp.asarray(x.shape == y.shape and (x == y).all())


@equal_all.infer
def _(x, y):
    return TensorSpec((), "bool")


@equal_all.samples
def _(make):
    yield make(x=ints((2,), 1), y=ints((2,), 1))
    yield make(x=(2, 3), y=(2, 3))
    yield make(x=(2,), y=(3,))
    yield make(x=(0,), y=(0,))


TOLERANCE = {"rtol": "1e-5", "atol": "1e-8", "equal_nan": False}
"""Tolerances; text, so that nothing is lost."""


def _near(k, x, y, tolerances, equal_nan):
    rtol, atol = tolerances
    return k.xp.isclose(x, y, rtol, atol, equal_nan)


@op("isclose", "Input Other Rtol? Atol? -> Out", attrs=TOLERANCE, trait=Trait.COMPLEX, differentiable=False)
def isclose(k, x, y, rtol_tensor, atol_tensor, *, rtol, atol, equal_nan):
    """True for elements that differ by at most ``atol + rtol·|y|``."""
    return k.xp.asarray(_near(k, x, y, _tolerances(rtol, atol, rtol_tensor, atol_tensor), equal_nan))


def _tolerances(rtol, atol, rtol_tensor, atol_tensor):
    return _tolerance(rtol, rtol_tensor), _tolerance(atol, atol_tensor)


def _tolerance(text, tensor):
    if tensor is None:
        return float(text)
    return tensor.item() if isinstance(tensor, np.ndarray) else tensor.reshape(())


@isclose.infer
def _(x, y, rtol_tensor, atol_tensor):
    return TensorSpec(broadcast(x.shape, y.shape, op="isclose"), "bool")


@op("allclose", "Input Other Rtol? Atol? -> Out", attrs=TOLERANCE, differentiable=False)
def allclose(k, x, y, rtol_tensor, atol_tensor, *, rtol, atol, equal_nan):
    """True if all elements differ by at most ``atol + rtol·|y|``, as a 0-d tensor."""
    return k.xp.asarray(_near(k, x, y, _tolerances(rtol, atol, rtol_tensor, atol_tensor), equal_nan).all())


@allclose.infer
def _(x, y, rtol_tensor, atol_tensor):
    broadcast(x.shape, y.shape, op="allclose")
    return TensorSpec((), "bool")


for _op in (isclose, allclose):

    @_op.samples
    def _(make):
        nan = float("nan")
        yield make(x=exactly([1.0, nan, 2.0]), y=exactly([1.0 + 1e-6, nan, 3.0]))
        yield make(x=exactly([1.0, nan]), y=exactly([1.0, nan]), equal_nan=True)
        yield make(x=exactly([1.0, 2.0]), y=exactly([1.1, 2.1]), rtol="0.2", atol="0.0")
        yield make(x=exactly([1.0]), y=exactly([1.05]), rtol_tensor=exactly([0.1]), atol_tensor=exactly([0.0]))
        yield make(x=(0,), y=(0,))
