"""Normalising layers of ``paddle.static.nn``, and ``prelu``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.ir import default
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops.infer import product
from gradtool.paddle import _parameters
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS, channel_last, layout
from gradtool.paddle.nn import initializer
from gradtool.paddle.nn.functional._norm import cut

from ._finishing import activated, required


def _check_rank(x: Variable, where: str) -> None:
    if not 2 <= x.ndim <= 5:
        raise UsageError(f"{where}: expected 2D or 3D or 4D or 5D input (got {x.ndim}D input, {list(x.shape)})")


def _channels(x: Variable, last: bool, where: str) -> int:
    channels = x.shape[-1 if last else 1]
    if channels == UNKNOWN:
        raise UsageError(f"{where}: the number of channels of the input {list(x.shape)} must be known.")
    return channels


def _scale(layer: str, attr: Any, size: int, dtype: Any) -> Any:
    return _parameters.make(layer, attr, [size], dtype, default_init=initializer.Constant(1.0))


def _shift(layer: str, attr: Any, size: int, dtype: Any) -> Any:
    return _parameters.make(layer, attr, [size], dtype, is_bias=True)


def batch_norm(
    input: Variable,
    act: str | None = None,
    is_test: bool = False,
    momentum: Any = 0.9,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
) -> Variable:
    """Standardise every channel over the batch, with a scale and shift of its own.

    In training the moving mean and variance become ``momentum · old + (1 - momentum) · batch``; with *is_test* or
    *use_global_stats* they take the place of the batch's.

    Args:
        momentum: a number, or a variable of one element.
        in_place: write the result to *input*.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
    """
    state.require_static("batch_norm")
    required(bias_attr, "bias_attr", "batch_norm")
    required(param_attr, "param_attr", "batch_norm")
    tensor(input, "input", "batch_norm", FLOATS)
    _check_rank(input, "batch_norm")
    size = _channels(input, channel_last(data_layout, "batch_norm"), "batch_norm")
    layer = name if name is not None else default.default_main_program().names("batch_norm")
    scale, shift = _scale(layer, param_attr, size, input.dtype), _shift(layer, bias_attr, size, input.dtype)
    mean, variance = (
        _parameters.make(
            layer,
            _parameters.ParamAttr(
                name=moving,
                initializer=initializer.Constant(start),
                trainable=False,
                do_model_average=do_model_average_for_mean_and_var,
            ),
            [size],
            input.dtype,
        )
        for moving, start in ((moving_mean_name, 0.0), (moving_variance_name, 1.0))
    )
    attrs = {
        "epsilon": epsilon,
        "is_test": is_test,
        "data_layout": data_layout,
        "use_global_stats": use_global_stats,
    }
    rate = momentum if isinstance(momentum, Variable) else None
    if rate is None:
        attrs["momentum"] = momentum
    outputs: dict[str, Any] = {"MeanOut": mean, "VarianceOut": variance}
    if not is_test:
        outputs["ReserveSpace"] = True
    if in_place:
        outputs["Y"] = input
    *saved, y, _, _ = apply(
        "batch_norm", input, scale, shift, mean, variance, rate, attrs=attrs, name=layer, outputs=outputs
    )
    cut(*saved)
    return activated(y, act, layer)


def layer_norm(
    input: Variable,
    scale: bool = True,
    shift: bool = True,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """Standardise over the dimensions from *begin_norm_axis* on, with a scale and shift of its own.

    Args:
        scale, shift: whether to multiply and to add.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: *begin_norm_axis* out of range (a ValueError).
    """
    state.require_static("layer_norm")
    tensor(input, "input", "layer_norm", FLOATS)
    if scale:
        required(param_attr, "param_attr", "layer_norm with scale")
    if shift:
        required(bias_attr, "bias_attr", "layer_norm with shift")
    size = product(input.shape[begin_norm_axis:])
    if size == UNKNOWN and (scale or shift):
        raise UsageError(
            f"layer_norm: the dimensions of the input {list(input.shape)} must be known, from {begin_norm_axis} on."
        )
    layer = name if name is not None else default.default_main_program().names("layer_norm")
    w = _scale(layer, param_attr, size, input.dtype) if scale else None
    b = _shift(layer, bias_attr, size, input.dtype) if shift else None
    attrs = {"epsilon": epsilon, "begin_norm_axis": begin_norm_axis}
    mean, variance, y = apply("layer_norm", input, w, b, attrs=attrs, name=layer)
    cut(mean, variance)
    return activated(y, act, layer)


def group_norm(
    input: Variable,
    groups: int,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Standardise every group of channels of every image.

    Args:
        param_attr, bias_attr: a scale and a shift, which there are only when these are given.
    """
    state.require_static("group_norm")
    tensor(input, "input", "group_norm", FLOATS)
    last = channel_last(data_layout, "group_norm")
    names = default.default_main_program().names
    layer = name if name is not None else names("group_norm")
    size = _channels(input, last, "group_norm") if param_attr or bias_attr else 0
    w = _scale(layer, param_attr, size, input.dtype) if param_attr else None
    b = _shift(layer, bias_attr, size, input.dtype) if bias_attr else None
    mean, variance, y = apply(
        "group_norm",
        input,
        w,
        b,
        attrs={"groups": groups, "epsilon": epsilon, "data_layout": data_layout},
        name=layer,
        outputs={slot: names("_generated_var") for slot in ("Mean", "Variance", "Y")},
    )
    cut(mean, variance)
    return activated(y, act, layer)


def instance_norm(
    input: Variable,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Variable:
    """Standardise every channel of every image.

    Args:
        param_attr, bias_attr: a scale and a shift, which there are only when both are given.
    """
    state.require_static("instance_norm")
    tensor(input, "input", "instance_norm", FLOATS)
    if param_attr is False and bias_attr is not False:
        raise SwitchedOffApart("instance_norm: param_attr and bias_attr must be set to False at the same time")
    _check_rank(input, "instance_norm")
    layer = name if name is not None else default.default_main_program().names("instance_norm")
    w = b = None
    if param_attr and bias_attr:
        size = _channels(input, False, "instance_norm")
        w = _scale(layer, param_attr, size, input.dtype)
        b = _shift(layer, bias_attr, size, input.dtype)
    mean, variance, y = apply("instance_norm", input, w, b, attrs={"epsilon": epsilon}, name=layer)
    cut(mean, variance)
    return y  # type: ignore[no-any-return]


class SwitchedOffApart(UsageError, AssertionError):
    """Of two parameters that belong together, only one is switched off (Paddle raises AssertionError)."""


def prelu(
    x: Variable, mode: str, param_attr: Any = None, data_format: str = "NCHW", name: str | None = None
) -> Variable:
    """``x`` where it is positive, else ``x`` times a slope that is learned.

    Args:
        mode: one slope for ``all``, for each ``channel``, or for each ``element`` of an example.
    """
    state.require_static("prelu")
    tensor(x, "x", "prelu", ("float16", "float32", "float64"))
    shape = [1]
    if mode == "channel":
        data_format = layout(data_format, "prelu")
        _check_rank(x, "prelu")
        last = data_format == "NHWC"
        size = _channels(x, last, "prelu")
        shape = [1, 1, 1, size] if last else [1, size, 1, 1]
    elif mode == "element":
        shape = [1, *x.shape[1:]]
    elif mode != "all":
        raise UsageError(f"prelu: mode should be one of all, channel, element, but received {mode!r}.")
    layer = name if name is not None else default.default_main_program().names("prelu")
    alpha = _parameters.make(layer, param_attr, shape, x.dtype, default_init=initializer.Constant(0.25))
    return apply("prelu", x, alpha, attrs={"mode": mode, "data_format": data_format}, name=layer)  # type: ignore[no-any-return]
