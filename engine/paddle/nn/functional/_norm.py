"""Normalisation."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.differences import meet_in_programs
from gradtool.engine.core.errors import ArgumentTypeError, AxisError, UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.paddle._arguments import tensor
from gradtool.paddle._creation import zeros_like
from gradtool.paddle._dispatch import apply, counted, layer_name
from gradtool.paddle._images import FLOATS, layout
from gradtool.paddle._remembered import remembered


def cut(*constants: Any) -> None:
    """Say that no gradient flows through these variables: saved statistics and masks."""
    for v in constants:
        v.stop_gradient = True


def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:
    """Standardise every channel over the batch, then multiply by *weight* and add *bias*.

    Args:
        running_mean, running_var: ``[channels]``; training moves them towards the batch's,
            ``momentum · old + (1 - momentum) · batch``.
        training: use the batch's mean and variance, not the running ones.
        use_global_stats: use the running ones even in training; the opposite of *training* when None.
    """
    layout_ = layout(data_format, "batch_norm")
    tensor(x, "x", "batch_norm", FLOATS)
    if x.ndim < 2:
        raise InputRankError(f"batch_norm: x must have at least 2 dimensions, but has the shape {list(x.shape)}.")
    attrs = {
        "momentum": momentum,
        "epsilon": epsilon,
        "data_layout": layout_,
        "is_test": not training,
        "use_global_stats": not training if use_global_stats is None else use_global_stats,
        "trainable_statistics": use_global_stats is not None and not use_global_stats,
    }
    layer = layer_name(name, "batch_norm")
    # Paddle counts the reserve space after the result, though it stands before it in other forms of the layer.
    outputs: dict[str, Any] = {s: counted(f"{layer}.tmp") for s in ("SavedMean", "SavedVariance", "Y")}
    if training or attrs["trainable_statistics"]:
        outputs["ReserveSpace"] = counted(f"{layer}.tmp")
    outputs |= {"MeanOut": running_mean, "VarianceOut": running_var}
    *saved, y, _, _ = apply(
        "batch_norm",
        x,
        weight,
        bias,
        running_mean,
        running_var,
        None,
        attrs=attrs,
        name=layer,
        outputs=outputs,
    )
    cut(*saved)
    return y


@remembered
def layer_norm(
    x: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> Any:
    """Standardise over the last dimensions, then multiply by *weight* and add *bias*.

    Args:
        normalized_shape: the sizes of those dimensions; a number for the last one alone.
    """
    tensor(x, "x", "layer_norm", FLOATS)
    if isinstance(normalized_shape, int):
        normalized_shape = [normalized_shape]
    if not isinstance(normalized_shape, (list, tuple)):
        raise UsageError("`normalized_shape` of layer_norm should be int, list of ints or tuple of ints.")
    begin = x.ndim - len(normalized_shape)
    expected = ", ".join(["*", *map(str, normalized_shape)])
    if begin < 0 or any(
        a != b for a, b in zip(x.shape[begin:], normalized_shape, strict=True) if UNKNOWN not in (a, b)
    ):
        raise UsageError(
            f"Given normalized_shape is {list(normalized_shape)}, expected input with shape [{expected}], "
            f"but got input shape {list(x.shape)}"
        )
    for what, factor in (("weight", weight), ("bias", bias)):
        if factor is not None and tensor(factor, what, "layer_norm").ndim != 1:
            raise UsageError(
                f"layer_norm: {what} must have one dimension, of all the sizes in normalized_shape multiplied, but its "
                f"shape is {list(factor.shape)}."
            )
    if not 0 <= epsilon <= 0.001:
        raise UsageError(f"layer_norm: epsilon must lie between 0 and 0.001, but it is {epsilon}.")
    if not begin:
        raise UsageError(
            f"layer_norm: normalized_shape {list(normalized_shape)} must leave a dimension of x {list(x.shape)} for "
            "the rows.",
            hint="unsqueeze x at axis 0",
        )
    attrs = {"begin_norm_axis": begin, "epsilon": epsilon}
    mean, variance, y = apply("layer_norm", x, weight, bias, attrs=attrs, name=name)
    cut(mean, variance)
    return y


def group_norm(
    x: Any,
    num_groups: int,
    epsilon: float = 1e-05,
    weight: Any = None,
    bias: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Standardise every group of channels of every image, then multiply by *weight* and add *bias*."""
    attrs = {"groups": num_groups, "epsilon": epsilon, "data_layout": layout(data_format, "group_norm")}
    tensor(x, "x", "group_norm", FLOATS)
    mean, variance, y = apply("group_norm", x, weight, bias, attrs=attrs, name=name)
    cut(mean, variance)
    return y


def instance_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-05,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Standardise every channel of every image, then multiply by *weight* and add *bias*, each where it is given.

    Running statistics, *momentum* and *use_input_stats* have no influence, as in Paddle.
    """
    tensor(x, "x", "instance_norm", FLOATS)
    if (weight is None) != (bias is None):
        meet_in_programs("values of programs")
    mean, variance, y = apply("instance_norm", x, weight, bias, attrs={"epsilon": eps}, name=name)
    cut(mean, variance)
    return y


def normalize(x: Any, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """Divide by the p-norm along *axis*, or by *epsilon* where that is larger."""
    tensor(x, "x", "normalize", FLOATS)
    for what, value, types in (("p", p, (int, float)), ("axis", axis, (int,))):
        if not isinstance(value, types):
            raise ArgumentTypeError(f"{what} of normalize must be a number, but received {type(value).__name__}.")
    if x.ndim == 1 and axis not in (0, -1):
        raise UsageError(f"Axis must be 0 or -1 when x is a 1-D tensor, but received axis = {axis}")
    attrs = {"axis": axis, "porder": float(p), "keepdim": True, "epsilon": epsilon}
    norm = apply("p_norm", x, attrs=attrs)
    counted("fill_constant")  # a constant takes two numbers (as in Paddle 3.1)
    least = {"shape": (1,), "dtype": x.dtype.code, "value": epsilon, "str_value": str(epsilon)}
    bound = apply("fill_constant", None, None, [], attrs=least)
    return apply("elementwise_div", x, apply("elementwise_max", norm, bound, direct=True), name=name, direct=True)


def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """Cosine of the angle between vectors along *axis*."""
    tensor(x1, "x1", "cosine_similarity", FLOATS)
    tensor(x2, "x2", "cosine_similarity", FLOATS)
    for what, v in (("x1", x1), ("x2", x2)):
        if not -v.ndim <= axis < v.ndim:
            raise AxisError(f"cosine_similarity: axis {axis} is out of range for {what}, {list(v.shape)}")

    if UNKNOWN in (x1.shape[axis], x2.shape[axis]):  # one of them may have to be repeated when the program runs
        x1, x2 = x1 + zeros_like(x2), x2 + zeros_like(x1)

    def product(a: Any, b: Any) -> Any:
        return apply("reduce_sum", apply("elementwise_mul", a, b, direct=True), attrs={"dim": (axis,)}, key="sum")

    inner, first, second = product(x1, x2), product(x1, x1), product(x2, x2)
    sizes = x1.shape[axis], x2.shape[axis]
    # A vector of one element is repeated along the other, which makes its square that many times as large.
    if sizes[0] == 1 != sizes[1]:
        first = apply("scale", first, attrs={"scale": float(sizes[1])}, key="tmp", direct=True)
    if sizes[1] == 1 != sizes[0]:
        second = apply("scale", second, attrs={"scale": float(sizes[0])}, key="tmp", direct=True)
    squares = apply("elementwise_mul", first, second, key="tmp", direct=True)
    bounds = {"min": eps * eps, "max": float(_LARGEST)}
    length = apply("sqrt", apply("clip", squares, None, None, attrs=bounds))
    return apply("elementwise_div", inner, length, key="tmp", direct=True)


_LARGEST = 3.4028234663852886e38
"""The largest float32."""


class InputRankError(UsageError, AssertionError):
    """A tensor of a wrong number of dimensions (Paddle raises AssertionError)."""
