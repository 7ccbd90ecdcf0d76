"""Trace of what the kernels of NumPy call: the kernels run once over values that represent arrays.

A :class:`Traced` value has a shape and a type and no numbers. NumPy hands every ufunc that is called with one to it
(``__array_ufunc__``), with its reductions and a few functions beside them, and so what is written down is what NumPy
computes, in its types and in its order. Whatever else a kernel does with one (looking into it, picking elements,
writing to an operand) raises :class:`Untraceable`, and the operator stays NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from .layout import Layout, NoLayout, broadcast_layout, compose, full, normal, size
from .nodes import FLEXIBLE, SUMS, GroupValue, Untraceable
from .parts import join, join_sums, part_of

TYPES = tuple(np.dtype(name) for name in ("float32", "float64", "bool", "int32", "int64"))
"""What compiled code computes with; operators of other types stay NumPy's."""

CONSTANT = 1 << 14
"""Elements up to which an array of one number is taken for that number."""

REDUCED = ("add", "maximum", "minimum")

_INTO_FLOAT = "fd"


def _refuse(what: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise Untraceable(what)

    return refuse


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """Stands for an array.

    Args:
        node: how it is computed.
        shape: as kernels see it.
        operand: whether it is an operand's own array or a view of something, and must not be written to.
        gaps: whether it is a view whose elements lie apart, as those of a part of something wider do.
        cut: of such a part, the wider one as three dimensions, and which elements of the second it has.
    """

    __slots__ = ("cut", "gaps", "node", "operand", "shape")

    def __init__(self, node: GroupValue, shape: Sequence[int], operand: bool = False, gaps: bool = False) -> None:
        self.node = node
        self.shape = tuple(int(n) for n in shape)
        self.operand = operand
        self.gaps = gaps
        self.cut: tuple[tuple[int, int, int], int, int] | None = None

    # -- what kernels ask ---------------------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.node.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def real(self) -> Traced:
        return self

    __array__ = __bool__ = __float__ = __int__ = __index__ = _refuse("values")
    __len__ = __iter__ = _refuse("elements")

    def __getattr__(self, name: str) -> NoReturn:
        raise Untraceable(name)

    # -- what they compute ---------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        target = out[0] if isinstance(out, tuple) else out
        if target is not None and not isinstance(target, Traced):
            raise Untraceable("out")
        if method == "reduce" and target is None:
            return _reduce(ufunc, *inputs, **kwargs)
        if ufunc is np.vecdot and method == "__call__" and target is None and not kwargs:
            return _products(*inputs)
        if method != "__call__" or ufunc.nout != 1 or ufunc.nin > 3 or kwargs.keys() - {"casting", "subok"}:
            raise Untraceable(f"{ufunc.__name__}.{method}")
        result = _call(ufunc, inputs)
        return result if target is None else _write(target, result)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function.__name__ not in FUNCTIONS:
            raise Untraceable(function.__name__)
        return FUNCTIONS[function.__name__](*args, **kwargs)

    def __pow__(self, exponent: Any) -> Any:
        # NumPy's operator computes these powers of floats by other functions.
        if type(exponent) in (int, float) and self.dtype.kind == "f":
            simple = {1: np.positive, -1: np.reciprocal, 0.5: np.sqrt, 2: np.square}.get(exponent)
            if simple is not None:
                return simple(self)
            if exponent == 0:
                raise Untraceable("power of 0")
        return np.power(self, exponent)

    def __ipow__(self, exponent: Any) -> Any:
        return _write(self, self**exponent)

    def astype(self, dtype: Any, copy: bool = True) -> Traced:
        wanted = np.dtype(dtype)
        same = wanted == self.dtype and not copy
        return Traced(_cast(self.node, wanted), self.shape, operand=same, gaps=self.gaps and same)

    def copy(self) -> Traced:
        return Traced(self.node, self.shape)

    def reshape(self, *shape: Any) -> Traced:
        wanted = [int(n) for n in (shape[0] if len(shape) == 1 and np.ndim(shape[0]) else shape)]
        if -1 in wanted:
            rest = -math.prod(wanted)
            wanted[wanted.index(-1)] = self.size // rest if rest else 0
        if math.prod(wanted) != self.size:
            raise Untraceable("reshape")
        self.operand = True  # two names for one array
        return Traced(self.node, wanted, operand=True, gaps=self.gaps)

    def squeeze(self, axis: Any = None) -> Traced:
        axes = range(self.ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
        dropped = {a % self.ndim for a in axes} if self.ndim else set()
        return self.reshape([n for i, n in enumerate(self.shape) if i not in dropped or n != 1])

    def __getitem__(self, index: Any) -> Traced:
        """Only with new dimensions and all elements of the others, a range of one, or one element of each row."""
        entries = list(index) if isinstance(index, tuple) else [index]
        if any(isinstance(e, Traced) for e in entries):
            (layout, nodes), (count, width) = _choose_elements(self, entries), self.shape
            rows = compose(normal([(count, True), (width, False)]), layout)
            return Traced(GroupValue("pick", tuple(nodes), self.dtype, rows, width), (count,))
        whole = slice(None)
        if all(isinstance(e, slice) for e in entries):
            return self._range(entries)
        if any(not (e is None or e is Ellipsis or (isinstance(e, slice) and e == whole)) for e in entries):
            raise Untraceable("index")
        missing = self.ndim - sum(isinstance(e, slice) for e in entries)
        if Ellipsis not in entries:
            entries.append(Ellipsis)
        at = entries.index(Ellipsis)
        entries[at : at + 1] = [whole] * missing
        sizes = iter(self.shape)
        return self.reshape([1 if e is None else next(sizes) for e in entries])

    def _range(self, entries: Sequence[slice]) -> Traced:
        """With a range of elements along one of the dimensions."""
        if len(entries) > self.ndim:
            raise Untraceable("index")
        ranges = [range(n)[e] for e, n in zip(entries, self.shape, strict=False)]
        cut = [i for i, r in enumerate(ranges) if r != range(self.shape[i])]
        if not cut:
            return self.reshape(self.shape)
        if len(cut) > 1 or ranges[cut[0]].step != 1 or not ranges[cut[0]]:
            raise Untraceable("index")
        return _slice(self, cut[0], ranges[cut[0]].start, ranges[cut[0]].stop)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Only one element of each row of a matrix."""
        if self.operand:
            raise Untraceable("elements")
        layout, nodes = _choose_elements(self, list(index) if isinstance(index, tuple) else [index])
        here = Traced(GroupValue("hot", (nodes[1],), np.dtype(bool), layout, self.shape[1]), self.shape)
        operands = [here, _operand(value, self.dtype)[:, None], self]
        self.node = _elementwise("select", operands, (here.dtype, self.dtype, self.dtype), self.dtype).node

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return _reduce(np.add, self, axis, dtype, out, keepdims)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return _reduce(np.maximum, self, axis, None, out, keepdims)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return _reduce(np.minimum, self, axis, None, out, keepdims)


def _slice(x: Traced, axis: int, begin: int, end: int) -> Traced:
    """The elements from *begin* to *end* of *x* along *axis*."""
    if x.gaps or x.node.op == "joined":
        raise Untraceable("part of a part")
    rows, after = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    node = x.node if x.node.op != "leaf" else _place(x.node, full(x.size))
    x.operand = True
    shape = (*x.shape[:axis], end - begin, *x.shape[axis + 1 :])
    dims = (rows, x.shape[axis], after)
    part = Traced(part_of(node, dims, begin, end), shape, operand=True, gaps=True)
    part.cut = dims, begin, end
    return part


def _write(target: Traced, result: Traced) -> Traced:
    """*result*, written over *target*."""
    if target.operand or target.shape != result.shape:
        raise Untraceable("out")
    target.node = _cast(result.node, target.dtype)
    return target


def _choose_elements(x: Traced, index: Sequence[Any]) -> tuple[Layout, list[GroupValue]]:
    """The layout of the matrix *x*, it, and which element of each row is meant: ``[numpy.arange(rows), elements]``."""
    if len(index) != 2 or x.ndim != 2 or 1 in x.shape or not isinstance(index[1], Traced):
        raise Untraceable("index")
    rows, elements = index
    if elements.node.op != "leaf" or elements.dtype.kind != "i" or elements.shape != x.shape[:1]:
        raise Untraceable("index")
    if not isinstance(rows, np.ndarray) or not np.array_equal(rows, np.arange(x.shape[0])):
        raise Untraceable("index")
    return _align([x, elements[:, None]], x.shape)


def _call(ufunc: np.ufunc, inputs: Sequence[Any]) -> Traced:
    """Return the result of a ufunc, computed in the types that NumPy would choose."""
    dtypes = ufunc.resolve_dtypes((*map(_type_of, inputs), None))
    if any(d not in TYPES for d in dtypes):
        raise Untraceable("types")
    operands = [_operand(v, d) for v, d in zip(inputs, dtypes, strict=False)]
    return _elementwise(ufunc.__name__, operands, dtypes[:-1], dtypes[-1])


def _type_of(value: Any) -> Any:
    """As NumPy's promotion takes it: Python's numbers have no size."""
    if type(value) in (bool, int, float):
        return type(value) if type(value) is not bool else np.dtype(bool)
    if isinstance(value, (Traced, np.ndarray, np.generic)):
        return value.dtype
    raise Untraceable(type(value).__name__)


def _operand(value: Any, dtype: np.dtype[Any]) -> Traced:
    """*value* as something that nodes are made of."""
    if isinstance(value, Traced):
        return value
    array = np.asarray(value, dtype if type(value) in (bool, int, float) else None)
    if array.dtype not in TYPES or not 0 < array.size <= CONSTANT:
        raise Untraceable("constant")
    first = array.reshape(-1)[:1]
    if (
        array.size > 1
        and not (array.reshape(-1).view(np.uint8).reshape(-1, array.itemsize) == first.view(np.uint8)).all()
    ):
        raise Untraceable("constant")
    return Traced(GroupValue("constant", (), array.dtype, (), first[0]), array.shape)


def _elementwise(op: str, operands: Sequence[Traced], dtypes: Sequence[np.dtype[Any]], dtype: np.dtype[Any]) -> Traced:
    shape = np.broadcast_shapes(*[o.shape for o in operands])
    if 0 in shape:
        raise Untraceable("no elements")
    layout, args = _align(operands, shape)
    args = [_cast(a, d) for a, d in zip(args, dtypes, strict=True)]
    return Traced(GroupValue(op, tuple(args), dtype, layout), shape)


def _align(operands: Sequence[Traced], shape: Sequence[int]) -> tuple[Layout, list[GroupValue]]:
    """The layout of what is computed of *operands*, which are broadcast to *shape*, and their nodes in its domain."""
    parts = [broadcast_layout(o.shape, shape) for o in operands]
    count = math.prod(shape)
    # A domain may be larger than what is computed: rows' means are computed where the rows are.
    bases = [full(count)]
    for o, part in zip(operands, parts, strict=True):
        if part == full(count) and o.node.op not in FLEXIBLE and o.node.layout not in bases:
            bases.insert(0, o.node.layout)
    for base in bases:
        try:
            args = [_place_in(o.node, compose(part, base)) for o, part in zip(operands, parts, strict=True)]
        except NoLayout:
            continue
        return base, args
    raise Untraceable("layouts")


def _place(node: GroupValue, layout: Layout) -> GroupValue:
    if node.op == "constant" or not node.layout or node.layout == layout:
        return node  # a single number is the same everywhere
    if node.op != "leaf":
        raise NoLayout
    return GroupValue("leaf", (), node.dtype, layout, node.value)


def _place_in(node: GroupValue, layout: Layout) -> GroupValue:
    """*node* where it varies as *layout* says; what others have computed of small operands is computed there again."""
    return node if node.op == "constant" else _place(_widen(node, layout), layout)


def _widen(node: GroupValue, layout: Layout) -> GroupValue:
    """*node*, which is computed of operands alone, where there are more elements: once for each that it had."""
    if node.op in (*FLEXIBLE, *SUMS) or node.layout == layout or any(a.op not in FLEXIBLE for a in node.args):
        return node
    args = [_place(a, compose(a.layout, layout)) if a.layout else a for a in node.args]
    return GroupValue(node.op, tuple(args), node.dtype, layout, node.value)


def _cast(node: GroupValue, dtype: np.dtype[Any]) -> GroupValue:
    if node.dtype == dtype:
        return node
    if dtype not in TYPES or (node.dtype.kind == "f" and dtype.kind != "f") or dtype.kind == "b":
        raise Untraceable("cast")
    if node.op == "constant":
        with np.errstate(all="ignore"):
            return GroupValue("constant", (), dtype, (), node.value.astype(dtype))
    return GroupValue("cast", (node,), dtype, node.layout)


def _reduce(
    ufunc: np.ufunc,
    x: Traced,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Traced:
    if ufunc.__name__ not in REDUCED or dtype is not None or out is not None or where is not True:
        raise Untraceable("reduce")
    if initial is not np._NoValue or x.dtype.char not in _INTO_FLOAT or not x.size:
        raise Untraceable("reduce")
    axes = range(x.ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    dropped = {a % x.ndim for a in axes} if x.ndim else set()
    first = _first(x.shape, dropped)
    if first:  # NumPy adds up by parts what lies along the last dimensions, and these sums one after the other
        partial = _reduce(ufunc, x, tuple(range(first, x.ndim)), keepdims=True)
        total = _reduce(ufunc, partial, tuple(d for d in dropped if d < first), keepdims=True)
        return total if keepdims else total.reshape([n for i, n in enumerate(x.shape) if i not in dropped])
    if x.gaps:
        raise Untraceable("sums of what has gaps")
    if x.node.op == "joined":
        return _sums_of_joined(ufunc, x, dropped, keepdims)
    node = _place(x.node, x.node.layout if x.node.op != "leaf" else full(x.size))
    if node.op == "constant":
        raise Untraceable("reduce")
    try:
        layout = compose(normal((n, i not in dropped) for i, n in enumerate(x.shape)), node.layout)
    except NoLayout:
        raise Untraceable("layouts") from None
    shape = [1 if i in dropped else n for i, n in enumerate(x.shape) if keepdims or i not in dropped]
    if layout == node.layout:  # along dimensions of one element; a sum begins with zero, and zero has no sign then
        return _call(np.add, (Traced(node, shape), x.dtype.type(0))) if ufunc is np.add else Traced(node, shape)
    return Traced(GroupValue("reduce", (node,), x.dtype, layout, ufunc.__name__), shape)


def _sums_of_joined(ufunc: np.ufunc, x: Traced, dropped: set[int], keepdims: bool) -> Traced:
    """Sums over the rows of an array of parts."""
    width = x.node.value[0].run
    rows = size(x.node.layout) // width
    long = {i for i, n in enumerate(x.shape) if n > 1}
    if ufunc is not np.add or math.prod(x.shape[i] for i in dropped) != rows or rows == 1:
        raise Untraceable("sums of parts")
    if any(i > k for i in dropped & long for k in long - dropped):
        raise Untraceable("sums of parts")
    sums = [_reduce(np.add, Traced(a, (rows, width)), 0).node for a in x.node.args]
    shape = [1 if i in dropped else n for i, n in enumerate(x.shape) if keepdims or i not in dropped]
    return Traced(join_sums(x.node, sums), shape)


def _first(shape: Sequence[int], dropped: set[int]) -> int:
    """The first of the last dimensions that are added up, if not all that are lie there; else 0."""
    long = [i for i, n in enumerate(shape) if n > 1]
    kept = [i for i in long if i not in dropped]
    both = bool(kept) and long[-1] in dropped and any(i in dropped for i in long if i < kept[-1])
    return kept[-1] + 1 if both else 0


def _products(x: Any, y: Any) -> Traced:
    """The sums of the products of rows."""
    *_, dtype = np.vecdot.resolve_dtypes((_type_of(x), _type_of(y), None))
    a, b = _operand(x, dtype), _operand(y, dtype)
    if a.gaps or b.gaps:
        raise Untraceable("products of what has gaps")
    if dtype.char not in _INTO_FLOAT or not a.dtype == b.dtype == dtype or a.shape[-1:] != b.shape[-1:] or not a.ndim:
        raise Untraceable("vecdot")
    shape = np.broadcast_shapes(a.shape, b.shape)
    if 0 in shape or shape[-1] == 1:
        raise Untraceable("vecdot")
    layout, nodes = _align([a, b], shape)
    rows = compose(normal((n, i + 1 < len(shape)) for i, n in enumerate(shape)), layout)
    return Traced(GroupValue("vecdot", tuple(nodes), dtype, rows), shape[:-1])


# -- functions beside the ufuncs --------------------------------------------------------------------------------------


def _where(condition: Any, x: Any, y: Any) -> Traced:
    types = [_type_of(x), _type_of(y)]
    python = [t for t in types if t in (int, float)]
    dtype = np.result_type(*[t for t in types if t not in python], *[t(0) for t in python])
    if dtype not in TYPES or _type_of(condition) != np.dtype(bool):
        raise Untraceable("where")
    operands = [_operand(condition, np.dtype(bool)), _operand(x, dtype), _operand(y, dtype)]
    return _elementwise("select", operands, (np.dtype(bool), dtype, dtype), dtype)


def _broadcast_to(x: Traced, shape: Any, subok: bool = False) -> Traced:
    wanted = (shape,) if isinstance(shape, int) else tuple(shape)
    if wanted == x.shape:
        x.operand = True
        return Traced(x.node, x.shape, operand=True)
    if 0 in wanted or x.gaps:
        raise Untraceable("no elements, or gaps")
    across = broadcast_layout(x.shape, wanted)
    try:
        node = _place(_widen(x.node, across), across)
    except NoLayout:
        raise Untraceable("layouts") from None
    return Traced(GroupValue("spread", (node,), x.dtype, full(math.prod(wanted))), wanted, operand=True)


def _split(x: Traced, ends: int | Sequence[int], axis: int = 0) -> list[Traced]:
    """The parts of *x* up to each of *ends*, or so many of one size."""
    if not x.ndim or (isinstance(ends, int) and (ends < 1 or x.shape[axis] % ends)):
        raise Untraceable("split")
    if isinstance(ends, int):
        width = x.shape[axis] // ends
        ends = [width * i for i in range(1, ends)]
    begins = [0, *map(int, ends)]
    return [_slice(x, axis % x.ndim, a, b) for a, b in zip(begins, [*begins[1:], x.shape[axis]], strict=True)]


def _concatenate(xs: Sequence[Any], axis: int = 0) -> Traced:
    """Parts of one shape side by side."""
    parts = list(xs)
    if len(parts) < 2 or not all(isinstance(x, Traced) and x.shape == parts[0].shape for x in parts):
        raise Untraceable("concatenate")
    shape, at = parts[0].shape, axis % max(parts[0].ndim, 1)
    if not parts[0].size or not shape:
        raise Untraceable("concatenate")
    try:
        nodes = [_place_in(x.node, full(x.size)) for x in parts]
    except NoLayout:
        raise Untraceable("layouts") from None
    node = join(nodes, math.prod(shape[:at]), math.prod(shape[at:]))
    return Traced(node, (*shape[:at], len(parts) * shape[at], *shape[at + 1 :]))


def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    if low is None or high is None:
        raise Untraceable("clip")
    return np.minimum(np.maximum(x, low), high)


def _sum(x: Traced, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Traced:
    if dtype is not None and np.dtype(dtype) != x.dtype:
        raise Untraceable("sum in another type")
    return _reduce(np.add, x, axis, keepdims=keepdims)


def _mean(x: Traced, axis: Any = None, keepdims: bool = False) -> Traced:
    total = _reduce(np.add, x, axis, keepdims=keepdims)
    # NumPy divides by a whole number of 64 bits, and so in float64.
    return _call(np.true_divide, (total, np.intp(x.size // total.size))).astype(x.dtype)


def _fill(number: int) -> Callable[..., Any]:
    def make_like(x: Traced, dtype: Any = None) -> Any:
        if x.size > CONSTANT:
            raise Untraceable("constant")
        return np.full(x.shape, number, dtype or x.dtype)

    return make_like


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": _where,
    "broadcast_to": _broadcast_to,
    "split": _split,
    "concatenate": _concatenate,
    "reshape": lambda x, shape: x.reshape(shape),
    "clip": _clip,
    "sum": _sum,
    "mean": _mean,
    "amax": lambda x, axis=None, keepdims=False: x.max(axis, keepdims=keepdims),
    "max": lambda x, axis=None, keepdims=False: x.max(axis, keepdims=keepdims),
    "amin": lambda x, axis=None, keepdims=False: x.min(axis, keepdims=keepdims),
    "min": lambda x, axis=None, keepdims=False: x.min(axis, keepdims=keepdims),
    "zeros_like": _fill(0),
    "ones_like": _fill(1),
}


def trace_register(
    register: int, shape: Sequence[int], dtype: np.dtype[Any], base: Sequence[int] | None = None
) -> Traced:
    """An operand that lies in *register*.

    Args:
        base: the shape of what was broadcast to *shape*, if it was.

    Raises:
        Untraceable: it is of a type that is not compiled.
    """
    if dtype not in TYPES:
        raise Untraceable("types")
    if 0 in shape:
        return Traced(_empty_node(dtype), shape, operand=True)
    own = shape if base is None else base
    whole = Traced(GroupValue("leaf", (), dtype, full(math.prod(own)), register), own, operand=True)
    if tuple(own) == tuple(shape):
        return whole
    view = _broadcast_to(whole, shape)
    view.node.value = register
    return view


def _empty_node(dtype: np.dtype[Any]) -> GroupValue:
    """Of what has no elements: only its shape is asked for, as nothing is computed of it."""
    return GroupValue("constant", (), dtype, (), dtype.type(0))


def operand(node: GroupValue) -> int | None:
    """The register of the operand that *node* is, as it is; None where it is computed."""
    return node.value if node.op in ("leaf", "spread") else None


def constant_like(value: Any) -> Traced:
    """An array that a kernel has made of nothing traced.

    Raises:
        Untraceable: it is not one number everywhere.
    """
    if not isinstance(value, (np.ndarray, np.generic)):
        raise Untraceable(type(value).__name__)
    if not value.size:
        return Traced(_empty_node(value.dtype), value.shape)
    return _operand(value, value.dtype)


def spread(value: Traced) -> Traced:
    """*value*, the same number everywhere, with an element for each."""
    return Traced(GroupValue("spread", (value.node,), value.dtype, full(value.size)), value.shape)


def domain(nodes: Sequence[GroupValue]) -> int:
    """Return how many elements the loops over *nodes* go over; 1 for single numbers.

    Raises:
        Untraceable: their domains differ.
    """
    sizes = {size(n.layout) for n in nodes} - {1}
    if len(sizes) > 1:
        raise Untraceable("domains")
    return sizes.pop() if sizes else 1
