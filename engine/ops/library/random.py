"""Random tensors; seed 0 draws from the process's stream (``paddle.seed``), another seed from a fresh one."""

from __future__ import annotations

import math

from ...core.errors import LabelError, UsageError
from ...core.spec import TensorSpec
from ...core.spec import dtype as dtype_of
from ..opdef import Trait, op
from ..refusals import refuse
from ..samples import exactly, uniform
from .creation import made_shape, shaped

SHAPES = "ShapeTensor? ShapeTensorList* -> Out"
SIZED = "ShapeTensor ShapeTensorList"
UNIFORM = {
    "shape": (),
    "dtype": 5,
    "min": -1.0,
    "max": 1.0,
    "seed": 0,
    "diag_num": 0,
    "diag_step": 0,
    "diag_val": 1.0,
}
NORMAL = {"shape": (), "dtype": 5, "mean": 0.0, "std": 1.0, "seed": 0}


def _shapes(defined):
    """The shape rule of an operator whose shape comes from an attribute or from tensors."""

    @defined.infer
    def _(shape_tensor, shape_tensor_list, *, shape, dtype):
        return shaped(defined.type, shape_tensor, shape_tensor_list, shape, dtype)

    return defined


@_shapes
@op("uniform_random", SHAPES, attrs=UNIFORM, trait=Trait.RANDOM, differentiable=False, sized=SIZED)
def uniform_random(k, shape_tensor, shape_tensor_list, *, shape, dtype, min, max, seed):
    """Numbers drawn evenly from *min* up to *max*."""
    shape = made_shape(shape, shape_tensor, shape_tensor_list)
    return k.xp.asarray(k.draws(seed).uniform(min, max, shape, dtype_of(dtype).numpy))


@_shapes
@op("gaussian_random", SHAPES, attrs=NORMAL, trait=Trait.RANDOM, differentiable=False, sized=SIZED)
def gaussian_random(k, shape_tensor, shape_tensor_list, *, shape, dtype, mean, std, seed):
    """Numbers from a normal distribution."""
    shape = made_shape(shape, shape_tensor, shape_tensor_list)
    return k.xp.asarray(k.draws(seed).normal(mean, std, shape, dtype_of(dtype).numpy))


@op(
    "truncated_gaussian_random",
    "-> Out",
    attrs={**NORMAL, "a": -2.0, "b": 2.0},
    trait=Trait.RANDOM,
    differentiable=False,
)
def truncated_gaussian_random(k, *, shape, dtype, mean, std, seed, a, b):
    """Numbers from what a normal distribution has within ``mean + [a, b]·std``."""
    return k.xp.asarray(k.draws(seed).truncated_normal(a, b, shape, mean, std, dtype_of(dtype).numpy))


@truncated_gaussian_random.infer
def _(*, shape, dtype, a, b):
    if a >= b:
        raise UsageError(f"truncated_gaussian_random: the lower bound {a} must be below the upper one {b}")
    return TensorSpec(shape, dtype)


@_shapes
@op(
    "randint",
    SHAPES,
    attrs={"shape": (), "dtype": 3, "low": 0, "high": 0, "seed": 0},
    trait=Trait.RANDOM,
    differentiable=False,
    sized=SIZED,
)
def randint(k, shape_tensor, shape_tensor_list, *, shape, dtype, low, high, seed):
    """Whole numbers from *low* up to but without *high*."""
    shape = made_shape(shape, shape_tensor, shape_tensor_list)
    return k.xp.asarray(k.draws(seed).integers(low, high, shape)).astype(dtype_of(dtype).numpy)


@op(
    "orthogonal_random",
    "-> Out",
    attrs={"shape": (), "dtype": 5, "gain": 1.0, "seed": 0},
    trait=Trait.RANDOM,
    differentiable=False,
)
def orthogonal_random(k, *, shape, dtype, gain, seed):
    """Random rows of length *gain*, orthogonal to each other; columns where there are fewer of them."""
    rows, columns = shape[0], math.prod(shape[1:])
    drawn = k.xp.asarray(k.draws(seed).normal(0.0, 1.0, (max(rows, columns), min(rows, columns))))
    q, r = k.xp.linalg.qr(drawn)
    q = q * k.xp.where(k.xp.diagonal(r) < 0, -1.0, 1.0)  # the sign that makes the draw even over all directions
    return (gain * (q if rows >= columns else q.T)).reshape(shape).astype(dtype_of(dtype).numpy)


@orthogonal_random.infer
def _(*, shape, dtype):
    if len(shape) < 2:
        raise UsageError(f"orthogonal_random: shape {list(shape)} must have at least 2 dimensions")
    return TensorSpec(shape, dtype)


@orthogonal_random.samples
def _(make):
    yield make(shape=(3, 5), gain=2.0)
    yield make(shape=(6, 2, 2), dtype=6, seed=3)


@op("randperm", "-> Out", attrs={"n": 0, "dtype": 3}, trait=Trait.RANDOM, differentiable=False)
def randperm(k, *, n, dtype):
    """The whole numbers below *n* in random order."""
    return k.xp.asarray(k.draws().permutation(n)).astype(dtype_of(dtype).numpy)


@randperm.infer
def _(*, n, dtype):
    return TensorSpec((n,), dtype)


@op(
    "seed",
    "-> Out",
    attrs={"seed": 0, "deterministic": False, "rng_name": "", "force_cpu": False},
    trait=Trait.RANDOM,
    differentiable=False,
)
def seed(k, *, seed):
    """A seed for another operator: the one given or, where that is 0, a new one at random in every run."""
    if seed:
        return k.xp.full((1,), seed, k.xp.int32)
    return k.draws().integers(1, 1 << 31, (1,)).astype(k.xp.int32)


@seed.infer
def _():
    return TensorSpec((1,), "int32")


@op("bernoulli", trait=Trait.RANDOM, differentiable=False)
def bernoulli(k, x):
    """Ones with the probabilities *x*, else zeros."""
    wrong = ~((x >= 0) & (x <= 1))
    refuse(
        wrong,
        lambda first: LabelError(f"bernoulli: {first:g} is no probability", hint="they go from 0 to 1"),
        x.reshape(-1)[wrong.reshape(-1).argmax()] if x.size else x,
    )
    return (k.xp.asarray(k.draws().random(x.shape)) < x).astype(x.dtype)


@bernoulli.infer
def _(x):
    return x


@uniform_random.samples
def _(make):
    yield make(shape=(2, 3), min=0.0, max=4.0, shape_tensor_list=[])
    yield make(shape=(), dtype=6, seed=3, shape_tensor_list=[])
    yield make(shape=(0, 3), shape_tensor_list=[])
    yield make(shape_tensor=exactly([2, 3], "int32"), shape_tensor_list=[])


@gaussian_random.samples
def _(make):
    yield make(shape=(2, 3), mean=1.0, std=0.5, shape_tensor_list=[])
    yield make(shape=(), dtype=6, seed=3, shape_tensor_list=[])
    yield make(shape=(0, 3), shape_tensor_list=[])
    yield make(shape=(-1, 3), shape_tensor_list=[exactly([2], "int32"), exactly(3, "int32")])


@truncated_gaussian_random.samples
def _(make):
    yield make(shape=(5, 4), mean=1.0, std=0.5)
    yield make(shape=(), dtype=6, seed=3, a=0.0, b=0.5)
    yield make(shape=(0, 3))


@randint.samples
def _(make):
    yield make(shape=(2, 3), low=2, high=5, shape_tensor_list=[])
    yield make(shape=(), dtype=2, high=4, seed=3, shape_tensor_list=[])
    yield make(high=3, shape_tensor=exactly([2], "int32"), shape_tensor_list=[])


@randperm.samples
def _(make):
    yield make(n=5)
    yield make(n=0, dtype=2)


@seed.samples
def _(make):
    yield make()
    yield make(seed=7, force_cpu=True)


@bernoulli.samples
def _(make):
    yield make(x=uniform(0, 1, (3, 4)))
    yield make(x=uniform(0, 1, ()))
    yield make(x=(0, 3))
