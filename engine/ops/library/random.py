"""Random tensors; seed 0 draws from the process's stream (``paddle.seed``), another seed from a fresh one."""

from __future__ import annotations

from ...spec import TensorSpec
from ...spec import dtype as dtype_of
from ..opdef import Trait, op

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


@op(
    "uniform_random",
    "ShapeTensor? ShapeTensorList* -> Out",
    attrs=UNIFORM,
    trait=Trait.RANDOM,
    differentiable=False,
)
def uniform_random(k, shape_tensor, shape_tensor_list, *, shape, dtype, min, max, seed):
    """Numbers drawn evenly between *min* and *max*."""
    if shape_tensor is not None:
        shape = tuple(int(d) for d in shape_tensor)
    return k.xp.asarray(k.generator(seed).uniform(min, max, shape).astype(dtype_of(dtype).numpy))


@uniform_random.infer
def _(shape_tensor, shape_tensor_list, *, shape, dtype):
    return TensorSpec(shape, dtype)
