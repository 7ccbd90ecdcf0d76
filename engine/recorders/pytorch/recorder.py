"""The recorder inside PyTorch. With :mod:`.patches`, the only module that imports torch.

Operators are seen by a ``TorchDispatchMode``, which is called below autograd: the node that autograd makes of a call is
there when the next thing happens, and is told then. Each node has a hook that keeps what arrived and what it gave.
What no operator tells of (``detach``, ``.data``, ``no_grad``, values that go to Python, optimizers) is seen by standing
in for a few names of torch while the program runs (:mod:`.patches`).
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch.nn.modules._functions import BackwardHookFunction
from torch.nn.parameter import UninitializedTensorMixin
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _pop_mode,
    _push_mode,
)

from ...core import source
from ...core.identity import identity
from ..recorded.graph import returns_at
from ..recorded.recorder import FrameworkOperator, FrameworkRecorder, Waiting
from ..recorded.relays import Relay, relay
from ..recorded.tensors import Sink
from .storages import Storages, is_refused, layout_of, restore, storage_of

_base = torch._C.TensorBase
_grad_fn = _base.grad_fn.__get__
_requires = _base.requires_grad.__get__
_output = _base.output_nr.__get__
_grad = _base.grad.__get__
_detach = _base.detach
_unasked = torch._C.DisableTorchFunction
"""Inside, neither a mode nor a class of tensors of the script is asked about functions."""
_numpy = _base.numpy
_is_view = _base._is_view
_viewed = _base._base.__get__


_INNER_MODULES = ("_tensor", "_jit_internal", "_ops", "_C", "_utils", "utils")


class TorchRecorder(TorchDispatchMode, FrameworkRecorder):  # type: ignore[misc]  # torch need not be there
    """Tells a sink what torch does inside ``with recorder.recording():``.

    Args:
        spared: lines (file and number) at which nothing cuts gradients off, see ``engine/eager/journal.py``.
    """

    package = "torch"
    computing = frozenset(("", "functional", "nn", "special", "linalg", "fft", "overrides", *_INNER_MODULES))
    requires = staticmethod(_requires)
    output_of = staticmethod(_output)
    gradient = staticmethod(_grad)

    def __init__(self, sink: Sink, spared: Iterable[tuple[str, int]] = ()) -> None:
        TorchDispatchMode.__init__(self)
        FrameworkRecorder.__init__(self, sink, spared)
        self._stepping = self._away = self._is_reading = False
        self._operators: dict[Any, FrameworkOperator] = {}
        self._by_mask: dict[Any, FrameworkOperator] = {}
        self.drops = False
        """Whether a dropout of torch's runs now, which consists of several operators."""
        self.storages = Storages()
        self._hooks: dict[int, Any] = {}
        """By number of a node that is still there, what takes its hook off."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: torch would wrap each call of this mode to keep a compiler out, which costs more than the call."""
        return False

    @contextmanager
    def listen(self) -> Iterator[None]:
        """As in the base."""
        from .patches import patch_torch

        with patch_torch(self), self:
            yield

    # -- tensors ------------------------------------------------------------------------------------------------------

    def site(self) -> Any:
        """As in the base; nowhere for what is read off a graph."""
        return source.NOWHERE if self._is_reading else super().site()

    @contextmanager
    def read_graphs(self) -> Iterator[None]:
        """Inside, graphs are read that were made at another time, and where is not known."""
        before, self._is_reading = self._is_reading, True
        try:
            yield
        finally:
            self._is_reading = before

    def function_of(self, t: Any) -> Any:
        """As in the base. Torch refuses to tell of a view of a leaf that was made and written under ``no_grad``."""
        try:
            return _grad_fn(t)
        except RuntimeError:
            return None

    def is_view_without_path(self, t: Any) -> bool:
        """As in the base: torch says so of views of leaves that were made under ``no_grad``."""
        return not isinstance(t, UninitializedTensorMixin) and _is_view(t) and _requires(_viewed(t))

    def born_at(self, t: Any) -> Any:
        """As in the base."""
        return self.storages.birth(t)

    def array(self, t: Any) -> Any:
        """Return the values of a tensor, read-only, in the same memory where that is possible."""
        values = self._memory_of(t) if _nobody_else_is_asked() else _alone(self._memory_of, t)
        values.flags.writeable = False
        return values

    def _memory_of(self, t: Any) -> Any:
        if isinstance(t, UninitializedTensorMixin):
            with torch._C.DisableTorchFunctionSubclass():
                t = _detach(t)
        if not (t.is_nested or t.is_quantized or t.numel()):  # nothing to share: it may grow where nobody is asked
            t = torch.empty(tuple(t.shape), dtype=t.dtype, device="cpu")
        if t.is_meta:
            return self._zeros_like(t)
        if t.is_nested:
            t = t.values()
        if t.is_quantized:
            t = t.dequantize()
        if t.layout is not torch.strided:
            t = t.to_dense()
        if t.device.type != "cpu":
            t = t.cpu()
        if t.is_conj() or t.is_neg():
            t = t.resolve_conj().resolve_neg()
        plain = _detach(t)
        if not self.storages.hold(plain):
            return self._zeros_like(t)
        if plain.dtype in _NARROW:
            import ml_dtypes

            same, kind = _NARROW[plain.dtype]
            return _numpy(plain.view(same)).view(getattr(ml_dtypes, kind))
        if plain.dtype in _WIDER:
            plain = plain.to(_WIDER[plain.dtype])
        return _numpy(plain)

    def _zeros_like(self, t: Any) -> Any:
        """Return an array that stands for a tensor without memory."""
        return np.broadcast_to(self._memory_of(torch.zeros((), dtype=t.dtype, device="cpu")), tuple(t.shape))

    def note_left(self, t: Any, how: str) -> None:
        """As in the base: torch refuses to resize what the program has an array of."""
        if how == "numpy":
            self.storages.lend(t)

    def is_lent(self, t: Any) -> bool:
        """As in the base: torch cannot resize what it did not allocate, nor what the script has an array of; an
        address it hands out of any storage.
        """
        storage = storage_of(t)
        if storage is None:
            return False
        is_foreign = not storage.resizable() and not self.storages.is_held(storage)
        return is_foreign or self.storages.is_addressed(storage)

    def is_told(self, t: Any) -> bool:
        """As in the base: not of tensors that a class of their own represents, such as fake ones."""
        return type(t).__torch_dispatch__ is _NO_DISPATCH

    def arrays(self, tensors: Any) -> tuple[Any, ...]:
        """As in the base; of nested tensors the values, one after the other."""
        return super().arrays([t if t is None or self.is_told(t) else getattr(t, "_values", t) for t in tensors])

    def is_parameter(self, t: Any) -> bool:
        """Return whether a tensor is an ``nn.Parameter``."""
        return isinstance(t, torch.nn.Parameter)

    def is_real(self, t: Any) -> bool:
        """Return whether a tensor's numbers are such as have gradients."""
        return bool(t.is_floating_point() or t.is_complex())

    # -- functions and modes of the script, which see nothing of the recorder -----------------------------------------

    def number(self, t: Any, site: Any = None, shares: int | None = None, parameter: bool = False) -> int:
        """As in the base."""
        with _unasked():
            return super().number(t, site, shares, parameter)

    def flush(self) -> None:
        """As in the base."""
        if self._waiting is not None:
            with _unasked():
                super().flush()

    def tell_requires(self, t: Any, how: str, site: Any) -> None:
        """As in the base."""
        with _unasked():
            super().tell_requires(t, how, site)

    def quietly(self, t: Any) -> Any:
        """As in the base."""
        with self.unheard(), _unasked():
            if _get_current_dispatch_mode() in (None, self):
                with self.aside():
                    return self.array(t)
            with _disable_current_modes():
                return self.array(t)

    # -- operators ----------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with _unasked():
            return self._compute(relay(sys._getframe(1)), func, args, kwargs)

    def _compute(self, call: Relay, func: Any, args: Any, kwargs: Any) -> Any:
        """Compute one operator and note what it took and gave."""
        operators = self._by_mask if self.drops else self._operators
        operator = operators.get(func)
        if operator is None:
            operator = operators[func] = _operator(func, self.drops)
        if self.quiet or operator.aside:
            return self._carry_out(call, func, args, kwargs, operator)
        self.flush()
        site = self.site()
        arguments = (*args, *kwargs.values()) if kwargs else args
        names = operator.names[: len(args)] + (tuple(kwargs) if kwargs else ())
        read = _tensors(arguments)
        if not all(map(self.is_told, read)):
            return call(func, args, kwargs or {})
        taken = [] if operator.name in _FRESH else read
        before = self.note_operands(taken, site)
        written = _find_written(operator, args, kwargs)
        self.note_writes(operator.name, written, args, site)
        plain = tuple([self.plain(v) for v in arguments])
        shapes = [_sizes(t) for t in written]
        enabled = torch.is_grad_enabled()
        start = perf_counter()
        result = self._carry_out(call, func, args, kwargs, operator)
        seconds = perf_counter() - start
        if shapes != [_sizes(t) for t in written]:
            operator = operator._replace(turns=True)
        # Some write several tensors at once, and return none of them.
        given = written if result is None else _tensors(result if isinstance(result, (tuple, list)) else (result,))
        if given and all(map(self.is_told, given)):
            makes = not taken or operator.name.endswith("_like") or operator.name.startswith("new_")
            for t in given if makes else ():
                self.storages.note_birth(t, site)
            if not taken:
                return result  # It is met when it is used.
            # Here nobody is asked: outside, the recorder itself would be for each of its own calls.
            arrays = [None if identity(t) in self._known and not operator.turns else self.array(t) for t in given]
            known = operator if names == operator.names else operator._replace(names=names)
            held = self.hold_weakly(taken, before)
            # Torch copies what a factory gave if anybody else holds it, and modes of the script would see that.
            results = [weakref.ref(t) for t in given] if makes else given
            dropped = self.find_drop(written)
            waiting = Waiting(known, plain, held, before, results, arrays, written, enabled, seconds, site, dropped)
            self.await_node(waiting)
        return result

    def _carry_out(self, call: Relay, func: Any, args: Any, kwargs: Any, operator: FrameworkOperator) -> Any:
        """Compute one operator; what grows, and only an array of ours is in its way, gets other memory for it."""
        written = _tensors(args[:1]) if operator.turns else _find_written(operator, args, kwargs)
        layouts = [layout_of(t) for t in written]
        try:
            return call(func, args, kwargs or {})
        except RuntimeError as error:
            held = self.storages.list_held(written) if is_refused(error) else ()
            if not held:
                raise
        growing = restore(written, layouts)
        moved = [t for storage in held for t in self.move(storage, written)[1]]
        if not operator.turns:
            self._empty(growing, written, [*args, *(kwargs or {}).values()])
        result = call(func, args, kwargs or {})
        self.tell_moved(moved)
        return result

    @staticmethod
    def _empty(growing: Sequence[Any], written: Sequence[Any], arguments: Sequence[Any]) -> None:
        """Make what is about to grow empty, if nothing reads it: torch has warned once that it will grow."""
        read = [t for t in _tensors(arguments) if all(t is not w for w in written)]
        for t in growing:
            if all(storage_of(t) is not storage_of(other) for other in read):
                t.resize_(0)

    def move(self, storage: Any, tensors: Sequence[Any] = ()) -> tuple[Any, list[Any]]:
        """Give all tensors in *storage* a copy of it; return that, and them.

        Args:
            tensors: such as may not have been met.
        """
        with _unasked(), _disable_current_modes():
            return self.storages.move(storage, [*self.list_living(), *tensors])

    # -- the graph ----------------------------------------------------------------------------------------------------

    def key(self, function: Any) -> int:
        """The number that torch gives each node of a thread; that of a leaf for the node that accumulates there."""
        variable = getattr(function, "variable", None)
        return int(function._sequence_nr()) if variable is None else -identity(variable)

    def next_nodes(self, function: Any) -> Sequence[tuple[Any, int]]:
        """The nodes that one gives gradients to, with the number of their output."""
        return function.next_functions  # type: ignore[no-any-return]

    def is_end(self, function: Any) -> bool:
        """Return whether a node only accumulates the gradient of a leaf."""
        return hasattr(function, "variable")

    def leaf_of(self, function: Any) -> Any:
        """The leaf of such a node."""
        return function.variable

    def describe(self, function: Any) -> tuple[tuple[Any, ...], tuple[int, ...], str, Any]:
        """Of a node: shape and dtype of each output, what it retains, its own class and where that says its rule."""
        shapes = tuple([(_shape(m), _dtype(m.dtype)) for m in getattr(function, "_input_metadata", ())])
        custom = getattr(type(function), "_forward_cls", None) or getattr(function, "_forward_cls", None)
        if custom is None or custom is BackwardHookFunction:  # which stands where hooks of a module are called
            return shapes, (), "", ()
        return shapes, self._number_saved(function), custom.__name__, returns_at(custom.backward)

    def _number_saved(self, function: Any) -> tuple[int, ...]:
        """Return the numbers of the tensors that an ``autograd.Function`` saved for its backward, as far as its
        tensors were met before.
        """
        try:
            saved = function.saved_tensors
        except RuntimeError:  # written in place since, or freed
            return ()
        return tuple([self._known[identity(t)].number for t in saved if identity(t) in self._known])

    def hook(self, function: Any, number: int, key: int) -> None:
        """Have a node tell what it gets and gives."""
        self._hooks[number] = function.register_hook(_Hook(self, number, key))

    def unhook(self) -> None:
        """Take the hooks off all nodes, which are not those that were met any more."""
        hooks, self._hooks = self._hooks, {}
        for handle in hooks.values():
            handle.remove()

    def freed(self, number: int, key: int) -> None:
        """As in the base."""
        self._hooks.pop(number, None)
        super().freed(number, key)

    # -- steps --------------------------------------------------------------------------------------------------------

    def begin_step(self) -> None:
        """Let an optimizer compute without asking."""
        self.end_step()
        self._silence += 1
        self._away = _get_current_dispatch_mode() is self
        self._stepping = True
        if self._away:
            _pop_mode()

    def end_step(self) -> None:
        """Be asked again after an optimizer's step, or before the next thing where it raised."""
        if self._stepping:
            self._stepping = False
            self._silence -= 1
            if self._away:
                _push_mode(self)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Inside, torch computes without asking: as long as nothing is told, being asked is all that it costs."""
        if _get_current_dispatch_mode() is not self:
            yield
            return
        _pop_mode()
        try:
            yield
        finally:
            _push_mode(self)


class _Hook:
    """Keeps what a node of torch's got and gave."""

    __slots__ = ("key", "number", "recorder")

    def __init__(self, recorder: TorchRecorder, number: int, key: int) -> None:
        self.recorder = recorder
        self.number = number
        self.key = key

    def __del__(self) -> None:
        # torch lets go of a node's hooks with the node; it is told with the next operator.
        self.recorder.freed(self.number, self.key)

    def __call__(self, gradients: Any, arriving: Any) -> None:
        self.recorder.note_pull(self.number, gradients, arriving)


_NARROW = {torch.bfloat16: (torch.int16, "bfloat16")}
_WIDER = {
    torch.complex32: torch.complex64,
    **{kind: torch.float32 for name, kind in vars(torch).items() if name.startswith("float8_")},
}
"""Types that NumPy does not have, and those that hold all of their values."""


def _nobody_else_is_asked() -> bool:
    """Return whether no mode, the recorder's or one of the script's, sees what is called here."""
    return _get_current_dispatch_mode() is None and not torch._C._len_torch_function_stack()


def _alone(compute: Callable[[Any], Any], t: Any) -> Any:
    """Compute something that no mode sees."""
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        return compute(t)


def _shape(metadata: Any) -> tuple[int, ...]:
    """Return a shape; none of what has no sizes, as nested tensors."""
    try:
        return tuple([int(n) for n in metadata.shape])
    except (AttributeError, RuntimeError, TypeError):
        return ()


_NO_DISPATCH = torch.Tensor.__torch_dispatch__


def _dtype(kind: Any) -> str:
    return str(kind).removeprefix("torch.")


def _tensors(values: Any) -> list[Any]:
    tensors: list[Any] = []
    for v in values:
        if isinstance(v, torch.Tensor):
            tensors.append(v)
        elif isinstance(v, (list, tuple)):
            tensors += [e for e in v if isinstance(e, torch.Tensor)]
    return tensors


def _find_written(operator: FrameworkOperator, args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> list[Any]:
    """Return the tensors that a call writes."""
    if not operator.written:
        return []
    named = kwargs or {}
    return _tensors([args[i] if i < len(args) else named.get(operator.names[i]) for i in operator.written])


def _sizes(tensor: Any) -> tuple[int, ...] | None:
    """Return the shape of a tensor; None of a nested one, which has none and does not change it."""
    return None if tensor.is_nested else tensor.shape


def _operator(func: Any, drops: bool) -> FrameworkOperator:
    """Return what is known of an operator.

    Args:
        drops: whether it is part of a dropout.
    """
    schema = func._schema
    arguments = schema.arguments
    name = schema.name.partition("::")[2]
    name = _PARTS_OF_DROPOUT.get(name, name) if drops else name
    turns = torch.Tag.inplace_view in func.tags
    writes = [i for i, a in enumerate(arguments) if a.alias_info is not None and a.alias_info.is_write]
    written = () if turns else tuple(writes)
    view = turns or any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
    aside = name in _ASIDE or not schema.name.startswith("aten::")
    overload = f"{schema.name}.{schema.overload_name}".removesuffix(".")
    return FrameworkOperator(name, tuple([a.name for a in arguments]), written, view, aside, overload, turns)


_ASIDE = frozenset({"detach", "detach_", "_local_scalar_dense", "set_", "resize_"})
"""Operators of autograd's own, and what is told where it is asked for."""

_PARTS_OF_DROPOUT = {"mul": "mul_by_mask", "mul_": "mul_by_mask_"}
"""What is recorded in place of a dropout's operators that gradients go through."""

_FRESH = frozenset({"lift", "lift_fresh", "lift_fresh_copy"})
"""Operators that hand out a tensor that torch has just made: nobody held what they read."""
