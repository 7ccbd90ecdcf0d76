"""Sums of products in Einstein's notation."""

from __future__ import annotations

from ...core.errors import ShapeError, UsageError
from ...core.spec import UNKNOWN
from ..opdef import Like, Trait, op
from ..writing import put


def split_equation(equation):
    """``"ij,jk->ik"`` -> the labels of each operand, and those of the result."""
    before, _, after = equation.partition("->")
    return before.split(","), after


def _joined(inputs, output):
    return f"{','.join(inputs)}->{output}"


@op("einsum", "Operands* -> Out", attrs={"equation": ""}, trait=Trait.HOLOMORPHIC)
def einsum(k, operands, *, equation):
    """The sum over all labels that the result lacks of products of elements with equal labels (size 1 is repeated)."""
    return k.xp.einsum(equation, *operands, optimize=len(operands) > 1)


@einsum.infer
def _(operands, *, equation):
    inputs, output = split_equation(equation)
    if "->" not in equation or len(inputs) != len(operands):
        raise UsageError(f"einsum: '{equation}' must have labels for the {len(operands)} operands and for the result")
    sizes: dict[str, int] = {}
    for labels, operand in zip(inputs, operands, strict=True):
        if len(labels) != operand.ndim:
            raise ShapeError(f"einsum: the labels '{labels}' do not fit the shape {list(operand.shape)} of an operand")
        for label, size in zip(labels, operand.shape, strict=True):
            extent = sizes.setdefault(label, size)
            if extent in (1, UNKNOWN) and size != 1:
                sizes[label] = size if size != UNKNOWN or extent == 1 else extent
            elif UNKNOWN not in (extent, size) and size not in (1, extent):
                raise ShapeError(
                    f"einsum: label '{label}' of '{equation}' stands for {extent} elements and for {size}",
                    hint="dimensions of one label must have one size, or 1",
                )
    missing = sorted(set(output) - set(sizes))
    if missing or len(set(output)) < len(output):
        why = f"no operand has '{missing[0]}'" if missing else "a label stands there twice"
        raise UsageError(f"einsum: the result of '{equation}' cannot have the labels '{output}': {why}")
    return operands[0].replace_shape(tuple(sizes[label] for label in output))


@einsum.gradient
def _(k, operands, dout, *, equation):
    inputs, output = split_equation(equation)

    def towards(i):
        others, labels = [*operands[:i], *operands[i + 1 :]], [*inputs[:i], *inputs[i + 1 :]]
        return lambda: k.einsum_like([dout, *others], operands[i], equation=_joined([output, *labels], inputs[i]))

    return [towards(i) for i in range(len(operands))]


@op("einsum_like", "X* Y -> Out", attrs={"equation": ""}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def einsum_like(k, xs, like, *, equation):
    """As ``einsum``, in the shape of *like*: the closure of ``einsum`` under differentiation.

    The result is the same along labels that no operand has, zero off the diagonal of labels that it has twice, and
    summed where *like* has size 1.
    """
    xp = k.xp
    inputs, output = split_equation(equation)
    sizes = dict(zip(output, like.shape, strict=True))
    present = "".join(label for label in sizes if any(label in labels for labels in inputs))
    product = xp.einsum(_joined(inputs, present), *xs, optimize=len(xs) > 1)
    summed = tuple(i for i, label in enumerate(present) if sizes[label] == 1 != product.shape[i])
    if summed:
        product = xp.sum(product, axis=summed, keepdims=True)
    every = product.reshape([product.shape[present.index(label)] if label in present else 1 for label in sizes])
    every = xp.broadcast_to(every, tuple(sizes.values()))
    if len(sizes) == len(output):
        return every
    out = xp.zeros(like.shape, product.dtype)
    places = {
        label: xp.arange(size).reshape([-1 if i == j else 1 for j in range(len(sizes))])
        for i, (label, size) in enumerate(sizes.items())
    }
    return put(out, tuple(places[label] for label in output), every)


@einsum_like.gradient(wrt="X")
def _(k, xs, like: Like, dout, *, equation):
    inputs, output = split_equation(equation)

    def towards(i):
        operands, labels = [*xs[:i], dout, *xs[i + 1 :]], [*inputs[:i], output, *inputs[i + 1 :]]
        return lambda: k.einsum_like(operands, xs[i], equation=_joined(labels, inputs[i]))

    return [towards(i) for i in range(len(xs))]


@einsum.samples
def _(make):
    yield make(operands=[(2, 3), (3, 4)], equation="ij,jk->ik")
    yield make(operands=[(5, 2, 3), (5, 3, 4)], equation="bij,bjk->bki")
    yield make(operands=[(2,), (3,)], equation="i,j->ij")
    yield make(operands=[(2, 3)], equation="ij->")
    yield make(operands=[(3, 3, 2)], equation="iij->ji")
    yield make(operands=[(3, 3), (3,)], equation="ii,i->i")
    yield make(operands=[(2, 3), (4, 1)], equation="ij,kj->ik")
    yield make(operands=[(2, 3), (3, 4), (4,)], equation="ij,jk,k->i")
    yield make(operands=[(), (2,)], equation=",i->i")
    yield make(operands=[(0, 3), (3, 2)], equation="ij,jk->ik")
