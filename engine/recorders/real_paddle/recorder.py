"""The recorder inside real PaddlePaddle.

Operators are seen at ``paddle._C_ops``, through which all of Paddle's Python computes, and at the methods of tensors
that are written in C++ (:mod:`.calls`). The node that a call leaves behind is on its result; a post hook on each keeps
what arrived there and what it gave. What no operator tells of is seen by standing in for a few names
(:mod:`.patches`).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Any

import numpy as np
import paddle
from paddle.base import core

from ...core.identity import identity
from ..recorded.graph import UNTOLD, returns_at
from ..recorded.recorder import FrameworkOperator, FrameworkRecorder, Waiting
from ..recorded.tensors import Sink

Tensor = core.eager.Tensor
_grad_fn = Tensor.grad_fn.__get__
_stops = Tensor.stop_gradient.__get__
_grad = Tensor.grad.__get__
_detach = Tensor.detach
_END = "GradNodeAccumulation"
_OF_LISTS = frozenset(
    {"AddNGradNode", "ConcatGradNode", "EinsumGradNode", "MeshgridGradNode", "MultiDotGradNode", "RnnGradNode"}
    | {"StackGradNode", "BroadcastTensorsGradNode", "MultiplexGradNode", "GradNodeRunProgram"}
)
"""Nodes that give gradients to lists of tensors."""

_MOVING = frozenset(
    {"AddGradNode", "AssignGradNode", "FlattenGradNode", "ReshapeGradNode", "SqueezeGradNode", "UnsqueezeGradNode"}
)
"""Nodes that may give what arrives in the same memory, as it is."""

_REAL = frozenset({"float16", "bfloat16", "float32", "float64", "complex64", "complex128"})
_NARROW = {"bfloat16": "bfloat16", "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2"}


class PaddleRecorder(FrameworkRecorder):
    """Tells a sink what Paddle does inside ``with recorder.recording():``.

    Args:
        spared: lines (file and number) at which nothing cuts gradients off, see ``engine/eager/journal.py``.

    Attributes:
        customs: by node, the class of the ``PyLayer`` that it is of.
    """

    package = "paddle"
    refusals = (RuntimeError, SystemError, OSError)
    gradient = staticmethod(_grad)

    def __init__(self, sink: Sink, spared: Iterable[tuple[str, int]] = ()) -> None:
        super().__init__(sink, spared)
        self._held: dict[int, Any] = {}
        self._leaves: dict[int, tuple[Any, Any]] = {}
        self._contexts: dict[int, tuple[Any, int]] = {}
        self._lists: set[int] = set()
        self._stepping = False
        self.customs: dict[int, type] = {}
        self.shapes: dict[int, tuple[Any, ...]] = {}

    def listen(self) -> AbstractContextManager[None]:
        """As in the base."""
        from .patches import patch_paddle

        return patch_paddle(self)

    # -- tensors ------------------------------------------------------------------------------------------------------

    def array(self, t: Any) -> Any:
        """Return the values of a tensor, read-only, in the same memory where that is possible."""
        values = self._memory_of(t)
        values.flags.writeable = False
        return values

    def _memory_of(self, t: Any) -> Any:
        with self.unheard():
            if not t.is_dense():
                t = t.to_dense()
            kind = _dtype(t)
            shape = tuple(t.shape)
            if not t._is_initialized() or 0 in shape:
                return np.zeros(shape, _numpy_kind(kind))
            if not t.place.is_cpu_place():
                t = t.cpu()
            return np.asarray(_Memory(_detach(t), kind, shape)).view(_numpy_kind(kind))

    def function_of(self, t: Any) -> Any:
        """The node that a tensor hangs on; None of a leaf."""
        function = _grad_fn(t)
        if function is None or function.name() != _END:
            return function
        self._leaves[function.node_ptr()] = function, weakref.ref(t)
        return None

    def requires(self, t: Any) -> bool:
        """Return whether a tensor takes a gradient."""
        return not _stops(t)

    def output_of(self, t: Any) -> int:
        """Return which output of its node a tensor is: its place among what the call gave."""
        known = self._known.get(identity(t))
        return 0 if known is None else known.output

    def is_parameter(self, t: Any) -> bool:
        """Return whether a tensor is a parameter of a layer."""
        return isinstance(t, paddle.base.framework.EagerParamBase)

    def name_of(self, t: Any) -> str:
        """Return Paddle's name for a parameter."""
        return str(t.name)

    def is_real(self, t: Any) -> bool:
        """Return whether a tensor's numbers are such as have gradients."""
        return _dtype(t) in _REAL

    # -- operators ----------------------------------------------------------------------------------------------------

    def call_operator(
        self, operator: FrameworkOperator, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Have Paddle call an operator, and tell of it."""
        if self.quiet or operator.aside or not paddle.in_dynamic_mode():
            return original(*args, **kwargs)
        self.flush()
        site = self.site()
        arguments = (*args, *kwargs.values()) if kwargs else args
        names = _argument_names(operator, len(args)) + tuple(kwargs)
        taken = tensors(arguments)
        before = self.note_operands(taken, site)
        written = tensors([args[i] for i in operator.written if i < len(args)])
        self.note_writes(operator.name, written, args, site)
        pointers = [t.data_ptr() if t._is_initialized() else 0 for t in written]
        plain = tuple([self.plain(v) for v in arguments])
        enabled = core._has_grad()
        start = perf_counter()
        result = original(*args, **kwargs)
        seconds = perf_counter() - start
        given = tensors(result if isinstance(result, (tuple, list)) else (result,))
        if operator.written and not given:
            given = written
        if given:
            arrays = [None if identity(t) in self._known else self.array(t) for t in given]
            told = operator._replace(names=names)
            lists = [v for v in arguments if isinstance(v, (list, tuple))]
            self._describe(given, any(self.requires(t) for v in lists for t in tensors(v)))
            held = self.hold_weakly(taken, before)
            dropped = self.find_drop(written)
            waiting = Waiting(told, plain, held, before, given, arrays, written, enabled, seconds, site, dropped)
            self.await_node(waiting)
            if any(p != t.data_ptr() for p, t in zip(pointers, written, strict=True) if t._is_initialized()):
                self._forget_moved(written, site)
        return result

    def _describe(self, given: Sequence[Any], lists: bool) -> None:
        """Remember what the node of a call stands for: Paddle does not say it."""
        function = next((f for f in map(self._own, given) if f is not None), None)
        if function is not None and function.node_ptr() not in self._nodes:
            self.shapes[function.node_ptr()] = tuple([(tuple(t.shape), _dtype(t)) for t in given])
            if lists:
                self._lists.add(function.node_ptr())

    def _forget_moved(self, written: Sequence[Any], site: Any) -> None:
        """Let tensors whose values lie elsewhere now be met anew."""
        self.flush()
        for t in written:
            self.forget(t)
            self.number(t, site)

    # -- the graph ----------------------------------------------------------------------------------------------------

    def key(self, function: Any) -> int:
        """Return the address of a node: it is held, so that no other node comes to lie there."""
        return int(function.node_ptr())

    def next_nodes(self, function: Any) -> Sequence[tuple[Any, int]]:
        """The nodes that one gives gradients to; Paddle does not say to which output of theirs."""
        return [(f, UNTOLD) for f in function.next_functions]

    def is_end(self, function: Any) -> bool:
        """Return whether a node only accumulates the gradient of a leaf."""
        return bool(function.name() == _END)

    def leaf_of(self, function: Any) -> Any:
        """The leaf of such a node; None where no operator has taken it."""
        known = self._leaves.get(function.node_ptr())
        return None if known is None else known[1]()

    def as_arrived(self, arriving: Sequence[Any], given: Sequence[Any], moves: bool) -> list[Any]:
        """Return the gradients that arrived at a node; NaN where Paddle has written what the node gives over one.

        Args:
            moves: the node gives the numbers that it gets, so that they are there still.
        """
        places = {t.data_ptr() for t in given if t is not None}
        over = [not moves and t is not None and t.data_ptr() in places for t in arriving]
        with self.unheard():
            return [
                paddle.full_like(t, float("nan")) if written else t for t, written in zip(arriving, over, strict=True)
            ]

    def arrays(self, tensors: Any) -> tuple[Any, ...]:
        """The values of gradients, which Paddle writes over later; None for those that there are not."""
        return tuple([None if t is None else self.array(t).copy() for t in tensors])

    def describe(self, function: Any) -> tuple[tuple[Any, ...], tuple[int, ...], str, Any]:
        """Of a node: shape and dtype of each output, what it retains, its own class and where that says its rule."""
        custom = self.customs.get(function.node_ptr())
        shapes = self.shapes.pop(function.node_ptr(), ())
        if custom is None:
            return shapes, (), "", ()
        return shapes, (), custom.__name__, returns_at(custom.backward)  # type: ignore[attr-defined]

    def hook(self, function: Any, number: int, key: int) -> None:
        """Have a node tell what it gets and gives."""
        self._held[key] = function
        # Those of a PyLayer tell it by their own ``backward``. Paddle cannot take back from a hook what it gives for a
        # list of tensors; gradients there are computed by gradtool's rule.
        if key not in self.customs and key not in self._lists and function.name() not in _OF_LISTS:
            edges = [f is not None for f in function.next_functions]
            function._register_post_hook(_Hook(self, number, edges, function.name() in _MOVING))

    def note_custom_node(self, cls: type, contexts: Sequence[Any], given: Sequence[Any]) -> None:
        """Remember of which ``PyLayer`` the node of *given* is, and what context its backward gets."""
        self.flush()
        function = next((f for f in map(self._own, given) if f is not None), None)
        if function is None or function.node_ptr() in self._nodes:
            return
        key = function.node_ptr()
        self._held[key] = function
        self.customs[key] = cls
        self.shapes[key] = tuple([(tuple(t.shape), _dtype(t)) for t in given])
        for context in contexts:
            self._contexts[identity(context)] = context, key
        for place, t in enumerate(given):
            known = self._known.get(identity(t))
            if known is not None:
                known.output = place

    def note_custom_pull(self, context: Any, arriving: Any, given: Any) -> None:
        """Keep what the backward of a ``PyLayer`` got and gave."""
        _, key = self._contexts.get(identity(context), (None, 0))
        number = self._nodes.get(key)
        if number is not None:
            gradients = given if isinstance(given, (list, tuple)) else (given,)
            self.note_pull(number, _there(gradients), _there(arriving))

    # -- steps --------------------------------------------------------------------------------------------------------

    def begin_step(self) -> None:
        """Stop recording operators while an optimizer computes its step."""
        self.end_step()
        self._silence += 1
        self._stepping = True

    def end_step(self) -> None:
        """Record operators again after an optimizer's step, or before the next thing where the step raised."""
        if self._stepping:
            self._stepping = False
            self._silence -= 1

    def aside(self) -> nullcontext[None]:
        """Inside, Paddle computes unrecorded. Nothing is needed: a quiet recorder costs next to nothing."""
        return nullcontext()


class _Memory:
    """The memory of a tensor, which lives as long as somebody looks at it."""

    __slots__ = ("__array_interface__", "tensor")

    def __init__(self, tensor: Any, kind: str, shape: tuple[int, ...]) -> None:
        dtype = np.dtype(_numpy_kind(kind))
        same = dtype if dtype.kind in "biufc" else np.dtype(f"u{dtype.itemsize}")
        self.tensor = tensor
        self.__array_interface__ = {
            "data": (tensor.data_ptr(), False),
            "shape": shape,
            "typestr": same.str,
            "strides": tuple([s * dtype.itemsize for s in tensor.get_strides()]),
            "version": 3,
        }


class _Hook:
    """Keeps what a node of Paddle's got and gave."""

    __slots__ = ("edges", "moves", "number", "recorder")

    def __init__(self, recorder: PaddleRecorder, number: int, edges: Sequence[bool], moves: bool) -> None:
        self.recorder = recorder
        self.number = number
        self.edges, self.moves = edges, moves

    def __call__(self, gradients: Any, arriving: Any) -> Any:
        given, got = _there(gradients), _there(arriving)
        self.recorder.note_pull(
            self.number, _align_edges(given, self.edges), self.recorder.as_arrived(got, given, self.moves)
        )
        return gradients


def _align_edges(gradients: Sequence[Any], edges: Sequence[bool]) -> list[Any]:
    """Gradients by edge: there is a place for each input, and no edge for one that never has a gradient.

    Args:
        edges: whether each of them leads anywhere.
    """
    spare = len(gradients) - len(edges)
    aligned: list[Any] = []
    for gradient in gradients:
        leads = len(aligned) < len(edges) and edges[len(aligned)]
        if gradient is None and spare > 0 and leads:
            spare -= 1
        else:
            aligned.append(gradient)
    return aligned[: len(edges)]


def _there(slots: Any) -> list[Any]:
    """Gradients in order, None for those that there are not."""
    flat: list[Any] = []
    for slot in slots:
        flat += slot if isinstance(slot, (list, tuple)) else [slot]
    return [t if t is not None and t._is_initialized() else None for t in flat]


def _dtype(t: Any) -> str:
    return str(t.dtype).removeprefix("paddle.")


def _numpy_kind(kind: str) -> Any:
    if kind in _NARROW:
        import ml_dtypes

        return getattr(ml_dtypes, _NARROW[kind])
    return np.dtype(kind)


def tensors(values: Iterable[Any]) -> list[Any]:
    """The tensors among values, and in lists there."""
    flat: list[Any] = []
    for v in values:
        if isinstance(v, Tensor):
            flat.append(v)
        elif isinstance(v, (list, tuple)):
            flat += [e for e in v if isinstance(e, Tensor)]
    return flat


def _argument_names(operator: FrameworkOperator, count: int) -> tuple[str, ...]:
    """Names for so many arguments; those that Paddle does not tell are numbered."""
    names = operator.names[:count]
    return names + tuple([f"argument{i}" for i in range(len(names), count)])
