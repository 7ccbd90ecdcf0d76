"""``paddle.static.nn``: layers that make their own parameters."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.ir import default
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops.infer import product
from gradtool.paddle import _lazy, _parameters
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._parameters import create_parameter
from gradtool.paddle.nn.functional._linear import padding_index

from ._branches import case, cond, switch_case
from ._effects import py_func
from ._finishing import activated
from ._loops import while_loop
from ._pylayer import static_pylayer

__all__ = [
    "case",
    "cond",
    "create_parameter",
    "embedding",
    "fc",
    "py_func",
    "static_pylayer",
    "switch_case",
    "while_loop",
]


def fc(
    x: Variable | Sequence[Variable],
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Variable:
    """A fully connected layer: ``activation(x·w + b)``; several inputs are multiplied each with its own w and added.

    Args:
        num_flatten_dims: that many leading dimensions of *x* are kept, the others flattened to a row.
    """
    state.require_static("fc")
    inputs: list[Any] = list(x) if isinstance(x, (list, tuple)) else [x]
    layer = name if name is not None else default.default_main_program().names("fc")
    attrs = weight_attr if isinstance(weight_attr, (list, tuple)) else [weight_attr] * len(inputs)
    products = []
    for entry, attr in zip(inputs, attrs, strict=True):
        if not isinstance(entry, Variable):
            raise ArgumentTypeError(f"fc: x must be a Variable, but received {type(entry).__name__}.")
        dims = num_flatten_dims if num_flatten_dims >= 0 else entry.ndim - 1
        rows = product(entry.shape[dims:])
        if rows < 0:
            raise UsageError(
                f"fc: the flattened dimensions of '{entry.name}' {list(entry.shape)} must be known, from {dims} on"
            )
        if attr is False:
            raise ArgumentTypeError("fc: weight_attr must not be False")
        w = _parameters.make(layer, attr, [rows, size], entry.dtype)
        products.append(apply("mul", entry, w, attrs={"x_num_col_dims": dims, "y_num_col_dims": 1}, name=layer))
    out = products[0] if len(products) == 1 else apply("sum", products, name=layer)
    b = _parameters.make(layer, bias_attr, [size], inputs[0].dtype, is_bias=True)
    if b is not None:
        out = apply("elementwise_add", out, b, attrs={"axis": num_flatten_dims}, name=layer)
    return activated(out, activation, layer)


def embedding(
    input: Variable,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Variable:
    """Rows of a table of *size* ``[rows, columns]`` at the ids in *input*."""
    state.require_static("embedding")
    tensor(input, "input", "embedding", ("int64",))
    layer = default.default_main_program().names("embedding")
    w = _parameters.make(layer, param_attr, size, dtype)
    attrs = {
        "padding_idx": padding_index(padding_idx, size[0], "embedding"),
        "is_sparse": is_sparse,
        "is_distributed": is_distributed,
        "remote_prefetch": is_sparse and not is_distributed,
    }
    return apply("lookup_table_v2", input, w, attrs=attrs, name=layer)  # type: ignore[no-any-return]


__path__: list[str] = []  # there are modules below it, in the table of old paths

LATE: dict[str, str] = {
    "batch_norm": "_layers_norm",
    "bilinear_tensor_product": "_layers_products",
    "conv2d": "_layers_conv",
    "conv2d_transpose": "_layers_conv",
    "conv3d": "_layers_conv",
    "conv3d_transpose": "_layers_conv",
    "deform_conv2d": "_layers_products",
    "group_norm": "_layers_norm",
    "instance_norm": "_layers_norm",
    "layer_norm": "_layers_norm",
    "nce": "_layers_products",
    "prelu": "_layers_norm",
    "row_conv": "_layers_products",
    "spectral_norm": "_layers_products",
}
"""Layers whose modules are loaded when one of them is asked for."""

__all__ += LATE
_refuse = _lazy.refuse(__name__, globals())


def __getattr__(name: str) -> Any:
    if name not in LATE:
        return _refuse(name)
    return getattr(importlib.import_module(f"gradtool.paddle.static.{LATE[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
