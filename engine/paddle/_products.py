"""``paddle.cross``, ``paddle.outer``, ``paddle.tensordot``, ``paddle.cdist``, …: products, distances, combinations."""

from __future__ import annotations

import builtins
import itertools
import math
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ShapeError, UsageError
from gradtool.engine.core.value import AnyTensor

from ._arguments import RefusedValue, integer, tensor, tensors
from ._creation import meshgrid, ones_like, to_tensor, zeros
from ._dispatch import apply
from ._gather import index_select
from ._linalg import bmm, matmul
from ._manipulation import concat, expand, flatten, reshape, stack, transpose, unsqueeze
from ._math import abs, multiply, pow, scale
from ._reduction import norm, sum
from ._search import where
from ._sizes import known


def cross(x: Any, y: Any, axis: int | None = 9, name: str | None = None) -> AnyTensor:
    """The vectors at right angles to those of *x* and *y* along *axis*, by default the first with three elements.

    Raises:
        ShapeError: the shapes differ, or no dimension has three elements (a ValueError).
    """
    place = "paddle.cross"
    operands = tensor(x, "x", place), tensor(y, "y", place)
    axis = 9 if axis is None else axis
    return apply("cross", *operands, attrs={"dim": integer(axis, "axis", place)}, name=name)  # type: ignore[no-any-return]


def outer(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> AnyTensor:
    """The products of each element of *x* with each of *y*."""
    x, y = tensor(x, "x", "paddle.outer"), tensor(y, "y", "paddle.outer")
    from ._short_names import delivered

    result = multiply(reshape(x, [-1, 1]), reshape(y, [1, -1]), name)
    return delivered(result, out)  # type: ignore[no-any-return]


def inner(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """The sums of products over the last dimensions of both; with a scalar, the product."""
    x, y = tensor(x, "x", "paddle.inner"), tensor(y, "y", "paddle.inner")
    if 1 in (x.spec.count, y.spec.count):
        return multiply(x, y, name)
    if -1 not in (x.shape[-1], y.shape[-1]) and x.shape[-1] != y.shape[-1]:
        raise ShapeError(
            "paddle.inner: after performing an optional transpose, Input X's last dim should be equal to Y's last dim "
            f"for multiplication prerequisites. But received X's shape: {list(x.shape)}, Y's shape: {list(y.shape)}."
        )
    return _contracted(x, y, [x.ndim - 1], [y.ndim - 1])


def mv(x: Any, vec: Any, name: str | None = None) -> AnyTensor:
    """The product of a matrix and a vector."""
    kinds = ["float16", "bfloat16", "float32", "float64"]
    x, vec = tensor(x, "x", "paddle.mv", kinds), tensor(vec, "vec", "paddle.mv", [*kinds])
    if x.dtype is not vec.dtype:
        raise DtypeError(f"paddle.mv: x is {x.dtype.name} and vec {vec.dtype.name}; they must be of one type.")
    return apply("mv", x, vec, name=name)  # type: ignore[no-any-return]


def kron(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """Kronecker's product: *x* with each element replaced by its product with all of *y*."""
    x, y = tensor(x, "x", "paddle.kron"), tensor(y, "y", "paddle.kron")
    size = builtins.max(x.ndim, y.ndim)
    x, y = (unsqueeze(v, [*range(size - v.ndim)]) if v.ndim < size else v for v in (x, y))
    wide = multiply(unsqueeze(x, [2 * i + 1 for i in range(size)]), unsqueeze(y, [2 * i for i in range(size)]), name)
    for i in range(size):
        wide = flatten(wide, i, i + 1)
    return wide


def baddbmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None) -> AnyTensor:
    """``beta·input + alpha·(x @ y)`` of batches of matrices; *input* is broadcast."""
    product = bmm(x, y, name)
    return scale(tensor(input, "input", "paddle.baddbmm"), beta) + scale(product, alpha)  # type: ignore[no-any-return]


def tensordot(x: Any, y: Any, axes: Any = 2, name: str | None = None) -> AnyTensor:
    """The sums of products over some dimensions of both.

    Args:
        axes: how many: the last of *x* and the first of *y*; or which, a list for both or a list for each.

    Raises:
        RefusedValue: the dimensions differ (an AssertionError).
    """
    place = "paddle.tensordot"
    x, y = tensor(x, "x", place), tensor(y, "y", place)
    if isinstance(axes, int):
        firsts, seconds = [*range(x.ndim - axes, x.ndim)], [*range(axes)]
        if axes < 0 or axes > builtins.min(x.ndim, y.ndim):
            raise RefusedValue(f"{place}: axes must be from 0 to {builtins.min(x.ndim, y.ndim)}, but received {axes}.")
    else:
        firsts, seconds = _both(axes)
    for a, b in zip(firsts, seconds, strict=False):
        if 1 in (x.shape[a], y.shape[b]):  # a size of one serves every other
            size = builtins.max(x.shape[a], y.shape[b])
            x, y = (v if v.shape[i] == size else _repeated(v, i, size) for v, i in ((x, a), (y, b)))
        if x.shape[a] != y.shape[b] and -1 not in (x.shape[a], y.shape[b]):
            raise RefusedValue(
                f"The dimensional size for 'x' and 'y' in {place} should match each other, but 'x' has size "
                f"{x.shape[a]} in dim {a} while 'y' has size {y.shape[b]} in dim {b}."
            )
    return _contracted(x, y, [a % x.ndim for a in firsts], [b % y.ndim for b in seconds])


def _both(axes: Any) -> tuple[list[int], list[int]]:
    """The dimensions of either tensor; where one list is shorter, the other's go on."""
    axes = axes.tolist() if hasattr(axes, "tolist") else axes
    if not axes or not isinstance(axes[0], (list, tuple, AnyTensor)):
        return [*axes], [*axes]
    lists = [[*(v.tolist() if hasattr(v, "tolist") else v)] for v in axes]
    first, second = lists if len(lists) > 1 else (lists[0], lists[0])
    longer = first if len(first) > len(second) else second
    return first + longer[len(first) :], second + longer[len(second) :]


def _contracted(x: AnyTensor, y: AnyTensor, firsts: list[int], seconds: list[int]) -> AnyTensor:
    """The sums over these dimensions by one product of matrices."""
    left = [i for i in range(x.ndim) if i not in firsts]
    right = [i for i in range(y.ndim) if i not in seconds]
    rows, columns = _size([x.shape[i] for i in left]), _size([y.shape[i] for i in right])
    inner = _size([x.shape[i] for i in firsts])
    a = reshape(_ordered(x, [*left, *firsts]), [rows, inner])
    b = reshape(_ordered(y, [*seconds, *right]), [inner, columns])
    return reshape(matmul(a, b), [*(x.shape[i] for i in left), *(y.shape[i] for i in right)])


def _repeated(x: AnyTensor, axis: int, size: int) -> AnyTensor:
    """*x* with its one slice along *axis* as often as *size* says."""
    return expand(x, [size if i == axis % x.ndim else n for i, n in enumerate(x.shape)])


def _size(dims: list[int]) -> int:
    return -1 if -1 in dims else math.prod(dims)


def _ordered(x: AnyTensor, order: list[int]) -> AnyTensor:
    return x if order == [*range(x.ndim)] else transpose(x, order)


# -- distances --------------------------------------------------------------------------------------------------------


def dist(x: Any, y: Any, p: float = 2, name: str | None = None) -> AnyTensor:
    """The norm of order *p* of ``x - y``, which are broadcast against each other."""
    kinds = ["float16", "bfloat16", "float32", "float64"]
    return norm(tensor(x, "x", "paddle.dist", kinds) - tensor(y, "y", "paddle.dist", kinds), float(p))


def cdist(
    x: Any,
    y: Any,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
    name: str | None = None,
) -> AnyTensor:
    """The distances of each row of *x* from each row of *y*.

    Args:
        p: the order of the norm, not negative.
        compute_mode: accepted for compatibility; distances are always computed from differences, which are exact.

    Raises:
        RefusedValue: shapes that do not fit, a negative *p* (an AssertionError).
    """
    place = "paddle.cdist"
    x, y = tensor(x, "x", place), tensor(y, "y", place)
    if x.ndim < 2 or y.ndim < 2:
        raise RefusedValue(f"The x and y must be at least 2-dimensional in {place}, but are {x.ndim}, {y.ndim}.")
    if x.shape[-1] != y.shape[-1]:
        raise RefusedValue(
            f"The x and y must have same last dimension, But received Input x's last dimension is {x.shape[-1]}, "
            f"Input y's last dimension is {y.shape[-1]}."
        )
    if p < 0:
        raise RefusedValue(f"The p must be greater than or equal to 0, But received p is {p}.")
    modes = [f"{way}use_mm_for_euclid_dist" for way in ("", "donot_")]
    if compute_mode not in (*modes, f"{modes[0]}_if_necessary"):
        raise RefusedValue(f"{place}: compute_mode {compute_mode!r} is none of {modes}.")
    return norm(unsqueeze(x, -2) - unsqueeze(y, -3), float(p), -1)


def pdist(x: Any, p: Any = 2.0, name: str | None = None) -> AnyTensor:
    """The distances of each row of the matrix *x* from each later one."""
    x = tensor(x, "x", "paddle.pdist")
    if x.ndim != 2:
        raise RefusedValue(f"The x must be 2-dimensional in paddle.pdist, but received {list(x.shape)}.")
    pairs = [*itertools.combinations(range(x.shape[0]), 2)]
    firsts, seconds = (to_tensor([pair[i] for pair in pairs], "int64") for i in range(2))
    order = 2.0 if p is None or p == "fro" else float(p)
    return norm(index_select(x, firsts) - index_select(x, seconds), order, -1)


def renorm(x: Any, p: float, axis: int, max_norm: float) -> AnyTensor:
    """*x* with the slices along *axis* whose norm of order *p* is above *max_norm* made as long as that."""
    place = "paddle.renorm"
    x = tensor(x, "x", place)
    at = integer(axis, "axis", place)
    if not -x.ndim <= at < x.ndim:
        raise UsageError(f"{place}: the axis:{axis} should be less then the shape's size {x.ndim}:{list(x.shape)}.")
    others = [i for i in range(x.ndim) if i != at % x.ndim]
    # The square of real numbers is smooth at 0, where their size is not.
    sizes = pow(x, 2) if p == 2 and not x.dtype.is_complex else pow(abs(x), p)
    sums = sum(sizes, others, keepdim=True) if others else sizes
    above = pow(sums, 1.0 / p) > max_norm
    # what is short enough has no part in the gradient: the root has no slope at 0
    lengths = pow(where(above, sums, ones_like(sums)), 1.0 / p)
    return x * where(above, max_norm / lengths, ones_like(lengths))  # type: ignore[no-any-return]


# -- all of several ---------------------------------------------------------------------------------------------------


def block_diag(inputs: Any, name: str | None = None) -> AnyTensor:
    """The matrix with the matrices *inputs* on its diagonal; vectors are rows."""
    place = "paddle.block_diag"
    blocks = []
    for v in tensors(inputs, "inputs", place):
        if v.ndim > 2:
            raise UsageError(
                f"For 'block_diag', the dimension of each elements in 'inputs' must be 0, 1, or 2, but got {v.ndim}"
            )
        blocks.append(v if v.ndim == 2 else reshape(v, [1, -1]))
    total = builtins.sum(b.shape[1] for b in blocks)
    rows, before = [], 0
    for b in blocks:
        behind = total - before - b.shape[1]
        sides = [zeros([b.shape[0], n], b.dtype) for n in (before, behind)]
        rows.append(concat([sides[0], b, sides[1]], 1))
        before += b.shape[1]
    return concat(rows, 0)


def cartesian_prod(x: Any, name: str | None = None) -> AnyTensor:
    """All combinations of an element of each of the vectors in *x*, a row each."""
    vectors = tensors(x, "x", "paddle.cartesian_prod")
    for v in vectors:
        if v.ndim != 1:
            raise UsageError(f"paddle.cartesian_prod: Expect a 1-D vector, but got shape {list(v.shape)}")
    if len(vectors) == 1:
        return vectors[0]
    return stack([flatten(v) for v in meshgrid(*vectors)], axis=1)


def combinations(x: Any, r: int = 2, with_replacement: bool = False, name: str | None = None) -> AnyTensor:
    """All choices of *r* elements of the vector *x* in their order, a row each.

    Args:
        with_replacement: whether an element may be chosen several times.
    """
    place = "paddle.combinations"
    x = tensor(x, "x", place)
    if x.ndim != 1:
        raise ArgumentTypeError(f"Expect a 1-D vector, but got x shape {list(x.shape)} in {place}")
    if not isinstance(r, int) or r < 0:
        raise UsageError(f"Expect a non-negative int, but got r={r} in {place}")
    if not r:
        return zeros([0], x.dtype)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = [*choose(range(known(x, 0, place)), r)]
    places = to_tensor([*itertools.chain(*rows)], "int64") if rows else zeros([0], "int64")
    return reshape(index_select(x, places), [len(rows), r])


def vander(x: Any, n: int | None = None, increasing: bool = False, name: str | None = None) -> AnyTensor:
    """Vandermonde's matrix: the powers of the elements of the vector *x* as columns.

    Args:
        n: how many; as many as there are elements when None.
        increasing: from the power 0 on, instead of down to it.
    """
    place = "paddle.vander"
    x = tensor(x, "x", place)
    if x.ndim != 1:
        raise UsageError(f"The input of x is expected to be a 1-D Tensor.But now the dims of Input(X) is {x.ndim}.")
    count = x.shape[0] if n is None else n
    if count < 0:
        raise UsageError(f"{place}: N must be non-negative.")
    if not count:
        return zeros([x.shape[0], 0], x.dtype)
    columns = [ones_like(x)]
    for _ in range(count - 1):
        columns.append(columns[-1] * x)
    return stack(columns if increasing else columns[::-1], axis=1)
