"""Weights divided by their largest singular value, which power iteration approaches (Miyato et al. 2018)."""

from __future__ import annotations

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..infer import product
from ..opdef import Trait, op

ATTRS = {"dim": 0, "power_iters": 1, "eps": 1e-12}


def _unit(xp, vector, eps):
    return vector / (xp.sqrt((vector * vector).sum()) + vector.dtype.type(eps))


@op("spectral_vectors", "Weight U V -> Out", attrs=ATTRS, trait=Trait.INTERNAL, differentiable=False)
def spectral_vectors(k, weight, u, v, *, dim, power_iters, eps):
    """``u·vᵀ`` after so many steps, in the dimensions of *weight*."""
    xp = k.xp
    moved = xp.moveaxis(weight, dim, 0)
    matrix = moved.reshape((u.size, v.size))
    for _ in range(power_iters):
        v = _unit(xp, xp.matmul(matrix.T, u), eps)
        u = _unit(xp, xp.matmul(matrix, v), eps)
    return xp.moveaxis((u[:, None] * v[None]).reshape(moved.shape), 0, dim)


@op("spectral_norm", "Weight U V -> Out", attrs=ATTRS)
def spectral_norm(k, weight, u, v, **attrs):
    """*weight* divided by ``uᵀ·W·v``, where *u* and *v* are first brought nearer to its singular vectors.

    They stay as they are in the program, and the gradient takes the better ones for constants, as Paddle does.
    """
    return weight / (weight * k.ops.spectral_vectors(weight, u, v, **attrs)).sum()


@spectral_norm.infer
def _(weight, u, v, *, dim, power_iters):
    if weight.ndim < 2 or not 0 <= dim < weight.ndim:
        raise ShapeError(
            f"spectral_norm: Weight {list(weight.shape)} must have 2 dimensions or more, one of them {dim}"
        )
    if power_iters < 0:
        raise OperatorError(f"spectral_norm: power_iters must not be negative, but is {power_iters}")
    rows, columns = weight.shape[dim], product(weight.shape[:dim] + weight.shape[dim + 1 :])
    for slot, spec, size in (("U", u, rows), ("V", v, columns)):
        if spec.ndim != 1 or (spec.shape[0] != size and UNKNOWN not in (spec.shape[0], size)):
            raise ShapeError(
                f"spectral_norm: {slot} {list(spec.shape)} must be [{size}] for Weight {list(weight.shape)}, dim {dim}"
            )
    return weight


@spectral_norm.gradient(wrt="Weight")
def _(k, weight, u, v, dout, **attrs):
    vectors = k.spectral_vectors(weight, u, v, **attrs)
    sigma = k.reduce_sum(weight * vectors, reduce_all=True)
    return (dout - vectors * (k.reduce_sum(dout * weight, reduce_all=True) / sigma)) / sigma


@spectral_norm.samples
def _(make):
    yield make(weight=(3, 2, 4), u=(3,), v=(8,), power_iters=0)
    yield make(weight=(3, 2, 4), u=(2,), v=(12,), power_iters=0, dim=1)
    yield make(weight=(3, 4), u=(3,), v=(4,), power_iters=3, smooth=False)
