"""Names of other packages that Paddle takes too: ``paddle.sub``, ``paddle.cat``, ``paddle.permute``, …"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.value import AnyTensor

from ._along import put_along_axis
from ._arguments import INTEGERS, RefusedValue, integer, tensor
from ._complex import as_complex, as_real
from ._creation import cast
from ._dispatch import apply, write
from ._gather import take_along_axis
from ._logic import equal, greater_equal, greater_than, less_equal, less_than, not_equal
from ._manipulation import concat, flatten, slice, transpose
from ._math import clip, divide, floor_divide, multiply, subtract
from ._search import nonzero, sort


def delivered(result: Any, out: Any) -> Any:
    """*result*, or *out* with its values where the caller names a tensor for them."""
    if out is None:
        return result
    if list(out.shape) == list(result.shape) and out.dtype is result.dtype:
        return write(out, result, "out")
    out.array = result.array
    out.version.wrote("out")
    return write(out, result, "out")


def _comparison(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def compare(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> AnyTensor:
        return delivered(function(x, y, name), out)  # type: ignore[no-any-return]

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f":func:`{function.__name__}` by a shorter name; *out* is a tensor for the result."
    return compare


eq = _comparison("eq", equal)
ne = _comparison("ne", not_equal)
lt = _comparison("lt", less_than)
le = _comparison("le", less_equal)
gt = _comparison("gt", greater_than)
ge = _comparison("ge", greater_equal)
greater = _comparison("greater", greater_than)
mul = _comparison("mul", multiply)


def sub(x: Any, y: Any, name: str | None = None, *, alpha: Any = 1, out: Any = None) -> AnyTensor:
    """``x - alpha·y``."""
    return delivered(subtract(x, y if _is_one(alpha) else y * alpha, name), out)  # type: ignore[no-any-return]


def _is_one(alpha: Any) -> bool:
    return not isinstance(alpha, AnyTensor) and alpha == 1


def div(x: Any, y: Any, name: str | None = None, *, rounding_mode: str | None = None, out: Any = None) -> AnyTensor:
    """``x / y``.

    Args:
        rounding_mode: ``"floor"`` rounds towards minus infinity, ``"trunc"`` towards 0.
    """
    if rounding_mode is None:
        return delivered(divide(x, y, name), out)  # type: ignore[no-any-return]
    if rounding_mode == "floor":
        return delivered(floor_divide(x, y, name), out)  # type: ignore[no-any-return]
    if rounding_mode != "trunc":
        raise UsageError(f"paddle.div: rounding_mode must be None, 'trunc' or 'floor', but received {rounding_mode!r}.")
    from ._parts import trunc

    whole = x.dtype.is_integer
    quotient = trunc(divide(x, y, name))
    quotient.stop_gradient = True
    return delivered(cast(quotient, x.dtype) if whole else quotient, out)  # type: ignore[no-any-return]


def true_divide(input: Any, other: Any, *, out: Any = None) -> AnyTensor:
    """``input / other``."""
    return delivered(divide(input, other), out)  # type: ignore[no-any-return]


def clamp(x: Any, min: Any = None, max: Any = None, name: str | None = None, *, out: Any = None) -> AnyTensor:
    """Each element, moved to the nearer bound where it lies outside, as :func:`clip`."""
    return delivered(clip(x, min, max, name), out)  # type: ignore[no-any-return]


def cat(x: Any, axis: Any = 0, name: str | None = None, *, out: Any = None) -> AnyTensor:
    """Tensors joined along *axis*, as :func:`concat`."""
    return delivered(concat(x, axis, name), out)  # type: ignore[no-any-return]


concatenate = cat


def permute(input: Any, *dims: Any) -> AnyTensor:
    """The dimensions of *input* in the order *dims*: a list, or numbers one by one."""
    order = dims[0] if len(dims) == 1 and isinstance(dims[0], (list, tuple)) else dims
    return transpose(input, [*order])


def swapaxes(x: Any, *dims: Any, perm: Any = None) -> AnyTensor:
    """The dimensions of *x* in the order *perm*, a list; or two dimensions exchanged."""
    if perm is not None or len(dims) == 1:
        return transpose(x, dims[0] if perm is None else perm)
    x = tensor(x, "x", "paddle.swapaxes")
    order = [*range(x.ndim)]
    first, second = (_dimension(d, x, "paddle.swapaxes") for d in dims)
    order[first], order[second] = second, first
    return transpose(x, order)


swapdims = swapaxes


def _dimension(axis: Any, x: AnyTensor, where: str) -> int:
    at = integer(axis, "axis", where)
    if not -max(x.ndim, 1) <= at < max(x.ndim, 1):
        raise ShapeError(f"{where}: dimension {at} is out of range for '{x.name}' of shape {list(x.shape)}.")
    return at % max(x.ndim, 1)


def ravel(input: Any) -> AnyTensor:
    """All elements in a row."""
    return flatten(input)


def narrow(input: Any, dim: int, start: Any, length: int) -> AnyTensor:
    """*length* slices of *input* along *dim*, from *start* on."""
    where = "paddle.narrow"
    x = tensor(input, "input", where)
    at = _dimension(dim, x, where)
    if isinstance(start, AnyTensor) and (start.dtype.name not in INTEGERS or start.ndim):
        raise RefusedValue(
            f"{where}: start must be an 0-dim integral Tensor, but is {start.dtype.name}{list(start.shape)}."
        )
    first = int(start) if isinstance(start, AnyTensor) else integer(start, "start", where)
    size = x.shape[at]
    if first < 0:
        first += size
    if length < 0 or not 0 <= first <= first + length <= size:
        raise UsageError(f"{where}: start {start} and length {length} are not within the {size} of dimension {at}.")
    return slice(x, [at], [first], [first + length])


def ger(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> AnyTensor:
    """Products of each element of *x* with each of *y*, as :func:`outer`."""
    from ._products import outer

    return delivered(outer(x, y, name), out)  # type: ignore[no-any-return]


def msort(input: Any, *, out: Any = None) -> AnyTensor:
    """The elements sorted along the first dimension."""
    return delivered(sort(input, 0), out)  # type: ignore[no-any-return]


def softmax(input: Any, dim: int | None = None, dtype: Any = None, *, out: Any = None) -> AnyTensor:
    """Shares of ``exp(x)`` along *dim*: the first dimension of none, one or three, otherwise the second when None."""
    x = tensor(input, "input", "paddle.softmax")
    axis = dim if dim is not None else int(x.ndim not in (0, 1, 3))
    x = x if dtype is None else cast(x, dtype)
    return delivered(apply("softmax", x, attrs={"axis": axis}), out)  # type: ignore[no-any-return]


def take_along_dim(arr: Any, indices: Any, axis: int, broadcast: bool = True, *, out: Any = None) -> AnyTensor:
    """The elements that *indices* name along *axis*, as ``take_along_axis``."""
    return delivered(take_along_axis(arr, indices, axis, broadcast), out)  # type: ignore[no-any-return]


def view_as_real(input: Any) -> AnyTensor:
    """The real and the imaginary part of each complex number, in a new last dimension."""
    return as_real(input)


def view_as_complex(input: Any) -> AnyTensor:
    """Complex numbers from the pairs in the last dimension."""
    return as_complex(input)


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> AnyTensor:
    """*input* with the elements of *src* added at the places that *index* names along *dim*."""
    return _scattered("scatter_add", input, dim, index, src, "add", True)


REDUCES = {"sum": "add", "prod": "multiply", "mean": "mean", "amin": "amin", "amax": "amax"}
"""What they are called here, and by :func:`put_along_axis`."""


def scatter_reduce(input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> AnyTensor:
    """*input* with the elements that *index* names along *dim* combined with those of *src*.

    Args:
        reduce: ``sum``, ``prod``, ``mean``, ``amin`` or ``amax``.
        include_self: whether the elements of *input* take part.
    """
    if reduce not in REDUCES:
        raise UsageError(f"paddle.scatter_reduce: reduce must be one of {', '.join(REDUCES)}, but is {reduce!r}.")
    return _scattered("scatter_reduce", input, dim, index, src, REDUCES[reduce], include_self)


def _scattered(name: str, x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> AnyTensor:
    """*src* may be larger than *index*: the elements at the coordinates of *index* count."""
    where = f"paddle.{name}"
    index, src = tensor(index, "index", where, INTEGERS), tensor(src, "src", where)
    if src.ndim == index.ndim and src.shape != index.shape:
        src = slice(src, [*range(src.ndim)], [0] * src.ndim, [*index.shape])
    return put_along_axis(x, index, src, dim, reduce, include_self, broadcast=False)


def argwhere(input: Any) -> AnyTensor:
    """The coordinates of the elements that are not zero, one row each."""
    return nonzero(input)  # type: ignore[no-any-return]
