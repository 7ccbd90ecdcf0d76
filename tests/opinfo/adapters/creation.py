"""Adapters: creation, windows."""

from __future__ import annotations

from typing import Any

from tests.opinfo.table import adapter, needs


@adapter("arange")
def _(paddle: Any, *args: Any, dtype: Any = None, **ends: Any) -> Any:
    return paddle.arange(*args, **ends, dtype=dtype)


@adapter("linspace", "linspace.tensor_overload")
def _(paddle: Any, start: Any, end: Any, steps: Any, dtype: Any = None) -> Any:
    return paddle.linspace(start, end, steps, dtype)


@adapter("logspace", "logspace.tensor_overload")
def _(paddle: Any, start: Any, end: Any, steps: Any, base: Any = 10.0, dtype: Any = None) -> Any:
    return paddle.logspace(start, end, steps, base, dtype)


@adapter("eye")
def _(paddle: Any, n: Any, m: Any = None, dtype: Any = None) -> Any:
    return paddle.eye(n, m, dtype)


@adapter("full")
def _(paddle: Any, shape: Any, value: Any, dtype: Any = None) -> Any:
    return paddle.full(shape, value, dtype)


for _name in ("zeros", "ones"):

    @adapter(_name)
    def _(paddle: Any, shape: Any, dtype: Any = None, function: str = _name) -> Any:
        return getattr(paddle, function)(shape, dtype)

    @adapter(f"{_name}_like")
    def _(paddle: Any, x: Any, dtype: Any = None, function: str = _name) -> Any:
        return getattr(paddle, f"{function}_like")(x, dtype)

    @adapter(f"new_{_name}")
    def _(paddle: Any, x: Any, shape: Any, dtype: Any = None, function: str = _name) -> Any:
        return getattr(x, f"new_{function}")(shape, dtype=dtype)


@adapter("full_like")
def _(paddle: Any, x: Any, value: Any, dtype: Any = None) -> Any:
    return paddle.full_like(x, value, dtype)


@adapter("new_full")
def _(paddle: Any, x: Any, shape: Any, value: Any, dtype: Any = None) -> Any:
    return x.new_full(shape, value, dtype=dtype)


@adapter("fill")
def _(paddle: Any, x: Any, value: Any) -> Any:
    return paddle.full_like(x, value)


@adapter("zero_")
def _(paddle: Any, x: Any) -> Any:
    return x.clone().zero_()


@adapter("linalg.vander")
def _(paddle: Any, x: Any, N: Any = None) -> Any:
    needs(len(x.shape) == 1, "batches of vectors")
    return paddle.vander(x, N, increasing=True)


for _name in ("bartlett", "blackman", "hamming", "hann", "kaiser"):

    @adapter(f"signal.windows.{_name}")
    def _(paddle: Any, n: Any, sym: Any = True, dtype: Any = None, name: str = _name, **shape: Any) -> Any:
        return getattr(paddle, f"{name}_window")(n, not sym, dtype=dtype or "float32", **shape)
