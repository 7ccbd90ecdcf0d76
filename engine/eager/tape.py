"""The tape: one node per recorded operator call, and ``apply``, which computes and records.

A node points to what it was computed from and never to its own results, so a graph has no reference cycles: it is freed
as soon as nothing needs it, a million nodes deep without recursion.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import source
from ..errors import GradientError, GradtoolError, KernelError, describe
from ..kernels.backend import backend
from ..kernels.quiet import hush, unhush
from ..ops.opdef import OpDef, Operand, specs_of
from ..ops.readings import Arithmetic, flatten
from ..ops.registry import by_name
from ..source import Location
from ..spec import TensorSpec
from .mode import is_grad_enabled
from .saved import packing, unpacked
from .tensor import Array, Leaf, Tensor

Place = tuple["GradNode", int] | Leaf
"""A tensor as the sweep knows it: an output of a node, or a leaf."""

GHOST_FROM = 1 << 12
"""Bytes from which a tensor that is needed for its shape only is replaced by one that holds a single element."""

_sequence = itertools.count()

_keeping = False


@contextlib.contextmanager
def keeping_graphs() -> Iterator[None]:
    """Inside, freed nodes can be brought back by :func:`restore`; until then they behave as freed nodes do.

    For tools that look at a graph after the program that recorded it has run backward.
    """
    global _keeping
    before, _keeping = _keeping, True
    try:
        yield
    finally:
        _keeping = before


class FreedGraphError(GradientError, SystemError, RuntimeError):
    """Backward through a graph whose retained values were freed by an earlier pass (Paddle raises SystemError)."""


class InplaceError(GradientError, RuntimeError):
    """A value that backward needs was overwritten in place (Paddle raises RuntimeError)."""


class GradNode:
    """One recorded operator call.

    Attributes:
        op: the operator's definition.
        attrs: its attributes.
        args: per entry of the rule's reads what it needs: tensors for forward inputs, arrays for outputs, None for the
            gradients to come. Emptied when the node is freed.
        wrt: the places of the inputs that it gives gradients for, None where none is wanted; list slots laid flat.
        shapes: shape and NumPy dtype of each output whose gradient the rule takes, laid flat.
        wrt_sizes, out_sizes: how the flat lists are cut into slots, with None for a slot that holds no list; None as a
            whole where no slot does.
        sequence: grows with time; a node is always newer than those it was computed from.
        loc: where the user's program called the operator.
        versions: of what it retained: the write counters, each followed by what it said when it was recorded.
        packed: whether ``saved_tensors_hooks`` stand between the retained values and backward.
        freed: where the values it retained were freed, or None.
        aside: of a freed node: what it retained, if that was inside :func:`keeping_graphs`, or None.
        hooks: by output: what to call with its gradient, in order; None while there is nothing.
    """

    __slots__ = (
        "__weakref__",
        "args",
        "aside",
        "attrs",
        "freed",
        "hooks",
        "loc",
        "op",
        "out_sizes",
        "packed",
        "sequence",
        "shapes",
        "versions",
        "wrt",
        "wrt_sizes",
    )

    def __init__(
        self,
        op: OpDef,
        attrs: Mapping[str, Any],
        args: list[Operand],
        wrt: list[Place | None],
        wrt_sizes: list[int | None] | None,
        shapes: tuple[tuple[tuple[int, ...], Any], ...],
        out_sizes: list[int | None] | None,
        versions: Sequence[Any],
        packed: bool = False,
    ) -> None:
        self.op = op
        self.attrs = attrs
        self.args: list[Operand] | None = args
        self.wrt = wrt
        self.wrt_sizes = wrt_sizes
        self.shapes = shapes
        self.out_sizes = out_sizes
        self.versions = versions
        self.sequence = next(_sequence)
        self.loc: Location = source.here()
        self.freed: Location | None = None
        self.packed = packed
        self.hooks: dict[int, dict[int, Any]] | None = None

    def __repr__(self) -> str:
        return f"<GradNode {self.op.type} {source.short(self.loc)}>"

    @property
    def outs(self) -> list[TensorSpec]:
        """The specs of the outputs whose gradients the rule takes, laid flat."""
        return [TensorSpec(shape, dtype) for shape, dtype in self.shapes]

    def hooks_of(self, index: int) -> dict[int, Any]:
        """The hooks on output *index*."""
        if self.hooks is None:
            self.hooks = {}
        return self.hooks.setdefault(index, {})

    def free(self, where: Location) -> None:
        """Let go of the retained values; *where* says which backward it was."""
        if self.args is not None:
            self.aside = self.retention() if _keeping else None
        self.args = None
        self.versions = ()
        self.freed = where

    def retention(self) -> tuple[Any, ...]:
        """All that :meth:`free` lets go of and :meth:`take_back` takes."""
        return self.args, self.versions

    def take_back(self, retention: tuple[Any, ...]) -> None:
        """Retain again what :meth:`retention` gave."""
        self.args, self.versions = retention

    def retained(self) -> list[Operand]:
        """What the rule reads.

        Raises:
            FreedGraphError: an earlier backward freed it.
            InplaceError: a value was overwritten in place after the call.
        """
        if self.args is None:
            raise FreedGraphError(
                f"backward through {self.op.type} a second time, but the values that it retained were freed.",
                op=self.op.type,
                made=source.describe(self.loc),
                hint=f"they were freed by the backward at {source.describe(self.freed or ()) or 'an unknown place'}; "
                "pass retain_graph=True to it",
            )
        pairs = iter(self.versions)
        for version, count in zip(pairs, pairs, strict=True):
            if version.count != count:
                raise InplaceError(
                    f"a tensor that the gradient of {self.op.type} needs has been modified by an inplace operation "
                    f"({version.writer}): its version is {version.count} but the expected version is {count}.",
                    op=f"{version.writer} wrote at {source.describe(version.loc) or 'an unknown place'}",
                    made=source.describe(self.loc),
                    hint="edit a copy (x.clone()), or use the operator that makes a new tensor",
                )
        return [_each(v, unpacked) for v in self.args] if self.packed else self.args


def restore(nodes: Iterable[GradNode]) -> bool:
    """Give nodes that were freed inside :func:`keeping_graphs` back what they retained; whether there was any."""
    found = False
    for node in nodes:
        if node.args is None and node.aside is not None:
            node.take_back(node.aside)
            node.aside = None
            found = True
    return found


class Recipe:
    """What recording one operator takes, worked out once: where its operands go and what of them is kept.

    Attributes:
        plain: no slot holds a list, so operands and results need no laying flat.
        reads: per entry of the rule's reads: ``(kind, position, like)``.
        wrt: positions of the inputs with a gradient.
        outs: positions of the outputs whose gradient the rule takes.
        shares: whether the result is the operand's storage on purpose (``detach``).
    """

    __slots__ = ("attrs", "count", "kernel", "many", "op", "outs", "plain", "reads", "shares", "wrt")

    def __init__(self, op: OpDef) -> None:
        rule = op.rule
        self.op = op
        self.kernel = op.kernel
        self.attrs = op.kernel_attrs
        self.count = len(op.inputs)
        self.many: tuple[Operand, ...] = tuple([] if s.many else None for s in op.inputs)
        self.plain = not any(s.many for s in (*op.inputs, *op.outputs))
        self.reads = tuple(rule.reads) if rule is not None else ()
        self.wrt = tuple(rule.wrt) if rule is not None else ()
        self.outs = tuple(r.place for r in self.reads if r.kind == "dout")
        self.shares = op.type == "share_data"


_recipes: dict[OpDef, Recipe] = {}
_engine = backend("numpy")


def apply(op: OpDef, operands: Sequence[Operand], attrs: Mapping[str, Any]) -> Any:
    """Compute *op* and record it if any operand needs a gradient.

    Args:
        operands: tensors per input slot, lists of them for list slots, None for empty ones.
        attrs: every attribute.

    Returns:
        The output tensor, or a tuple of them (lists for list slots).

    Raises:
        ShapeError, DtypeError: the operands do not fit.
        KernelError: the operator failed otherwise.
    """
    recipe = _recipes.get(op)
    if recipe is None:
        recipe = _recipes[op] = Recipe(op)
    if len(operands) < recipe.count:
        operands = (*operands, *recipe.many[len(operands) :])
    if recipe.plain:
        arrays = [None if v is None else v.array for v in operands]
        sources = operands
    else:
        arrays = [_arrays(v) for v in operands]
        sources = flatten(operands, range(recipe.count))
    before = hush()
    try:
        if recipe.attrs:
            result = recipe.kernel(_engine, *arrays, **{n: attrs[n] for n in recipe.attrs})
        else:
            result = recipe.kernel(_engine, *arrays)
    except Exception as error:
        raise _explained(op, arrays, attrs, error) from (None if isinstance(error, GradtoolError) else error)
    finally:
        unhush(before)
    results = result if isinstance(result, tuple) else (result,)
    if recipe.plain:
        tensors: list[Any] = [None if a is None else _result(a, recipe, sources) for a in results]
    else:
        tensors = [None if a is None else _each(a, lambda part: _result(part, recipe, sources)) for a in results]
    if recipe.wrt and is_grad_enabled():
        wanted = [operands[i] for i in recipe.wrt] if recipe.plain else flatten(operands, recipe.wrt)
        for v in wanted:
            if v is not None and not v._stop:
                _record(recipe, attrs, operands, tensors, wanted)
                break
    return tuple(tensors) if isinstance(result, tuple) else tensors[0]


def _arrays(operand: Operand) -> Operand:
    if isinstance(operand, Tensor):
        return operand.array
    if operand is None:
        return None
    return [v.array for v in operand]


def _explained(op: OpDef, arrays: list[Operand], attrs: Mapping[str, Any], error: Exception) -> GradtoolError:
    """The clearest error there is for a kernel that failed: the shape rule's, if it refuses the operands too."""
    made = source.describe(source.here())
    call = f"{op.type}({', '.join(map(str, specs_of(v for v in arrays if v is not None)))})"
    if not isinstance(error, GradtoolError):
        try:
            op.infer_specs(specs_of(arrays), attrs)
        except GradtoolError as refused:
            return describe(refused, op=call, made=made)
        return KernelError(f"{op.type} failed: {error}", op=call, made=made)
    return describe(error, op=call, made=made)


def _record(
    recipe: Recipe,
    attrs: Mapping[str, Any],
    operands: Sequence[Operand],
    results: Sequence[Operand],
    wanted: Sequence[Tensor | None],
) -> None:
    """Make the node of one call and give *results* their places on the tape."""
    versions: list[Any] = []
    args: list[Operand] = []
    hooks = packing.get()
    for kind, place, like, _ in recipe.reads:
        value = None if kind == "dout" else operands[place] if kind == "in" else results[place]
        if value is None:
            args.append(None)
        elif like:
            args.append(_each(value, _ghost))
        elif hooks is not None:
            args.append(_each(value, hooks.pack if kind == "in" else hooks.pack_values))
        else:
            # Only the values of a result: the node must not point to what points to it.
            args.append(value if kind == "in" else _arrays(value))
            if isinstance(value, Tensor):
                versions += (value.version, value.version.count)
            else:
                for v in value:
                    versions += (v.version, v.version.count)
    if recipe.plain:
        outs = [results[j] for j in recipe.outs]
        wrt_sizes = out_sizes = None
    else:
        outs = flatten(results, recipe.outs)
        wrt_sizes = [_size(operands[i]) for i in recipe.wrt]
        out_sizes = [_size(results[j]) for j in recipe.outs]
    shapes = tuple([(v.array.shape, v.array.dtype) for v in outs])  # tuples of plain things cost the collector nothing
    wrt: list[Place | None] = [
        None if v is None or v._stop else v.leaf if v.node is None else (v.node, v.index) for v in wanted
    ]
    node = GradNode(recipe.op, attrs, args, wrt, wrt_sizes, shapes, out_sizes, versions, hooks is not None)
    for i, v in enumerate(outs):
        v.node = node
        v.index = i
        v._stop = False


def _size(value: Any) -> int | None:
    return len(value) if isinstance(value, (list, tuple)) else None


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    return [change(v) for v in value] if isinstance(value, (list, tuple)) else change(value)


def _ghost(value: Any) -> Array:
    """An array of the same shape and dtype that does not keep a large buffer alive."""
    array = value.array if isinstance(value, Tensor) else np.asarray(value)
    return array if array.nbytes < GHOST_FROM else np.broadcast_to(np.zeros((), array.dtype), array.shape)


def _result(array: Any, recipe: Recipe, sources: Sequence[Tensor | None]) -> Tensor:
    """The tensor for one result, sharing the write counter of an operand whose storage it shares."""
    if type(array) is not np.ndarray:
        array = np.asarray(array)
    base = array.base
    for v in sources:
        if v is None:
            continue
        if array is v.array:
            # An operator's result is a tensor of its own, as assign's is, unless sharing is what it is for.
            return Tensor(array, version=v.version) if recipe.shares else Tensor(array.copy())
        if base is not None and (base is v.array or base is v.array.base):
            return Tensor(array, version=v.version)  # a view: writing it in place writes its source
    return Tensor(array)


class TensorOps:
    """Every operator as a function of tensors (arrays are taken as constants), computed at once and recorded."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = by_name(name)

        def call(*operands: Operand, **given: Any) -> Any:
            return self._result(apply(op, [lifted(v) for v in operands], op.attributes(given)))

        setattr(self, name, call)
        return call

    @staticmethod
    def _result(found: Any) -> Any:
        return found


class RuleOps(TensorOps):
    """The namespace of a rule that is itself recorded; its values are :class:`Recorded`."""

    @staticmethod
    def _result(found: Any) -> Any:
        return tuple(map(recorded, found)) if isinstance(found, tuple) else recorded(found)


class Recorded(Arithmetic):
    """A tensor as a rule sees it: with the operators of rules, whatever operators the public API gives tensors."""

    __slots__ = ("tensor",)
    __array_ufunc__ = None  # `array * recorded` is ours to answer

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def k(self) -> RuleOps:
        return rule_ops

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.tensor.array.shape
        return shape

    @property
    def dtype(self) -> Any:
        return self.tensor.array.dtype

    @property
    def ndim(self) -> int:
        return self.tensor.ndim

    # Comparisons are constants as far as derivatives go, so their results are plain arrays.

    def __gt__(self, other: Any) -> Any:
        return self.tensor.array > values(other)

    def __ge__(self, other: Any) -> Any:
        return self.tensor.array >= values(other)

    def __lt__(self, other: Any) -> Any:
        return self.tensor.array < values(other)

    def __le__(self, other: Any) -> Any:
        return self.tensor.array <= values(other)


def values(v: Any) -> Any:
    """The array of a tensor; anything else as it is."""
    return v.array if isinstance(v, Tensor) else v.tensor.array if isinstance(v, Recorded) else v


def lifted(v: Any) -> Any:
    """*v* as a tensor, or a list of them."""
    if v is None or isinstance(v, Tensor):
        return v
    if isinstance(v, Recorded):
        return v.tensor
    return [lifted(e) for e in v] if isinstance(v, (list, tuple)) else Tensor(v)


def recorded(v: Any) -> Any:
    """*v*, a tensor, an array or a list of them, as rules see it."""
    if v is None or isinstance(v, Recorded):
        return v
    return [recorded(e) for e in v] if isinstance(v, (list, tuple)) else Recorded(lifted(v))


tensor_ops = TensorOps()
rule_ops = RuleOps()
