"""Functions in which Paddle computes: ``paddle._C_ops``, and the methods of tensors that are written in C++."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import paddle
from paddle.base import core

from ..recorded.patched_names import Row
from ..recorded.recorder import FrameworkOperator
from .recorder import PaddleRecorder, Tensor

_CONVOLUTION = (*("input", "filter", "strides", "paddings", "padding_algorithm", "dilations", "groups", "data_format"),)

_NAMES = {
    "slice": ("input", "axes", "starts", "ends", "infer_flags", "decrease_axis"),
    "split": ("x", "sections", "axis"),
    "cast": ("x", "dtype"),
    **dict.fromkeys(("conv2d", "conv3d"), _CONVOLUTION),
}
"""Arguments of operators whose names Paddle tells of another one: of sparse tensors."""

_ASIDE = frozenset({"get_core_ops_args_info", "get_core_ops_args_type_info", "get_core_ops_returns_info"})

_OWN = frozenset({"coalesce_tensor"})
"""Operators that Paddle calls for itself: one puts the weights of a recurrent layer side by side."""

_VIEWS = frozenset(
    {"reshape", "squeeze", "unsqueeze", "flatten", "transpose", "slice", "strided_slice", "split", "split_with_num"}
    | {"unbind", "as_strided", "view_shape", "view_dtype", "diagonal", "tensor_unfold", "real", "imag"}
    | {"getitem"}
)
"""Operators whose results may lie in the memory of what they take."""

_SCALED: dict[str, Callable[[float], tuple[float, float, bool]]] = {
    "__add__": lambda y: (1.0, y, True),
    "__radd__": lambda y: (1.0, y, True),
    "__sub__": lambda y: (1.0, -y, True),
    "__rsub__": lambda y: (-1.0, y, True),
    "__mul__": lambda y: (y, 0.0, True),
    "__rmul__": lambda y: (y, 0.0, True),
    "__div__": lambda y: (1.0 / y if y else float("inf"), 0.0, True),
    "__truediv__": lambda y: (1.0 / y if y else float("inf"), 0.0, True),
}
"""Methods with a number beside a tensor: scale, bias, and whether the bias comes after it."""

_METHODS = {
    **dict.fromkeys(("__add__", "__radd__"), "add"),
    **dict.fromkeys(("__sub__", "__rsub__"), "subtract"),
    **dict.fromkeys(("__mul__", "__rmul__"), "multiply"),
    **dict.fromkeys(("__div__", "__truediv__", "__rdiv__", "__rtruediv__"), "divide"),
    **dict.fromkeys(("__floordiv__", "__rfloordiv__"), "floor_divide"),
    **dict.fromkeys(("__pow__", "__rpow__"), "elementwise_pow"),
    **dict.fromkeys(("__mod__", "__rmod__"), "remainder"),
    **dict.fromkeys(("__matmul__", "__rmatmul__"), "matmul"),
    "__gt__": "greater_than",
    "__ge__": "greater_equal",
    "__lt__": "less_than",
    "__le__": "less_equal",
    "__eq__": "equal",
    "__ne__": "not_equal",
}

_TURNED = frozenset({"__rsub__", "__rdiv__", "__rtruediv__", "__rfloordiv__", "__rpow__", "__rmod__", "__rmatmul__"})


def rows(recorder: PaddleRecorder) -> Iterator[Row]:
    """Yield the rows of names to replace: the owner, the name, and its replacement."""
    names = core.eager.ops.get_core_ops_args_info()
    for module in (paddle._C_ops, paddle._legacy_C_ops):
        for name, original in list(vars(module).items()):
            if callable(original) and not name.startswith("__") and name not in _ASIDE:
                yield module, name, _operator(recorder, name, original, names)
    if hasattr(paddle._C_ops, "linear"):
        yield paddle._C_ops, "linear", _linear(recorder, paddle._C_ops.linear)
    for name, operator in _METHODS.items():
        yield Tensor, name, _method(recorder, name, operator, getattr(Tensor, name))
    yield Tensor, "clone", _plain(recorder, _describe_operator("assign", ("x",)), Tensor.clone)
    yield Tensor, "contiguous", _plain(recorder, _describe_operator("contiguous", ("x",)), Tensor.contiguous)
    yield (
        Tensor,
        "_copy_to",
        _plain(recorder, _describe_operator("copy_to", ("x", "place", "blocking")), Tensor._copy_to),
    )
    yield Tensor, "copy_", _plain(recorder, _describe_operator("copy_", ("x", "other", "blocking"), (0,)), Tensor.copy_)
    yield Tensor, "set_value", _plain(recorder, _describe_operator("set_value", ("x", "value"), (0,)), Tensor.set_value)
    yield Tensor, "_getitem_dygraph", _wrap_getitem(recorder, Tensor._getitem_dygraph)
    setting = _describe_operator("setitem", ("x", "index", "value"), (0,))
    yield Tensor, "_setitem_dygraph", _plain(recorder, setting, Tensor._setitem_dygraph)


def _describe_operator(name: str, names: tuple[str, ...], written: tuple[int, ...] = ()) -> FrameworkOperator:
    return FrameworkOperator(name, names, written, name.removesuffix("_") in _VIEWS, name in _OWN)


def _operator(recorder: PaddleRecorder, name: str, original: Callable[..., Any], told: Any) -> Callable[..., Any]:
    writes = name.endswith("_") and not name.endswith("__")
    plain = name.removesuffix("_") if writes else name
    names = _NAMES.get(plain) or tuple(told.get(plain) or told.get(name) or ())
    operator = _describe_operator(name, names, (0,) if writes else ())

    def call(*args: Any, **kwargs: Any) -> Any:
        return recorder.call_operator(operator, original, args, kwargs)

    call.__name__ = name
    return call


def _linear(recorder: PaddleRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """``linear`` as the two operators that Paddle 3.3 makes of it: it leaves two nodes behind."""

    @functools.wraps(original)
    def linear(x: Any, weight: Any, bias: Any = None) -> Any:
        if recorder.quiet or not paddle.in_dynamic_mode():
            return original(x, weight, bias)
        product = paddle._C_ops.matmul(x, weight, False, False)
        return product if bias is None else paddle._C_ops.add(product, bias)

    return linear


def _plain(recorder: PaddleRecorder, operator: FrameworkOperator, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        return recorder.call_operator(operator, original, args, kwargs)

    return call


def _method(recorder: PaddleRecorder, name: str, operator: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """An operator between tensors, or of a tensor and a number, which Paddle computes as ``scale`` or ``pow``."""
    usual = _describe_operator(operator, ("y", "x") if name in _TURNED else ("x", "y"))
    scaled = _describe_operator("scale", ("x", "scale", "bias", "bias_after_scale"))
    powered = _describe_operator("pow", ("x", "y"))

    @functools.wraps(original)
    def call(x: Any, y: Any) -> Any:
        if recorder.quiet or isinstance(y, Tensor):
            return recorder.call_operator(usual, original, (x, y), {})
        if not isinstance(y, (int, float, np.integer, np.floating)) or not recorder.is_real(x):
            return recorder.call_operator(usual, original, (x, y), {})
        number = float(y)
        if name in _SCALED:
            return recorder.call_operator(scaled, lambda *_: original(x, y), (x, *_SCALED[name](number)), {})
        if name == "__pow__":
            return recorder.call_operator(powered, lambda *_: original(x, y), (x, number), {})
        return recorder.call_operator(usual, original, (x, y), {})

    return call


def _wrap_getitem(recorder: PaddleRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return the wrapper of ``x[...]``: the index is recorded as plain numbers where it consists of them."""
    operator = _describe_operator("getitem", ("x", "index", "tensors"))

    @functools.wraps(original)
    def call(x: Any, index: Any) -> Any:
        if recorder.quiet:
            return original(x, index)
        entries = index if isinstance(index, tuple) else (index,)
        inside = [e for e in entries if isinstance(e, Tensor)]
        return recorder.call_operator(
            operator, lambda *_: original(x, index), (x, [_entry(e) for e in entries], inside), {}
        )

    return call


def _entry(entry: Any) -> Any:
    """An entry of an index as plain data: a number, ``[start, stop, step]``, or a word."""
    if isinstance(entry, (bool, np.bool_)):
        return "bool"
    if isinstance(entry, (int, np.integer)):
        return int(entry)
    if isinstance(entry, slice):
        parts = (entry.start, entry.stop, entry.step)
        plain = all(p is None or (isinstance(p, (int, np.integer)) and not isinstance(p, bool)) for p in parts)
        return [None if p is None else int(p) for p in parts] if plain else "slice"
    if entry is Ellipsis:
        return "..."
    return "None" if entry is None else "values"
