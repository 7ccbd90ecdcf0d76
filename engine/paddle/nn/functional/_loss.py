"""Losses. Each is built from the same operators, in the same order, as Paddle builds it from."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.differences import meet
from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.spec import DTYPES
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ops.library.softmax import expect_labels
from gradtool.paddle import _math
from gradtool.paddle._arguments import tensor
from gradtool.paddle._creation import cast, full, ones_like, shape
from gradtool.paddle._dispatch import apply, counted
from gradtool.paddle._logic import equal, logical_and
from gradtool.paddle._manipulation import reshape, squeeze, transpose, unsqueeze
from gradtool.paddle._math import add, multiply, subtract
from gradtool.paddle._reduction import mean, sum
from gradtool.paddle._remembered import remembered
from gradtool.paddle._search import where as where_

from ._activation import log_softmax


def _check_reduction(reduction: Any, where: str, others: tuple[str, ...] = ()) -> None:
    """Raise :class:`UsageError` (a ValueError) unless *reduction* is one that the loss takes."""
    choices = ("sum", "mean", "none", *others)
    if reduction not in choices:
        choice = " or ".join(map(repr, choices))
        raise UsageError(f"The value of 'reduction' in {where} should be {choice}, but received {reduction!r}.")


def _reduced(loss: AnyTensor, reduction: str, name: str | None = None) -> AnyTensor:
    """The mean or sum of *loss*, or itself."""
    if reduction == "mean":
        return mean(loss, name=name)
    return sum(loss, name=name) if reduction == "sum" else loss


def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> AnyTensor:
    """``(input - label)²``, and its mean or sum.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """
    _check_reduction(reduction, "mse_loss")
    if reduction == "none":
        return _math.square(subtract(input, label), name=name)
    return _reduced(_math.square(subtract(input, label)), reduction, name)


def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> AnyTensor:
    """``|input - label|``, and its mean or sum; 0 is the gradient where they are equal.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """
    _check_reduction(reduction, "l1_loss")
    difference = subtract(input, label, name=name if reduction == "none" else None)
    tensor(difference, "input - label", "l1_loss", [d.name for d in DTYPES if d.is_differentiable])
    return _reduced(_math.abs(difference), reduction, name)


def smooth_l1_loss(
    input: Any,
    label: Any,
    reduction: str = "mean",
    delta: float = 1.0,
    is_huber: bool = True,
    name: str | None = None,
) -> AnyTensor:
    """Half the square of ``r = label - input`` where it is at most *delta*, ``delta·(|r| - delta/2)`` where larger.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        is_huber: False divides by delta.
    """
    _check_reduction(reduction, "smooth_l1_loss")
    _, loss = apply("huber_loss", input, label, attrs={"delta": delta}, name=name)
    return _reduced(loss if is_huber else loss / delta, reduction)


def binary_cross_entropy(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> AnyTensor:
    """``-label·log(input) - (1-label)·log(1-input)`` of probabilities; logarithms count as at least -100.

    Args:
        weight: a factor for each element (broadcast), or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """
    _check_reduction(reduction, "binary_cross_entropy")
    plain = reduction == "none"
    loss = apply("bce_loss", input, label, key="binary_cross_entropy", name=name if plain and weight is None else None)
    if weight is not None:
        loss = multiply(loss, tensor(weight, "weight", "binary_cross_entropy"), name=name if plain else None)
    return _reduced(loss, reduction, name)


def binary_cross_entropy_with_logits(
    logit: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
    name: str | None = None,
) -> AnyTensor:
    """The binary cross entropy of ``sigmoid(logit)``, computed without overflow.

    Args:
        weight: a factor for each element (broadcast), or None.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        pos_weight: a factor for the part of label 1 (broadcast), or None.
    """
    where = "binary_cross_entropy_with_logits"
    _check_reduction(reduction, where)
    one = full([1], 1.0, tensor(logit, "logit", where).dtype)
    factor = None
    if pos_weight is not None:
        factor = add(multiply(label, subtract(tensor(pos_weight, "pos_weight", where), one)), one)
    loss = apply("sigmoid_cross_entropy_with_logits", logit, label, factor, name=name)
    if weight is not None:
        loss = multiply(loss, tensor(weight, "weight", where), name=name if reduction == "none" else None)
    return _reduced(loss, reduction, name)


def nll_loss(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> AnyTensor:
    """``-input[label]`` for log-probabilities ``[n, classes, …]`` and labels ``[n, …]``.

    Args:
        weight: a factor for each class, or None.
        ignore_index: a label that counts for nothing.
        reduction: ``"mean"`` (weighted by *weight*), ``"sum"`` or ``"none"``.
    """
    _check_reduction(reduction, "nll_loss")
    input, label = tensor(input, "input", "nll_loss"), tensor(label, "label", "nll_loss")
    if input.ndim < 2:
        raise ShapeError(f"nll_loss: input {list(input.shape)} must have two or more dimensions.")
    out_shape = [input.shape[0], *input.shape[2:]]
    reshaped = input.ndim not in (2, 4)
    if reshaped:
        batch = max(input.shape[0], 0)  # in reshape, 0 keeps a dimension: the way to say one that is not known
        input = reshape(input, [batch, input.shape[1], 1, -1])
        label = reshape(label, [batch, 1, -1])
    attrs = {"ignore_index": ignore_index, "reduction": reduction}
    loss, _ = apply("nll_loss", input, label, weight, attrs=attrs, name=name)
    return reshape(loss, out_shape) if reshaped and reduction == "none" else loss


def kl_div(
    input: Any, label: Any, reduction: str = "mean", log_target: bool = False, name: str | None = None
) -> AnyTensor:
    """``label·(log(label) - input)``, where *input* holds logarithms of probabilities.

    Args:
        reduction: ``"mean"``, ``"sum"``, ``"batchmean"`` (the sum over the size of the first dimension) or ``"none"``.
        log_target: whether *label* holds logarithms too.
    """
    _check_reduction(reduction, "kl_div", others=("batchmean",))
    input, label = tensor(input, "input", "kl_div"), tensor(label, "label", "kl_div")
    if input.dtype.name == "float32" and label.dtype.name == "float64":
        input = cast(input, "float64")
    elif input.dtype.name == "float64" and label.dtype.name == "float32":
        label = cast(label, "float64")
    attrs = {"reduction": "none", "log_target": log_target}
    loss = apply("kldiv_loss", input, label, attrs=attrs, key="kl_div", name=name)
    if reduction == "batchmean":
        batch = shape(input)[0]
        total = sum(loss)
        return total / batch.astype(total.dtype)  # type: ignore[no-any-return]
    return _reduced(loss, reduction)


def log_loss(input: Any, label: Any, epsilon: float = 1e-4, name: str | None = None) -> AnyTensor:
    """``-label·log(input + epsilon) - (1-label)·log(1 - input + epsilon)`` of probabilities."""
    return apply("log_loss", input, label, attrs={"epsilon": epsilon}, name=name)  # type: ignore[no-any-return]


def label_smooth(label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None) -> AnyTensor:
    """``(1 - epsilon)·label + epsilon·prior``; the prior is even over the classes unless it is given.

    Raises:
        UsageError: epsilon is not between 0 and 1 (a ValueError).
    """
    if not 0.0 <= epsilon <= 1.0:
        raise UsageError(f"label_smooth: epsilon must be between 0 and 1, but received {epsilon}.")
    return apply("label_smooth", label, prior_dist, attrs={"epsilon": epsilon}, name=name)  # type: ignore[no-any-return]


def softmax_with_cross_entropy(
    logits: Any,
    label: Any,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """Cross entropy of ``softmax(logits)``; the dimension of the classes is kept with size 1.

    Args:
        label: class indices with a dimension of one at *axis* (or without it), or a probability for each class.
        soft_label: whether the labels are probabilities.
        ignore_index: a label that gives a loss of 0.
        return_softmax: return ``(loss, softmax)``.
    """
    logits, label = _aligned(logits, label, soft_label, axis, "softmax_with_cross_entropy")
    attrs = {
        "soft_label": soft_label,
        "ignore_index": ignore_index,
        "numeric_stable_mode": numeric_stable_mode,
        "axis": axis,
    }
    softmax, loss = apply("softmax_with_cross_entropy", logits, label, attrs=attrs)
    return (loss, softmax) if return_softmax else loss


def _aligned(logits: Any, label: Any, soft_label: bool, axis: int, where: str) -> tuple[AnyTensor, AnyTensor]:
    """The logits, and the labels with a dimension for the classes.

    Raises:
        ShapeError: their numbers of dimensions do not fit (a ValueError).
    """
    logits, label = tensor(logits, "input", where), tensor(label, "label", where)
    expect_labels(logits.dtype, label.dtype, soft_label, where)
    if not logits.ndim:
        raise ShapeError(f"{where}: the dimension of input should be larger than zero.")
    if label.ndim == logits.ndim - 1 and not soft_label:
        return logits, unsqueeze(label, axis)
    if label.ndim != logits.ndim:
        raise ShapeError(
            f"{where}: label {list(label.shape)} does not fit input {list(logits.shape)}: it must have as many "
            "dimensions, or one less.",
            hint="soft labels have the shape of the input" if soft_label else None,
        )
    return logits, label


def _meets(ignore_index: int, label: Any) -> bool:
    """Return whether a label is ignored, as far as that can be seen now; in a program, whether one is to be."""
    array = getattr(label, "array", None)
    return ignore_index != -100 if array is None else bool((array == ignore_index).any())


def cross_entropy(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> AnyTensor:
    """Cross entropy of ``softmax(input)`` and labels.

    Args:
        input: logits, or probabilities with use_softmax=False.
        label: class indices, with a dimension of one at *axis* or without it; or a probability for each class.
        weight: a factor for each class, or None.
        ignore_index: a label that counts for nothing. The mean is taken over the other labels if it is not negative,
            over all labels otherwise, as in Paddle. It counts for nothing where labels are smoothed, too, which Paddle
            forgets: the first call that meets it warns.
        reduction: ``"mean"`` (weighted by *weight*), ``"sum"`` or ``"none"``, which keeps the shape of the labels.
        soft_label: whether the labels are probabilities.
        axis: the dimension of the classes.
        label_smoothing: how much of each label to spread evenly over the classes.

    Raises:
        UsageError: an unknown reduction; ignore_index together with soft labels (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    # The operator takes soft labels for constants, as in Paddle. With weights they have a gradient by way of these, and
    # half of a gradient is none: then the loss is computed by operators that give the other half.
    whole = weight is not None and isinstance(label, AnyTensor) and not label.stop_gradient
    if label_smoothing > 0.0 and _meets(ignore_index, label):
        meet("ignored labels smoothed")
    options = weight, ignore_index, reduction, soft_label, axis, use_softmax, label_smoothing, name
    return _cross_entropy(input, label, *options, whole)


@remembered
def _cross_entropy(
    input: Any,
    label: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
    soft_label: bool,
    axis: int,
    use_softmax: bool,
    label_smoothing: float,
    name: str | None,
    whole: bool,
) -> AnyTensor:
    """Compute what :func:`cross_entropy` returns; *whole* states whether soft labels get a gradient."""
    where = "cross_entropy"
    _check_reduction(reduction, where)
    if ignore_index != -100 and soft_label:
        raise UsageError(
            f"cross_entropy: ignore_index is {ignore_index}, but probabilities have no label that could be ignored.",
            hint="leave ignore_index at -100 with soft_label",
        )
    squeezed = tensor(label, "label", where).ndim == tensor(input, "input", where).ndim - 1
    input, label = _aligned(input, label, soft_label, axis, where)
    if weight is not None:
        _check_weight(input, tensor(weight, "weight", where), axis)
    # The labels, and which rows count.
    mask = None
    if label_smoothing > 0.0:
        label, mask = _smoothed_but(ignore_index, input, label, soft_label, axis, label_smoothing)
        soft_label = True
    # The loss of each row, times the weight of its class.
    if whole and soft_label:
        loss = _soft_loss(input, label, axis, use_softmax, name)
    else:
        attrs = {
            "soft_label": soft_label,
            "ignore_index": ignore_index,
            "use_softmax": use_softmax,
            "axis": axis,
        }
        _, loss = apply("softmax_with_cross_entropy", input, label, attrs=attrs, name=name)
    shares = None
    if weight is not None:
        make = _soft_shares if soft_label else _hard_shares
        loss, shares = make(input, label, weight, loss, ignore_index, axis)
        loss = multiply(loss, shares, name=name if reduction == "none" else None)
    if mask is not None:
        loss = multiply(loss, cast(mask, loss.dtype))
    if reduction == "none":
        return squeeze(loss, axis) if squeezed and not soft_label else loss
    if reduction == "sum" or (shares is None and ignore_index < 0):
        return _reduced(loss, reduction, name)
    total = sum(loss, name=name)
    if ignore_index >= 0:
        mask = cast(label != ignore_index if mask is None else mask, loss.dtype)
        return _mean_over(total, mask if shares is None else multiply(mask, shares))
    assert shares is not None
    return _mean_over(total, shares)


def _mean_over(total: AnyTensor, shares: AnyTensor) -> AnyTensor:
    """*total* divided by the sum of *shares*; where nothing counts, 0 by 1."""
    counted = sum(shares)
    nothing = equal(counted, 0.0)
    return total / (counted + nothing.astype(counted.dtype))  # type: ignore[no-any-return]


def _check_weight(input: AnyTensor, weight: AnyTensor, axis: int) -> None:
    classes = input.shape[axis] if -input.ndim <= axis < input.ndim else -1
    if weight.ndim != 1 or (weight.shape[0] != classes and -1 not in (weight.shape[0], classes)):
        raise ShapeError(
            f"cross_entropy: weight {list(weight.shape)} must hold one number for each of the {classes} classes of "
            f"input {list(input.shape)}."
        )


def _classes_last(x: AnyTensor, axis: int) -> AnyTensor:
    """*x* with dimension *axis* moved to the end."""
    at = axis % x.ndim
    return x if at == x.ndim - 1 else transpose(x, [i for i in range(x.ndim) if i != at] + [at])


def _smoothed_but(
    ignore_index: int, input: AnyTensor, label: AnyTensor, soft_label: bool, axis: int, epsilon: float
) -> tuple[AnyTensor, AnyTensor | None]:
    """Smoothed labels, and which rows count; None where all do."""
    mask = None
    if ignore_index != -100:
        mask = cast(label != ignore_index, input.dtype)
        label = multiply(cast(label != ignore_index, label.dtype), label)
    label = _smoothed(input, label, soft_label, axis, epsilon)
    return label if input.dtype.name != "float64" else label.astype(input.dtype), mask


def _smoothed(input: AnyTensor, label: AnyTensor, soft_label: bool, axis: int, epsilon: float) -> AnyTensor:
    from ._resizing import one_hot

    if soft_label:
        return label_smooth(label, epsilon=epsilon)
    at = axis % input.ndim
    smooth = label_smooth(one_hot(squeeze(label, axis), input.shape[axis]), epsilon=epsilon)
    if at == input.ndim - 1:
        return smooth
    order = list(range(input.ndim - 1))
    return transpose(smooth, [*order[:at], input.ndim - 1, *order[at:]])


def _soft_loss(input: AnyTensor, label: AnyTensor, axis: int, use_softmax: bool, name: str | None) -> AnyTensor:
    """Compute the loss of soft labels by operators that the labels get their gradients through."""
    if use_softmax:
        logs = log_softmax(input, axis)
    else:
        nothing = logical_and(equal(label, 0.0), equal(input, 0.0))  # counts for nothing, though log(0) is infinite
        logs = _math.log(where_(nothing, ones_like(input), input))
    return sum(multiply(cast(label, logs.dtype), -logs), axis, keepdim=True, name=name)


def _soft_shares(
    input: AnyTensor, label: AnyTensor, weight: AnyTensor, loss: AnyTensor, ignore_index: int, axis: int
) -> tuple[AnyTensor, AnyTensor]:
    """The loss and, in its shape, the mean weight of the classes under each soft label."""
    from gradtool.paddle._linalg import matmul

    shares = matmul(_classes_last(cast(label, weight.dtype), axis), weight, transpose_y=True)
    shares = reshape(shares, list(loss.shape))
    return cast(loss, shares.dtype), shares


def _hard_shares(
    input: AnyTensor, label: AnyTensor, weight: AnyTensor, loss: AnyTensor, ignore_index: int, axis: int
) -> tuple[AnyTensor, AnyTensor]:
    """The loss and, in its shape, the weight of each label's class, 0 where it is to be ignored."""
    from gradtool.paddle._gather import gather_nd

    valid = multiply(cast(label != ignore_index, label.dtype), label)
    mask = squeeze(cast(label != ignore_index, input.dtype), axis)
    shares = multiply(gather_nd(weight, _classes_last(valid, axis)), mask)
    return loss, reshape(shares, list(loss.shape))


def square_error_cost(input: Any, label: Any) -> Any:
    """``(input - label)²`` element by element."""
    layer = counted("square_error_cost")
    return apply("square", apply("elementwise_sub", input, label, name=layer), name=layer)
