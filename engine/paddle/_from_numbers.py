"""``paddle.asarray``, ``paddle.FloatTensor``, ``paddle.logspace``, …: further ways to make tensors from numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, tensor
from ._creation import arange, cast, full, linspace, to_tensor
from ._math import pow
from ._short_names import delivered


def as_tensor(
    data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> AnyTensor:
    """A tensor of its own with the values of *data*, also where that is a tensor: no gradient flows back into it."""
    return to_tensor(data, dtype, stop_gradient=not requires_grad)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> AnyTensor:
    """A tensor of its own with the values of *obj*, whatever *copy* says."""
    return as_tensor(obj, dtype, device, requires_grad)


def from_numpy(ndarray: Any) -> AnyTensor:
    """A tensor with the values of a NumPy array."""
    if not hasattr(ndarray, "__array_interface__"):
        raise ArgumentTypeError(f"paddle.from_numpy takes an array of NumPy, but received {type(ndarray).__name__}.")
    return to_tensor(ndarray)


def _typed(name: str, kind: str) -> Callable[..., AnyTensor]:
    """``paddle.FloatTensor`` and the like: of numbers, or of that many dimensions with values of no meaning (zeros)."""

    def make(*args: Any, **named: Any) -> AnyTensor:
        if not args:
            return full([0], 0, kind)
        first = args[0]
        if isinstance(first, int) and not isinstance(first, bool):
            return full([*args], 0, kind)
        return cast(to_tensor(first), kind)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"A {kind} tensor with the values of a list, an array or a tensor; of zeros, where sizes are given."
    return make


BFloat16Tensor = _typed("BFloat16Tensor", "bfloat16")
BoolTensor = _typed("BoolTensor", "bool")
ByteTensor = _typed("ByteTensor", "uint8")
CharTensor = _typed("CharTensor", "int8")
DoubleTensor = _typed("DoubleTensor", "float64")
FloatTensor = _typed("FloatTensor", "float32")
HalfTensor = _typed("HalfTensor", "float16")
IntTensor = _typed("IntTensor", "int32")
LongTensor = _typed("LongTensor", "int64")
ShortTensor = _typed("ShortTensor", "int16")


def range(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    dtype: Any = None,
    *,
    out: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
) -> AnyTensor:
    """The numbers from *start* to *end*, which is one of them, *step* apart; ``arange`` leaves the end out."""
    if end is None:
        start, end = 0, start
    made = arange(start, end + step, step, dtype=state.default_dtype() if dtype is None else dtype, name=name)
    count = int((end - start) // step) + 1 if not isinstance(end, AnyTensor) else None
    made = made[:count]
    made.stop_gradient = not requires_grad
    return delivered(made, out)  # type: ignore[no-any-return]


def logspace(
    start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: Any = None, name: str | None = None
) -> AnyTensor:
    """*num* powers of *base*, whose exponents are evenly spaced from *start* to *stop*; all whole for a whole dtype."""
    kind = dtype_of(dtype) if dtype is not None else dtype_of(state.default_dtype())
    if kind.name not in ("int32", "int64", "float32", "float64"):
        raise UsageError(f"paddle.logspace: dtype must be int32, int64, float32 or float64, but is {kind.name}.")
    if kind.name in INTEGERS:  # both ends lose what stands behind the point, and the base does
        start, stop, base = (cast(v, kind) if isinstance(v, AnyTensor) else int(v) for v in (start, stop, base))
    exponents = linspace(start, stop, num, "float64")
    root = cast(base, "float64") if isinstance(base, AnyTensor) else full([], base, "float64")
    powers = pow(root, exponents)
    return cast(powers, kind)


def tolist(x: Any) -> Any:
    """The elements as numbers in nested lists."""
    return tensor(x, "x", "paddle.tolist").tolist()
