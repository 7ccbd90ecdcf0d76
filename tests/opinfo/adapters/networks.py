"""Adapters: activations, normalisation, layers."""

from __future__ import annotations

from typing import Any

from tests.opinfo.table import Lacks, adapter, named, needs


def functional(names: str, **renamed: str) -> None:
    for word in names.split():
        theirs, _, ours = word.partition("=")
        named(f"nn.functional.{theirs}={ours or theirs}", within="nn.functional.", **renamed)


functional("relu relu6 selu elu celu mish silu hardsigmoid hardswish softsign tanhshrink leaky_relu glu")
functional("logsigmoid=log_sigmoid")
functional("softplus hardtanh", min_val="min", max_val="max")
functional("softshrink hardshrink", lambd="threshold")
functional("bilinear one_hot")
named("nn.functional.silu.complex=silu", within="nn.functional.")


@adapter("nn.functional.threshold")
def _(paddle: Any, x: Any, threshold: Any, value: Any) -> Any:
    return paddle.nn.functional.thresholded_relu(x, threshold, value)


@adapter("nn.functional.gelu")
def _(paddle: Any, x: Any, approximate: str = "none") -> Any:
    return paddle.nn.functional.gelu(x, approximate == "tanh")


@adapter("nn.functional.prelu")
def _(paddle: Any, x: Any, weight: Any) -> Any:
    needs(len(weight.shape) < 2, "weights with more than one dimension")
    return paddle.nn.functional.prelu(x, weight.reshape([-1]))


@adapter("nn.functional.rrelu")
def _(paddle: Any, x: Any, lower: Any = 1 / 8, upper: Any = 1 / 3, training: Any = False) -> Any:
    needs(not training, "random numbers are not compared")
    return paddle.nn.functional.rrelu(x, lower, upper, training)


@adapter("nn.functional.normalize")
def _(paddle: Any, x: Any, p: Any = 2.0, dim: Any = 1, eps: Any = 1e-12) -> Any:
    return paddle.nn.functional.normalize(x, p, dim, eps)


@adapter("nn.functional.linear")
def _(paddle: Any, x: Any, w: Any, b: Any = None) -> Any:
    return paddle.nn.functional.linear(x, w.T, b)


@adapter("nn.functional.layer_norm")
def _(paddle: Any, x: Any, shape: Any, w: Any = None, b: Any = None, eps: Any = 1e-5) -> Any:
    return paddle.nn.functional.layer_norm(x, list(shape), w, b, eps)


@adapter("native_layer_norm")
def _(paddle: Any, x: Any, shape: Any, w: Any, b: Any, eps: Any) -> Any:
    raise Lacks("statistics as results")


@adapter("nn.functional.rms_norm")
def _(paddle: Any, x: Any, shape: Any, w: Any = None, eps: Any = None) -> Any:
    import numpy as np

    eps = float(np.finfo(str(x.dtype).rpartition(".")[2]).eps) if eps is None else eps
    return paddle.nn.functional.rms_norm(x, list(shape), w, eps)[0]


@adapter("nn.functional.group_norm")
def _(paddle: Any, x: Any, groups: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-5) -> Any:
    return paddle.nn.functional.group_norm(x, groups, eps, weight, bias)


@adapter("nn.functional.instance_norm")
def _(
    paddle: Any, x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: Any = True, momentum: Any = 0.1, eps: Any = 1e-5,
) -> Any:  # fmt: skip
    needs(use_input_stats, "running statistics of instances")
    return paddle.nn.functional.instance_norm(x, weight=weight, bias=bias, eps=eps)


@adapter("nn.functional.batch_norm", "nn.functional.batch_norm.without_cudnn")
def _(
    paddle: Any, x: Any, mean: Any, var: Any, weight: Any = None, bias: Any = None, training: Any = False,
    momentum: Any = 0.1, eps: Any = 1e-5,
) -> Any:  # fmt: skip
    needs(mean is not None, "no running statistics")
    return paddle.nn.functional.batch_norm(x, mean.clone(), var.clone(), weight, bias, training, 1 - momentum, eps)


@adapter("nn.functional.embedding")
def _(
    paddle: Any, ids: Any, weight: Any, padding_idx: Any = None, max_norm: Any = None, norm_type: Any = 2.0,
    scale_grad_by_freq: Any = False, sparse: Any = False,
) -> Any:  # fmt: skip
    needs(padding_idx is None, "Paddle's row of padding gives zeros")
    return paddle.nn.functional.embedding(ids, weight, None, max_norm, norm_type, False, scale_grad_by_freq)


@adapter("nn.functional.scaled_dot_product_attention")
def _(
    paddle: Any, q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: Any = 0.0, is_causal: Any = False,
    scale: Any = None, enable_gqa: Any = False,
) -> Any:  # fmt: skip
    needs(not dropout_p, "random numbers are not compared")
    needs(scale is None and not enable_gqa, "scale, enable_gqa")
    needs(len(q.shape) == 4, "other than four dimensions")
    q, k, v = (paddle.transpose(t, [0, 2, 1, 3]) for t in (q, k, v))
    out = paddle.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask, 0.0, is_causal)
    return paddle.transpose(out, [0, 2, 1, 3])


for _name in ("dropout", "dropout2d", "dropout3d", "alpha_dropout"):

    @adapter(f"nn.functional.{_name}")
    def _(paddle: Any, x: Any, p: Any = 0.5, training: Any = True, f: str = _name, **_rest: Any) -> Any:
        needs(not training or p in (0, 0.0), "random numbers are not compared")
        return getattr(paddle.nn.functional, f)(x, p, training=training)


@adapter("nn.functional.feature_alpha_dropout.without_train")
def _(paddle: Any, x: Any, p: Any = 0.5, training: Any = False, **_rest: Any) -> Any:
    needs(not training or not p, "random numbers are not compared")
    return paddle.nn.functional.feature_alpha_dropout(x, p, training)
