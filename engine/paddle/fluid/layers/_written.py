"""Layers that do more than rename their arguments.

Tensors of rank 0 did not exist in version 1: what reduces everything returns one element, of shape ``[1]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, ShapeError, UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ir import default
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops.infer import product
from gradtool.paddle import _data
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import channel_last, numbers, windows
from gradtool.paddle.static import nn
from gradtool.paddle.static._finishing import activated


def _layer(key: str, name: str | None) -> str:
    return name if name is not None else default.default_main_program().names(key)


def _variable(value: Any, what: str, where: str) -> Any:
    if not isinstance(value, AnyTensor):
        raise ArgumentTypeError(
            f"fluid.layers.{where}: {what} must be a Variable, but received {type(value).__name__}."
        )
    return value


def data(
    name: str,
    shape: Sequence[int | None],
    append_batch_size: bool = True,
    dtype: Any = "float32",
    lod_level: int = 0,
    type: Any = None,
    stop_gradient: bool = True,
) -> Variable:
    """Declare a variable that is fed; *shape* is that of one row, a batch dimension is put in front of it.

    Args:
        append_batch_size: False for a shape that is complete, as is one with an unknown dimension.

    >>> import gradtool.paddle.fluid as fluid
    >>> fluid.layers.data("image", [1, 28, 28]).shape
    (-1, 1, 28, 28)
    """
    complete = not append_batch_size or any(d is None or d < 0 for d in shape)
    variable = _data.data(name, list(shape) if complete else [None, *shape], dtype, lod_level)
    variable.stop_gradient = stop_gradient
    return variable


def fc(
    input: Variable | Sequence[Variable],
    size: int,
    num_flatten_dims: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """A fully connected layer: ``act(input·w + b)``; see ``static.nn.fc``."""
    return nn.fc(input, size, num_flatten_dims, param_attr, bias_attr, act, name)


def embedding(
    input: Variable,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Variable:
    """Rows of a table of *size* ``[rows, columns]`` at the ids in *input*.

    Ids come as ``[batch, 1]`` and the result as ``[batch, columns]``: a last dimension of 1 is dropped.
    """
    ids = _without_last(_variable(input, "input", "embedding"))
    return nn.embedding(ids, size, is_sparse, is_distributed, padding_idx, param_attr, dtype)


def one_hot(input: Variable, depth: int, allow_out_of_range: bool = False) -> Variable:
    """Rows of zeros with a one at each id; a last dimension of 1 is dropped."""
    ids = _without_last(_variable(input, "input", "one_hot"))
    attrs = {"depth": depth, "allow_out_of_range": allow_out_of_range}
    return apply("one_hot_v2", ids, attrs=attrs, key="one_hot")  # type: ignore[no-any-return]


def _without_last(ids: Variable) -> Variable:
    if not ids.shape or ids.shape[-1] != 1:
        return ids
    return apply("squeeze2", ids, attrs={"axes": [-1]}, key="squeeze")[0]  # type: ignore[no-any-return]


def pool2d(
    input: Variable,
    pool_size: Any = -1,
    pool_type: str = "max",
    pool_stride: Any = 1,
    pool_padding: Any = 0,
    global_pooling: bool = False,
    use_cudnn: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
    exclusive: bool = True,
    data_format: str = "NCHW",
) -> Variable:
    """The largest value or the mean of each window.

    Args:
        pool_size, pool_stride: one number, or one for each spatial dimension.
        pool_type: ``'max'`` or ``'avg'``.
        pool_padding: as for ``conv2d``.
        global_pooling: one window over the whole image, whatever *pool_size* says.
        exclusive: do not count the padding in a mean.
    """
    _variable(input, "input", "pool2d")
    if pool_type not in ("max", "avg"):
        raise UsageError(f"fluid.layers.pool2d: pool_type must be 'max' or 'avg', but received {pool_type!r}.")
    if not global_pooling and pool_size == -1:
        raise UsageError("fluid.layers.pool2d: pool_size must be given unless global_pooling is True.")
    paddings, algorithm = windows(pool_padding, channel_last(data_format, "fluid.layers.pool2d"))
    attrs = {
        "pooling_type": pool_type,
        "ksize": numbers(1 if pool_size == -1 else pool_size, 2, "pool_size"),
        "strides": numbers(pool_stride, 2, "pool_stride"),
        "paddings": paddings,
        "padding_algorithm": algorithm,
        "global_pooling": global_pooling,
        "ceil_mode": ceil_mode,
        "exclusive": exclusive,
        "data_format": data_format,
    }
    return apply("pool2d", input, attrs=attrs, name=name)  # type: ignore[no-any-return]


def dropout(
    x: Variable,
    dropout_prob: float,
    is_test: bool = False,
    seed: int | None = None,
    name: str | None = None,
    dropout_implementation: str = "downgrade_in_infer",
) -> Variable:
    """Zeros at random places.

    Args:
        dropout_prob: how likely an element becomes zero.
        dropout_implementation: ``'downgrade_in_infer'`` scales down when testing, ``'upscale_in_train'`` scales up
            when training.
    """
    _variable(x, "x", "dropout")
    if not 0 <= dropout_prob <= 1:
        raise UsageError(f"fluid.layers.dropout: dropout_prob must be between 0 and 1, but received {dropout_prob}.")
    if dropout_implementation not in ("downgrade_in_infer", "upscale_in_train"):
        raise UsageError(f"fluid.layers.dropout: no dropout_implementation is called {dropout_implementation!r}.")
    attrs = {
        "dropout_prob": dropout_prob,
        "is_test": is_test,
        "seed": seed or 0,
        "fix_seed": seed is not None,
        "dropout_implementation": dropout_implementation,
    }
    out, mask = apply("dropout", x, None, attrs=attrs, name=name)
    mask.stop_gradient = True
    return out  # type: ignore[no-any-return]


def matmul(
    x: Variable,
    y: Variable,
    transpose_x: bool = False,
    transpose_y: bool = False,
    alpha: float = 1.0,
    name: str | None = None,
) -> Variable:
    """``alpha · x·y``, matrices standing in the last two dimensions."""
    layer = _layer("matmul", name)
    out = apply("matmul_v2", x, y, attrs={"trans_x": transpose_x, "trans_y": transpose_y}, name=layer)
    return out if alpha == 1 else apply("scale", out, attrs={"scale": alpha}, name=layer)  # type: ignore[no-any-return]


def reshape(
    x: Variable,
    shape: Sequence[int],
    actual_shape: Variable | None = None,
    act: str | None = None,
    inplace: bool = False,
    name: str | None = None,
) -> Variable:
    """The same elements in another shape: 0 keeps a dimension, -1 is what is left.

    Args:
        actual_shape: a tensor with the shape, which then counts instead.
        inplace: without influence.
    """
    layer = _layer("reshape2", name)
    out, _ = apply("reshape2", x, actual_shape, attrs={"shape": shape}, name=layer)
    return activated(out, act, layer)


def flatten(x: Variable, axis: int = 1, name: str | None = None) -> Variable:
    """A matrix: the dimensions before *axis* are its rows, the others its columns."""
    _variable(x, "x", "flatten")
    if not 0 <= axis <= x.ndim:
        raise UsageError(f"fluid.layers.flatten: axis must be between 0 and {x.ndim}, but received {axis}.")
    rows, columns = product(x.shape[:axis]), product(x.shape[axis:])
    if UNKNOWN == rows == columns:
        raise ShapeError(f"fluid.layers.flatten: neither side of axis {axis} is known in {list(x.shape)}.")
    return apply(  # type: ignore[no-any-return]
        "reshape2", x, attrs={"shape": [rows, columns]}, name=_layer("flatten", name)
    )[0]


def fill_constant(
    shape: Sequence[int], dtype: Any, value: float, force_cpu: bool = False, out: Variable | None = None
) -> Variable:
    """A tensor of one value, through which no gradient flows; written to *out* if that is given."""
    attrs = {
        "shape": shape,
        "dtype": dtype_of(dtype).code,
        "value": float(value),
        "str_value": str(value),
        "force_cpu": force_cpu,
    }
    variable: Variable = apply("fill_constant", attrs=attrs, outputs={} if out is None else {"Out": out})
    variable.stop_gradient = True
    return variable


def mean(x: Variable, name: str | None = None) -> Variable:
    """The mean of all elements, of shape ``[1]``."""
    return apply("mean", _variable(x, "x", "mean"), attrs={"rank": 1}, name=name)  # type: ignore[no-any-return]


def _reduced(
    op_type: str, input: Variable, dim: int | Sequence[int] | None, keep_dim: bool, name: str | None
) -> Variable:
    x = _variable(input, "input", op_type)
    listed = [dim] if isinstance(dim, int) else dim
    dims = [] if listed is None else list(listed)
    everything = not dims or len({d % max(x.ndim, 1) for d in dims}) == x.ndim
    layer = _layer(op_type, name)
    if everything and not keep_dim:
        if x.ndim > 1:
            x = apply("flatten_contiguous_range", x, attrs={"start_axis": 0, "stop_axis": -1}, key="flatten")[0]
        dims, keep_dim = [0], True
    attrs = {"dim": dims, "keep_dim": keep_dim, "reduce_all": everything}
    return apply(op_type, x, attrs=attrs, name=layer)  # type: ignore[no-any-return]


def reduce_sum(input: Variable, dim: Any = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The sum over *dim*, over everything when None."""
    return _reduced("reduce_sum", input, dim, keep_dim, name)


def reduce_mean(input: Variable, dim: Any = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The mean over *dim*, over everything when None."""
    return _reduced("reduce_mean", input, dim, keep_dim, name)


def reduce_max(input: Variable, dim: Any = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The largest element over *dim*, over everything when None."""
    return _reduced("reduce_max", input, dim, keep_dim, name)


def reduce_min(input: Variable, dim: Any = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The smallest element over *dim*, over everything when None."""
    return _reduced("reduce_min", input, dim, keep_dim, name)


def reduce_prod(input: Variable, dim: Any = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The product over *dim*, over everything when None."""
    return _reduced("reduce_prod", input, dim, keep_dim, name)


def cross_entropy(input: Variable, label: Variable, soft_label: bool = False, ignore_index: int = -100) -> Variable:
    """``-log`` of the probability of the right class, one for each row: ``[batch, 1]``.

    Args:
        input: probabilities, as ``softmax`` gives them.
        label: ``[batch, 1]`` of classes, or with *soft_label* a probability for each class.
        ignore_index: a class whose rows count as 0.
    """
    attrs = {"soft_label": soft_label, "ignore_index": ignore_index, "use_softmax": False}
    return _cross_entropy(input, label, attrs, "cross_entropy")[1]


def softmax_with_cross_entropy(
    logits: Variable,
    label: Variable,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Variable | tuple[Variable, Variable]:
    """``cross_entropy`` of ``softmax(logits)``, computed together; with *return_softmax* also the probabilities."""
    attrs = {
        "soft_label": soft_label,
        "ignore_index": ignore_index,
        "numeric_stable_mode": numeric_stable_mode,
        "axis": axis,
    }
    softmax, loss = _cross_entropy(logits, label, attrs, "softmax_with_cross_entropy")
    return (loss, softmax) if return_softmax else loss


def _cross_entropy(x: Any, label: Any, attrs: dict[str, Any], where: str) -> tuple[Variable, Variable]:
    _variable(x, "input", where)
    _variable(label, "label", where)
    return apply("softmax_with_cross_entropy", x, label, attrs=attrs, key=where)  # type: ignore[no-any-return]


def prelu(x: Variable, mode: str, param_attr: Any = None, name: str | None = None) -> Variable:
    """*x* where positive, else *x* times a learned slope: one for ``'all'``, each ``'channel'`` or ``'element'``."""
    return nn.prelu(x, mode, param_attr, name=name)  # type: ignore[no-any-return]


def create_tensor(dtype: Any, name: str | None = None, persistable: bool = False) -> Variable:
    """A variable without a shape, to be written by ``assign`` and the like."""
    state.require_static("fluid.layers.create_tensor")
    block = default.current_block()
    return block.create_var(_layer("create_tensor", name), (), dtype, persistable=persistable)
