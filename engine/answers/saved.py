"""Buffers that backward keeps alive: each with its bytes, its producer, its readers, and how long it is needed.

A buffer counts once, however many operators keep it and through however many views. What a program holds anyway
(parameters, fed data, leaves) is listed apart.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np

from ..core import watch
from ..core.identity import identity
from ..core.records import dataclass
from ..core.result import Result
from ..core.source import Location
from ..core.summary import Staying
from ..executor.live import nbytes, root
from ..ir.operator import Operator
from ..kernels import choice
from ..ops.opdef import OpDef, Trait
from ..view.graph import BACKWARD, FORWARD
from .events import Begin, End, Inside, OpEvent, SlotArray, part_of

_STEPS = 4
"""Into so many steps each axis of an array is divided, to compare a few elements before all of them."""


@dataclass(slots=True)
class RunOperation:
    """An operator of the run, without its arrays.

    Attributes:
        work: an estimate of the arithmetic that it takes, in elements.
        reads: the buffers that it read, by number.
        inside: of a static program, the branches and loops that it stands in, with the iteration.
        derived: whether a backward pass that is itself recorded ran it: ``paddle.grad`` with ``create_graph``.
    """

    type: str
    part: str
    loc: Location
    origin: Any
    work: int = 0
    reads: list[int] = field(default_factory=list)
    inside: Inside = ()
    derived: bool = False


@dataclass(slots=True)
class Buffer:
    """A piece of memory that backward needs.

    Attributes:
        number: in the order of their making.
        producer: None for what no operator made.
        slot, tensor: what it is called where it was made, or where it is read.
        readers: the gradient operators that read it.
        made, last: the places in the run of its producer and of its last reader.
        duplicate_of: the number of an earlier buffer with the same contents.
        recompute: whether its producer can be run again from buffers that are kept anyway.
        held: whether the program holds it anyway.
    """

    number: int
    nbytes: int
    shape: tuple[int, ...]
    dtype: str
    producer: RunOperation | None
    slot: str
    tensor: str | None
    place: Any = None
    readers: list[RunOperation] = field(default_factory=list)
    made: int = -1
    last: int = -1
    duplicate_of: int | None = None
    recompute: bool = False
    held: bool = False

    def note_reader(self, operation: RunOperation, index: int) -> None:
        """Note an operator of backward that reads it; what backward itself made is not kept for it."""
        # A gradient operator that reads what another one made keeps nothing of the forward pass alive.
        if self.producer is not None and self.producer.part != FORWARD:
            return
        self.last = index
        if not self.readers or self.readers[-1] is not operation:
            self.readers.append(operation)


@dataclass
class SavedStory(Result):
    """The values that one backward pass keeps.

    Attributes:
        buffers: in the order of their making, those that are held anyway first.
        operations: all operators, in the order of the run.
        timeline: for each operator how many bytes were kept when it ran.
    """

    buffers: list[Buffer]
    operations: list[RunOperation]
    timeline: list[int]

    @property
    def kept(self) -> list[Buffer]:
        """The buffers that are alive for backward alone."""
        return [b for b in self.buffers if not b.held]

    @property
    def total(self) -> int:
        return sum(b.nbytes for b in self.kept)

    @property
    def derived(self) -> list[Buffer]:
        """Those of the buffers kept that belong to derivatives: of the second and of higher orders."""
        return [b for b in self.kept if b.producer is not None and b.producer.derived]

    @property
    def held(self) -> int:
        """Bytes that backward reads and the program holds anyway."""
        return sum(b.nbytes for b in self.buffers if b.held)

    @property
    def peak(self) -> int:
        return max(self.timeline, default=0)

    @property
    def peak_operation(self) -> RunOperation | None:
        return self.operations[self.timeline.index(self.peak)] if self.timeline else None

    @property
    def duplicated(self) -> int:
        """Bytes of buffers with the contents of an earlier one."""
        return sum(b.nbytes for b in self.kept if b.duplicate_of is not None)

    @property
    def recomputable(self) -> tuple[int, int, int]:
        """Bytes that computing again would free, for how many operators, and their share of the forward work in %."""
        chosen = [b for b in self.kept if b.recompute]
        again = {identity(b.producer): b.producer for b in chosen if b.producer is not None}
        whole = sum(o.work for o in self.operations if o.part == FORWARD)
        share = round(100 * sum(o.work for o in again.values()) / whole) if whole else 0
        return sum(b.nbytes for b in chosen), len(again), share

    def __str__(self) -> str:
        freed, count, share = self.recomputable
        return (
            f"{len(self.kept)} buffers, {self.total} bytes; computing {count} operators again "
            f"({share} % of the forward work) would free {freed}"
        )


def _is_kept(op: Any, readers: Sequence[Any]) -> bool:
    """Return whether a result of *op* is computed before backward and read there, or by what gives a view of it."""
    return part_of(op) is not BACKWARD and any(part_of(r) is BACKWARD or r.op.trait & Trait.VIEW for r in readers)


def mark_leaves() -> AbstractContextManager[None]:
    """Inside, what is computed says which of its operands are leaves: what a call reads that is computed again."""
    return watch.watch(tensors=lambda event: None)


class Keeper:
    """Listens to a run; :meth:`story` tells of its last backward pass. It has to run :func:`mark_leaves`."""

    summary_needs = Staying(_is_kept, in_blocks=True)

    def __init__(self) -> None:
        self._found: SavedStory | None = None
        self._clear()

    def _clear(self) -> None:
        self._operations: list[RunOperation] = []
        self._buffers: dict[int, Buffer] = {}
        self._arrays: dict[int, Any] = {}
        """Keeps every buffer alive, so that its identity is not given to another."""
        self._roots: dict[int, Any] = {}
        """What owns the storage of arrays that lie on a device, by their identity, where that is another one."""
        self._first = 0
        """Where the backward pass that runs begins."""
        self._is_recorded = False
        """Whether that pass is itself recorded: it computes for another one, as the derivatives in a loss do."""

    def __call__(self, event: OpEvent | Begin | End) -> None:
        if isinstance(event, Begin):
            self._first, self._is_recorded = len(self._operations), event.recorded
        elif isinstance(event, End):
            self._found = self._story()
            if self._is_recorded:
                self._go_on()
            else:
                self._clear()
        else:
            self._see(event)

    def _go_on(self) -> None:
        """Take what a recorded pass computed for a part of the graph that a later pass goes back through."""
        for operation in self._operations[self._first :]:
            operation.part, operation.derived = FORWARD, True
        for buffer in self._buffers.values():
            buffer.readers, buffer.last = [], -1

    def story(self) -> SavedStory:
        return self._found if self._found is not None else self._story()

    def _see(self, event: OpEvent) -> None:
        part = event.part
        operation = RunOperation(event.type, part, event.loc, event.origin, inside=event.inside)
        index = len(self._operations)
        self._operations.append(operation)
        for v in self._operands(event):
            buffer = self._buffer(v, None)
            operation.reads.append(buffer.number)
            buffer.held = buffer.held or v.held or buffer.producer is None
            if part == BACKWARD:
                buffer.note_reader(operation, index)
        # What a recorded rule computes with has been told, operator by operator.
        operation.work = 0 if event.recorded else work(event)
        self._note_views(event)
        for buffer in (self._buffer(v, operation) for v in event.outputs if v.array is not None):
            if buffer.made < 0:
                buffer.made = index

    @staticmethod
    def _operands(event: OpEvent) -> Iterator[SlotArray]:
        """Yield what an operator reads; of a gradient operator not the gradients, which are no values of forward."""
        for v in event.inputs:
            if v.array is not None and not (event.part == BACKWARD and v.is_gradient):
                yield v

    def _note_views(self, event: OpEvent) -> None:
        """Arrays of NumPy know whose storage they see; of others the operator's definition says it."""
        if isinstance(event.origin, Operator) and _gives_a_view(event.origin.op) and event.inputs:
            seen, whole = event.outputs[0].array, event.inputs[0].array
            if not isinstance(seen, np.ndarray):
                self._arrays[identity(seen)] = seen
                self._roots[identity(seen)] = self._roots.get(identity(whole), whole)

    def _buffer(self, v: Any, producer: RunOperation | None) -> Buffer:
        array = v.array
        array = self._roots[identity(array)] if identity(array) in self._roots else root(array)
        key = identity(array)
        buffer = self._buffers.get(key)
        if buffer is None:
            self._arrays[key] = array
            shape, dtype = tuple(v.array.shape), _type_name(v.array.dtype)
            buffer = Buffer(len(self._buffers), nbytes(array), shape, dtype, producer, v.slot, v.name, v.place)
            self._buffers[key] = buffer
        elif buffer.tensor is None and v.name is not None:
            buffer.tensor = v.name
        return buffer

    def _story(self) -> SavedStory:
        needed = {key: b for key, b in self._buffers.items() if b.readers}
        self._find_duplicates(needed)
        buffers = [b for b in needed.values() if not b.held]
        _choose(buffers, {b.number for b in needed.values()} | {b.number for b in self._buffers.values() if b.held})
        alive = bytes_alive(buffers, len(self._operations))
        buffers = sorted(needed.values(), key=lambda b: (not b.held, b.number))
        return SavedStory(buffers, self._operations[:], alive)

    def _find_duplicates(self, needed: dict[int, Buffer]) -> None:
        alike: dict[Any, list[int]] = {}
        for key, b in needed.items():
            if not b.held and b.nbytes:
                alike.setdefault((b.shape, b.dtype), []).append(key)
        for keys in alike.values():
            seen: dict[bytes, int] = {}
            for key in self._find_candidates(keys):
                b = needed[key]
                first = seen.setdefault(choice.current().contents(self._arrays[key]), b.number)
                b.duplicate_of = first if first != b.number else None

    def _find_candidates(self, keys: Sequence[int]) -> list[int]:
        """Return those arrays, of one shape and type, that agree with another one in a few elements."""
        if len(keys) == 1:
            return []
        begins = {key: _sample(self._arrays[key]) for key in keys}
        times = Counter(begins.values())
        return [key for key in keys if times[begins[key]] > 1]


def bytes_alive(buffers: Iterable[Buffer], count: int) -> list[int]:
    """Return by operation, of *count*, how many bytes are alive while it runs; what nobody made is from the start."""
    changes = [0] * (count + 1)
    for b in buffers:
        changes[max(b.made, 0)] += b.nbytes
        changes[b.last + 1] -= b.nbytes
    return list(accumulate(changes[:-1]))


def _sample(array: Any) -> bytes:
    """Return a few elements from all over an array, as a key; the same key for all arrays on a device."""
    if type(array) is not np.ndarray:
        return b""
    return array[tuple(slice(None, None, max(size // _STEPS, 1)) for size in array.shape)].tobytes()


def _choose(buffers: Iterable[Buffer], there: set[int]) -> None:
    """Mark what can be computed again, cheapest for its size first; what that needs has to stay."""
    pinned: set[int] = set()
    by_price = sorted(buffers, key=lambda b: (b.producer.work / max(b.nbytes, 1) if b.producer else 0.0, b.number))
    chosen: set[int] = set()
    for b in by_price:
        needs = set(b.producer.reads) if b.producer is not None else set()
        if b.number not in pinned and needs and needs <= there and needs.isdisjoint(chosen):
            b.recompute = True
            chosen.add(b.number)
            pinned |= needs


@cache
def _gives_a_view(op: OpDef) -> bool:
    """Return whether the definition says so.

    A flag of an enumeration takes longer to look at than everything around it.
    """
    return Trait.VIEW in op.trait


@cache
def _type_name(kind: Any) -> str:
    """The name of a NumPy type; NumPy puts it together, with an import, each time that it is asked for."""
    return str(np.dtype(kind).name)


_PRODUCTS = {"matmul_v2": "X", "mul": "X", "bmm": "X", "addmm": "X"}
_CONVOLUTIONS = frozenset(
    ["conv2d", "depthwise_conv2d", "conv3d", "conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose"]
)


def work(event: OpEvent) -> int:
    """An estimate of an operator's arithmetic: the elements that it writes, times what is summed for each."""
    elements = 0
    for v in event.outputs:
        if v.array is not None:
            elements += math.prod(v.array.shape)
    if event.type in _PRODUCTS:
        x = event.slots()[_PRODUCTS[event.type]]
        return 2 * elements * int(x.shape[-2 if event.attrs.get("trans_x") and len(x.shape) > 1 else -1])
    if event.type in _CONVOLUTIONS:
        return 2 * elements * int(math.prod(event.slots()["Filter"].shape[1:]))
    return elements
