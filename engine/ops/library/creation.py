"""Tensors from nothing: constants and copies of host values."""

from __future__ import annotations

from ...spec import TensorSpec
from ...spec import dtype as dtype_of
from ..infer import product
from ..opdef import Like, op
from ..samples import ints

CONSTANT = {
    "shape": (),
    "dtype": 5,
    "value": 0.0,
    "str_value": "",
    "force_cpu": False,
    "place_type": -1,
}


@op("fill_constant", "ValueTensor? ShapeTensor? ShapeTensorList* -> Out", attrs=CONSTANT, differentiable=False)
def fill_constant(k, value_tensor, shape_tensor, shape_tensor_list, *, shape, dtype, value, str_value):
    """A tensor of one value; the shape may come from a tensor, or from one tensor per dimension."""
    if shape_tensor is not None:
        shape = tuple(int(d) for d in shape_tensor)
    elif shape_tensor_list:
        shape = tuple(int(d.reshape(())) for d in shape_tensor_list)
    fill = value_tensor.reshape(()) if value_tensor is not None else float(str_value) if str_value else value
    return k.xp.full(shape, fill, dtype_of(dtype).numpy)


@fill_constant.infer
def _(value_tensor, shape_tensor, shape_tensor_list, *, shape, dtype):
    if shape_tensor is not None:
        return TensorSpec((-1,) * product(shape_tensor.shape), dtype)
    return TensorSpec(shape, dtype)


@op("full_like", type="fill_any_like", attrs={"value": 0.0, "dtype": -1}, differentiable=False)
def full_like(k, x, *, value, dtype):
    """A tensor of one value in the shape of another; dtype -1 keeps its dtype."""
    return k.xp.full(x.shape, value, x.dtype if dtype == -1 else dtype_of(dtype).numpy)


@full_like.infer
def _(x, *, dtype):
    return x if dtype == -1 else x.with_dtype(dtype)


@op("assign_value", "-> Out", attrs={"shape": (), "dtype": 5, "values": ()}, differentiable=False)
def assign_value(k, *, shape, dtype, values):
    """A tensor of given values."""
    return k.xp.array(values, dtype_of(dtype).numpy).reshape(shape)


@assign_value.infer
def _(*, shape, dtype):
    return TensorSpec(shape, dtype)


@op("add_n", "X* -> Out", type="sum")
def add_n(k, xs):
    """Sum of any number of tensors of one shape, from the first to the last."""
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total


@add_n.infer
def _(xs):
    return xs[0]


@add_n.gradient(expands=True)
def _(k, xs: Like, dout):
    return [k.scale(dout) for _ in xs]


@op("cast", attrs={"in_dtype": 5, "out_dtype": 5})
def cast(k, x, *, out_dtype):
    """The values in another dtype."""
    return x.astype(dtype_of(out_dtype).numpy)


@cast.infer
def _(x, *, out_dtype):
    return x.with_dtype(out_dtype)


@cast.gradient(expands=True)
def _(k, dout, *, in_dtype, out_dtype):
    return k.cast(dout, in_dtype=out_dtype, out_dtype=in_dtype)


@fill_constant.samples
def _(make):
    yield make(shape=(2, 3), value=1.5, shape_tensor_list=[])
    yield make(shape=(), value=2.0, dtype=3, shape_tensor_list=[])


@full_like.samples
def _(make):
    yield make(x=(2, 3), value=1.5)
    yield make(x=(2, 3), value=2.0, dtype=3)


@assign_value.samples
def _(make):
    yield make(shape=(2, 2), values=(1.0, 2.0, 3.0, 4.0))


@add_n.samples
def _(make):
    yield make(xs=[(2, 3), (2, 3), (2, 3)])
    yield make(xs=[(2, 3)])
    yield make(xs=[(), ()])


@cast.samples
def _(make):
    yield make(x=(2, 3), in_dtype=6, out_dtype=6)
    yield make(x=ints((2, 3), 5), in_dtype=3, out_dtype=6)
