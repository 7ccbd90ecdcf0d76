"""``paddle.empty``, ``paddle.empty_like``: tensors to be overwritten."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor

from ._arguments import dims, tensor
from ._creation import shape as shape_of
from ._dispatch import apply


def empty(shape: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """A tensor of *shape* whose values do not matter; they are zeros, so that runs can be repeated.

    Args:
        shape: numbers and variables, or one variable.
        dtype: the default dtype when None.
    """
    if isinstance(shape, Integral):
        shape = [shape]
    size = dims(shape, "shape", "paddle.empty", ndim=0)
    kind = state.default_dtype() if dtype is None else dtype_of(dtype)
    attrs = {"shape": size.numbers, "dtype": kind.code}
    return _made("empty", size.whole, size.parts, attrs, name)


def empty_like(x: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """A tensor in the shape of *x*, and in its dtype unless another one is given, whose values do not matter."""
    x = tensor(x, "x", "paddle.empty_like")
    kind = x.dtype if dtype is None else dtype_of(dtype)
    return _made("empty_like", shape_of(x), (), {"shape": [], "dtype": kind.code}, name)


def _made(key: str, whole: Any, parts: Any, attrs: dict[str, Any], name: str | None) -> AnyTensor:
    out = apply("empty", whole, parts, attrs=attrs, key=key, name=name)
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]
