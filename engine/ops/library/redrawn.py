"""Random numbers in the shape of a tensor, and functions of a tensor and of random numbers."""

from __future__ import annotations

from ...core.errors import OperatorError, ShapeError
from ...core.spec import TensorSpec
from ...core.spec import dtype as dtype_of
from ..infer import axis_in, expect_floating
from ..opdef import Late, Like, Trait, op
from ..refusals import refuse
from ..samples import distinct, uniform
from ..writing import put_along
from .draws import HOSTED
from .random import UNIFORM

DIAGONAL = {"min": -1.0, "max": 1.0, "seed": 0, "diag_num": 0, "diag_step": 0, "diag_val": 1.0}


def _in_place(name, signature, attrs, doc, draw):
    """An operator that draws a tensor anew, whatever it was: no gradient comes to what it was."""

    def kernel(k, x, **attrs):
        return k.xp.asarray(draw(k.draws(attrs["seed"]), x.shape, attrs)).astype(x.dtype)

    kernel.__doc__ = doc
    definition = op(name, signature, attrs=attrs, trait=Trait.RANDOM | Trait.LIKE)(kernel)

    @definition.infer
    def _(x):
        expect_floating(x, definition.inputs[0].name, name)
        return x

    @definition.gradient
    def _(k, dout):
        return k.zeros_like(dout)

    @definition.samples
    def _(make):
        yield make(x=(2, 3), smooth=False)
        yield make(x=(), seed=3, smooth=False)

    return definition


uniform_random_inplace = _in_place(
    "uniform_random_inplace",
    "X -> Out",
    DIAGONAL,
    "Numbers drawn evenly from *min* up to *max*, in the shape and type of *X*.",
    lambda draws, shape, attrs: draws.uniform(attrs["min"], attrs["max"], shape),
)
gaussian_inplace = _in_place(
    "gaussian_inplace",
    "x -> out",
    {"mean": 0.0, "std": 1.0, "seed": 0},
    "Numbers from a normal distribution, in the shape and type of *x*.",
    lambda draws, shape, attrs: draws.normal(attrs["mean"], attrs["std"], shape),
)


@op(
    "uniform_random_batch_size_like",
    "Input -> Out",
    attrs={**UNIFORM, "input_dim_idx": 0, "output_dim_idx": 0},
    trait=Trait.RANDOM | Trait.LIKE,
    differentiable=False,
)
def uniform_random_batch_size_like(k, x, *, shape, dtype, min, max, seed, input_dim_idx, output_dim_idx):
    """Numbers drawn evenly, in a shape whose dimension *output_dim_idx* is dimension *input_dim_idx* of *x*."""
    dims = list(shape)
    dims[output_dim_idx] = x.shape[input_dim_idx]
    return k.xp.asarray(k.draws(seed).uniform(min, max, dims)).astype(dtype_of(dtype).numpy)


@uniform_random_batch_size_like.infer
def _(x, *, shape, dtype, input_dim_idx, output_dim_idx):
    if not 0 <= output_dim_idx < len(shape) or not 0 <= input_dim_idx < x.ndim:
        raise ShapeError(
            f"uniform_random_batch_size_like: shape {list(shape)} has no dimension {output_dim_idx}, or Input "
            f"{list(x.shape)} no dimension {input_dim_idx}"
        )
    dims = list(shape)
    dims[output_dim_idx] = x.shape[input_dim_idx]
    return TensorSpec(dims, dtype)


@op("dirichlet", "Alpha -> Out", trait=HOSTED, differentiable=False)
def dirichlet(k, alpha):
    """Shares that sum to 1, from Dirichlet distributions with the concentrations in the last dimension."""
    refuse(~(alpha > 0), lambda: ValueError("dirichlet: concentrations must be greater than 0"))
    drawn = k.xp.asarray(k.draws().host().standard_gamma(alpha))
    return (drawn / drawn.sum(axis=-1, keepdims=True)).astype(alpha.dtype)


@dirichlet.infer
def _(alpha):
    if not alpha.ndim:
        raise ShapeError("dirichlet: Alpha must have at least one dimension")
    expect_floating(alpha, "Alpha", "dirichlet")
    return alpha


@op(
    "gumbel_softmax",
    attrs={"temperature": 1.0, "hard": False, "axis": -1},
    trait=Trait.RANDOM,
)
def gumbel_softmax(k, x, *, temperature, hard, axis):
    """A sample of a distribution over categories, near to one-hot (Jang et al. 2017); with *hard*, one-hot."""
    xp = k.xp
    # The smallest number keeps both logarithms finite.
    noise = -xp.log(-xp.log(k.draws().uniform(1e-30, 1.0, x.shape)))
    scaled = (x + noise) / temperature
    weights = xp.exp(scaled - scaled.max(axis=axis, keepdims=True)) if x.size else scaled
    soft = weights / weights.sum(axis=axis, keepdims=True)
    if not hard or not x.size:
        return soft.astype(x.dtype)
    return put_along(xp.zeros(x.shape, x.dtype), soft.argmax(axis=axis, keepdims=True), 1, axis)


@gumbel_softmax.infer
def _(x, *, temperature, axis):
    if temperature <= 0:
        raise OperatorError(f"gumbel_softmax: temperature must be greater than 0, but is {temperature}")
    axis_in(axis, x.ndim, "gumbel_softmax")
    return x


@gumbel_softmax.gradient
def _(k, out, dout, *, temperature, axis):
    total = k.reduce_sum(dout * out, dim=(axis,), keep_dim=True)
    return out * (dout - total) * (1 / temperature)


@op("rrelu", "X -> Out Noise", attrs={"lower": 0.125, "upper": 1 / 3, "is_test": False}, trait=Trait.RANDOM)
def rrelu(k, x, *, lower, upper, is_test):
    """x where it is not negative, elsewhere x times a slope drawn from *lower* to *upper* (Xu et al. 2015).

    Noise holds the slopes, 1 where x is not negative. With *is_test* every slope is the mean of both.
    """
    mean = (lower + upper) / 2
    slopes = k.xp.full(x.shape, mean) if is_test else k.draws().uniform(lower, upper, x.shape)
    noise = k.xp.where(x < 0, slopes, 1.0).astype(x.dtype)
    return x * noise, noise


@rrelu.infer
def _(x, *, lower, upper):
    if not 0 <= lower <= upper <= 1:
        raise OperatorError(f"rrelu: slopes must lie in [0, 1], the lower one first, but are {lower} and {upper}")
    return x, x


@rrelu.gradient
def _(k, x: Like, noise, dout, dnoise: Late):
    through = dout * noise
    return through if dnoise is None else through + k.zeros_like(dnoise)  # slopes are the same on either side of x


@uniform_random_batch_size_like.samples
def _(make):
    yield make(x=(4, 3), shape=(5, 7), input_dim_idx=1)


@dirichlet.samples
def _(make):
    yield make(alpha=uniform(0.5, 2.0, (2, 3)))


@gumbel_softmax.samples
def _(make):
    yield make(x=(2, 3), temperature=0.5, smooth=False)
    yield make(x=distinct((2, 3)), axis=0, hard=True, smooth=False)


@rrelu.samples
def _(make):
    yield make(x=(2, 3), is_test=True)
    yield make(x=(2, 3), lower=0.25, upper=0.25)
