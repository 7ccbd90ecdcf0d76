"""Events from a recorder inside another framework, in the order in which they happen.

Tensors and nodes of the graph have numbers, which are never used twice. Arrays are NumPy's and share memory as the
tensors do: what is written to one is seen in the others.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

Site = Any
"""Where the user's program called: what ``gradtool.engine.core.source.site`` gives."""

Edge = tuple[int, int] | int | None
"""Where a gradient goes: a node and the number of its output, a leaf tensor, or nowhere."""


class Ref(int):
    """The number of a tensor among constants."""

    __slots__ = ()


class GraphNode(NamedTuple):
    """A node of the framework's graph.

    Attributes:
        name: of its class, such as ``ReluBackward0``.
        edges: where its gradients go.
        shapes: shape and dtype of each output of the forward call, as far as the framework knows them.
        saved: the tensors that it retains, by what the framework calls them.
        custom: the class of an ``autograd.Function``; empty for others.
        rule: where that says what the gradient is.
    """

    number: int
    name: str
    edges: tuple[Edge, ...]
    shapes: tuple[tuple[tuple[int, ...], str], ...]
    saved: tuple[int, ...] = ()
    custom: str = ""
    rule: Site = ()


class CallResult(NamedTuple):
    """Results of a call.

    Attributes:
        array: its values; None where the tensor was known before (an operator in place). Of a known tensor, that it is
            another view of its storage from now on.
        output: which output of the node it is; None where no gradient comes back through it.
    """

    tensor: int
    array: Any
    output: int | None


class TensorMade(NamedTuple):
    """A tensor that no operator on tensors made, or that was met for the first time.

    Attributes:
        takes: whether it takes a gradient.
        parameter: whether it is an ``nn.Parameter``.
        shares: the tensor whose storage it has, if that is known.
        gradient_of: the leaf whose ``.grad`` it is, if it is one.
        name: of a parameter, where the framework has named it.
        lent: whether others have its memory, such as an array that it was made from.
    """

    tensor: int
    array: Any
    takes: bool
    parameter: bool
    shares: int | None
    gradient_of: int | None
    site: Site
    name: str = ""
    lent: bool = False


class Gone(NamedTuple):
    """Nobody holds a tensor any more."""

    tensor: int


class NodesFreed(NamedTuple):
    """Nodes of the framework's graph that are no more."""

    nodes: tuple[int, ...]


class OverwriteBegan(NamedTuple):
    """A tensor is about to be overwritten."""

    tensor: int
    site: Site


class OperatorCalled(NamedTuple):
    """An operator was called.

    Attributes:
        behind: nodes that this one stands on and that were not told of, those that others stand on first.
        enabled: whether the framework recorded then.
        operator: its name without namespace and overload, such as ``addmm``.
        names: of its arguments.
        arguments: plain values, with a :class:`Ref` in place of each tensor.
        edges: by place among the tensors of the arguments, laid flat: which edge of the node is its, or None.
        view: whether the result shares the storage of the first tensor.
        written: the tensors that it wrote in place.
        seconds: what it took.
        overload: the operator as the framework names it in full, such as ``aten::add.Tensor``; empty where it does not.
        dropped: the user's line that drops its results; nowhere in runs that were recorded before this was noted.
    """

    operator: str
    names: tuple[str, ...]
    arguments: tuple[Any, ...]
    results: tuple[CallResult, ...]
    node: GraphNode | None
    edges: tuple[int | None, ...]
    view: bool
    written: tuple[int, ...]
    behind: tuple[GraphNode, ...]
    enabled: bool
    seconds: float
    site: Site
    overload: str = ""
    dropped: Site = ()


class Adopted(NamedTuple):
    """A tensor was found to hang on a node that no operator told of: an ``autograd.Function``, or a view written."""

    tensor: int
    output: int
    nodes: tuple[GraphNode, ...]
    site: Site


class Detached(NamedTuple):
    """A tensor got the values of another without a way back.

    Attributes:
        how: ``detach`` or ``data``.
        dropped: the user's line that drops it, as of :class:`OperatorCalled`.
    """

    tensor: int
    made: int
    array: Any
    how: str
    site: Site
    dropped: Site = ()


class CopyMade(NamedTuple):
    """A tensor was made as a deep copy of another: a leaf of its own with the same values."""

    tensor: int
    made: int
    site: Site


class ValueReused(NamedTuple):
    """A value was handed out that *by* keeps from an earlier call."""

    tensor: int
    by: str
    site: Site


class Rebound(NamedTuple):
    """A tensor got other memory, of another shape or type even, and stays the tensor that it is.

    Attributes:
        source: the tensor whose memory it is now, or whose values were copied; None where none is known.
        how: what was called, such as ``data =``; empty where the tensor was moved, and holds the same values.
    """

    tensor: int
    array: Any
    source: int | None
    how: str
    site: Site


class MissingGradientRead(NamedTuple):
    """The ``.grad`` of a result of an operator was read, and there is none: passes fill those of leaves."""

    tensor: int
    site: Site


class ValuesTaken(NamedTuple):
    """The values of a tensor went to Python or NumPy."""

    tensor: int
    how: str
    site: Site


RETAIN: Final = "retain_grad"
"""How a result takes a gradient: it keeps the one that a pass computes."""


class GradientTaken(NamedTuple):
    """A gradient was given back as plain numbers, without a way back to the *roots* that it is of."""

    roots: tuple[int, ...]
    made: int
    array: Any
    site: Site


class MemoryLent(NamedTuple):
    """The address of a tensor's memory went to the program, which may write there unheard."""

    tensor: int
    how: str
    site: Site


class Requires(NamedTuple):
    """Change of whether a leaf takes a gradient, or of a result that keeps its own (:data:`RETAIN`)."""

    tensor: int
    takes: bool
    how: str
    site: Site


class RecordingSwitched(NamedTuple):
    """Recording is switched off or on.

    Attributes:
        enclosure: kind, name and tensors of the call that switches it off by itself, see
            :class:`gradtool.engine.core.watch.Enclosure`; None where the program does.
    """

    enabled: bool
    site: Site
    enclosure: tuple[str, str, tuple[int, ...]] | None = None


class RecordingRestored(NamedTuple):
    """End of what :class:`RecordingSwitched` began last."""


class BackwardBegan(NamedTuple):
    """A backward pass is asked for.

    Attributes:
        how: ``backward`` or ``grad``.
        inputs: the tensors whose gradients are asked for; None for all leaves.
        gradients: those that it starts with, None for ones.
        depth: how many passes run already.
    """

    roots: tuple[int, ...]
    how: str
    recorded: bool
    site: Site
    inputs: tuple[int, ...] | None = None
    gradients: tuple[Any, ...] = ()
    depth: int = 0


class NodeDifferentiated(NamedTuple):
    """A node was differentiated: the gradients that arrived, by output, and those that it gave, by edge."""

    node: int
    arriving: tuple[Any, ...]
    gradients: tuple[Any, ...]


class BackwardEnded(NamedTuple):
    """The backward pass that began last is over.

    Attributes:
        seeds: the gradients that it started with, None for ones.
        pulled: its nodes in the order of the pass.
        gradients: the ``.grad`` of every leaf that it may have come to, None where there is none.
        error: what the framework raised.
        nested: what passes that ran inside of it gave to leaves that are not behind its roots.
    """

    roots: tuple[int, ...]
    how: str
    seeds: tuple[Any, ...]
    retains: bool
    recorded: bool
    pulled: tuple[NodeDifferentiated, ...]
    gradients: tuple[tuple[int, Any], ...]
    error: str
    site: Site
    nested: tuple[tuple[int, Any], ...] = ()


class Explored(NamedTuple):
    """A pass that the program did not run, computed for gradtool alone when the program was over.

    Attributes:
        pulled: its nodes in the order of the pass.
    """

    pulled: tuple[NodeDifferentiated, ...]


class GradientCleared(NamedTuple):
    """The ``.grad`` of a leaf was set to zeros or removed."""

    tensor: int
    how: str
    removed: bool
    site: Site


class OptimizerMade(NamedTuple):
    """An optimizer was made for some tensors."""

    tensors: tuple[int, ...]
    site: Site


class ProcessesJoined(NamedTuple):
    """A module was put together with those of other processes, which wait for its gradients: its parameters."""

    tensors: tuple[int, ...]
    site: Site


class UpdateBegan(NamedTuple):
    """An optimizer begins to update tensors."""

    tensors: tuple[int, ...]
    by: str
    rate: float | None
    site: Site


class UpdateEnded(NamedTuple):
    """It is done.

    Attributes:
        values: the tensors with their values, which are written already where memory is shared.
    """

    values: tuple[tuple[int, Any], ...]
    site: Site


class ScheduleMade(NamedTuple):
    """A schedule was made that sets the learning rate of an optimizer.

    Attributes:
        schedule: its number.
        by: its class.
        tensors: what the optimizer holds.
        length: after how many steps of its own it has run once; None where it has no end, or that is not known.
        parts: the numbers of the schedules that it steps by itself.
        rate: the learning rate that it begins with.
        base: the rate that the optimizer was made with.
    """

    schedule: int
    by: str
    tensors: tuple[int, ...]
    length: int | None
    parts: tuple[int, ...]
    rate: float | None
    base: float | None
    site: Site


class ScheduleStepped(NamedTuple):
    """A schedule went on to its next step.

    Attributes:
        rate: the learning rate from now on.
        jumped: whether the program said which step that is.
    """

    schedule: int
    rate: float | None
    jumped: bool
    site: Site


class DataPassBegan(NamedTuple):
    """The program begins to go through its data: the number of the loader."""

    data: int
    site: Site


class Hooking(NamedTuple):
    """A hook was put on a tensor.

    Attributes:
        key: the hook's number.
        hook: where it returns what it makes of a gradient.
    """

    tensor: int
    key: int
    hook: Site
    site: Site


class HookCalled(NamedTuple):
    """A hook was called in the pass that runs.

    Attributes:
        before: the gradient that it got.
        gradient: what it made of that; None where it left it as it was.
    """

    key: int
    before: Any
    gradient: Any


class ParametersReplaced(NamedTuple):
    """An attribute of a module that held parameters was assigned to anew: the parameters by their paths from it."""

    before: tuple[tuple[str, int], ...]
    after: tuple[tuple[str, int], ...]
    site: Site


class ModuleLabelled(NamedTuple):
    """A module was given an attribute that freezes tensors and does nothing to a module: its parameters."""

    tensors: tuple[int, ...]
    text: str
    site: Site


class ModeSwitched(NamedTuple):
    """A module was switched to training or to evaluation: its parameters."""

    tensors: tuple[int, ...]
    training: bool
    site: Site


class LossScaled(NamedTuple):
    """A loss was multiplied, so that small gradients do not vanish in narrow numbers.

    Attributes:
        loss, scaled: before and after.
        scale: by how much.
    """

    loss: int
    scaled: int
    scale: float
    site: Site


class GradientsUnscaled(NamedTuple):
    """The gradients of some tensors were divided by that.

    Attributes:
        finite: whether all of them were finite; if not, the update is left out.
    """

    tensors: tuple[int, ...]
    scale: float
    finite: bool
    site: Site


class GradientsClipped(NamedTuple):
    """The gradients of some tensors are about to be clipped by a function."""

    tensors: tuple[int, ...]
    by: str
    site: Site


class Uncompiled(NamedTuple):
    """Code that the program had a compiler of the framework's make ran as it stands."""

    site: Site


class Halted(NamedTuple):
    """The program was stopped while it was recorded: nothing is known of what comes after.

    Attributes:
        seconds: after how many; None where passes were counted.
    """

    site: Site
    seconds: float | None


Event = (
    Explored
    | Halted
    | Uncompiled
    | CopyMade
    | ValueReused
    | ParametersReplaced
    | LossScaled
    | GradientsUnscaled
    | GradientsClipped
    | ModeSwitched
    | ModuleLabelled
    | NodesFreed
    | Rebound
    | MissingGradientRead
    | TensorMade | Gone | OverwriteBegan | OperatorCalled | Adopted | Detached
    | ValuesTaken | MemoryLent | GradientTaken | Requires | RecordingSwitched | RecordingRestored
    | BackwardBegan | BackwardEnded
    | GradientCleared | OptimizerMade | ProcessesJoined | UpdateBegan | UpdateEnded | Hooking | HookCalled
    | ScheduleMade | ScheduleStepped | DataPassBegan
)  # fmt: skip
