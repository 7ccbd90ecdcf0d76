"""Products of matrices, and attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node, cast, is_whole, kind_of
from .elementwise import scale_by
from .rows import row


def product(x: Any, y: Any, kind: str, transposed: bool = False) -> Any:
    """The product in a type; of whole numbers by way of real ones, which hold them exactly up to 2⁵³."""
    if is_whole(kind):
        return paddle.cast(product(paddle.cast(x, "float64"), paddle.cast(y, "float64"), "float64", transposed), kind)
    return paddle.matmul(cast(x, kind), cast(y, kind), transpose_y=transposed)


@row("aten.mm", "aten.bmm", "aten.matmul", "aten.mv", "aten.dot", "aten.vdot", "aten.inner")
def _product(n: Pt2Node) -> Any:
    x = n.tensor("self")
    y = n.tensor({"aten.mm": "mat2", "aten.bmm": "mat2", "aten.mv": "vec", "aten.dot": "tensor"}.get(n.kind, "other"))
    turned = n.kind == "aten.inner" and len(x.shape) > 0 and len(y.shape) > 1
    if n.kind == "aten.inner" and not (len(x.shape) and len(y.shape)):
        return cast(x, n.made.kind) * cast(y, n.made.kind)
    if turned and (len(x.shape) > 2 or len(y.shape) > 2):
        raise Missing("inner products over more than two axes")
    return product(x, y, n.made.kind, turned)


@row("aten.addmm", "aten.addmv", "aten.baddbmm", "aten.addbmm")
def _sum_and_product(n: Pt2Node) -> Any:
    names = {"aten.addmm": ("mat1", "mat2"), "aten.addmv": ("mat", "vec")}.get(n.kind, ("batch1", "batch2"))
    kind = n.made.kind
    z = scale_by(product(n.tensor(names[0]), n.tensor(names[1]), kind), n("alpha", 1))
    if n.kind == "aten.addbmm":
        z = paddle.sum(z, axis=0)
    beta = n("beta", 1)
    return z if beta == 0 else paddle.add(z, scale_by(cast(n.tensor("self"), kind), beta))


@row("aten.linear")
def _linear(n: Pt2Node) -> Any:
    kind = n.made.kind
    y = product(n.tensor("input"), n.tensor("weight"), kind, transposed=len(n.tensor("weight").shape) > 1)
    bias = n("bias", None)
    return y if bias is None else paddle.add(y, cast(bias, kind))


@row("aten.bilinear")
def _bilinear(n: Pt2Node) -> Any:
    x, y, weight, bias = n.tensor("input1"), n.tensor("input2"), n.tensor("weight"), n("bias", None)
    z = paddle.einsum("...i,oij,...j->...o", x, weight, y)
    return z if bias is None else z + bias


@row("aten.outer", "aten.ger")
def _outer(n: Pt2Node) -> Any:
    return paddle.outer(cast(n.tensor("self"), n.made.kind), cast(n.tensor("vec2"), n.made.kind))


@row("aten.einsum")
def _einstein(n: Pt2Node) -> Any:
    return paddle.einsum(str(n("equation")).replace(" ", ""), *[cast(x, n.made.kind) for x in n("tensors")])


@row("aten._trilinear")
def _trilinear(n: Pt2Node) -> Any:
    parts = []
    for i, name in enumerate(("i1", "i2", "i3"), 1):
        x = n.tensor(name)
        for axis in sorted(n.wholes(f"expand{i}")):
            x = paddle.unsqueeze(x, [axis])
        parts.append(x)
    return paddle.sum(parts[0] * parts[1] * parts[2], axis=n.wholes("sumdim"))


@row("aten.tensordot")
def _contract(n: Pt2Node) -> Any:
    return paddle.tensordot(n.tensor("self"), n.tensor("other"), [n.wholes("dims_self"), n.wholes("dims_other")])


@row("aten.cdist", "aten._cdist_forward")
def _distances(n: Pt2Node) -> Any:
    return paddle.cdist(n.tensor("x1"), n.tensor("x2"), p=float(n("p", 2.0)))


@row("aten.linalg_det", "aten.det", "aten._linalg_det")
def _determinant(n: Pt2Node) -> Any:
    made = paddle.linalg.det(n.tensor("A" if "A" in n.arguments else "self"))
    return (made, None, None)[: len(n.outputs)]


@row("aten.linalg_inv", "aten.inverse")
def _inverse(n: Pt2Node) -> Any:
    return paddle.inverse(n.tensor("A" if "A" in n.arguments else "self"))


@row("aten.linalg_cross", "aten.cross")
def _cross(n: Pt2Node) -> Any:
    x, y = paddle.broadcast_tensors([n.tensor("self"), n.tensor("other")])
    if n.kind == "aten.cross" and n("dim", None) is None:
        raise Missing("a product along the first axis of three elements")
    return paddle.cross(x, y, axis=n.axis(default=-1, of=x))


@row("aten.cosine_similarity")
def _cosine(n: Pt2Node) -> Any:
    x, y, axis, eps = n.tensor("x1"), n.tensor("x2"), n.whole("dim", 1), float(n("eps", 1e-8))
    size = [paddle.sqrt(paddle.sum(paddle.square(v), axis=axis, keepdim=True)) for v in (x, y)]
    x, y = (v / paddle.clip(s, eps, math.inf) for v, s in zip((x, y), size, strict=True))
    return paddle.sum(x * y, axis=axis)


_ATTENTIONS = (
    "aten.scaled_dot_product_attention",
    "aten._scaled_dot_product_flash_attention_for_cpu",
    "aten._scaled_dot_product_flash_attention",
    "aten._scaled_dot_product_efficient_attention",
    "aten._scaled_dot_product_attention_math",
    "aten._scaled_dot_product_fused_attention_overrideable",
)


@row(*_ATTENTIONS)
def _attention(n: Pt2Node) -> Any:
    query, key, value = (n.tensor(name) for name in ("query", "key", "value"))
    kind = n.made.kind
    if n.flag("enable_gqa"):
        key, value = (_repeat_heads(query, v) for v in (key, value))
    scale = n("scale", None)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    scores = paddle.matmul(cast(query, kind), cast(key, kind), transpose_y=True) * scale
    mask = n("attn_mask", None)
    mask = n("attn_bias", None) if mask is None else mask
    if n.flag("is_causal"):
        scores = scores + _causal(query.shape[-2], key.shape[-2], kind)
    if mask is not None:
        scores = _mask(scores, mask, kind)
    weights = F.softmax(scores, axis=-1)
    dropout = float(n("dropout_p", 0.0))
    weights = F.dropout(weights, p=dropout, training=True) if dropout else weights
    made = paddle.matmul(weights, cast(value, kind))
    return (made, *[None] * (len(n.outputs) - 1))


def _repeat_heads(query: Any, x: Any) -> Any:
    heads, own = query.shape[-3], x.shape[-3]
    if own < 1 or heads % own:
        raise Unsound(f"{own} heads of keys for {heads} of queries")
    return x if heads == own else paddle.repeat_interleave(x, heads // own, len(x.shape) - 3)


def _causal(rows: int, columns: int, kind: str) -> Any:
    if rows < 0 or columns < 0:
        raise Missing("a causal mask over sizes that are not known")
    if rows * columns > 1 << 26:
        raise Missing(f"a causal mask of {rows} by {columns}")
    mask = np.triu(np.full((rows, columns), -np.inf, "float32"), 1)
    return cast(paddle.assign(mask), kind)


def _mask(scores: Any, mask: Any, kind: str) -> Any:
    if kind_of(mask) == "bool":
        return paddle.where(mask, scores, paddle.full([], -math.inf, kind))
    return scores + cast(mask, kind)
