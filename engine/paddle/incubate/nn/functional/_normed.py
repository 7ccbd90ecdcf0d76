"""Normalisation, dropout and activation with what is added before them."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UnsupportedError, UsageError
from gradtool.paddle.nn import functional as F

QUANTISED = "the result would be quantised to 8 bits, which gradtool does not do"


def refuse_quantised(where: str, quant_scale: float, *scales: Any) -> None:
    """Raise :class:`UnsupportedError` (a ValueError) where numbers of 8 bits are asked for or given."""
    if quant_scale > 0 or any(s is not None for s in scales):
        raise UnsupportedError(f"{where}: {QUANTISED}.", hint="leave the scales out")


def _sum(x: Any, bias: Any, residual: Any, alpha: float = 1.0) -> Any:
    """``x + bias + alpha * residual``, of what there is."""
    if residual is not None:
        x = x + (residual if alpha == 1.0 else residual * alpha)
    return x if bias is None else x + bias


def _axes(x: Any, begin: int) -> list[int]:
    rank = len(x.shape)
    return list(range(begin % rank, rank))


def _normed(x: Any, axes: list[int], epsilon: float, centred: bool) -> tuple[Any, Any, Any]:
    """*x* normed over *axes*, its mean there and the factor that it was multiplied with."""
    mean = paddle.mean(x, axes, keepdim=True) if centred else None
    away = x - mean if centred else x
    factor = paddle.rsqrt(paddle.mean(paddle.square(away), axes, keepdim=True) + epsilon)
    return away * factor, mean, factor


def _flat(value: Any) -> Any:
    return paddle.reshape(value, [-1])


def _weighted(out: Any, weight: Any, bias: Any, axes: list[int]) -> Any:
    shape = [out.shape[a] for a in axes]
    if weight is not None:
        out = out * paddle.reshape(weight, shape)
    return out if bias is None else out + paddle.reshape(bias, shape)


def fused_rms_norm(
    x: Any,
    norm_weight: Any,
    norm_bias: Any,
    epsilon: float,
    begin_norm_axis: int = 1,
    bias: Any = None,
    residual: Any = None,
    quant_scale: float = -1,
    quant_round_type: int = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> tuple[Any, Any]:
    """``x + bias + residual`` by the root of the mean of its squares, times a weight, plus *norm_bias*.

    Args:
        norm_weight, norm_bias: of the dimensions from *begin_norm_axis* on; the latter may be None.
        bias, residual: added before, or None.

    Returns:
        The result, and what was normed where there is a *residual*, otherwise None.

    Raises:
        UnsupportedError: a result of 8 bits is asked for (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([[3.0, 4.0]])
    >>> out, _ = paddle.incubate.nn.functional.fused_rms_norm(x, paddle.ones([2]), None, 0.0)
    >>> [round(v, 4) for v in out[0].tolist()]
    [0.8485, 1.1314]
    """
    refuse_quantised("paddle.incubate.nn.functional.fused_rms_norm", quant_scale)
    x = _sum(x, bias, residual)
    axes = _axes(x, begin_norm_axis)
    out, _, _ = _normed(x, axes, epsilon, centred=False)
    return _weighted(out, norm_weight, norm_bias, axes), x if residual is not None else None


def fused_layer_norm(
    x: Any,
    norm_weight: Any,
    norm_bias: Any,
    epsilon: float,
    residual_alpha: float = 1.0,
    begin_norm_axis: int = 1,
    bias: Any = None,
    residual: Any = None,
    quant_scale: float = -1,
    quant_round_type: int = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> tuple[Any, Any, Any, Any]:
    """The layer norm of ``x + bias + residual_alpha * residual``; without weight and bias this sum itself.

    Args:
        norm_weight, norm_bias: of the dimensions from *begin_norm_axis* on, or None.

    Returns:
        The result; what was normed where there is a *residual*, otherwise None; its means and the inverses of its
        standard deviations, flat, or None where nothing is normed.

    Raises:
        UnsupportedError: a result of 8 bits is asked for (a ValueError).
    """
    refuse_quantised("paddle.incubate.nn.functional.fused_layer_norm", quant_scale)
    x = _sum(x, bias, residual, residual_alpha)
    if norm_weight is None and norm_bias is None:
        return x, None, None, None
    axes = _axes(x, begin_norm_axis)
    out, mean, factor = _normed(x, axes, epsilon, centred=True)
    kept = x if residual is not None else None
    return _weighted(out, norm_weight, norm_bias, axes), kept, _flat(mean), _flat(factor)


def fused_rms_norm_ext(x: Any, scale: Any, epsilon: float = 1e-05, name: str | None = None) -> tuple[Any, Any]:
    """*x* by the root of the mean of the squares of its last dimension, times *scale*; and the inverses of the roots.

    The inverses have the shape of *x* without its last dimension.
    """
    out, _, factor = _normed(x, [len(x.shape) - 1], epsilon, centred=False)
    return out * scale, paddle.squeeze(factor, -1)


fast_rms_norm = fused_rms_norm_ext


def fast_ln(x: Any, scale: Any, bias: Any, epsilon: float = 1e-05) -> tuple[Any, Any, Any]:
    """The layer norm of the last dimension, its means and the inverses of its standard deviations."""
    out, mean, factor = _normed(x, [len(x.shape) - 1], epsilon, centred=True)
    return out * scale + bias, paddle.squeeze(mean, -1), paddle.squeeze(factor, -1)


def fused_bias_dropout_residual_layer_norm(
    x: Any,
    residual: Any,
    bias: Any = None,
    ln_scale: Any = None,
    ln_bias: Any = None,
    dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """``layer_norm(residual + dropout(x + bias))`` over the last dimension."""
    dropped = F.dropout(_sum(x, bias, None), dropout_rate, training=training, mode=mode)
    return F.layer_norm(residual + dropped, [x.shape[-1]], ln_scale, ln_bias, ln_epsilon)


def fused_dropout_add(
    x: Any,
    y: Any,
    p: float = 0.5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """``dropout(x) + y``."""
    return F.dropout(x, p, training=training, mode=mode) + y


ACTIVATIONS = {
    "gelu": F.gelu,
    "relu": F.relu,
    "silu": F.silu,
    "swish": F.silu,
    "swiglu": lambda x: F.swiglu(x),
    "geglu": lambda x: paddle.multiply(*_gelu_of_half(x)),
}


def _gelu_of_half(x: Any) -> tuple[Any, Any]:
    first, second = paddle.chunk(x, 2, axis=-1)
    return F.gelu(first), second


def fused_bias_act(
    x: Any,
    bias: Any = None,
    dequant_scales: Any = None,
    shift: Any = None,
    smooth: Any = None,
    act_method: str = "gelu",
    compute_dtype: str = "default",
    quant_scale: float = -1,
    quant_round_type: int = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> Any:
    """``activation(x + bias)``.

    Args:
        act_method: ``"gelu"``, ``"relu"``, ``"silu"``, ``"swish"``, or of two halves ``"swiglu"`` and ``"geglu"``.
        compute_dtype: accepted for compatibility.

    Raises:
        UsageError: another activation (a ValueError).
        UnsupportedError: numbers of 8 bits are given or asked for (a ValueError).
    """
    where = "paddle.incubate.nn.functional.fused_bias_act"
    refuse_quantised(where, quant_scale, dequant_scales, shift, smooth)
    if act_method not in ACTIVATIONS:
        raise UsageError(f"{where}: act_method must be one of {', '.join(ACTIVATIONS)}, but received {act_method!r}.")
    return ACTIVATIONS[act_method](_sum(x, bias, None))


def fused_swiglu_weighted_bwd(
    o1: Any, do2_s: Any, unzipped_probs: Any, name: str | None = None
) -> tuple[Any, Any, Any]:
    """The gradients of ``swiglu(o1) * prob``, row by row, and its value.

    Args:
        o1: ``[…, 2 · size]``, both halves of the swiglu.
        do2_s: ``[…, size]``, the gradient of the product.
        unzipped_probs: ``[…]``, what each row was multiplied with.

    Returns:
        The gradients of *o1* and of the factors, and the product.
    """
    gate, value = paddle.chunk(o1, 2, axis=-1)
    share = F.sigmoid(gate)
    silu = gate * share
    factor = paddle.unsqueeze(unzipped_probs, -1)
    upstream = do2_s * factor
    slope = share * (1 + gate * (1 - share))
    grads = paddle.concat([upstream * value * slope, upstream * silu], axis=-1)
    return grads, paddle.sum(do2_s * silu * value, -1), silu * value * factor
