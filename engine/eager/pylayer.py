"""``PyLayer``: an operator whose forward and backward the user writes."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Any

from ..core import watch
from ..core.differences import meet
from ..core.errors import GradientError, UnsupportedError, UsageError
from ..core.identity import identity
from ..kernels import choice
from ..kernels.choice import eager
from ..ops.opdef import Array, Operand, Read
from .mode import is_grad_enabled, no_grad, unrecorded
from .passes import check_gradient
from .record import lift, rule_ops, values
from .saved import PackedValue, packing, unpack
from .tape import Freed, FreedGraphError, GradNode, copy_value, give_back
from .tensor import Tensor, Version


class MissingMethodError(UsageError, NotImplementedError):
    """A PyLayer without ``forward`` (Paddle raises NotImplementedError)."""

    in_paddle = "You must implement the forward function for PyLayer."


class MissingBackwardError(MissingMethodError, OSError):
    """A PyLayer without ``backward`` through which a gradient is to flow (Paddle raises OSError)."""

    code = "GT-E212"
    in_paddle = "(External) NotImplementedError: You must implement the backward function for PyLayer."


class LayerGradientError(GradientError, ValueError):
    """Error of a ``PyLayer.backward`` whose result does not fit ``forward``'s inputs (Paddle raises ValueError)."""

    code = "GT-E211"
    in_paddle = "(InvalidArgument)"


class LayerOutputError(LayerGradientError):
    """``PyLayer.forward`` returned no Tensor (Paddle raises ValueError)."""

    in_paddle = "(InvalidArgument) At least one output of `PyLayer.forward` is a `Tensor`."


class PyLayerContext:
    """Values that the forward of a PyLayer leaves for its backward; attributes may be set freely."""

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] | None = ()
        self._node: weakref.ref[LayerNode] | None = None
        self._without: set[int] = set()
        self._not_inplace: set[int] = set()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep *tensors* for backward, which gets them from :meth:`saved_tensor`; call it in forward, once.

        They are checked there: a tensor that was edited in place in between raises an error.
        """
        self._saved = tensors

    def saved_tensor(self) -> tuple[Any, ...]:
        """Return what :meth:`save_for_backward` kept, as a tuple.

        Raises:
            FreedGraphError: a backward without ``retain_graph`` freed it.
        """
        if self._saved is None:
            raise FreedGraphError(
                "the tensors saved by a PyLayer were freed by an earlier backward.",
                hint="pass retain_graph=True to it",
            )
        node = self._node() if self._node is not None else None
        return tuple(v.restore(node) if isinstance(v, _SavedOutput) else unpack(v) for v in self._saved)

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """No gradient flows into these outputs: they get ``stop_gradient=True``, and backward zeros for them."""
        self._without.update(identity(t) for t in tensors)

    def mark_not_inplace(self, *tensors: Tensor) -> None:
        """These inputs may be returned as outputs without counting as edited in place: the output is a new tensor."""
        meet("not in place")
        self._not_inplace.update(identity(t) for t in tensors)

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether backward gets zeros (the default) or None for an output without a gradient."""
        self._materialize = bool(value)

    def set_grad_in_dtype_consistent(self, flag: bool) -> None:
        """Choose whether gradients take the dtype of their inputs; they always do.

        Raises:
            UnsupportedError: *flag* is False (a ValueError).
        """
        if not flag:
            raise UnsupportedError(
                "a gradient always has the dtype of its tensor here.", hint="leave set_grad_in_dtype_consistent out"
            )


class _SavedOutput:
    """A saved tensor that is an output: only its values are kept, for the output points to the node that keeps it."""

    __slots__ = ("array", "index", "packed", "version")

    def __init__(self, tensor: Tensor, index: int) -> None:
        hooks = packing.get()
        self.packed: PackedValue | None = None if hooks is None else hooks.pack_values(tensor)
        self.array = tensor.array if hooks is None else None
        self.version: Version = tensor.version
        self.index = index

    def copy(self) -> _SavedOutput:
        """The same with values of its own."""
        other = copy.copy(self)
        other.array = None if self.array is None else self.array.copy()
        return other

    def restore(self, node: GradNode | None) -> Tensor:
        array = self.array if self.packed is None else self.packed.unpack()
        return Tensor(array, stop_gradient=node is None, node=node, index=self.index, version=self.version)


class _Slot:
    """An argument of forward that counts in what backward returns: a Tensor, or a list of them.

    Attributes:
        specs: of its tensors.
        many: whether it is a list or tuple.
        stopped: whether its (first) tensor had ``stop_gradient`` when the layer was called.
    """

    __slots__ = ("many", "specs", "stopped")

    def __init__(self, tensors: Sequence[Tensor], many: bool) -> None:
        self.specs = [t.spec for t in tensors]
        self.many = many
        self.stopped = bool(tensors[0]._stop)

    def unpack(self, value: Any, where: str, i: int) -> Sequence[Any]:
        """Return a gradient or None for each tensor of the slot, out of the *value* that backward returned for it.

        Raises:
            LayerGradientError: *value* does not fit the slot.
        """
        if self.stopped:
            if value is not None:
                raise _gradient_error(
                    f"{where} returned a gradient for input {i}, which has stop_gradient=True: None must stand there.",
                    f"backward function should return None at {i} position, because it's forward Tensor's stopgradient "
                    "is true.",
                    "one value per Tensor of forward, in the order of its arguments: None in this place",
                )
            return (None,) * len(self.specs)
        if not self.many:
            return (_gradient(value, where, i),)
        if not isinstance(value, (list, tuple)) or len(value) != len(self.specs):
            returned = f"{len(value)} values" if isinstance(value, (list, tuple)) else type(value).__name__
            raise _gradient_error(
                f"{where} must return a list of {len(self.specs)} gradients for input {i}, a list, but returned "
                f"{returned}.",
                f"argument must be list or tuple, but got {type(value).__name__}",
            )
        return [_gradient(v, where, i) for v in value]


def _gradient(value: Any, where: str, i: int) -> Tensor | None:
    """Return *value* if it can be a gradient.

    Raises:
        LayerGradientError: it is neither a Tensor nor None.
    """
    if value is None or isinstance(value, Tensor):
        return value
    raise _gradient_error(
        f"{where} must return a Tensor or None for each input, but value {i} is {type(value).__name__}.",
        f"We can only support Tensor or None for backward output, , but got {type(value).__name__}",
        "several gradients are returned as a tuple: return dx, dw" if isinstance(value, list) else None,
    )


def _gradient_error(message: str, in_paddle: str, hint: str | None = None) -> LayerGradientError:
    error = LayerGradientError(message, hint=hint)
    error.in_paddle = f"{LayerGradientError.in_paddle} {in_paddle}"
    return error


class _LayerRule:
    """The user's backward as a gradient rule.

    It returns a tuple with a value per slot, or the value of the only one. Values may be missing at the end, for slots
    that need no gradient.
    """

    expands = False
    needs: Mapping[int, Callable[[Mapping[str, Any]], bool]] = MappingProxyType({})

    def __init__(self, cls: type[PyLayer], ctx: PyLayerContext, slots: Sequence[_Slot], outputs: int) -> None:
        self.cls = cls
        self.ctx = ctx
        self.takes_none = not ctx._materialize
        self.reads = tuple(Read("dout", j) for j in range(outputs))
        self._slots = slots
        self._specs = [spec for slot in slots for spec in slot.specs]
        self.wrt = tuple(range(len(self._specs)))
        self._backend = choice.current()

    def __call__(
        self, k: Any, args: Sequence[Operand], wanted: Sequence[Sequence[bool]], attrs: Mapping[str, Any]
    ) -> list[list[Array | None]]:
        with choice.use_backend(self._backend):  # as every recorded call goes on with its own
            result = self.cls.backward(self.ctx, *(lift(a) for a in args))
        where = f"{self.cls.__name__}.backward"
        grads: list[list[Array | None]] = []
        for i, (g, spec, (want,)) in enumerate(
            zip(self._match_returned(result, where), self._specs, wanted, strict=True)
        ):
            if g is None or not want:
                grads.append([None])
                continue
            fitting = check_gradient(g, spec, f"what {where} returned for input {i}")
            grads.append([fitting if k is rule_ops else values(fitting)])
        return grads

    def _match_returned(self, result: Any, where: str) -> list[Tensor | None]:
        """Return the gradients in *result* by tensor.

        Raises:
            LayerGradientError: they do not fit the slots in number, order or kind.
        """
        values_ = result if isinstance(result, tuple) else (result,)
        count = len(self._slots)
        if len(values_) > count:
            raise _gradient_error(
                f"{where} must return one value per Tensor input of forward ({count}), but returned {len(values_)}.",
                f"The number of outputs of `PyLayer.backward` should be {count}, but received {len(values_)}.",
                "what is no Tensor, and a Tensor inside a dict, takes no value; a list of Tensors takes one",
            )
        missing = next((i for i, s in enumerate(self._slots[len(values_) :], len(values_)) if not s.stopped), None)
        gradients: list[Tensor | None] = []
        for i, (slot, value) in enumerate(zip(self._slots, values_, strict=False)):
            gradients += slot.unpack(value, where, i)
        if missing is not None:
            raise _gradient_error(
                f"{where} returned {len(values_)} values for {count} Tensor inputs of forward, "
                f"and input {missing} needs a gradient.",
                f"backward function should not return empty at {missing} position.",
                "return a gradient or None for it",
            )
        return gradients + [None] * (len(self._specs) - len(gradients))


class _LayerOp:
    """Description of a PyLayer's class for the tape: its name and its rule."""

    __slots__ = ("rule", "type")

    def __init__(self, type_: str, rule: _LayerRule) -> None:
        self.type = type_
        self.rule = rule


class _LayerCall:
    """The call of a PyLayer, with what the tape asks of a :class:`~gradtool.engine.eager.recipe.BoundOp`."""

    __slots__ = ("backend", "op")
    attrs: Mapping[str, Any] = MappingProxyType({})
    kept_outputs: frozenset[int] = frozenset()
    pull = None

    def __init__(self, op: _LayerOp) -> None:
        self.op = op
        self.backend = eager()

    @property
    def recipe(self) -> _LayerCall:
        return self


class LayerNode(GradNode):
    """One recorded call of a PyLayer."""

    __slots__ = ("ctx",)

    def __init__(self, ctx: PyLayerContext, op: _LayerOp, *rest: Any) -> None:
        self.begin(_LayerCall(op), *rest)  # type: ignore[arg-type]
        self.ctx = ctx

    def free(self, freed: Freed) -> None:
        super().free(freed)
        self.ctx._saved = None

    def copies(self) -> tuple[Any, ...]:
        saved = self.ctx._saved
        copies = [v.copy() if isinstance(v, _SavedOutput) else copy_value(v) for v in saved or ()]
        return *super().copies(), None if saved is None else tuple(copies)

    def take_back(self, copies: tuple[Any, ...]) -> None:
        *rest, saved = copies
        self.ctx._saved = None if saved is None else tuple([give_back(v) for v in saved])
        super().take_back(tuple(rest))


class PyLayer:
    """An operator of one's own: a subclass with the static methods ``forward`` and ``backward``.

    ``forward(ctx, *args, **kwargs)`` computes Tensors (anything else that it returns is passed through); it is not
    recorded. ``backward(ctx, *grads)`` gets one gradient per Tensor that forward returned, and returns a tuple with one
    value per Tensor that forward took: a Tensor of its shape, or None; None for one with ``stop_gradient``, which may
    be missing at the end. A list or tuple of Tensors takes one value, a list. Use it by ``apply``.

    >>> from gradtool import paddle
    >>> class Cube(paddle.autograd.PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, dy):
    ...         (x,) = ctx.saved_tensor()
    ...         return dy * 3 * x * x
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> Cube.apply(x).backward()
    >>> x.grad.tolist()
    [3.0, 12.0]
    """

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; to be overridden."""
        raise MissingMethodError("a PyLayer must have a static method forward(ctx, ...).")

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Compute the gradients of the inputs from those of the outputs; to be overridden."""
        raise MissingBackwardError(
            "a PyLayer that gradients flow through must have a static method backward(ctx, ...)."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call ``forward`` and record the call, if any Tensor among the arguments needs a gradient.

        Tensors count that are arguments themselves or stand in a list or tuple. If none of them needs a gradient, what
        forward computes has ``stop_gradient=True``, and ``backward`` is never called.

        Raises:
            MissingMethodError: there is no ``forward`` (a NotImplementedError).
            LayerOutputError: it returned no Tensor (a ValueError).
            LeafError: forward returned an input that is a leaf and needs a gradient (a ValueError).
            LayerGradientError: at backward, for a result that does not fit (a ValueError).
        """
        ctx = PyLayerContext()
        inputs = list(_tensors([*args, *kwargs.values()]))
        recorded = any(not t._stop for t in inputs) and (
            is_grad_enabled() or bool(watch.noting and watch.note(watch.Cutting("no_grad")))
        )
        slots: list[_Slot] = []
        wrt: list[Any] = []
        if recorded:  # before forward runs: it may write its inputs
            slots = list(_slots([*args, *kwargs.values()]))
            wrt = [None if t._stop else t.tape_place() for t in inputs]
        with _silence(cls, inputs, recorded):
            result = cls.forward(ctx, *args, **kwargs)
        if not any(isinstance(v, Tensor) for v in (result if isinstance(result, (list, tuple)) else (result,))):
            raise LayerOutputError(
                f"{cls.__name__}.forward returned {type(result).__name__} without a Tensor in it.",
                hint="return a Tensor, or a tuple or list with a Tensor in it",
            )
        if not recorded:
            return result
        taken = {identity(t) for t in inputs}
        entries = list(result) if isinstance(result, (list, tuple)) else [result]
        outputs: list[Tensor] = []
        for i, v in enumerate(entries):
            if not isinstance(v, Tensor):
                continue
            without = identity(v) in ctx._without
            if identity(v) in taken and identity(v) not in ctx._not_inplace:
                # Even if no value changed: who retained it must not take the gradient of this layer for its own.
                v.check_inplace(cls.__name__)
                v.version.wrote(cls.__name__)
            elif v.node is not None or not v.stop_gradient or identity(v) in taken:
                entries[i] = Tensor(v.array, version=v.version)
            outputs.append(entries[i])
            if without:
                ctx._without.add(identity(entries[i]))
        _record(cls, ctx, slots, inputs, wrt, outputs)
        return entries[0] if not isinstance(result, (list, tuple)) else type(result)(entries)


def _silence(cls: type[PyLayer], inputs: Sequence[Tensor], recorded: bool) -> AbstractContextManager[None]:
    """Return a guard under which nothing of ``forward`` is recorded."""
    if recorded:
        return no_grad()
    return unrecorded("PyLayer", cls.__name__, inputs) if is_grad_enabled() else nullcontext()


def _record(
    cls: type[PyLayer],
    ctx: PyLayerContext,
    slots: Sequence[_Slot],
    inputs: list[Tensor],
    wrt: list[Any],
    outputs: list[Tensor],
) -> None:
    """Put the call on the tape and give *outputs* their places."""
    places = {identity(t): j for j, t in enumerate(outputs)}
    versions: list[Any] = []
    saved: list[Any] = []
    hooks = packing.get()
    for v in ctx._saved or ():
        if not isinstance(v, Tensor):
            saved.append(v)
            continue
        if hooks is None:
            versions += (v.version, v.version.count)
        if identity(v) in places and identity(v) not in {identity(t) for t in inputs}:
            saved.append(_SavedOutput(v, places[identity(v)]))
        else:
            saved.append(v if hooks is None else hooks.pack(v))
    ctx._saved = tuple(saved)
    op = _LayerOp(f"PyLayer_{cls.__name__}", _LayerRule(cls, ctx, slots, len(outputs)))
    shapes = tuple((t.array.shape, t.array.dtype) for t in outputs)
    node = LayerNode(ctx, op, (None,) * len(outputs), tuple(wrt), shapes)
    node.versions = tuple(versions)
    ctx._node = weakref.ref(node)
    if watch.noting:
        taken = tuple([identity(t) not in ctx._without for t in outputs])
        watch.note(watch.Applied(node, tuple(inputs), tuple(outputs), taken))
    for j, t in enumerate(outputs):
        if identity(t) not in ctx._without:
            t.node, t.index, t.stop_gradient = node, j, False


def _slots(values: Sequence[Any]) -> Iterator[_Slot]:
    """Yield the arguments among *values* that are Tensors, or lists or tuples with some in them."""
    for v in values:
        tensors = list(_tensors([v]))
        if tensors:
            yield _Slot(tensors, not isinstance(v, Tensor))


def _tensors(values: Sequence[Any]) -> Iterator[Tensor]:
    """The tensors among *values*, also those one list deep."""
    for v in values:
        if isinstance(v, Tensor):
            yield v
        elif isinstance(v, (list, tuple)):
            yield from (e for e in v if isinstance(e, Tensor))
