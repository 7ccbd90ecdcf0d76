"""Losses of pairs and triples, and of classes of which there are few."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle import _creation
from gradtool.paddle._arguments import INTEGERS, integer, tensor
from gradtool.paddle._dispatch import apply, layer_name
from gradtool.paddle._images import FLOATS

from ._activation import log_sigmoid, relu, sigmoid
from ._resizing import one_hot


def check_reduction(reduction: str, where: str) -> None:
    if reduction not in ("sum", "mean", "none"):
        raise UsageError(
            f"The value of 'reduction' in {where} should be 'sum', 'mean' or 'none', but received {reduction}."
        )


def reduced(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    return paddle.mean(loss) if reduction == "mean" else paddle.sum(loss)


def pairwise_distance(
    x: Any, y: Any, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
) -> Any:
    """The p-norm of ``x - y + epsilon`` along the last dimension."""
    for what, v in (("x", x), ("y", y)):
        tensor(v, what, "pairwise_distance", FLOATS)
    layer = layer_name(name, "PairwiseDistance")
    apart = paddle.subtract(x, y)
    if epsilon != 0.0:
        apart = paddle.add(apart, _creation.fill([1], epsilon, apart.dtype))
    attrs = {"axis": -1, "porder": float(p), "keepdim": keepdim, "epsilon": 0.0}
    return apply("p_norm", apart, attrs=attrs, name=layer)


def margin_ranking_loss(
    input: Any, other: Any, label: Any, margin: float = 0.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """``max(0, margin - label · (input - other))``.

    Args:
        label: 1 where *input* should be the larger one, -1 where *other* should.
        reduction: ``mean``, ``sum`` or ``none``.
    """
    check_reduction(reduction, "MarginRankingLoss")
    for what, v in (("input", input), ("other", other), ("label", label)):
        tensor(v, what, "margin_ranking_loss", FLOATS)
    # The loss is named after itself and not after the operator that it ends in.
    apart = paddle.subtract(input, other)
    loss = paddle.multiply(paddle.neg(label), apart)
    if margin != 0.0:
        loss = paddle.add(loss, _creation.fill([1], margin, loss.dtype))
    layer = layer_name(name, "margin_ranking_loss")
    if reduction == "none":
        return apply("relu", loss, name=layer)
    loss = relu(loss)
    if reduction == "mean":
        return apply("mean", loss, name=layer)
    return apply("reduce_sum", loss, attrs={"dim": (), "reduce_all": True}, name=layer)


def hinge_embedding_loss(
    input: Any, label: Any, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """*input* where the label is 1, ``max(0, margin - input)`` where it is -1, 0 elsewhere."""
    check_reduction(reduction, "hinge_embedding_loss")
    for what, v in (("input", input), ("label", label)):
        tensor(v, what, "hinge_embedding_loss")
    zero = _creation.fill([1], 0.0, input.dtype)
    near = paddle.where(label == 1.0, input, zero)
    far = paddle.where(label == -1.0, relu(margin - input), zero)
    return reduced(near + far, reduction)


def cosine_embedding_loss(
    input1: Any, input2: Any, label: Any, margin: float = 0, reduction: str = "mean", name: str | None = None
) -> Any:
    """``1 - cos`` of pairs of vectors whose label is 1, ``max(0, cos - margin)`` where it is -1.

    Args:
        input1, input2: ``[vectors, numbers]`` or ``[numbers]``.
        label: ``[vectors]`` or ``[]``.

    Raises:
        UsageError: shapes that do not fit (a ValueError).
    """
    check_reduction(reduction, "CosineEmbeddingLoss")
    tensor(label, "label", "cosine_embedding_loss", ("float32", "float64", *INTEGERS))
    if label.ndim != 1:
        raise UsageError("1D target tensor expected, multi-target not supported")
    if list(input1.shape) != list(input2.shape):
        raise UsageError(
            "the shape of input tensor 1 should be equal to input tensor 2, but found inputs with different sizes"
        )
    if input1.ndim > 2:
        raise UsageError("1D target tensor expects 1D or 2D input tensors, but found inputs with different sizes")
    inner = paddle.sum(input1 * input2, axis=-1)
    first, second = (paddle.sum(paddle.square(v), axis=-1) + 1e-11 for v in (input1, input2))
    cosine = inner / paddle.sqrt(first * second)
    zeros = paddle.zeros_like(cosine)
    near, far = 1 - cosine, paddle.clip(cosine - margin, min=0.0)
    loss = paddle.where(label == 1, near, zeros) + paddle.where(label == -1, far, zeros)
    return reduced(loss, reduction)


def triplet_margin_loss(
    input: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """``max(0, |input - positive| - |input - negative| + margin)``.

    Args:
        p: the order of the distances.
        swap: take the distance between *positive* and *negative* where that is the smaller one.
    """
    check_reduction(reduction, "TripletMarginLoss")
    if margin < 0:
        raise UsageError(f"The margin between positive and negative must not be negative, but is {margin}.")
    near = pairwise_distance(input, positive, p, epsilon)
    far = pairwise_distance(input, negative, p, epsilon)
    if swap:
        far = paddle.minimum(far, pairwise_distance(positive, negative, p, epsilon))
    return reduced(paddle.clip(near - far + margin, min=0.0), reduction)


def soft_margin_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """``log(1 + exp(-label · input))``, with labels 1 and -1."""
    check_reduction(reduction, "soft_margin_loss")
    for what, v in (("input", input), ("label", label)):
        tensor(v, what, "soft_margin_loss")
    labels = paddle.cast(label, input.dtype)
    return reduced(paddle.log(1 + paddle.exp(-labels * input)), reduction)


def multi_label_soft_margin_loss(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """Binary cross entropy of several classes at once, from logits; the mean over the classes.

    Args:
        weight: a factor for each class.
    """
    check_reduction(reduction, "MultiLabelSoftMarginloss")
    if list(input.shape) != list(label.shape):
        raise UsageError(
            f"The input and label should have same dimension, but received {list(input.shape)}!={list(label.shape)}"
        )
    loss = -(label * log_sigmoid(input) + (1 - label) * log_sigmoid(-input))
    if weight is not None:
        loss = loss * tensor(weight, "weight", "multi_label_soft_margin_loss")
    return reduced(paddle.mean(loss, axis=-1), reduction)


def sigmoid_focal_loss(
    logit: Any,
    label: Any,
    normalizer: Any = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Any:
    """Binary cross entropy in which what is already right counts little (Lin et al. 2017).

    Args:
        normalizer: one number as a tensor, that the loss is divided by.
        alpha: the weight of label 1; label 0 has ``1 - alpha``.
        gamma: how quickly what is right loses its weight.
    """
    check_reduction(reduction, "sigmoid_focal_loss")
    for what, v in (("logit", logit), ("label", label)):
        tensor(v, what, "sigmoid_focal_loss", FLOATS)
    if normalizer is not None:
        tensor(normalizer, "normalizer", "sigmoid_focal_loss", FLOATS)
        if normalizer.ndim > 1:
            raise UsageError(f"Expected zero or one dimension of normalizer, but got {normalizer.ndim}.")
    _creation.fill([1], 1.0, logit.dtype)
    loss = apply("sigmoid_cross_entropy_with_logits", logit, label)
    share = sigmoid(logit)
    right = share * label + (1 - share) * (1 - label)
    weights = alpha * label + (1 - alpha) * (1 - label)
    loss = paddle.multiply(weights, loss)
    loss = paddle.multiply(paddle.pow(1 - right, gamma), loss)
    if normalizer is not None:
        loss = paddle.divide(loss, normalizer)
    return reduced(loss, reduction)


def dice_loss(input: Any, label: Any, epsilon: float = 1e-5, name: str | None = None) -> Any:
    """1 less twice the overlap of prediction and truth over the sum of both (Milletari et al. 2016).

    Args:
        input: probabilities ``[batch, ..., classes]``.
        label: whole numbers ``[batch, ..., 1]``.
    """
    tensor(input, "input", "dice_loss", ("float32", "float64"))
    tensor(label, "label", "dice_loss", INTEGERS)
    if input.ndim < 2 or input.ndim != label.ndim or label.shape[-1] != 1:
        raise UsageError(
            f"dice_loss: input {list(input.shape)} must be [batch, ..., classes] and label {list(label.shape)} "
            "[batch, ..., 1]."
        )
    truth: Any = one_hot(paddle.squeeze(label, [-1]), input.shape[-1])
    axes = list(range(1, input.ndim))
    overlap = paddle.sum(input * truth, axis=axes)
    both = paddle.sum(input, axis=axes) + paddle.sum(truth, axis=axes)
    return paddle.mean(1 - overlap * 2 / (both + epsilon))


def sequence_mask(x: Any, maxlen: Any = None, dtype: Any = "int64", name: str | None = None) -> AnyTensor:
    """For each length in *x* that many ones, then zeros.

    Args:
        maxlen: how many there are altogether; the longest length when None (dynamic mode only).
    """
    where = "paddle.nn.functional.sequence_mask"
    tensor(x, "x", where, INTEGERS)
    if isinstance(maxlen, AnyTensor):
        raise ArgumentTypeError(f"{where}: maxlen must be a number or None, but is a tensor.")
    count = -1 if maxlen is None else integer(maxlen, "maxlen", where)
    attrs = {"maxlen": count, "out_dtype": dtype_of(dtype).code}
    out = apply("sequence_mask", x, None, attrs=attrs, name=name)
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]
