"""Events of a running model, reported to whoever watches: steps, and the life of tensors.

==============  ============================================================================================
step            when
==============  ============================================================================================
``Step``        an operator of a static program was computed (``engine/executor/plan.py``)
``Entered``     a block of a static program begins to run: a branch, or one iteration of a loop
``Exited``      the block that was entered last is over, or failed
``Computed``    an operator was computed on tensors of dynamic mode, recorded or not
``OpFailed``    an operator of dynamic mode, or the gradient of a recorded one, raised
``Doubled``     the values of a tensor were copied before an operator in place
``Began``       a backward pass over a tape begins
``Pulled``      one recorded operator of the tape was differentiated
``Ended``       the backward pass is over, or failed
==============  ============================================================================================

==============  ============================================================================================
of tensors      when
==============  ============================================================================================
``Made``        a tensor was made of plain values
``Called``      an operator was called: the tensors that it took and gave
``Applied``     a PyLayer was called and recorded
``Copied``      a tensor got the values of others without a way back: ``detach``, ``to_tensor``, ``paddle.grad``
``SetAside``    a tensor was copied for a graph that is freed, in case that someone looks at it later
``Chosen``      a layer has made a tensor by a setting that another line of the program gave
``Left``        the values of a tensor went to Python or NumPy
``Written``     the values of a tensor were overwritten
``Cutting``     gradients are about to be cut off; a true answer spares them
``Guarding``    recording is switched off or on, by ``no_grad`` and its like
``Guarded``     the block whose guard was entered last is left
``Added``       backward adds to the ``.grad`` of a leaf
``Filled``      a backward pass has added all its gradients
``Given``       ``paddle.grad`` gives gradients, which go to no ``.grad``
``Cleared``     the ``.grad`` of a tensor was cleared
``Listed``      an optimizer was made for some parameters
``Awaited``     processes wait for each other's gradients of some parameters
``Replaced``    an attribute of a layer that held parameters was assigned to anew
``Labelled``    a layer was given an attribute that freezes tensors, and not layers
``Switched``    layers were switched to training or to evaluation
``GradRead``    an optimizer has read gradients, and may look elsewhere before it updates anything
``Updating``    an optimizer begins to update parameters
``Clipped``     it has clipped their gradients
``Scaled``      a loss was multiplied by a loss scale
``Unscaled``    gradients were divided by it, and looked at
``Updated``     it is done, or failed
``Scheduled``   a schedule sets the learning rate of an optimizer from now on
``Advanced``    it goes on to its next step
``DataBegan``   the program begins to go through its data
==============  ============================================================================================

Events are neither frozen nor compared: making one would cost several times as much, and defining their classes a part
of each start. An event holds the arrays and tensors themselves, not copies: a watcher looks at them at once, or copies
what it wants to keep; whoever keeps a tensor keeps the graph behind it. The engine knows nothing of what watchers do.

It costs nothing while nobody watches. What is called for every operator is put in place when watching begins and taken
out when it ends (:func:`when_switched`), a pass looks once whether there is a watcher, and what is left asks a global
variable: ``if watch.noting: watch.note(...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Any

from .listeners import join
from .records import dataclass
from .source import NOWHERE, Location, locate

# What happens is told in the terms of modules above this one: hence ``Any``.
Operator = Any
OpDef = Any
Backend = Any
GradNode = Any
Place = Any
Tensor = Any


@dataclass(slots=True, eq=False, repr=False)
class Entered:
    """A block begins to run; the steps up to the matching :class:`Exited` are in it.

    Attributes:
        op: the operator that the block belongs to, which is told when all its runs are over.
        run: which iteration, from 0. Backward blocks have the number of the forward iteration that they belong to.
    """

    op: Operator
    run: int


@dataclass(slots=True, eq=False, repr=False)
class Exited:
    """The block that was entered last is over."""


@dataclass(slots=True, eq=False, repr=False)
class Computed:
    """An operator was computed on tensors.

    Attributes:
        inputs: one array per slot, a list of them for a list slot, None for an empty one.
        outputs: likewise, one per output slot: the very arrays that the tensors of the results have.
        site: where the user's program called it, see :func:`gradtool.engine.core.source.site`.
        key: the ``key`` of its node, if the call is recorded; if not, the next node of another operator may have it.
        seconds: what the kernel took.
        backend: what computed it.
        leaves: the identities of those of *inputs* that are parameters, or other tensors that take a gradient and no
            recorded operator made; known where somebody watches tensors.
        again: computes the call once more on such inputs, and gives all results in one flat list, where another
            framework computed it and is there; None where the kernel does.
    """

    op: OpDef
    attrs: Mapping[str, Any]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    site: Any
    key: int
    seconds: float
    backend: Backend
    leaves: Set[int] = frozenset()
    again: Callable[[Sequence[Any]], Sequence[Any] | None] | None = None

    @property
    def loc(self) -> Location:
        """Place in the user's program that called it."""
        return locate(self.site)


@dataclass(slots=True, eq=False, repr=False)
class OpFailed:
    """An operator was to be computed on tensors, or a recorded one to be differentiated, and raised.

    Attributes:
        error: what it raised.
        op, attrs, inputs, loc: of an operator, as of :class:`Computed`; *op* is None where a gradient failed.
        node: the recorded operator whose gradient, or a hook on it, failed.
        arriving: the gradient of each result of *node*, None where none arrived.
    """

    error: BaseException
    op: OpDef | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Any, ...] = ()
    loc: Location = NOWHERE
    node: GradNode | None = None
    arriving: tuple[Any, ...] = ()


@dataclass(slots=True, eq=False, repr=False)
class Doubled:
    """The values of a tensor were copied, for an operator whose result is going to overwrite them."""

    array: Any
    copy: Any


@dataclass(slots=True, eq=False, repr=False)
class Began:
    """A backward pass begins.

    Attributes:
        roots: the tensors that it starts from.
        recorded: whether the pass is itself recorded (``create_graph``).
        seeds: the gradients that it starts with, by their places.
    """

    roots: tuple[Tensor, ...]
    recorded: bool
    seeds: Mapping[Place, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class Pulled:
    """A recorded operator was differentiated.

    Attributes:
        arriving: the gradient of each result, None where none arrived.
        wrt: where the gradients go, None where none is wanted.
        gradients: one for each of these places, not summed yet with what other operators send there.
        recorded: whether the pass is itself recorded.
        seconds: what the rule took.
        kept: what the node retained (see ``GradNode.kept``), which it may let go of next.
    """

    node: GradNode
    arriving: Sequence[Any]
    wrt: Sequence[Place | None]
    gradients: Sequence[Any]
    recorded: bool
    seconds: float
    kept: Any


@dataclass(slots=True, eq=False, repr=False)
class Ended:
    """The backward pass that began last is over."""


@dataclass(slots=True, eq=False, repr=False)
class Made:
    """A tensor was made of plain values: no operator computed it."""

    tensor: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Called:
    """An operator was called on tensors.

    Attributes:
        operands: one per slot: a tensor, a list of them, or None; slots at the end may be left out.
        results: likewise, one per output.
    """

    op: OpDef
    operands: tuple[Any, ...]
    results: tuple[Any, ...]


@dataclass(slots=True, eq=False, repr=False)
class Applied:
    """A PyLayer was called and stands on the tape; its results have not got their places there yet.

    Attributes:
        inputs: the tensors among its arguments.
        outputs: the tensors that it gave.
        taken: for each of these, whether gradients come back through it.
    """

    node: GradNode
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    taken: tuple[bool, ...]


@dataclass(slots=True, eq=False, repr=False)
class Copied:
    """*made* got the values of the *given* tensors without a way back."""

    how: str
    given: tuple[Tensor, ...]
    made: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Differentiated:
    """Gradients of *tensors* were computed that have a graph themselves."""

    tensors: tuple[Tensor, ...]


@dataclass(slots=True, eq=False, repr=False)
class SetAside:
    """*copy* stands for *tensor* in a graph that was freed."""

    tensor: Tensor
    copy: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Chosen:
    """A tensor is what it is by a setting of the layer that made it.

    Attributes:
        loc: where the setting was given.
    """

    tensor: Tensor
    loc: Location


@dataclass(slots=True, eq=False, repr=False)
class Left:
    """The values of a tensor left for Python.

    Attributes:
        how: the method.
        into: the tensor that took them, where they went straight into one.
    """

    how: str
    tensor: Tensor
    into: Tensor | None = None


@dataclass(slots=True, eq=False, repr=False)
class Lent:
    """Others have the memory of a tensor from now on, and may write it unheard.

    Attributes:
        how: the method that gave it to them; empty where they had it before.
    """

    tensor: Tensor
    how: str


@dataclass(slots=True, eq=False, repr=False)
class Written:
    """The values of a tensor were overwritten by those of an array."""

    tensor: Tensor
    array: Any
    writer: str


@dataclass(slots=True, eq=False, repr=False)
class Unfilled:
    """The gradient of a result of an operator was read, and no pass keeps one there."""

    tensor: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Initialised:
    """A parameter was filled with values that read nothing."""

    tensor: Tensor
    writer: str


@dataclass(slots=True, eq=False, repr=False)
class Cutting:
    """Gradients are about to be cut off. If a watcher's answer is true, nothing is cut.

    Attributes:
        how: ``detach``, ``no_grad``, or the attribute that is set: ``stop_gradient``, ``trainable``; or the public
            name of a function that sets ``stop_gradient`` on what it is given.
        tensor: the tensor that it happens to; None for a call under ``no_grad``.
    """

    how: str
    tensor: Tensor | None = None


@dataclass(slots=True, eq=False, repr=False)
class Enclosure:
    """A call that runs the user's code without recording it, since no tensor among its arguments needs a gradient.

    Attributes:
        kind: ``recompute`` or ``PyLayer``.
        name: what the user calls it by: ``recompute``, or the class of the PyLayer.
        tensors: the tensors among its arguments.
    """

    kind: str
    name: str
    tensors: tuple[Tensor, ...]


@dataclass(slots=True, eq=False, repr=False)
class Guarding:
    """Recording is switched off or on from here.

    Attributes:
        enabled: whether what follows is recorded.
        site: of a decorator, where the user's file has it; None for whoever calls now.
        enclosure: the call that switched it off by itself; None where the program did, with ``no_grad`` and its like.
    """

    enabled: bool
    site: Any = None
    enclosure: Enclosure | None = None


@dataclass(slots=True, eq=False, repr=False)
class Guarded:
    """End of the last :class:`Guarding` that began."""


@dataclass(slots=True, eq=False, repr=False)
class Replaced:
    """Parameters of a layer were replaced by others, or let go of, as something else was assigned to an attribute.

    Attributes:
        before, after: the parameters by their path from the attribute.
    """

    before: Mapping[str, Tensor]
    after: Mapping[str, Tensor]


@dataclass(slots=True, eq=False, repr=False)
class Switched:
    """Layers work as in training from now on, or as in evaluation.

    Attributes:
        tensors: the parameters of these layers.
    """

    tensors: tuple[Tensor, ...]
    training: bool


@dataclass(slots=True, eq=False, repr=False)
class Released:
    """``stop_gradient = False`` was set on a tensor that no recorded operator made: it is a leaf from now on."""

    tensor: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Added:
    """Backward is about to add to the ``.grad`` of a leaf.

    Attributes:
        root: the first of the tensors that the pass started from; None outside of a pass.
    """

    leaf: Any
    root: Tensor | None = None


@dataclass(slots=True, eq=False, repr=False)
class Filled:
    """A backward pass has added all its gradients to the ``.grad`` of *leaves*."""

    leaves: tuple[Any, ...]


@dataclass(slots=True, eq=False, repr=False)
class Given:
    """``paddle.grad`` computed the gradients of *inputs*, None for one that does not matter."""

    inputs: tuple[Tensor, ...]
    gradients: tuple[Tensor | None, ...]


@dataclass(slots=True, eq=False, repr=False)
class Cleared:
    """The ``.grad`` of a tensor was set to zeros or removed."""

    how: str
    tensor: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Listed:
    """An optimizer was made for *tensors*."""

    tensors: tuple[Tensor, ...]


@dataclass(slots=True, eq=False, repr=False)
class Labelled:
    """A layer was given an attribute that freezes tensors and does nothing to a layer.

    Attributes:
        tensors: its parameters.
        text: the assignment, ``Linear.stop_gradient = True``.
    """

    tensors: tuple[Tensor, ...]
    text: str


@dataclass(slots=True, eq=False, repr=False)
class Awaited:
    """Processes wait in each backward pass for each other's gradients of *tensors*; one without any stops all."""

    tensors: tuple[Tensor, ...]


@dataclass(slots=True, eq=False, repr=False)
class DeepCopied:
    """*made* is a deep copy of *tensor*: a leaf of its own with the same values."""

    tensor: Tensor
    made: Tensor


@dataclass(slots=True, eq=False, repr=False)
class GradientMoved:
    """The ``.grad`` of *tensor* lies in other memory now, with the same values."""

    tensor: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Reused:
    """A value was handed out that *by* keeps from an earlier call."""

    tensor: Tensor
    by: str


@dataclass(slots=True, eq=False, repr=False)
class GradRead:
    """An optimizer has read the gradients of *tensors*, and only then decides where it goes, if anywhere."""

    tensors: tuple[Tensor, ...]


@dataclass(slots=True, eq=False, repr=False)
class Updating:
    """An optimizer begins to update *tensors*.

    Attributes:
        by: its class.
        rate: its learning rate.
        fixed: whether nothing but the script itself changes that rate, as a scheduler would.
    """

    tensors: tuple[Tensor, ...]
    by: str = ""
    rate: float | None = None
    fixed: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Clipped:
    """The optimizer that began last has clipped gradients.

    Attributes:
        pairs: tensors and their gradients.
        clipped: the same, clipped.
    """

    pairs: Sequence[tuple[Tensor, Tensor]]
    clipped: Sequence[tuple[Tensor, Tensor]]


@dataclass(slots=True, eq=False, repr=False)
class Limited:
    """The gradients of *tensors* are about to be clipped by a call that is no optimizer's.

    Attributes:
        by: the function.
    """

    tensors: tuple[Tensor, ...]
    by: str


scale_watchers: list[Any] = []
"""Weak references, which leave this list by themselves, to functions that are told of :class:`Scaled` and
:class:`Unscaled` without watching tensors."""


def note_scale(event: Any) -> None:
    """Tell who watches tensors, and who watches loss scales."""
    if noting:
        note(event)
    for reference in list(scale_watchers):
        by = reference()
        if by is not None:
            by(event)


class Scaled:
    """A loss was multiplied, so that small gradients do not vanish in narrow numbers.

    Attributes:
        loss, scaled: before and after.
        scale: by how much.
    """

    __slots__ = ("loss", "scale", "scaled")

    def __init__(self, loss: Tensor, scaled: Tensor, scale: float) -> None:
        self.loss = loss
        self.scaled = scaled
        self.scale = scale


class Unscaled:
    """The gradients of *tensors* were divided by the loss scale.

    Attributes:
        scale: it.
        finite: whether all of them were finite; if not, the update is left out.
    """

    __slots__ = ("finite", "scale", "tensors")

    def __init__(self, tensors: tuple[Tensor, ...], scale: float, finite: bool) -> None:
        self.tensors = tensors
        self.scale = scale
        self.finite = finite


@dataclass(slots=True, eq=False, repr=False)
class Updated:
    """The optimizer that began last is done."""


@dataclass(slots=True, eq=False, repr=False)
class Scheduled:
    """A schedule sets the learning rate of an optimizer from now on.

    Attributes:
        schedule: stands for it: a number, or the schedule itself.
        by: its class.
        tensors: what the optimizer holds.
        length: after how many steps of its own it has run once; None where it has no end, or that is not known.
        parts: what stands for the schedules that it steps by itself.
        rate: the learning rate that it begins with.
        base: the rate that the optimizer was made with.
    """

    schedule: Any
    by: str
    tensors: tuple[Tensor, ...]
    length: int | None = None
    parts: tuple[Any, ...] = ()
    rate: float | None = None
    base: float | None = None


@dataclass(slots=True, eq=False, repr=False)
class Advanced:
    """A schedule went on to its next step.

    Attributes:
        rate: the learning rate from now on.
        jumped: whether the program said which step that is.
    """

    schedule: Any
    rate: float | None
    jumped: bool = False


@dataclass(slots=True, eq=False, repr=False)
class DataBegan:
    """The program begins to go through its data; *data* stands for what it takes it from."""

    data: Any


Watcher = Callable[[Any], object]
"""Called with each event. Where a tape's backward pass is stepped through, a true result pauses it; a true answer to
:class:`Cutting` spares what was to be cut."""

_watcher: ContextVar[Watcher | None] = ContextVar("gradtool_watcher", default=None)
_tensor_watcher: ContextVar[Watcher | None] = ContextVar("gradtool_tensor_watcher", default=None)

watcher = _watcher.get
"""Who watches the steps, or None."""


def program_watcher() -> Watcher | None:
    """Return the watcher of the steps of static programs, or None; its attribute ``hears_programs`` may forbid it."""
    by = watcher()
    return by if getattr(by, "hears_programs", True) else None


_on_switch: list[Callable[[], None]] = []
_watching = 0
noting = 0
"""How many in this process watch what becomes of tensors."""


def is_watched() -> bool:
    """Return whether anyone in this process watches the steps."""
    return _watching > 0


def when_switched(act: Callable[[], None]) -> Callable[[], None]:
    """Have *act* called when the first watcher of either kind comes and when the last has gone."""
    _on_switch.append(act)
    return act


def note(event: Any) -> object:
    """Tell who watches what becomes of tensors; the answer, None where nobody does."""
    by = _tensor_watcher.get()
    return None if by is None else by(event)


@contextmanager
def watch(by: Watcher | None = None, tensors: Watcher | None = None) -> Iterator[None]:
    """Inside, watchers are called with every event of this thread (or task), after those who watched before.

    Args:
        by: is told of steps.
        tensors: is told what becomes of tensors.
    """
    before, tensors_before = watcher(), _tensor_watcher.get()
    _watcher.set(join(before, by))
    _tensor_watcher.set(join(tensors_before, tensors))
    _count(by is not None, tensors is not None)
    try:
        yield
    finally:
        _count(-(by is not None), -(tensors is not None))
        _tensor_watcher.set(tensors_before)  # no token: a notebook may leave in another context than it entered
        _watcher.set(before)


@contextmanager
def replace_watchers(by: Watcher) -> Iterator[None]:
    """Inside, *by* is told of steps, and nobody else: for who tells the others himself."""
    token = _watcher.set(by)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def pause_watchers() -> Iterator[None]:
    """Inside, nobody is told: for watchers that compute with the engine themselves."""
    token, tensor_token = _watcher.set(None), _tensor_watcher.set(None)
    try:
        yield
    finally:
        _tensor_watcher.reset(tensor_token)
        _watcher.reset(token)


def _count(steps: int, tensors: int) -> None:
    global _watching, noting
    before = _watching > 0, noting > 0
    _watching, noting = _watching + steps, noting + tensors
    if before != (_watching > 0, noting > 0):
        for act in _on_switch:
            act()
