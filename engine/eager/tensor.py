"""``Tensor``: an array, its place on the tape, and its gradient."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import source, state, upward, watch
from ..core.errors import GradientError, ShapeError, UsageError
from ..core.names import UniqueNames
from ..core.rows import RowArray, RowUpdate, SelectedRows
from ..core.source import NOWHERE, Location
from ..core.spec import DType, TensorSpec
from ..core.spec import dtype as dtype_of
from ..core.value import AnyTensor
from ..core.vocabulary import current
from ..ops.readings import Arithmetic
from .borrowed_arrays import holders, lend, lift
from .exports import ToPython
from .mode import is_grad_enabled

if TYPE_CHECKING:
    from .tape import GradNode

Array = Any
Hook = Callable[["Tensor"], "Tensor | None"]

_making = threading.Lock()
"""Held while a tensor gets what it shares with others: threads that meet at it must not make two."""

names = UniqueNames()
"""Names of tensors made in this process: ``generated_tensor_0``, ``eager_tmp_0``, …"""

writes: ContextVar[Callable[[Tensor, Any], None] | None] = ContextVar("gradtool_watched_writes", default=None)
"""What to call before the storage of a tensor is written in place, or None: with the tensor and the array whose values
it gets, None where these are not known as one array."""


def announce_write(tensor: Tensor, array: Any) -> None:
    """Tell all who hold the values of *tensor* that its storage is about to be written; see :data:`writes`."""
    if holders:
        lift(tensor.array)
    watcher = writes.get()
    if watcher is not None:
        watcher(tensor, array)


def note_lent(tensor: Tensor, how: str) -> None:
    """Note that others have the memory of *tensor* from now on, and may write it unheard.

    Args:
        how: the method that gave it to them; empty where they had it before.
    """
    lend(tensor.array)
    if watch.noting:
        watch.note(watch.Lent(tensor, how))


def are_writes_watched() -> bool:
    """Return whether anybody is to be told before a storage is written."""
    return bool(holders) or writes.get() is not None


@contextmanager
def fresh_names() -> Iterator[None]:
    """Count from the beginning inside: a model has the same names each time that it is loaded."""
    before = names.copy()
    names.begin_anew()
    try:
        yield
    finally:
        names.become(before)


class LeafError(UsageError):
    """An in-place edit of a leaf that needs a gradient (a ValueError, as in Paddle)."""

    code = "GT-E207"
    in_paddle = "(InvalidArgument) Leaf Var that doesn't stop gradient can't use inplace strategy."


class OtherShape(ShapeError, AssertionError):
    """Values of another shape for a tensor (Paddle raises AssertionError)."""

    in_paddle = "Variable Shape not match"


class NoHookError(GradientError, RuntimeError):
    """A hook on a tensor that gets no gradient (Paddle raises RuntimeError)."""

    code = "GT-E208"


IDLE = 2
"""What stands in a tensor in the place of ``stop_gradient`` where Paddle says False and no gradient can arrive: the
places that a recorded operator gives beside its values (``topk``). To whoever follows gradients it is true, to users
False."""


class Version:
    """Count of writes in place to the storage that tensors share, and the last writer.

    Made when storage is first shared or written; what all start with is the class's.
    """

    count = 0
    writer = ""
    loc: Location = NOWHERE
    is_lent = False
    """Whether other packages were given the storage (DLPack): they may write it unseen."""

    def wrote(self, writer: str, where: Location | None = None) -> None:
        """Note an in-place write by the operator *writer*, on the user's line, or that which is known to be it."""
        self.count += 1
        self.writer = writer
        self.loc = source.here() if where is None else where


class Leaf:
    """Place where gradients of a leaf tensor accumulate.

    Attributes:
        cleared: the gradient was set to zeros; the next one takes its place instead of being added in place, so that
            whoever kept the cleared one keeps zeros, as in Paddle.
        hooks: what to call with each new gradient, in order.
        after: what to call once a gradient was added.
        lock: held while a gradient is added.
        rows: of a gradient that is zeros but for some rows of a table: the version of its storage, how often it was
            written by then, and these rows.
    """

    __slots__ = ("__weakref__", "after", "cleared", "grad", "hooks", "lock", "name", "rows", "spec")

    def __init__(self, name: str, spec: TensorSpec) -> None:
        self.name = name
        self.spec = spec
        self.grad: Tensor | None = None
        self.cleared = False
        self.hooks: dict[int, Hook] = {}
        self.after: dict[int, Callable[[], None]] = {}
        self.lock = threading.Lock()
        self.rows: tuple[Version, int, Sequence[Array]] | None = None

    def rows_of(self, gradient: Tensor) -> Sequence[Array] | None:
        """The rows outside of which *gradient* is zeros; None where nobody knows."""
        if self.rows is None:
            return None
        version, count, rows = self.rows
        return rows if gradient._version is version and version.count == count and not version.is_lent else None

    def note_rows(self, gradient: Tensor, rows: Sequence[Array]) -> None:
        """Note that *gradient* is zeros outside of *rows*, until it is written."""
        version = gradient.version
        self.rows = version, version.count, rows


class Keep:
    """Stands among the hooks of an intermediate result whose gradient is to be kept."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = weakref.ref(tensor)


_keys = itertools.count()


class HookHandle:
    """Removes a hook."""

    __slots__ = ("_hooks", "_key")

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self._hooks = hooks
        self._key = next(_keys)
        hooks[self._key] = hook

    def remove(self) -> bool:
        """True the first time, False when the hook is already gone."""
        return self._hooks.pop(self._key, None) is not None


class Tensor(AnyTensor, ToPython, Arithmetic):
    """A multi-dimensional array that remembers how it was computed.

    Attributes:
        array: the values (of the backend's array type).
        stop_gradient: no gradient flows into it; True for tensors that the user makes. False for the places that a
            recorded operator gives beside its values, as in Paddle, though none flows into them (:data:`IDLE`).
        node, index: the recorded operator call that made it, and which of its outputs it is; None for a leaf.
        version: the write counter of its storage, shared with views and detached copies; made when first asked for.
        name: unique in this process.
        persistable: kept by layers; only bookkeeping here.
    """

    __slots__ = (
        "__weakref__",
        "_leaf",
        "_name",
        "_stop",
        "_version",
        "array",
        "index",
        "loc",
        "node",
        "persistable",
    )

    def __init__(
        self,
        array: Array,
        *,
        stop_gradient: bool = True,
        node: GradNode | None = None,
        index: int = 0,
        version: Version | None = None,
        name: str | None = None,
        persistable: bool = False,
    ) -> None:
        plain = type(array) is np.ndarray or isinstance(array, RowArray)
        self.array: Array = array if plain else np.asarray(array)
        self._stop = stop_gradient
        self.node = node
        self.index = index
        self._version = version
        self.persistable = persistable
        self.loc: Location = NOWHERE
        self._name = name
        self._leaf: Leaf | None = None
        if watch.noting and node is None:
            watch.note(watch.Made(self))

    @property
    def k(self) -> Any:
        return upward.part("operators of tensors").tensor_ops

    # -- what it is -----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Given when first asked for: most intermediate results are never asked."""
        if self._name is None:
            self._name = names(current().value if self.node is None else current().result)
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._name = value

    @property
    def dtype(self) -> DType:
        return dtype_of(self.array.dtype)

    @property
    def spec(self) -> TensorSpec:
        return TensorSpec(self.array.shape, self.array.dtype)

    @property
    def ndim(self) -> int:
        return int(self.array.ndim)

    @property
    def is_leaf(self) -> bool:
        """True if no recorded operator made it."""
        return self.node is None and self._stop is not IDLE

    @property
    def stop_gradient(self) -> bool:
        return self._stop if self._stop is not IDLE else False

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        if value and watch.noting and watch.note(watch.Cutting("stop_gradient", self)):
            return
        if not value and self._stop and self.node is None and watch.noting:
            watch.note(watch.Released(self))
        self._stop = bool(value)

    @property
    def version(self) -> Version:
        version = self._version
        if version is None:
            with _making:
                version = self._version
                if version is None:
                    version = Version()
                    node = self.node
                    if node is not None and self.index in node.call.recipe.kept_outputs:
                        # The node kept the values alone; from here on it can see that they are written.
                        node.versions = (*node.versions, version, 0)
                    self._version = version
        return version

    @property
    def inplace_version(self) -> int:
        """Number of times its storage was written in place."""
        return self._version.count if self._version is not None else 0

    def is_selected_rows(self) -> bool:
        """Return whether it holds some rows of a table that is zero elsewhere: the gradient of a sparse look-up."""
        return isinstance(self.array, SelectedRows)

    def is_dense(self) -> bool:
        """Return whether it holds every element."""
        return not self.is_selected_rows()

    @property
    def rows(self) -> list[int]:
        """Of selected rows: which rows they are, in the order in which they came.

        Raises:
            UsageError: it is a dense tensor (a ValueError).
        """
        if not isinstance(self.array, SelectedRows):
            raise UsageError(f"'{self.name}' is a dense tensor and has no rows; see is_selected_rows().")
        return self.array.rows.tolist()  # type: ignore[no-any-return]

    def detach(self) -> Tensor:
        """The same storage as a leaf that stops gradients; an in-place edit of either changes both."""
        return self._detach_watched() if watch.noting else Tensor(self.array, version=self.version)

    def _detach_watched(self) -> Tensor:
        if watch.note(watch.Cutting("detach", self)):
            return self.k.assign(self)  # type: ignore[no-any-return]
        copy = Tensor(self.array, version=self.version)
        watch.note(watch.Copied("detach", (self,), copy))
        return copy

    # -- the tape -------------------------------------------------------------------------------------------------

    @property
    def leaf(self) -> Leaf:
        """Place where its gradients accumulate, made when first needed."""
        if self._leaf is None:
            with _making:
                if self._leaf is None:
                    self._leaf = Leaf(self.name, self.spec)
        return self._leaf

    def tape_place(self) -> tuple[GradNode, int] | Leaf:
        """Its place on the tape: the key that the sweep knows it by."""
        return self.leaf if self.node is None else (self.node, self.index)

    # A tensor may be carried by another one, which is on the tape in its place: a sparse tensor by its values.

    @property
    def carrier(self) -> Tensor:
        """The tensor on the tape that gradients of this one flow through: itself."""
        return self

    def carried(self, values: Tensor) -> Tensor:
        """The tensor like this one that *values* carry: its gradient, of that of :attr:`carrier`."""
        return values

    def seed(self, gradient: Tensor) -> Tensor:
        """*gradient*, of this tensor, as the one of :attr:`carrier`."""
        return gradient

    @property
    def placed(self) -> Callable[[Array], Tensor]:
        """Makes a tensor of other values that has this one's place on the tape; does not keep this one alive."""
        stop, node, index = self._stop, self.node, self.index
        leaf = None if node is not None or stop else self.leaf

        def make(array: Array) -> Tensor:
            tensor = Tensor(array, stop_gradient=stop, node=node, index=index)
            tensor._leaf = leaf
            return tensor

        return make

    def register_hook(self, hook: Hook) -> HookHandle:
        """Call *hook* with the whole gradient of this tensor whenever backward has computed it.

        The hook returns None to keep the gradient or a Tensor of the same shape to replace it. Hooks run in the order
        of registration, each on the result of the one before.

        Raises:
            NoHookError: no gradient flows into the tensor (a RuntimeError).
            UsageError: *hook* cannot be called (a ValueError).
        """
        if not callable(hook):
            raise UsageError(f"register_hook takes a function, but received {type(hook).__name__}.")
        if self._stop:
            raise NoHookError("Cannot register hook on a tensor that stop gradient.", variable=self.name)
        hooks = self.leaf.hooks if self.node is None else self.node.hooks_of(self.index)
        return HookHandle(hooks, hook)

    def _register_backward_hook(self, hook: Callable[[], None]) -> HookHandle:
        """Call *hook*, which takes no argument, whenever backward has added to the ``.grad`` of this leaf.

        Raises:
            UsageError: the tensor is no leaf that gets a gradient, or *hook* cannot be called (a ValueError).
        """
        if self.node is not None or self._stop:
            raise UsageError(f"_register_backward_hook takes a leaf that gets a gradient; '{self.name}' is none.")
        if not callable(hook):
            raise UsageError(f"_register_backward_hook takes a function, but received {type(hook).__name__}.")
        return HookHandle(self.leaf.after, hook)

    def retain_grads(self) -> None:
        """Keep the gradient of an intermediate result in ``.grad``; call it before backward.

        Kept is the gradient as the hooks that were registered before leave it.
        """
        if self.node is not None and not self._stop:
            hooks = self.node.hooks_of(self.index)
            if not any(isinstance(h, Keep) and h.tensor() is self for h in hooks.values()):
                HookHandle(hooks, Keep(self))

    def backward(
        self,
        grad_tensor: Tensor | None = None,
        retain_graph: bool = False,
        *,
        dump_backward_graph_path: str | None = None,
    ) -> None:
        """Compute the gradient of this tensor and add it to the ``.grad`` of the leaves it was computed from.

        Args:
            grad_tensor: the gradient to start with, of the same shape; ones by default.
            retain_graph: keep what operators retained, so that another backward can follow.
            dump_backward_graph_path: a folder for the graph of this pass: both graphs for Graphviz, the user's line of
                every operator, and a manifest, written before anything is computed; see :mod:`gradtool.viz.dump`.

        Raises:
            GradArgumentError: an argument does not fit (an AssertionError, and by its kind also a ValueError or a
                TypeError).
            FreedGraphError: an earlier backward freed what this one needs (a SystemError and RuntimeError).
            InplaceError: a value that is needed was overwritten in place (a RuntimeError).
        """
        upward.part("backward passes").backward_from(self, grad_tensor, retain_graph, dump_backward_graph_path)

    # -- the gradient ---------------------------------------------------------------------------------------------

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, or None."""
        return self._leaf.grad if self._leaf is not None else None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise UsageError(f"a gradient is a Tensor or None, but received {type(value).__name__}.")
        if value is not None and value.array.shape != self.array.shape:
            raise ShapeError(
                f"the gradient of '{self.name}' must have its shape {list(self.array.shape)}, "
                f"but received {list(value.array.shape)}."
            )
        if value is not None and value.node is None:
            # A copy: later gradients are added in place, and must not change what was assigned.
            value = Tensor(value.array.copy(), stop_gradient=value.stop_gradient)
        self.leaf.grad = value
        self.leaf.cleared = False
        if value is None and watch.noting:
            watch.note(watch.Cleared("grad = None", self))

    def gradient(self) -> np.ndarray[Any, Any] | None:
        """A copy of the gradient's values, or None."""
        grad = self.grad
        return None if grad is None else grad.numpy()

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Set the gradient to zeros, in place, or remove it, as some rows of a table are always; or there is none."""
        if watch.noting:
            watch.note(watch.Cleared("clear_grad", self))
        grad = self.grad
        if grad is None:
            return
        leaf = self.leaf
        with leaf.lock:
            set_to_zero = set_to_zero and not isinstance(grad.array, SelectedRows)
            if not set_to_zero:
                leaf.grad = None
            elif grad.node is None:
                _clear(leaf, grad)
            else:
                leaf.grad = Tensor(np.zeros_like(grad.array), stop_gradient=False)
            leaf.cleared = set_to_zero

    def clear_grad(self) -> None:
        """Set the gradient to zeros."""
        self.clear_gradient()

    _zero_grads = clear_grad

    # -- writing --------------------------------------------------------------------------------------------------

    def set_value(self, value: Any) -> None:
        """Replace the values, keeping shape, dtype and place on the tape.

        Raises:
            OtherShape: *value* has another shape (a ValueError).
        """
        new = np.asarray(value.array if isinstance(value, Tensor) else value)
        if new.shape != self.array.shape:
            raise OtherShape(
                f"set_value: '{self.name}' has shape {list(self.array.shape)}, the new value {list(new.shape)}."
            )
        self.write(new, "set_value")
        if watch.noting and isinstance(value, Tensor):
            watch.note(watch.Left("set_value", value, self))

    def write(self, array: Array, writer: str) -> None:
        """Overwrite the storage in place; everything that shares it sees the new values."""
        if isinstance(self.array, RowArray) or not self.array.flags.writeable:
            self.array = np.array(self.array)
        announce_write(self, array)
        if isinstance(array, RowUpdate):
            array.apply_to(self.array)
        else:
            np.copyto(self.array, array, casting="same_kind")
        self.version.wrote(writer)
        if self._leaf is not None:
            state.written.note(self)
        if watch.noting:
            watch.note(watch.Written(self, array, writer))

    def convert(self, dtype: DType) -> None:
        """Have the same values in another dtype from now on, its gradient included."""
        announce_write(self, None)
        self.array = self.array.astype(dtype.numpy, copy=False)
        self.version.wrote("astype")
        if self._leaf is not None:
            self._leaf.spec = self.spec
            if self._leaf.grad is not None:
                self._leaf.grad.convert(dtype)

    def check_inplace(self, writer: str) -> None:
        """Raise :class:`LeafError` where an in-place operator may not write."""
        if self.node is None and not self._stop and is_grad_enabled():
            raise LeafError(
                f"Leaf Tensor ({self.name}) that doesn't stop gradient can't use the inplace operator {writer}.",
                hint="edit it under paddle.no_grad(), or edit a copy: x.clone()",
            )

    __hash__ = object.__hash__


def _clear(leaf: Leaf, grad: Tensor) -> None:
    """Set *grad*, the gradient of *leaf*, to zeros; of a table the rows alone that are something else."""
    rows = leaf.rows_of(grad)
    if rows is None or watch.noting or are_writes_watched():
        grad.write(np.zeros((), grad.array.dtype), "clear_gradient")
        return
    for part in rows:
        grad.array[part] = 0
    grad.version.wrote("clear_gradient")
    leaf.note_rows(grad, ())


def array_of(value: Any) -> Any:
    """The array of a tensor; anything else as it is."""
    return value.array if isinstance(value, Tensor) else value
