"""Step events of static programs and of dynamic mode in one form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from itertools import chain, repeat
from time import perf_counter
from typing import Any, Final, NamedTuple

from numpy import ndarray

from ..core import names, source, watch
from ..core.identity import identity
from ..core.records import dataclass
from ..core.source import NOWHERE, Location
from ..core.summary import Asked, Took, Uneventful
from ..core.tensor_array import TensorArray
from ..eager.tensor import Leaf, Tensor
from ..executor.plan import Step
from ..ir import roles
from ..ir.operator import Operator
from ..ir.variable import USUAL
from ..ops.compat import grad_type
from ..ops.opdef import OpDef
from ..view.graph import BACKWARD, FORWARD
from . import magnitudes

UPDATE = "update"
"""The part of operators that change parameters."""


class BlockRun(NamedTuple):
    """A run of a branch or a loop.

    Attributes:
        op: the operator of the program around it.
        number: which iteration, from 0; backward has that of the forward iteration that it goes back through.
            :data:`ALL` where what is told is of all of them together.
    """

    op: Operator
    number: int


Inside = tuple[BlockRun, ...]

ALL = -1


@dataclass(slots=True)
class SlotArray:
    """An array that an operator read or wrote.

    Attributes:
        name: of a variable or a leaf; None where the run does not know one.
        place: the variable, or the leaf that a gradient ends in.
        held: whether the program holds it, whatever backward needs: parameters, fed data, leaves, constants.
    """

    slot: str
    array: Any
    name: str | None = None
    place: Any = None
    held: bool = False

    @property
    def is_gradient(self) -> bool:
        """Return whether it is a gradient."""
        return self.slot.endswith(names.GRAD)


@dataclass(slots=True)
class OpEvent:
    """One operator of a run.

    Attributes:
        type: ``sqrt_grad``.
        part: forward, backward or update.
        loc: the user's line; of a gradient operator, that of its forward operator.
        reads, outputs: the arrays that it read and wrote, in the order of the slots; what it read may be something to
            call for them, since few listeners look at it. ``inputs`` is the list.
        origin: the static operator, the recorded call that was differentiated, or the key of a recorded call.
        seconds: what it took, without what stands around it; of a branch or a loop, without the runs of its blocks.
        contains: whether it may consist of operators that were told before: the user's own gradient rule, a branch or a
            loop.
        nested: whether it is part of such an operator, or of a rule that is computed on tensors.
        recorded: whether the backward pass is itself recorded, and the rule computed on tensors.
        inside: of a static program, the branches and loops that it stands in, the outermost first.
    """

    type: str
    part: str
    loc: Location
    attrs: Mapping[str, Any]
    reads: list[SlotArray] | Callable[[], list[SlotArray]]
    outputs: list[SlotArray]
    origin: Any
    seconds: float = 0.0
    contains: bool = False
    nested: bool = False
    recorded: bool = False
    inside: Inside = ()

    @property
    def inputs(self) -> list[SlotArray]:
        """Return what it read."""
        if not isinstance(self.reads, list):
            self.reads = self.reads()
        return self.reads

    def slots(self) -> dict[str, Any]:
        """The first array in every slot, inputs before outputs."""
        by_slot: dict[str, Any] = {}
        for v in (*self.inputs, *self.outputs):
            if v.array is not None:
                by_slot.setdefault(v.slot, v.array)
        return by_slot


@dataclass(slots=True)
class Begin:
    """A backward pass begins.

    Attributes:
        roots: what it starts from: arrays, as far as they are known.
        names: of static programs, the names of these variables.
        recorded: whether the pass is itself recorded: it computes for another one, as derivatives in a loss do.
        loc: the line that asked for it, in dynamic mode.
    """

    roots: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    recorded: bool = False
    loc: Location = NOWHERE


@dataclass(slots=True)
class End:
    """The backward pass that began last is over."""


class Quiet:
    """Operators in a row with whose results nothing is wrong, for listeners that ask just that.

    They are told it by their method ``uneventful``; whoever has none is told the events.

    Attributes:
        events: of each of them, and where passes begin and end between them.
        passes: the passes that begin there.
        in_pass: whether the last of them is in a pass.
        arrays: by part, how many results there are that can hold NaN.
    """

    __slots__ = ("arrays", "events", "in_pass", "passes")

    def __init__(self, events: Sequence[OpEvent | Begin | End]) -> None:
        self.events = tuple(events)
        self.passes = [e for e in events if isinstance(e, Begin)]
        self.in_pass = bool(self.passes) and not isinstance(events[-1], End)
        told = [e for e in events if isinstance(e, OpEvent)]
        self.arrays: dict[str, int] = {}
        for event in told:
            held = [v for v in event.outputs if magnitudes.holds_numbers(magnitudes.plain(v.array))]
            self.arrays[event.part] = self.arrays.get(event.part, 0) + len(held)

    def tell(self, listener: Any) -> None:
        """Tell *listener*."""
        if hasattr(listener, "uneventful"):
            listener.uneventful(self)
            return
        for event in self.events:
            listener(event)


Listener = Callable[[OpEvent | Begin | End], object]


class Adapter:
    """Turns what :mod:`gradtool.engine.core.watch` tells into :class:`OpEvent`, :class:`Begin` and :class:`End`."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self._last = -1
        self._program: Any = None
        self._begun = False
        self._inside: Inside = ()
        self._entered: list[float] = []
        self._computed: list[int] = []
        """In a pass that is itself recorded, the calls that the rule has made whose operator has not been told yet."""
        self._lines: dict[int, Location] = {}
        """By the key of such a call, the line of the operator whose gradient it computes: that is the user's."""
        self._spent = [0.0]
        """By depth of blocks, the time that runs of blocks took whose operator has not been told yet."""

    @property
    def summary_needs(self) -> Asked | None:
        """Return what the listener needs of steps in place of arrays.

        Within blocks, whose plans are run in turn, arrays.
        """
        return None if self._inside else getattr(self.listener, "summary_needs", None)

    def __call__(self, event: Any) -> None:
        take = _TAKES.get(type(event))
        if take is not None:
            take(self, event)

    def _take(self, event: Took) -> None:
        asked: Any = self.listener
        asked.took(event)

    def _exit(self, event: watch.Exited) -> None:
        self._inside = self._inside[:-1]
        self._spent[len(self._inside)] += perf_counter() - self._entered.pop()

    def _compute(self, event: watch.Computed) -> None:
        if self._begun:  # by a gradient rule: of a PyLayer, or of a pass that is itself recorded; or by a hook
            computed = _call_event(event)
            computed.part, computed.nested = BACKWARD, True
            self._computed.append(event.key)
        else:
            computed = event.told = event.told or _call_event(event)
        self.listener(computed)

    def _begin(self, event: watch.Began) -> None:
        self._begun = True
        self.listener(Begin([t.array for t in event.roots], recorded=event.recorded, loc=source.here()))

    def _end(self, event: watch.Ended) -> None:
        self.finish()

    def _pull(self, event: watch.Pulled) -> None:
        self.listener(self._gradient_event(event))

    def _skip(self, event: Uneventful) -> None:
        """Operators of the program itself, in which nothing happened: what is told of them is made once."""
        first = _first_operator(event)
        if first is not None and self._begun and not roles.is_backward(first.role):
            self.finish()
        if self._begun or self._inside:  # what they are depends on what was before
            for told in event.told:
                self(Step(*told) if isinstance(told, tuple) else told)
            return
        if event.digest is None:
            events: list[Any] = []
            within = Adapter(events.append)
            for told in event.told:
                within(Step(*told) if isinstance(told, tuple) else told)
            event.digest = Quiet(events), within._begun, within._last, within._program
        quiet, self._begun, self._last, self._program = event.digest
        quiet.tell(self.listener)

    def _gradient_event(self, event: watch.Pulled) -> OpEvent:
        if not self._lines and not event.recorded:
            pulled: OpEvent = event.told or _pull_event(event)
            event.told = pulled
        else:
            pulled = _pull_event(event)
            pulled.loc = self._lines.get(event.node.key, pulled.loc)
        if event.recorded:
            self._lines.update(dict.fromkeys(self._computed, pulled.loc))
        self._computed.clear()
        return pulled

    def _enter(self, event: watch.Entered) -> None:
        if not self._inside and self._begun and not roles.is_backward(event.op.role):
            self.finish()  # the first operator of another run has a block, and is told after what is inside
        self._entered.append(perf_counter())
        self._inside = (*self._inside, BlockRun(event.op, event.run))
        if len(self._inside) == len(self._spent):
            self._spent.append(0.0)

    def _step(self, step: Step) -> None:
        op = step.op
        event = step_event(step)
        depth = len(self._inside)
        if op.sub_blocks:  # whose operators were told before
            event.contains = True
            event.seconds = max(0.0, event.seconds - self._spent[depth])
            self._spent[depth] = 0.0
        if depth:
            event.nested, event.inside = True, self._inside
            self.listener(event)
            return
        if step.index <= self._last or op.block.program is not self._program or not roles.is_backward(op.role):
            self.finish()  # what comes after gradients may be computed from them, and be differentiated in turn
        self._last, self._program = step.index, op.block.program
        if event.part is BACKWARD and not self._begun:
            self._begun = True
            seeds = [] if op.inputs else [v.name for v in op.output_variables()]
            self.listener(Begin(names=[n.removesuffix(names.GRAD) for n in seeds]))
        self.listener(event)

    def defer(self, act: Callable[..., None]) -> Callable[..., None]:
        """Return what calls *act* when what has happened until then is told: it has been."""
        return act

    def settle(self, gradients: Mapping[Any, Any]) -> dict[Any, Any]:
        """The gradients of the last pass by their places, as they were told."""
        return {**gradients}

    def finish(self) -> None:
        """The backward pass is over; at the end of a static program nothing else says so."""
        if self._begun:
            self._begun = False
            self.listener(End())


# By class and not by ``isinstance``: a training gives millions of events, and one look-up is enough for each.
_TAKES: Final[Mapping[type, Callable[[Adapter, Any], None]]] = {
    Step: Adapter._step,
    Uneventful: Adapter._skip,
    Took: Adapter._take,
    watch.Entered: Adapter._enter,
    watch.Exited: Adapter._exit,
    watch.Computed: Adapter._compute,
    watch.Began: Adapter._begin,
    watch.Ended: Adapter._end,
    watch.Pulled: Adapter._pull,
}
"""Class of an event -> the method that takes it; others pass by."""


def _first_operator(event: Uneventful) -> Operator | None:
    """The operator that comes first, or whose block does."""
    for told in event.told:
        operator: Operator = told[1] if isinstance(told, tuple) else told.op
        return operator
    return None


def part_of(op: Operator) -> str:
    """The part of a program that an operator belongs to."""
    if roles.is_backward(op.role):
        return FORWARD if op.saves else BACKWARD
    return UPDATE if op.role & roles.OPTIMIZE else FORWARD


def step_event(step: Step) -> OpEvent:
    """The event of an operator of a static program."""
    op = step.op
    wrote = _variables(op.op.outputs, op.outputs, step.outputs, skip=False)
    return OpEvent(op.type, part_of(op), op.loc, op.attrs, lambda: _step_reads(step), wrote, op, step.seconds)


def _step_reads(step: Step) -> list[SlotArray]:
    op = step.op
    if op.sub_blocks:  # it reads what its kernel needs, in any order
        return [SlotArray("X", a) for a in step.inputs if _is_tensor(a)]
    read = _variables(op.op.inputs, op.inputs, step.inputs, skip=True)
    shapes = _read_for_shapes(op.op)
    return [v for v in read if v.slot not in shapes] if shapes else read


@cache
def _read_for_shapes(op: OpDef) -> frozenset[str]:
    """The slots of which a gradient operator reads the shape alone: that is not reading."""
    if op.forward is None or op.forward.rule is None:
        return frozenset()
    return frozenset([s.name for s, r in zip(op.inputs, op.forward.rule.reads, strict=True) if r.like])


def _variables(slots: Sequence[Any], values: Sequence[Any], arrays: Sequence[Any], skip: bool) -> list[SlotArray]:
    """Variables with their arrays; the arrays of inputs leave out empty slots, those of outputs do not."""
    tensors = []
    rest = iter(arrays)
    for slot, value in zip(slots, values, strict=False):
        for v in value if isinstance(value, tuple) else (value,):
            if v is None and skip:
                continue
            array = next(rest, None)
            if v is not None and (type(array) is ndarray or _is_tensor(array)):
                held = v.standing is not USUAL and (v.persistable or v.is_data)
                tensors.append(SlotArray(slot.name, array, v.name, v, held))
    return tensors


def _is_tensor(array: Any) -> bool:
    """Return whether it is no scope of a block, no array of tensors (which others made), nor absent."""
    return type(array) is ndarray or (hasattr(array, "dtype") and not isinstance(array, TensorArray))


def _call_event(event: watch.Computed) -> OpEvent:
    op, inputs, leaves = event.op, event.inputs, event.leaves
    part = UPDATE if "Param" in op.input_index and "Grad" in op.input_index else FORWARD
    return OpEvent(
        op.type,
        part,
        event.loc,
        event.attrs,
        lambda: _slot_arrays(op.inputs, inputs, leaves),
        _slot_arrays(op.outputs, event.outputs),
        event.key,
        event.seconds,
    )


def _slot_arrays(slots: Sequence[Any], values: Sequence[Any], leaves: Collection[int] = ()) -> list[SlotArray]:
    tensors = []
    for slot, value in zip(slots, values, strict=False):
        for v in value if isinstance(value, (list, tuple)) else (value,):
            if v is not None:
                tensors.append(SlotArray(slot.name, v, held=identity(v) in leaves))
    return tensors


def _pull_event(event: watch.Pulled) -> OpEvent:
    node, arriving = event.node, event.arriving
    grad_op = getattr(node.op, "grad_op", None)
    return OpEvent(
        grad_type(node.op.type),
        BACKWARD,
        node.loc,
        node.attrs,
        lambda: list(_read(node, arriving, grad_op)),
        list(_wrote(event, grad_op)),
        node,
        event.seconds,
        contains=grad_op is None,
        recorded=event.recorded,
    )


def _read(node: Any, gradients: Sequence[Any], grad_op: Any) -> Iterator[SlotArray]:
    """Yield the operands of the rule: retained values, then the gradients that arrived."""
    if grad_op is None:
        yield from _read_by_layer(node, gradients)
        return
    arriving = _split_arriving(node, gradients)
    retained = node.args or (None,) * len(grad_op.inputs)
    rule = node.op.rule
    assert rule is not None
    for read, slot, value in zip(rule.reads, grad_op.inputs, retained, strict=False):
        if read.kind == "dout":
            entries: Sequence[Any] = next(arriving)
        elif read.like:
            continue
        else:
            entries = value if isinstance(value, (list, tuple)) else (value,)
        yield from (_operand_array(slot.name, v) for v in entries if v is not None)


def _read_by_layer(node: Any, gradients: Sequence[Any]) -> Iterator[SlotArray]:
    """Yield what the rule of a PyLayer read: the gradients that arrived, then what it saved."""
    for a, g in enumerate(gradients):
        if g is not None:
            yield SlotArray(f"Out{a}{names.GRAD}", _array(g))
    context = getattr(node, "ctx", None)
    for i, v in enumerate((context and context._saved) or ()):
        if getattr(v, "array", None) is not None:
            yield _operand_array(f"Saved{i}", v)


def _split_arriving(node: Any, gradients: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield the gradients that arrived slot by slot: a list has several, anything else one."""
    arriving = iter(gradients)
    sizes = node.out_sizes
    for size in repeat(None) if sizes is None else chain(sizes, repeat(None)):
        yield [next(arriving, None) for _ in range(1 if size is None else size)]


def _operand_array(slot: str, value: Any) -> SlotArray:
    leaf = isinstance(value, Tensor) and value.node is None
    return SlotArray(slot, _array(value), getattr(value, "_name", None), held=leaf)


def _wrote(event: watch.Pulled, grad_op: Any) -> Iterator[SlotArray]:
    for slot, place, gradient in zip(_gradient_slots(event, grad_op), event.wrt, event.gradients, strict=False):
        if gradient is None or place is None:
            continue
        leaf = place if isinstance(place, Leaf) else None
        yield SlotArray(slot, _array(gradient), names.grad(leaf.name) if leaf is not None else None, leaf)


def _gradient_slots(event: watch.Pulled, grad_op: Any) -> Sequence[str]:
    """Return the slot of each gradient that a rule gives: a list has several, anything else one."""
    if grad_op is None:
        return [f"X{i}{names.GRAD}" for i in range(len(event.wrt))]
    sizes = event.node.wrt_sizes if event.node.wrt_sizes is not None else repeat(None)
    return [s.name for s, n in zip(grad_op.outputs, sizes, strict=False) for _ in range(1 if n is None else n)]


def _array(value: Any) -> Any:
    return getattr(value, "array", value)
