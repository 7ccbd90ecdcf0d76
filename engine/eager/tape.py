"""The tape: one node per recorded operator call, and ``apply``, which computes and records.

A node points to what it was computed from and never to its own results, so a graph has no reference cycles: it is freed
as soon as nothing needs it, a million nodes deep without recursion.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import source
from ..errors import GradientError, GradtoolError, KernelError, describe
from ..kernels.backend import backend
from ..ops.opdef import OpDef, Operand, specs_of
from ..ops.readings import flatten
from ..ops.registry import by_name
from ..source import Location
from ..spec import TensorSpec
from .mode import is_grad_enabled
from .tensor import Array, Leaf, Tensor, Version

Place = tuple["GradNode", int] | Leaf
"""A tensor as the sweep knows it: an output of a node, or a leaf."""

GHOST_FROM = 1 << 12
"""Bytes from which a tensor that is needed for its shape only is replaced by one that holds a single element."""

_sequence = itertools.count()


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
        outs: the specs of the outputs whose gradients the rule takes, laid flat.
        wrt_sizes, out_sizes: how the flat lists are cut into slots, with None for a slot that holds no list; None as a
            whole where no slot does.
        sequence: grows with time; a node is always newer than those it was computed from.
        loc: where the user's program called the operator.
        freed: where the values it retained were freed, or None.
    """

    __slots__ = (
        "__weakref__",
        "_hooks",
        "_keeps",
        "args",
        "attrs",
        "freed",
        "loc",
        "op",
        "out_sizes",
        "outs",
        "sequence",
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
        outs: list[TensorSpec],
        out_sizes: list[int | None] | None,
        versions: list[tuple[Version, int]],
    ) -> None:
        self.op = op
        self.attrs = attrs
        self.args: list[Operand] | None = args
        self.wrt = wrt
        self.wrt_sizes = wrt_sizes
        self.outs = outs
        self.out_sizes = out_sizes
        self.versions = versions
        self.sequence = next(_sequence)
        self.loc: Location = source.here()
        self.freed: Location | None = None
        self._hooks: dict[int, dict[int, Any]] | None = None
        self._keeps: dict[int, weakref.ref[Tensor]] | None = None

    def __repr__(self) -> str:
        return f"<GradNode {self.op.type} {source.short(self.loc)}>"

    def hooks_of(self, index: int) -> dict[int, Any]:
        """The hooks on output *index*."""
        if self._hooks is None:
            self._hooks = {}
        return self._hooks.setdefault(index, {})

    def keep(self, index: int, tensor: Tensor) -> None:
        """Store the gradient of output *index* in the tensor's ``.grad`` as well."""
        if self._keeps is None:
            self._keeps = {}
        self._keeps[index] = weakref.ref(tensor)

    def free(self) -> None:
        """Let go of the retained values."""
        self.args = None
        self.versions = []
        self.freed = source.here()

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
        for version, count in self.versions:
            if version.count != count:
                raise InplaceError(
                    f"a tensor that the gradient of {self.op.type} needs has been modified by an inplace operation "
                    f"({version.writer}): its version is {version.count} but the expected version is {count}.",
                    op=f"{version.writer} wrote at {source.describe(version.loc) or 'an unknown place'}",
                    made=source.describe(self.loc),
                    hint="edit a copy (x.clone()), or use the operator that makes a new tensor",
                )
        return self.args


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
    engine = backend("numpy")
    if len(operands) < recipe.count:
        operands = (*operands, *recipe.many[len(operands) :])
    if recipe.plain:
        arrays = [None if v is None else v.array for v in operands]
        sources = operands
    else:
        arrays = [_arrays(v) for v in operands]
        sources = flatten(operands, range(recipe.count))
    try:
        with np.errstate(all="ignore"):
            result = recipe.kernel(engine, *arrays, **{n: attrs[n] for n in recipe.attrs})
    except Exception as error:
        raise _explained(op, arrays, attrs, error) from (None if isinstance(error, GradtoolError) else error)
    results = result if isinstance(result, tuple) else (result,)
    node = None
    if recipe.wrt and is_grad_enabled():
        wanted = [operands[i] for i in recipe.wrt] if recipe.plain else flatten(operands, recipe.wrt)
        for v in wanted:
            if v is not None and not v._stop:
                node = _record(recipe, attrs, operands, results, wanted)
                break
    if recipe.plain:
        tensors = tuple(
            [
                None
                if a is None
                else _result(a, node, recipe, recipe.outs.index(j) if j in recipe.outs else -1, sources)
                for j, a in enumerate(results)
            ]
        )
    else:
        tensors = _results(results, node, recipe, sources)
    return tensors if isinstance(result, tuple) else tensors[0]


def _results(results: Sequence[Any], node: GradNode | None, recipe: Recipe, sources: Sequence[Tensor | None]) -> Any:
    """Tensors in the nesting of *results*, where some slot holds a list."""
    starts: dict[int, int] = {}
    at = 0
    for place in recipe.outs:
        starts[place] = at
        size = _size(results[place])
        at += 1 if size is None else size
    made: list[Any] = []
    for j, r in enumerate(results):
        start = starts.get(j)
        if isinstance(r, (list, tuple)):
            made.append(
                [_result(a, node, recipe, -1 if start is None else start + i, sources) for i, a in enumerate(r)]
            )
        else:
            made.append(None if r is None else _result(r, node, recipe, -1 if start is None else start, sources))
    return tuple(made)


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
    results: Sequence[Any],
    wanted: Sequence[Tensor | None],
) -> GradNode:
    versions: list[tuple[Version, int]] = []
    args: list[Operand] = []
    for kind, place, like, _ in recipe.reads:
        if kind == "dout":
            args.append(None)
        elif kind == "in":
            value = operands[place]
            if value is None:
                args.append(None)
            elif like:
                args.append(_each(value, _ghost))
            else:
                args.append(value)
                for v in value if isinstance(value, (list, tuple)) else (value,):
                    versions.append((v.version, v.version.count))
        else:
            args.append(_each(results[place], _ghost) if like else results[place])
    if recipe.plain:
        outs = [TensorSpec(results[j].shape, results[j].dtype) for j in recipe.outs]
        wrt_sizes = out_sizes = None
    else:
        outs = [TensorSpec(a.shape, a.dtype) for a in flatten(results, recipe.outs)]
        wrt_sizes = [_size(operands[i]) for i in recipe.wrt]
        out_sizes = [_size(results[j]) for j in recipe.outs]
    wrt = [None if v is None or v._stop else v.on_tape() for v in wanted]
    return GradNode(recipe.op, attrs, args, wrt, wrt_sizes, outs, out_sizes, versions)


def _size(value: Any) -> int | None:
    return len(value) if isinstance(value, (list, tuple)) else None


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    return [change(v) for v in value] if isinstance(value, (list, tuple)) else change(value)


def _ghost(value: Any) -> Array:
    """An array of the same shape and dtype that does not keep a large buffer alive."""
    array = value.array if isinstance(value, Tensor) else np.asarray(value)
    return array if array.nbytes < GHOST_FROM else np.broadcast_to(np.zeros((), array.dtype), array.shape)


def _result(array: Any, node: GradNode | None, recipe: Recipe, index: int, sources: Sequence[Tensor | None]) -> Tensor:
    """The tensor for one result; *index* is its position among the outputs with a gradient, or -1."""
    if not isinstance(array, np.ndarray):
        array = np.asarray(array)
    version = None
    base = array.base
    for v in sources:
        if v is None:
            continue
        if array is v.array:
            if recipe.shares:
                version = v.version
            else:
                array = array.copy()  # an operator's result is a tensor of its own, as assign's is
            break
        if base is not None and (base is v.array or base is v.array.base):
            version = v.version  # a view: writing it in place writes its source
            break
    if node is None or index < 0:
        return Tensor(array, version=version)
    return Tensor(array, stop_gradient=False, node=node, index=index, version=version)


class TensorOps:
    """The namespace of a rule that is read over tensors: every operator computes at once and is recorded."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = by_name(name)

        def call(*operands: Operand, **given: Any) -> Any:
            tensors = [lifted(v) for v in operands]
            return apply(op, tensors, op.attributes(given))

        setattr(self, name, call)
        return call


def lifted(v: Any) -> Any:
    """*v* as a tensor, if it is an array."""
    if v is None or isinstance(v, Tensor):
        return v
    return [lifted(e) for e in v] if isinstance(v, (list, tuple)) else Tensor(v)


tensor_ops = TensorOps()
