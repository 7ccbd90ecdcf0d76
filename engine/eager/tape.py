"""The tape: one node per recorded operator call.

A node points to what it was computed from and never to its own results, so a graph has no reference cycles: it is freed
as soon as nothing needs it, a million nodes deep without recursion.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from ..core import source
from ..core.errors import GradientError
from ..core.source import Location
from ..core.spec import TensorSpec
from ..kernels.backend import Backend
from ..ops.opdef import OpDef, Operand
from ..ops.readings import flatten
from .borrowed_arrays import Borrowed, borrow, can_borrow
from .saved import PackedValue, unpack
from .tensor import Leaf, Tensor
from .tensor_copies import copy_of

if TYPE_CHECKING:
    from .recipe import BoundOp

T = TypeVar("T")

Place = tuple["GradNode", int] | Leaf
"""A tensor as the sweep knows it: an output of a node, or a leaf."""

keys = itertools.count(0, -1)
"""Keys fall with time, so that a heap gives the newest node first."""

keeping = False
"""Whether this is inside :func:`keep_graphs`."""


@contextlib.contextmanager
def keep_graphs() -> Iterator[None]:
    """Inside, freed nodes can be brought back by :func:`restore`; until then they behave as freed nodes do.

    For tools that look at a graph after the program that recorded it has run backward.
    """
    global keeping
    before, keeping = keeping, True
    try:
        yield
    finally:
        keeping = before


def is_keeping() -> bool:
    """Return whether this is inside :func:`keep_graphs`."""
    return keeping


class FreedGraphError(GradientError, SystemError, RuntimeError):
    """Backward through a graph whose retained values were freed by an earlier pass (Paddle raises SystemError).

    Attributes:
        reader: where the operator was called whose gradient needs the values.
        freed: where the pass was started that freed them.
    """

    code = "GT-E205"
    in_paddle = "(Fatal) Please set retain_graph=True in the first backward/grad call."
    reader: Location = source.NOWHERE
    freed: Location = source.NOWHERE
    type = ""


def version_message(now: int, then: int) -> str:
    """Return Paddle's words for a tensor that was written between two times."""
    return f"(PermissionDenied) received tensor_version:{now} != wrapper_version_snapshot:{then}."


class InplaceError(GradientError, RuntimeError):
    """A value that backward needs was overwritten in place (Paddle raises RuntimeError).

    Attributes:
        reader: where the operator was called whose gradient needs the value.
        written: where it was overwritten.
        writer: what overwrote it.
    """

    code = "GT-E206"
    reader: Location = source.NOWHERE
    written: Location = source.NOWHERE
    writer = ""
    type = ""


class Freed:
    """Stands where a node's retained values were; says where they were let go of."""

    __slots__ = ("where",)

    def __init__(self, where: Location) -> None:
        self.where = where


class LossScale:
    """By what a scaler multiplied a loss.

    Attributes:
        factor: it.
        is_taken_off: whether the gradients have been divided by it, so that their size is not the update's.
    """

    __slots__ = ("factor", "is_taken_off")

    def __init__(self, factor: float) -> None:
        self.factor = factor
        self.is_taken_off = False


class PackedValues(tuple[Any, ...]):
    """Retained values behind ``saved_tensors_hooks``."""

    __slots__ = ()


class Rare(Generic[T]):
    """An attribute of nodes that few of them have.

    Args:
        default: what it is for the others.
    """

    def __init__(self, default: T) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, node: GradNode, owner: type | None = None) -> T:
        return self._default if node.rare is None else node.rare.get(self._name, self._default)

    def __set__(self, node: GradNode, value: T) -> None:
        if node.rare is None:
            node.rare = {}
        node.rare[self._name] = value


class GradNode:
    """One recorded operator call.

    Attributes:
        call: the operator with its attributes.
        kept: per entry of the rule's reads what it needs: tensors for forward inputs, arrays for outputs and for what
            is needed for its shape only, None for the gradients to come. A :class:`Freed` once the node is freed.
        to: where its gradients go, None where none is wanted; list slots laid flat. The first output of a node is that
            node alone: it saves most nodes a tuple.
        form: what tells :attr:`shapes`: they themselves, or the array of the one output, if that is small.
        key: falls with time; a node is always newer than those it was computed from.
        code, offset: where the user's program called the operator, in two: see :attr:`site`.
        wrt_sizes, out_sizes: how the flat lists are cut into slots, with None for a slot that holds no list; None as a
            whole where no slot does.
        versions: write counters of retained values, each followed by what it said when it was recorded. Tensors that
            share no storage with another have no counter until they are first written.
        aside: of a freed node: what it retained, if that was inside :func:`keep_graphs`, or None.
        hooks: by output: what to call with its gradient, in order; None while there is nothing.
        loss_scale: of the product of a loss and a scaler's scale, that scale.
        rare: what few nodes have, by name; None where there is nothing.
    """

    # What nearly every node has is in slots of its own: an instance dictionary would be made for each node.
    __slots__ = ("__weakref__", "call", "code", "form", "kept", "key", "offset", "rare", "to")

    hooks: Rare[dict[int, dict[int, Any]] | None] = Rare(None)
    versions: Rare[tuple[Any, ...]] = Rare(())
    wrt_sizes: Rare[Sequence[int | None] | None] = Rare(None)
    out_sizes: Rare[Sequence[int | None] | None] = Rare(None)
    aside: Rare[tuple[Any, ...] | None] = Rare(None)
    loss_scale: Rare[LossScale | None] = Rare(None)

    # There is no __init__: calls are recorded without one.

    def begin(
        self,
        call: BoundOp,
        reads: tuple[Operand, ...],
        wrt: tuple[Place | None, ...],
        shapes: tuple[tuple[tuple[int, ...], Any], ...],
    ) -> GradNode:
        """Set everything, for a call that is made now; itself."""
        self.call = call
        self.kept: tuple[Operand, ...] | Freed = reads
        self.to: tuple[Any, ...] = wrt
        self.form: Any = shapes
        self.rare: dict[str, Any] | None = None
        self.key = next(keys)
        self.site = source.here()
        return self

    def __repr__(self) -> str:
        return f"<GradNode {self.op.type} {source.short(self.loc)}>"

    @property
    def op(self) -> OpDef:
        """The operator's definition."""
        return self.call.recipe.op

    @property
    def wrt(self) -> tuple[Place | None, ...]:
        """The places of the inputs that it gives gradients for, None where none is wanted; list slots laid flat."""
        return tuple([(p, 0) if isinstance(p, GradNode) else p for p in self.to])

    @property
    def shapes(self) -> tuple[tuple[tuple[int, ...], Any], ...]:
        """Shape and NumPy dtype of each output whose gradient the rule takes, laid flat."""
        form = self.form
        return form if type(form) is tuple else ((form.shape, form.dtype),)

    @property
    def site(self) -> Any:
        """Place where the user's program called the operator, see :func:`gradtool.engine.core.source.site`."""
        return self.offset if self.code is None else (self.code, self.offset)

    @site.setter
    def site(self, site: Any) -> None:
        self.code: CodeType | None = None
        self.offset = site

    @property
    def attrs(self) -> Mapping[str, Any]:
        """The operator's attributes."""
        return self.call.attrs

    @property
    def backend(self) -> Backend:
        """Backend that computed it, and computes its gradient."""
        return self.call.recipe.backend

    @property
    def loc(self) -> Location:
        """Place where the user's program called the operator."""
        return source.locate(self.site)

    @property
    def args(self) -> tuple[Operand, ...] | None:
        """Content of :attr:`kept`, None when the node is freed or hooks packed it."""
        return self.kept if type(self.kept) is tuple else None

    @property
    def freed(self) -> Location | None:
        """Place where the values it retained were freed, or None."""
        return self.kept.where if isinstance(self.kept, Freed) else None

    @property
    def outs(self) -> list[TensorSpec]:
        """The specs of the outputs whose gradients the rule takes, laid flat."""
        return [TensorSpec(shape, dtype) for shape, dtype in self.shapes]

    def hooks_of(self, index: int) -> dict[int, Any]:
        """The hooks on output *index*."""
        if self.hooks is None:
            self.hooks = {}
        return self.hooks.setdefault(index, {})

    def free(self, freed: Freed) -> None:
        """Let go of the retained values."""
        if keeping and not isinstance(self.kept, Freed):
            self.aside = self.copies()
        self.kept = freed

    def set_aside(self) -> None:
        """Copy what is retained, for :func:`restore`: a step may overwrite it although the graph is kept."""
        if self.aside is None and not isinstance(self.kept, Freed):
            self.aside = self.copies()

    def copies(self) -> tuple[Any, ...]:
        """Copies of all that :meth:`free` lets go of: mostly a step that overwrites the parameters follows."""
        values = self.kept
        if isinstance(values, Freed):
            return (values,)
        copies = [each(v, copy_value) for v in values]
        is_packed = any(isinstance(v, PackedValue) for v in flatten(copies, range(len(copies))))
        return (PackedValues(copies) if is_packed else tuple(copies),)

    def take_back(self, copies: tuple[Any, ...]) -> None:
        """Retain what :meth:`copies` gave."""
        (kept,) = copies
        self.kept = kept if isinstance(kept, Freed) else type(kept)([each(v, give_back) for v in kept])
        self.versions = ()

    def retained(self) -> tuple[Operand, ...]:
        """Return the operands that the rule reads.

        Raises:
            FreedGraphError: an earlier backward freed it.
            InplaceError: a value was overwritten in place after the call.
        """
        values = self.kept
        if isinstance(values, Freed):
            freed = FreedGraphError(
                f"backward through {self.op.type} a second time, but the values that it retained were freed.",
                op=self.op.type,
                made=source.describe(self.loc),
                hint=_came_again(values.where),
            )
            freed.reader, freed.freed, freed.type = self.loc, values.where, self.op.type
            raise freed
        if isinstance(values, PackedValues):
            return tuple([each(v, unpack) for v in values])
        self.check()
        return values

    def check(self) -> None:
        """Raise :class:`InplaceError` if a retained value was overwritten after the call."""
        if self.rare is None and not any(map(_may_be_written, self.args or ())):
            return
        expected = dict(zip(self.versions[::2], self.versions[1::2], strict=True))
        values = self.args or ()
        for v in flatten(values, range(len(values))):
            if isinstance(v, Tensor) and v._version is not None:
                expected.setdefault(v._version, 0)
        for version, count in expected.items():
            if version.count != count:
                edited = InplaceError(
                    f"a tensor that the gradient of {self.op.type} needs has been modified by an inplace operation "
                    f"({version.writer}): its version is {version.count} but the expected version is {count}.",
                    op=f"{version.writer} wrote at {source.describe(version.loc) or 'an unknown place'}",
                    made=source.describe(self.loc),
                    hint="edit a copy (x.clone()), or use the operator that makes a new tensor",
                )
                edited.reader, edited.written = self.loc, version.loc
                edited.writer, edited.type = version.writer, self.op.type
                edited.in_paddle = version_message(version.count, count)
                raise edited


def _may_be_written(value: Any) -> bool:
    """Return whether a retained value has a write counter, or is a list of which some may."""
    if isinstance(value, Tensor):
        return value._version is not None
    return isinstance(value, (list, tuple))


FORM_BELOW = 1 << 9
"""Bytes below which an array is kept to tell its shape: no more than a node takes."""


def note_site(node: GradNode, frame: FrameType) -> None:
    """Note in *node* where the user's code around *frame* stands."""
    where = source.site(frame)
    if where and isinstance(where[0], CodeType):
        node.code, node.offset = where
        if node.code is frame.f_code:
            node.call.user = node.code
    else:
        node.site = where


def _came_again(freed: Location) -> str:
    """Return the advice for a backward call that needs what the one at *freed* freed."""
    again = source.here()
    if freed and source.file_and_line(freed) == source.file_and_line(again):
        return (
            "the backward of the last step freed them: detach the state that is kept from it (state.detach()), "
            "and compute the loss anew in each step"
        )
    where = source.describe(freed) or "an unknown place"
    return f"they were freed by the backward at {where}; pass retain_graph=True to it"


def each(value: Any, change: Callable[[Any], Any]) -> Any:
    """*change* applied to *value*, or to each entry of the list that it is."""
    return [change(v) for v in value] if isinstance(value, (list, tuple)) else change(value)


def copy_value(value: Any) -> Any:
    """*value* with an array of its own.

    What only a second run of a function brings back is copied as it is now; what the user's hooks packed stays packed.
    """
    if isinstance(value, PackedValue) and value.exact:
        value = value.unpack()
    if isinstance(value, Tensor):
        return copy_of(value)
    if not isinstance(value, np.ndarray) or not _may_change(value):
        return value
    if not can_borrow(value):
        return value.copy()
    held = Borrowed(value)
    borrow(held)
    return held


def give_back(value: Any) -> Any:
    """Return the value that :func:`copy_value` was given, as it was then."""
    return value.array if type(value) is Borrowed else value


def _may_change(array: Any) -> bool:
    """Return whether somebody may write an array: read-only ones can be views of a program's memory.

    Those without a step between elements only hold a shape.
    """
    return array.flags.writeable or any(array.strides)


def finite(values: Iterable[Any]) -> bool:
    """Return whether all numbers in tensors, arrays and lists of them are finite; other values do not count."""
    for value in values:
        array = value.array if isinstance(value, Tensor) else value
        if isinstance(array, (list, tuple)):
            if not finite(array):
                return False
        elif isinstance(array, np.ndarray) and array.dtype.kind not in "biuSUO" and not np.isfinite(array).all():
            return False
    return True


def restore(nodes: Iterable[GradNode]) -> bool:
    """Give nodes back what they retained when they were freed, or overwritten since; whether there was any.

    Those are meant that a backward pass went over inside :func:`keep_graphs`.
    """
    any_gone = False
    for node in nodes:
        if node.aside is None:
            continue
        if isinstance(node.kept, Freed) or _is_overwritten(node):
            node.take_back(node.aside)
            any_gone = True
        node.aside = None
    return any_gone


def _is_overwritten(node: GradNode) -> bool:
    try:
        node.check()
    except InplaceError:
        return True
    return False


@contextlib.contextmanager
def as_they_were(nodes: Iterable[GradNode]) -> Iterator[None]:
    """Let nodes that were freed be restored inside, and free them again afterwards."""
    freed = [(node, node.kept) for node in nodes if isinstance(node.kept, Freed)]
    try:
        yield
    finally:
        with keep_graphs():
            for node, where in freed:
                if node.kept is not where:
                    node.free(where)


def loss_scale(nodes: Iterable[GradNode]) -> float:
    """Return the factor by which the gradients of a pass over *nodes* exceed those of the loss, as long as they are
    divided.
    """
    scales = (n.loss_scale for n in nodes if n.loss_scale is not None)
    return next((s.factor for s in scales if s.is_taken_off and s.factor > 0), 1.0)
