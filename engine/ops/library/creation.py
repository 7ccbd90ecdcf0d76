"""Tensors from nothing: constants and copies of host values."""

from __future__ import annotations

import math

import numpy as np

from ...core.errors import ShapeError
from ...core.rows import SelectedRows
from ...core.spec import UNKNOWN, TensorSpec
from ...core.spec import dtype as dtype_of
from ...core.tensor_array import EMPTY, TensorArray
from ..opdef import Like, Trait, op
from ..samples import exactly, ints
from .shape_tensors import length, whole, wholes

CONSTANT = {
    "shape": (),
    "dtype": 5,
    "value": 0.0,
    "str_value": "",
    "force_cpu": False,
    "place_type": -1,
}


@op(
    "fill_constant",
    "ValueTensor? ShapeTensor? ShapeTensorList* -> Out",
    attrs=CONSTANT,
    differentiable=False,
    sized="ShapeTensor ShapeTensorList",
)
def fill_constant(k, value_tensor, shape_tensor, shape_tensor_list, *, shape, dtype, value, str_value):
    """A tensor of one value; the shape may come from a tensor, or from one tensor per dimension."""
    shape = made_shape(shape, shape_tensor, shape_tensor_list)
    fill = value_tensor.reshape(()) if value_tensor is not None else _number(str_value, value, dtype)
    return k.xp.full(shape, fill, dtype_of(dtype).numpy)


def _number(text, value, dtype):
    """The number that *text* says, if it says one, else *value*."""
    if not text:
        return value
    return complex(text) if dtype_of(dtype).is_complex else float(text)


@fill_constant.infer
def _(value_tensor, shape_tensor, shape_tensor_list, *, shape, dtype):
    return shaped("fill_constant", shape_tensor, shape_tensor_list, shape, dtype)


def shaped(name, shape_tensor, shape_tensor_list, shape, dtype):
    """The spec of a tensor whose shape is an attribute, a tensor, or one tensor per dimension."""
    if shape_tensor is not None:
        return TensorSpec((UNKNOWN,) * length(shape_tensor, name), dtype)
    return TensorSpec((max(d, UNKNOWN) for d in shape) if shape else (UNKNOWN,) * len(shape_tensor_list), dtype)


def made_shape(shape, shape_tensor, shape_tensor_list):
    """The shape that such an operator makes."""
    if shape_tensor is not None:
        return whole(shape_tensor)
    return wholes(shape_tensor_list) if shape_tensor_list else shape


@op(
    "empty",
    "ShapeTensor? ShapeTensorList* -> Out",
    attrs={"shape": (), "dtype": 5},
    differentiable=False,
    sized="ShapeTensor ShapeTensorList",
)
def empty(k, shape_tensor, shape_tensor_list, *, shape, dtype):
    """A tensor to be overwritten; it holds zeros, so that a run that reads it can be repeated."""
    return k.xp.zeros(made_shape(shape, shape_tensor, shape_tensor_list), dtype_of(dtype).numpy)


@empty.infer
def _(shape_tensor, shape_tensor_list, *, shape, dtype):
    return shaped("empty", shape_tensor, shape_tensor_list, shape, dtype)


@op(
    "fill_constant_batch_size_like",
    "Input -> Out",
    attrs={
        "shape": (),
        "dtype": 5,
        "value": 0.0,
        "str_value": "",
        "force_cpu": False,
        "input_dim_idx": 0,
        "output_dim_idx": 0,
    },
    trait=Trait.LIKE,
    differentiable=False,
)
def fill_constant_batch_size_like(k, x, *, shape, dtype, value, str_value, input_dim_idx, output_dim_idx):
    """A tensor of one value whose dimension *output_dim_idx* is dimension *input_dim_idx* of *x*."""
    dims = list(shape)
    dims[output_dim_idx] = x.shape[input_dim_idx]
    return k.xp.full(dims, _number(str_value, value, dtype), dtype_of(dtype).numpy)


@fill_constant_batch_size_like.infer
def _(x, *, shape, dtype, input_dim_idx, output_dim_idx):
    dims = list(shape)
    dims[output_dim_idx] = x.shape[input_dim_idx]
    return TensorSpec(dims, dtype)


@op(
    "full_like",
    type="fill_any_like",
    attrs={"value": 0.0, "dtype": -1},
    differentiable=False,
    trait=Trait.MOVES | Trait.LIKE,
)
def full_like(k, x, *, value, dtype):
    """A tensor of one value in the shape of another; dtype -1 keeps its dtype."""
    if isinstance(x, TensorArray):
        return EMPTY  # the zeros of gradients
    return k.xp.full(x.shape, value, x.dtype if dtype == -1 else dtype_of(dtype).numpy)


@full_like.infer
def _(x, *, dtype):
    return x if dtype == -1 else x.replace_dtype(dtype)


@op("fill_any", attrs={"value": 0.0}, trait=Trait.UNARY | Trait.MOVES)
def fill_any(k, x, *, value):
    """One value everywhere: what ``fill_`` leaves of a tensor."""
    return k.xp.full(x.shape, value, x.dtype)


@fill_any.gradient
def _(k, dout, *, value):
    return k.zeros_like(dout)


@op("assign_value", "-> Out", attrs={"shape": (), "dtype": 5, "values": ()}, differentiable=False)
def assign_value(k, *, shape, dtype, values):
    """A tensor of given values."""
    return k.xp.array(values, dtype_of(dtype).numpy).reshape(shape)


@assign_value.infer
def _(*, shape, dtype):
    return TensorSpec(shape, dtype)


@op("range", "Start End Step -> Out", differentiable=False, sized="Start End Step")
def range_(k, start, end, step):
    """The numbers from *start* up to but without *end*, *step* apart."""
    first, last, width = (v.reshape(())[()] for v in (start, end, step))
    # counted in the type itself, as 1.1 - 0.1 is 1 of float32 numbers and more than that of float64 ones made of them
    count = max(math.ceil((last - first) / width), 0)
    return (first + k.xp.arange(count) * width).astype(start.dtype)


@range_.infer
def _(start, end, step):
    return start.replace_shape((UNKNOWN,))


@op("linspace", "Start Stop Num -> Out", attrs={"dtype": 5}, trait=Trait.VALUES, differentiable=False)
def linspace(k, start, stop, num, *, dtype):
    """*num* numbers from *start* to *stop*, both included, evenly spaced."""
    values = k.xp.linspace(start.reshape(()).item(), stop.reshape(()).item(), int(num.reshape(())))
    return values.astype(dtype_of(dtype).numpy)


@linspace.infer
def _(start, stop, num, *, dtype):
    return TensorSpec((UNKNOWN,), dtype)


@op("logspace", "Start Stop Num Base -> Out", attrs={"dtype": 5}, trait=Trait.VALUES, differentiable=False)
def logspace(k, start, stop, num, base, *, dtype):
    """Powers of *base*, their exponents evenly spaced from *start* to *stop*, both included."""
    exponents = k.xp.linspace(start.reshape(()).item(), stop.reshape(()).item(), int(num.reshape(())))
    return k.xp.power(float(base.reshape(())), exponents).astype(dtype_of(dtype).numpy)


@logspace.infer
def _(start, stop, num, base, *, dtype):
    return TensorSpec((UNKNOWN,), dtype)


@op("eye", "-> Out", attrs={"num_rows": 0, "num_columns": -1, "dtype": 5}, differentiable=False)
def eye(k, *, num_rows, num_columns, dtype):
    """Ones on the diagonal, zeros elsewhere; as many columns as rows when -1."""
    return k.xp.eye(num_rows, num_rows if num_columns < 0 else num_columns, dtype=dtype_of(dtype).numpy)


@eye.infer
def _(*, num_rows, num_columns, dtype):
    return TensorSpec((num_rows, num_rows if num_columns < 0 else num_columns), dtype)


@op("shape", "Input -> Out", differentiable=False, trait=Trait.MOVES | Trait.LIKE)
def shape(k, x):
    """The dimensions of *x*, as an int32 vector."""
    return k.xp.array(x.shape, "int32")


@shape.infer
def _(x):
    return TensorSpec((x.ndim,), "int32")


@op("shape64", "input -> out", differentiable=False, trait=Trait.MOVES | Trait.LIKE)
def shape64(k, x):
    """The dimensions of *x*, as an int64 vector."""
    return k.xp.array(x.shape, "int64")


@shape64.infer
def _(x):
    return TensorSpec((x.ndim,), "int64")


@op("size", "Input -> Out", differentiable=False, trait=Trait.MOVES | Trait.LIKE)
def size(k, x):
    """The number of elements of *x*, as a 0-d int64 tensor."""
    return k.xp.array(math.prod(x.shape), "int64")


@size.infer
def _(x):
    return TensorSpec((), "int64")


@op("increment", attrs={"step": 1.0}, trait=Trait.HOLOMORPHIC)
def increment(k, x, *, step):
    """*x* plus *step*; programs write the result to *x* itself."""
    return x + k.xp.asarray(step).astype(x.dtype)


@increment.infer
def _(x):
    if x.count not in (1, UNKNOWN):
        raise ShapeError(f"increment: X must have one element, but its shape is {list(x.shape)}")
    return x


@increment.gradient(expands=True)
def _(k, dout):
    # Paddle undoes the increment in place here. The old value is kept where a gradient needs it, so a copy of the
    # gradient is all there is to do.
    return k.assign(dout)


@op("add_n", "X* -> Out", type="sum", trait=Trait.HOLOMORPHIC)
def add_n(k, xs):
    """Sum of any number of tensors of one shape, from the first to the last."""
    if len(xs) == 1:
        return xs[0]
    total = xs[0] + xs[1]
    for x in xs[2:]:
        # Numbers and selected rows have nothing to add into.
        total = np.add(total, x, out=total) if k.xp is np and isinstance(total, np.ndarray) else total + x
    return k.xp.asarray(total) if isinstance(total, np.generic) else total


@add_n.infer
def _(xs):
    first = xs[0].shape
    for i, x in enumerate(xs):
        if x.ndim != len(first) or any(m != n and UNKNOWN not in (m, n) for m, n in zip(first, x.shape, strict=True)):
            raise ShapeError(f"sum: X[0] has the shape {list(first)}, but X[{i}] {list(x.shape)}")
    return xs[0]


@add_n.gradient(expands=True)
def _(k, xs: Like, dout):
    return [k.scale(dout) for _ in xs]


@op("merge_selected_rows", trait=Trait.HOLOMORPHIC)
def merge_selected_rows(k, x):
    """Selected rows with every row once; any other tensor as it is."""
    return x.merged() if isinstance(x, SelectedRows) else x


@merge_selected_rows.infer
def _(x):
    return x


@merge_selected_rows.gradient
def _(k, dout):
    return dout


@op("get_tensor_from_selected_rows", trait=Trait.MOVES)
def get_tensor_from_selected_rows(k, x):
    """The rows of selected rows as a tensor, without saying which they are; any other tensor as it is."""
    return x.values if isinstance(x, SelectedRows) else x


@get_tensor_from_selected_rows.infer
def _(x):
    return x


@get_tensor_from_selected_rows.gradient
def _(k, dout):
    return dout


@op("cast", attrs={"in_dtype": 5, "out_dtype": 5}, trait=Trait.COMPLEX)
def cast(k, x, *, out_dtype):
    """The values in another dtype; of complex numbers only the real parts, unless that is complex too."""
    wanted = dtype_of(out_dtype)
    return (x if wanted.is_complex else x.real).astype(wanted.numpy)


@cast.infer
def _(x, *, out_dtype):
    return x.replace_dtype(out_dtype)


@cast.gradient(expands=True)
def _(k, x: Like, dout, *, in_dtype, out_dtype):
    return k.cast(dout, in_dtype=out_dtype, out_dtype=in_dtype)


@fill_constant.samples
def _(make):
    yield make(shape=(2, 3), value=1.5, shape_tensor_list=[])
    yield make(shape=(), value=2.0, dtype=3, shape_tensor_list=[])
    yield make(shape=(2,), str_value="0.1", dtype=6, shape_tensor_list=[])
    yield make(value=1.0, shape_tensor=exactly([2, 3], "int32"), shape_tensor_list=[])
    yield make(value=1.0, shape=(-1, 3), shape_tensor_list=[exactly([2], "int32"), exactly(3, "int32")])
    yield make(shape=(2, 0), value_tensor=exactly([1.5], "float32"), shape_tensor_list=[])


@empty.samples
def _(make):
    yield make(shape=(2, 3), shape_tensor_list=[])
    yield make(shape_tensor=exactly([2, 3], "int32"), shape_tensor_list=[], dtype=3)
    yield make(shape=(-1, 3), shape_tensor_list=[exactly([2], "int32"), exactly(3, "int32")])


@fill_constant_batch_size_like.samples
def _(make):
    yield make(x=(2, 3), shape=(4, -1), value=1.5, input_dim_idx=0, output_dim_idx=1)
    yield make(x=(0, 3), shape=(-1, 3), value=2.0, dtype=3)


@range_.samples
def _(make):
    yield make(start=exactly([1], "int64"), end=exactly([7], "int64"), step=exactly([2], "int64"))
    yield make(start=exactly(1.0, "float64"), end=exactly(0.0, "float64"), step=exactly(-0.25, "float64"))
    yield make(start=exactly([3], "int32"), end=exactly([3], "int32"), step=exactly([1], "int32"))


@linspace.samples
def _(make):
    yield make(start=exactly([0.0]), stop=exactly([1.0]), num=exactly([5], "int32"), dtype=6)
    yield make(start=exactly(0, "int32"), stop=exactly(10, "int32"), num=exactly(4, "int32"), dtype=2)
    yield make(start=exactly([2.0]), stop=exactly([1.0]), num=exactly([1], "int32"))


@logspace.samples
def _(make):
    yield make(start=exactly([0.0]), stop=exactly([3.0]), num=exactly([5], "int32"), base=exactly([2.0]))
    yield make(start=exactly([1.0]), stop=exactly([3.0]), num=exactly([1], "int32"), base=exactly([2.5]), dtype=6)


@eye.samples
def _(make):
    yield make(num_rows=3)
    yield make(num_rows=2, num_columns=3, dtype=3)
    yield make(num_rows=0, num_columns=2)


for _op in (shape, shape64, size):

    @_op.samples
    def _(make):
        yield make(x=(2, 3))
        yield make(x=())
        yield make(x=(0, 3))


@increment.samples
def _(make):
    yield make(x=(1,), step=2.5)
    yield make(x=())
    yield make(x=ints((1, 1), 5), step=2.0)


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


@fill_any.samples
def _(make):
    yield make(x=(2, 3), value=1.5)
    yield make(x=(), value=-1.0)
    yield make(x=(0, 3))
    yield make(x=ints((2, 3), 5), value=2.0, smooth=False)


for _op in (merge_selected_rows, get_tensor_from_selected_rows):

    @_op.samples
    def _(make):
        yield make(x=(3, 2))
