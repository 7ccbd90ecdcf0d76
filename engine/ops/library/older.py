"""Types of Paddle's first versions, which later ones replaced: the same functions with other slots and attributes."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..composed import compose
from ..infer import product
from ..opdef import Like, Trait, op
from ..samples import distinct, exactly, ints, simplex
from .placing import _alike


@compose("X Y Out@GRAD")
@op(
    "matmul_scaled",
    "X Y -> Out",
    type="matmul",
    attrs={"transpose_X": False, "transpose_Y": False, "alpha": 1.0},
)
def matmul(k, x, y, *, transpose_X, transpose_Y, alpha):
    """The product of matrices or batches of them, times *alpha*."""
    out = k.ops.matmul(x, y, trans_x=transpose_X and x.ndim > 1, trans_y=transpose_Y and y.ndim > 1)
    return out if alpha == 1.0 else k.ops.scale(out, scale=alpha)


@compose("X Shape ShapeTensor Out Out@GRAD", wrt="X")
@op(
    "reshape_v1",
    "X Shape? ShapeTensor* -> Out",
    type="reshape",
    attrs={"shape": ()},
    trait=Trait.MOVES,
    sized="Shape ShapeTensor",
)
def reshape(k, x, shape_tensor, shape_tensor_list, *, shape):
    """The elements in another shape: -1 stands for what is left, 0 for the same dimension of *X*."""
    return k.ops.reshape(x, shape_tensor, shape_tensor_list, shape=shape)[0]


@compose("X Out Out@GRAD")
@op("transpose_v1", "X -> Out", type="transpose", attrs={"axis": ()}, trait=Trait.MOVES)
def transpose(k, x, *, axis):
    """The dimensions in another order."""
    return k.ops.transpose(x, axis=axis)[0]


@compose()
@op("reverse", "X -> Out", attrs={"axis": ()}, trait=Trait.MOVES)
def reverse(k, x, *, axis):
    """The elements in the opposite order along each dimension of *axis*."""
    return k.ops.flip(x, axis=axis)


@reverse.gradient(expands=True)
def _(k, dout, *, axis):
    return k.reverse(dout, axis=axis)


def _rows(shape, axis):
    """The shape of a matrix whose rows are the dimensions before *axis*."""
    before, behind = product(shape[:axis]), product(shape[axis:])
    return before, behind


@op("flatten2", "X -> Out XShape", attrs={"axis": 1}, trait=Trait.MOVES)
def flatten2(k, x, *, axis):
    """A matrix: the dimensions before *axis* are its rows, the others its columns."""
    return x.reshape(_rows(x.shape, axis)), k.xp.zeros((0, *x.shape), x.dtype)


@flatten2.infer
def _(x, *, axis):
    if not 0 <= axis <= x.ndim:
        raise ShapeError(f"flatten2: axis {axis} is out of range for a tensor of {x.ndim} dimensions")
    return x.replace_shape(_rows(x.shape, axis)), x.replace_shape((0, *x.shape))


@flatten2.gradient
def _(k, x: Like, xshape: Like, dout):
    return k.unshape(dout, xshape)


@compose("X K Indices Out@GRAD", wrt="X")
@op("topk_v1", "X K? -> Out Indices", type="top_k", attrs={"k": 1})
def top_k(backend, x, count, *, k):
    """The *k* largest elements of each row, the largest first, and their places."""
    return backend.ops.topk(x, count, k=k)


@compose("X Out@GRAD")
@op("tile_v1", "X -> Out", type="expand", attrs={"expand_times": ()})
def expand(k, x, *, expand_times):
    """The tensor repeated that many times along each dimension."""
    return k.ops.tile(x, repeat_times=expand_times)


@compose()
@op("grad_add", "X Y -> Out", attrs={"axis": -1}, differentiable=False)
def grad_add(k, x, y, *, axis):
    """The sum of two gradients, which has none itself."""
    return k.ops.add(x, y, axis=axis)


@compose()
@op("rint", "x -> out")
def rint(k, x):
    """The nearest whole number, of two that are as near the even one."""
    return k.ops.round(x)


@rint.gradient
def _(k, dout):
    return k.zeros_like(dout)


def _box(x, starts, sizes):
    """Return where a box ends; an unknown or negative size reaches to the end."""
    starts = starts or (0,) * x.ndim
    if len(starts) != x.ndim or len(sizes) != x.ndim:
        raise ShapeError(f"crop: {x.ndim} dimensions need as many offsets and sizes, got {list(starts)}, {list(sizes)}")
    ends = []
    for start, size, extent in zip(starts, sizes, x.shape, strict=True):
        end = extent if size < 0 else start + size
        if UNKNOWN not in (extent, end) and not 0 <= start <= end <= extent:
            raise ShapeError(f"crop: the box from {list(starts)} of {list(sizes)} does not lie in {list(x.shape)}")
        ends.append(end)
    return starts, tuple(ends)


def _cropped(k, x, starts, sizes):
    starts, ends = _box(x, starts, sizes)
    return k.ops.slice(x, axes=tuple(range(x.ndim)), starts=starts, ends=ends)


@compose("X Y Out@GRAD", wrt="X")
@op("crop_v1", "X Y? -> Out", type="crop", attrs={"offsets": (), "shape": ()}, trait=Trait.MOVES)
def crop(k, x, y, *, offsets, shape):
    """The box of *shape*, or of the shape of *Y*, that begins at *offsets*."""
    return _cropped(k, x, offsets, y.shape if y is not None else shape)


@crop.infer
def _(x, y, *, offsets, shape):
    if y is not None:
        return x.replace_shape(y.shape)
    starts, ends = _box(x, offsets, shape)
    return x.replace_shape(tuple(UNKNOWN if e == UNKNOWN else e - s for s, e in zip(starts, ends, strict=True)))


@compose("X Out@GRAD")
@op("crop_tensor", "X -> Out", attrs={"offsets": (), "shape": ()}, trait=Trait.MOVES)
def crop_tensor(k, x, *, offsets, shape):
    """The box of *shape* that begins at *offsets*; a size of -1 reaches to the end."""
    return _cropped(k, x, offsets, shape)


# -- losses -----------------------------------------------------------------------------------------------------------


def _picked(k, x, label, ignore_index):
    """Minus the logarithm of the probability of each label, 0 where it is *ignore_index*; the last dimension is 1."""
    rows = k.ops.one_hot_like(label, x, axis=-1, ignore_index=ignore_index)
    probable = k.ops.reduce_sum(x * rows, dim=(-1,), keep_dim=True)
    ignored = k.ops.scale(k.ops.reduce_sum(rows, dim=(-1,), keep_dim=True), scale=-1, bias=1)
    return -k.ops.log(probable + ignored)


@compose("X Label Y@GRAD", wrt="X")
@op("cross_entropy", "X Label -> Y", attrs={"soft_label": False, "ignore_index": -100})
def cross_entropy(k, x, label, *, soft_label, ignore_index):
    """Minus the logarithm of the probability that *X* gives to each label, or to the labels' distribution."""
    if soft_label:
        return -k.ops.reduce_sum(k.ops.log(x) * label, dim=(-1,), keep_dim=True)
    return _picked(k, x, label, ignore_index)


@cross_entropy.infer
def _(x, label, *, soft_label):
    wanted = x.shape if soft_label else (*x.shape[:-1], 1)
    if not _alike(wanted, label.shape):
        raise ShapeError(f"cross_entropy: Label must have the shape {list(wanted)}, but is {list(label.shape)}")
    return x.replace_shape((*x.shape[:-1], 1))


# -- lookup, layers ---------------------------------------------------------------------------------------------------


@compose("Ids W Out@GRAD", wrt="W")
@op(
    "lookup_table",
    "W Ids -> Out",
    attrs={"padding_idx": -1, "is_sparse": False, "is_distributed": False, "remote_prefetch": False},
)
def lookup_table(k, w, ids, *, padding_idx):
    """Rows of *W*: those that *Ids* names, whose last dimension is 1; zeros for *padding_idx*."""
    return k.ops.embedding(k.ops.squeeze(ids, axes=(-1,))[0], w, padding_idx=padding_idx)


@compose()
@op(
    "fc",
    "Input W Bias? -> Out",
    attrs={"in_num_col_dims": 1, "activation_type": ""},
    differentiable=False,
)
def fc(k, x, w, bias, *, in_num_col_dims, activation_type):
    """The product with a matrix, plus a bias, through ``relu`` where *activation_type* says so; it has no gradient."""
    out = k.ops.fc_mul(x, w, x_num_col_dims=in_num_col_dims)
    out = out if bias is None else k.ops.add(out, k.ops.reshape(bias, shape=(-1,))[0])
    return k.ops.relu(out) if activation_type == "relu" else out


@matmul.samples
def _(make):
    yield make(x=(2, 3), y=(3, 4), alpha=2.0)
    yield make(x=(5, 3, 2), y=(5, 4, 3), transpose_X=True, transpose_Y=True)
    yield make(x=(3,), y=(3,))


@reshape.samples
def _(make):
    yield make(x=(2, 3, 4), shape=(0, -1))


@transpose.samples
def _(make):
    yield make(x=(2, 3, 4), axis=(2, 0, 1))


@reverse.samples
def _(make):
    yield make(x=(2, 3, 4), axis=(0, 2))


@flatten2.samples
def _(make):
    yield make(x=(2, 3, 4), axis=2)
    yield make(x=(2, 3), axis=0)


@top_k.samples
def _(make):
    yield make(x=distinct((3, 5)), k=2)


@expand.samples
def _(make):
    yield make(x=(2, 3), expand_times=(2, 1))


@grad_add.samples
def _(make):
    yield make(x=(2, 3), y=(2, 3))


@rint.samples
def _(make):
    yield make(x=(2, 3), smooth=False)


@crop.samples
def _(make):
    yield make(x=(4, 5), offsets=(1, 2), shape=(2, 3))
    yield make(x=(4, 5), y=(2, 2), offsets=(0, 3))


@crop_tensor.samples
def _(make):
    yield make(x=(4, 5), offsets=(1, 2), shape=(2, -1))


@cross_entropy.samples
def _(make):
    yield make(x=simplex((4, 5)), label=ints((4, 1), 5))
    yield make(x=simplex((3, 2, 4)), label=simplex((3, 2, 4)), soft_label=True)
    yield make(x=simplex((3, 4)), label=exactly([[1], [2], [0]], "int64"), ignore_index=2)


@lookup_table.samples
def _(make):
    yield make(w=(6, 3), ids=ints((4, 1), 6))
    yield make(w=(6, 3), ids=ints((2, 3, 1), 6), padding_idx=2)


@fc.samples
def _(make):
    yield make(x=(2, 3), w=(3, 4), bias=(4,))
    yield make(x=(2, 3, 4), w=(4, 2), in_num_col_dims=2, activation_type="relu")
    yield make(x=(2, 3), w=(3, 4))
