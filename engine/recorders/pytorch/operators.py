"""The operators of PyTorch that gradtool has, too: which one, with which operands, results and attributes.

A row says how a call of torch reads as one of gradtool's; None where its arguments are such that it does not. What has
no row is an operator that torch alone knows (:class:`~gradtool.engine.recorders.recorded.nodes.ForeignOp`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.spec import dtype as dtype_of
from ...eager.tensor import Tensor
from ..recorded.matching import Match


class Arguments:
    """Operands and results of a call of torch.

    Args:
        named: the arguments, tensors in place of their numbers.
    """

    def __init__(self, named: Mapping[str, Any], results: Sequence[Tensor]) -> None:
        self.named = named
        self.results = results
        self.first = next((v for v in named.values() if isinstance(v, Tensor)), None)

    def __getitem__(self, name: str) -> Any:
        return self.named.get(name)

    @property
    def result(self) -> Tensor:
        """The first result."""
        return self.results[0]


Row = Callable[[Arguments], Match | None]


def _unary(type_: str, *attributes: tuple[str, str]) -> Row:
    """An operator of one tensor: its own name for each attribute, and torch's."""

    def read(a: Arguments) -> Match | None:
        attrs = {ours: a[theirs] for ours, theirs in attributes if a[theirs] is not None}
        return Match(type_, [a["self"]], [a.result], attrs)

    return read


def _binary(type_: str, scaled: Callable[[float], dict[str, Any]] | None = None) -> Row:
    """An operator of two tensors; *scaled* gives the attributes of ``scale`` where the second one is a number."""

    def read(a: Arguments) -> Match | None:
        x, y = a["self"], a["other"]
        if a["alpha"] not in (None, 1) or a["rounding_mode"] is not None:
            return None
        if not isinstance(y, Tensor):
            if scaled is None or not isinstance(y, (int, float)) or x.array.dtype.kind != "f":
                return None
            return Match("scale", [x, None, None], [a.result], scaled(float(y)))
        if x.array.dtype != y.array.dtype:
            return None
        return Match(type_, [x, y], [a.result], {"axis": -1})

    return read


def _signs(a: Arguments) -> Match | None:
    x = a["self"]
    return None if x.array.dtype.kind == "c" else Match("sign", [x], [a.result], {})


def _power(a: Arguments) -> Match | None:
    x, factor = a["self"], a["exponent"]
    if isinstance(factor, Tensor):
        return Match("elementwise_pow", [x, factor], [a.result], {"axis": -1}) if isinstance(x, Tensor) else None
    if not isinstance(x, Tensor):
        return None
    if factor == 2:
        return Match("square", [x], [a.result], {})
    return Match("pow", [x, None], [a.result], {"factor": float(factor)})


def _product(a: Arguments) -> Match | None:
    return Match("matmul_v2", [a["self"], a["mat2"]], [a.result], {})


def _match_addmm(a: Arguments) -> Match | None:
    x, y, z = a["self"], a["mat1"], a["mat2"]
    return Match("addmm", [x, y, z], [a.result], {"Alpha": float(a["alpha"] or 1), "Beta": float(a["beta"] or 1)})


def _move_row(type_: str, attrs: Callable[[Arguments], dict[str, Any] | None], empty: int = 0) -> Row:
    """An operator that moves elements, and keeps the shape that they had.

    Args:
        empty: how many further inputs are left empty.
    """

    def read(a: Arguments) -> Match | None:
        x, given = a["self"], attrs(a)
        if given is None:
            return None
        before = np.broadcast_to(np.zeros((), x.array.dtype), (0, *x.array.shape))
        return Match(type_, [x, *[None] * empty], [a.result, before], given)

    return read


def _reverse_attrs(a: Arguments) -> dict[str, Any]:
    return {"axis": tuple(range(a["self"].ndim))[::-1]}


def _permute_attrs(a: Arguments) -> dict[str, Any]:
    n = a["self"].ndim
    return {"axis": tuple(d % n for d in a["dims"])}


def _transpose_attrs(a: Arguments) -> dict[str, Any] | None:
    n = a["self"].ndim
    if not n:
        return None
    axes = list(range(n))
    i, j = a["dim0"] % n, a["dim1"] % n
    axes[i], axes[j] = axes[j], axes[i]
    return {"axis": tuple(axes)}


def _reshape_attrs(a: Arguments) -> dict[str, Any] | None:
    return (
        {"shape": a.result.array.shape}
        if a["dtype"] is None and a.result.array.dtype == a["self"].array.dtype
        else None
    )


def _reduce_row(type_: str) -> Row:
    def read(a: Arguments) -> Match | None:
        x = a["self"]
        if a.result.array.dtype != x.array.dtype:
            return None
        dims = a["dim"]
        dims = (dims,) if isinstance(dims, int) else tuple(dims or ())
        everything = not dims or len(dims) == x.ndim
        axes = tuple(d % x.ndim for d in dims) if x.ndim else ()
        attrs = {"dim": axes or (0,), "keep_dim": bool(a["keepdim"]), "reduce_all": everything}
        return Match(type_, [x], [a.result], attrs)

    return read


def _clip_row(least: str, most: str) -> Row:
    def read(a: Arguments) -> Match | None:
        low, high = a[least], a[most]
        if isinstance(low, Tensor) or isinstance(high, Tensor):
            return None
        attrs = {"min": float(-np.inf if low is None else low), "max": float(np.inf if high is None else high)}
        return Match("clip", [a["self"], None, None], [a.result], attrs)

    return read


def _negative_likelihood(a: Arguments) -> Match | None:
    if a["self"].ndim < 2:
        return None  # one example without a dimension for it
    reduction = ("none", "mean", "sum")[a["reduction"]]
    attrs = {"ignore_index": a["ignore_index"], "reduction": reduction}
    return Match("nll_loss", [a["self"], a["target"], a["weight"]], list(a.results[:2]), attrs)


def _match_embedding(a: Arguments) -> Match | None:
    if a["scale_grad_by_freq"] or a["sparse"]:
        return None
    return Match("lookup_table_v2", [a["indices"], a["weight"]], [a.result], {"padding_idx": a["padding_idx"] or -1})


def _join_row(type_: str, *empty: Any) -> Row:
    def read(a: Arguments) -> Match | None:
        tensors = list(a["tensors"])
        if any(t.array.dtype != a.result.array.dtype for t in tensors) or any(t.array.shape == (0,) for t in tensors):
            return None
        return Match(type_, [tensors, *empty], [a.result], {"axis": a["dim"] or 0})

    return read


def _match_where(a: Arguments) -> Match | None:
    x, y = a["self"], a["other"]
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        return None
    same = x.array.shape == y.array.shape == a["condition"].array.shape and x.array.dtype == y.array.dtype
    return Match("where", [a["condition"], x, y], [a.result], {}) if same else None


def _convolution(a: Arguments) -> Match | None:
    x, stride, padding, dilation = a["input"], a["stride"], a["padding"], a["dilation"]
    if a["bias"] is not None or a["transposed"] or x.ndim != 4:
        return None
    attrs = {"strides": tuple(stride), "paddings": tuple(padding), "dilations": tuple(dilation), "groups": a["groups"]}
    return Match("conv2d", [x, a["weight"]], [a.result], attrs)


def _layer_norm(a: Arguments) -> Match | None:
    x, axes = a["input"], len(a["normalized_shape"])
    if axes != 1 or len(a.results) < 3:
        return None
    rows = np.broadcast_to(np.zeros((), x.array.dtype), (x.array.size // max(x.array.shape[-1], 1),))
    attrs = {"begin_norm_axis": x.ndim - 1, "epsilon": float(a["eps"])}
    return Match("layer_norm", [x, a["weight"], a["bias"]], [rows, rows, a.result], attrs)


def _cast(a: Arguments) -> Match | None:
    x, to = a["self"], a.result.array.dtype
    if x.array.dtype == to:
        return Match("assign", [x], [a.result], {})
    return Match("cast", [x], [a.result], {"in_dtype": dtype_of(x.array.dtype).code, "out_dtype": dtype_of(to).code})


def _match_select(a: Arguments) -> Match | None:
    x = a["self"]
    axis = a["dim"] % x.ndim
    start = a["index"] % x.array.shape[axis]
    attrs = {"axes": (axis,), "starts": (start,), "ends": (start + 1,), "infer_flags": (1,), "decrease_axis": (axis,)}
    return Match("slice", [x, None, None, [], []], [a.result], attrs)


def _match_slice(a: Arguments) -> Match | None:
    x, step = a["self"], a["step"]
    if step not in (None, 1):
        return None
    axis = (a["dim"] or 0) % x.ndim
    start, stop, _ = slice(a["start"], a["end"]).indices(x.array.shape[axis])
    attrs = {"axes": (axis,), "starts": (start,), "ends": (stop,), "infer_flags": (1,), "decrease_axis": ()}
    return Match("slice", [x, None, None, [], []], [a.result], attrs)


def _index(type_: str, attribute: str) -> Row:
    def read(a: Arguments) -> Match | None:
        x = a["self"]
        return Match(type_, [x, a["index"]], [a.result], {attribute: a["dim"] % x.ndim}) if x.ndim else None

    return read


OPERATORS: Mapping[str, Row] = {
    **{n: _unary(n) for n in ("abs", "cos", "erf", "exp", "expm1", "floor", "log", "log10", "log1p", "log2")},
    **{n: _unary(n) for n in ("reciprocal", "relu", "rsqrt", "sigmoid", "sign", "silu", "sin", "sqrt", "tanh")},
    **{n: _unary(n) for n in ("ceil", "trunc")},
    "round": _unary("round", ("decimals", "decimals")),
    "sgn": _signs,
    "leaky_relu": _unary("leaky_relu", ("alpha", "negative_slope")),
    "gelu": lambda a: Match("gelu", [a["self"]], [a.result], {"approximate": a["approximate"] == "tanh"}),
    "softplus": lambda a: Match(
        "softplus",
        [a["self"]],
        [a.result],
        {"beta": float(a["beta"] or 1), "threshold": float(a["threshold"] or 20)},
    ),
    "neg": lambda a: Match("scale", [a["self"], None, None], [a.result], {"scale": -1.0}),
    "_softmax": _unary("softmax", ("axis", "dim")),
    "_log_softmax": _unary("log_softmax", ("axis", "dim")),
    "add": _binary("elementwise_add", lambda y: {"bias": y}),
    "sub": _binary("elementwise_sub", lambda y: {"bias": -y}),
    "mul": _binary("elementwise_mul", lambda y: {"scale": y}),
    "mul_by_mask": _binary("elementwise_mul", lambda y: {"scale": y}),
    "div": _binary("elementwise_div", lambda y: {"scale": 1 / y if y else float("inf")}),
    "maximum": _binary("elementwise_max"),
    "minimum": _binary("elementwise_min"),
    "pow": _power,
    "mm": _product,
    "bmm": _product,
    "addmm": _match_addmm,
    "t": _move_row("transpose2", _reverse_attrs),
    "permute": _move_row("transpose2", _permute_attrs),
    "transpose": _move_row("transpose2", _transpose_attrs),
    "view": _move_row("reshape2", _reshape_attrs, 2),
    "_unsafe_view": _move_row("reshape2", _reshape_attrs, 2),
    "unsqueeze": _move_row("reshape2", _reshape_attrs, 2),
    "squeeze": _move_row("reshape2", _reshape_attrs, 2),
    "expand": lambda a: Match("expand_v2", [a["self"], None, []], [a.result], {"shape": a.result.array.shape}),
    "sum": _reduce_row("reduce_sum"),
    "mean": _reduce_row("reduce_mean"),
    "clamp": _clip_row("min", "max"),
    "hardtanh": _clip_row("min_val", "max_val"),
    "nll_loss_forward": _negative_likelihood,
    "embedding": _match_embedding,
    "cat": _join_row("concat", None),
    "stack": _join_row("stack"),
    "where": _match_where,
    "convolution": _convolution,
    "native_layer_norm": _layer_norm,
    "clone": _unary("assign"),
    "_to_copy": _cast,
    "select": _match_select,
    "slice": _match_slice,
    "gather": _index("take_along_axis", "Axis"),
    "index_select": _index("index_select", "dim"),
}
"""By torch's name."""


def match(name: str, named: Mapping[str, Any], results: Sequence[Tensor]) -> Match | None:
    """A call of torch's operator *name* as one of gradtool's; None where there is none that is the same.

    Args:
        named: its arguments, with tensors in place of their numbers.
    """
    row = OPERATORS.get(name)
    if row is None or not results:
        return None
    return row(Arguments(named, results))
