"""The calls of layers that a file makes, so that they can be made again: with other inputs, in evaluation mode."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from gradtool.paddle import nn
from gradtool.paddle.nn import Layer

from ..answers.flow.probe import CallProbe, Probe, ProbeInput
from ..answers.flow.rerun import jitter
from ..core import source, state
from ..core.identity import identity
from ..core.records import dataclass
from ..core.source import NOWHERE, Location
from ..eager.tensor import Tensor
from ..runs.recorder import Recorder
from ..script import seeds, users_code

MOST = 16
"""Layers whose calls are made again."""


@dataclass
class LayerCall:
    """The last call of a layer.

    Attributes:
        args, kwargs: what it was given.
        result: what it gave.
        loc: the line.
        within: the calls that it made itself, by the layer's identity.
    """

    layer: Layer
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    loc: Location
    result: Any = None
    within: dict[int, LayerCall] = field(default_factory=dict)

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors among the arguments, each of them once."""
        return list({identity(t): t for t in _tensors((self.args, self.kwargs))}.values())

    def arguments(self) -> Iterator[tuple[str, Tensor]]:
        """The tensors among the arguments, by the names of the parameters of ``forward`` that they are given for."""
        return zip(_names(self, self.tensors), self.tensors, strict=True)

    def results(self) -> Iterator[tuple[str, Tensor]]:
        """The tensors in what it gave: ``out``, or ``out0`` and so on where there are several."""
        results = list(_tensors(self.result))
        return zip(["out"] if len(results) == 1 else [f"out{i}" for i in range(len(results))], results, strict=True)


@dataclass(frozen=True)
class UncalledLayer:
    """A layer without parameters that is held and never called.

    Attributes:
        owner: the class of the layers that hold it.
        name: of the attribute.
        kind: its own class.
    """

    owner: type
    name: str
    kind: type


class LayerCalls:
    """Notes the last call of each layer that no other layer calls, and of those that it calls itself.

    Args:
        recorder: writes the run down; what layers read and gave then stands in *gave* by its numbers.

    Attributes:
        called: the identities of all layers that were called.
        gave: by the number of a value that a layer gave, the identity of the layer and the numbers of what it read.
    """

    def __init__(self, recorder: Recorder | None = None) -> None:
        self.outermost: dict[int, LayerCall] = {}
        self.called: set[int] = set()
        self.gave: dict[int, tuple[int, list[int]]] = {}
        self._open: list[LayerCall] = []
        self._recorder = recorder

    def line_of(self, array: Any) -> Location:
        """Return the user's line that made an array; nowhere if it is not known."""
        return NOWHERE if self._recorder is None else self._recorder.line_of(array)

    @contextlib.contextmanager
    def note_calls(self) -> Iterator[None]:
        """Inside, calls are noted."""
        call = Layer.__call__

        def note(layer: Layer, *args: Any, **kwargs: Any) -> Any:
            self.called.add(identity(layer))
            if len(self._open) > 1 or state.in_static_mode():
                return call(layer, *args, **kwargs)
            calls = self._open[-1].within if self._open else self.outermost
            if not self._open:
                self._release_dropped(all_of_them=identity(layer) not in calls)
            this = LayerCall(layer, args, kwargs, source.here())
            self._open.append(this)
            try:
                this.result = call(layer, *args, **kwargs)
            finally:
                self._open.pop()
            calls.pop(identity(layer), None)
            calls[identity(layer)] = this
            self._number(this)
            return this.result

        Layer.__call__ = note
        try:
            yield
        finally:
            Layer.__call__ = call

    def _release_dropped(self, all_of_them: bool) -> None:
        """Release layers that nobody else holds: what the program drops is gone, as it would be without us.

        Args:
            all_of_them: look at every layer; else at the one that was called the longest time ago.
        """
        keys = list(self.outermost) if all_of_them else list(itertools.islice(self.outermost, 1))
        for key in keys:
            if sys.getrefcount(self.outermost[key].layer) <= _OURS:
                del self.outermost[key]

    def _number(self, call: LayerCall) -> None:
        if self._recorder is None:
            return
        numbers = (self._recorder.find_number(t.array) for t in call.tensors)
        read = [n for n in numbers if n is not None]
        for t in _tensors(call.result):
            number = self._recorder.find_number(t.array)
            if number is not None:
                self.gave[number] = identity(call.layer), read

    def find_uncalled(self) -> Iterator[UncalledLayer]:
        """Yield the layers without parameters that layers of the user's hold and never call, one for each class.

        What one object of a class calls is no such layer, whatever the others do.
        """
        held: dict[tuple[type, str], list[Layer]] = {}
        roots = [call.layer for call in self.outermost.values()]
        for owner in dict.fromkeys(layer for root in roots for layer in (root, *root.sublayers())):
            if identity(owner) in self.called and not _is_installed(type(owner)):
                for name, layer in owner.named_children():
                    held.setdefault((type(owner), name), []).append(layer)
        # A switch that is off in some blocks of a network leaves their layers alone, and others call theirs.
        for (owner, name), layers in held.items():
            if self.called.isdisjoint(map(identity, layers)) and all(map(_computes_alone, layers)):
                yield UncalledLayer(owner, name, type(layers[0]))

    def predictors(self) -> list[LayerCall]:
        """The calls whose results are predictions: of layers with parameters, that give more than a loss."""
        return [c for call in self.outermost.values() for c in _predictors(call)]


def _computes_alone(layer: Layer) -> bool:
    """Return whether a layer is one of gradtool's own, holds nothing, and gives something else than it is given."""
    if isinstance(layer, nn.Identity) or not _is_block(layer):
        return False
    return not layer.parameters() and not layer.buffers()


def _is_installed(kind: type) -> bool:
    """Return whether a class is gradtool's, or that of an installed package."""
    module = sys.modules.get(kind.__module__)
    return source.is_ours(kind.__module__) or source.is_installed(getattr(module, "__file__", "") or "")


_OURS = 2
"""References to a layer that only a call holds: the attribute, and the argument of who counts them."""


def _predictors(call: LayerCall) -> list[LayerCall]:
    if _is_block(call.layer) or not any(True for _ in call.layer.parameters()):
        return []
    if any(t.ndim for t in _tensors(call.result)) and any(True for _ in _tensors((call.args, call.kwargs))):
        return [call]
    return [c for inner in call.within.values() for c in _predictors(inner)]


def _is_block(layer: Layer) -> bool:
    """Return whether it is one of gradtool's own and holds no other layers: what it does is known."""
    return type(layer).__module__.partition(".")[0] == "gradtool" and not any(True for _ in layer.children())


def _tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in nested lists, tuples and dicts; of a sparse one its values."""
    todo = [value]
    while todo:
        value = todo.pop()
        if isinstance(value, Tensor):
            yield value.carrier
        elif isinstance(value, Mapping):
            todo += reversed(list(value.values()))
        elif isinstance(value, (list, tuple)):
            todo += reversed(value)


def probe(call: LayerCall, name: str, model: str, line_of: Callable[[Any], Location]) -> Probe:
    """The call as a function of its tensors, in evaluation mode.

    Args:
        name: what people call the layer.
        model: what they call the file, for what it raises.
        line_of: gives the line of the file that made an array.

    Raises:
        ModelError: the layer raised.
        GradtoolError: the engine refused.
    """
    layer = call.layer
    tensors = call.tensors

    def function(inputs: Sequence[Tensor]) -> list[Tensor]:
        given = dict(zip(map(identity, tensors), inputs, strict=True))
        args, kwargs = _replace_tensors((call.args, call.kwargs), given)
        with _evaluation_mode(layer):
            result = users_code.call(model, layer, *args, **kwargs)
        return list(_tensors(result))

    inputs = [ProbeInput(name, np.array(t.array), made_at=line_of(t.array)) for name, t in call.arguments()]

    def move(seed: int) -> contextlib.AbstractContextManager[None]:
        return _jitter(layer, seed)

    fixed = _fixes_batch(layer)
    return CallProbe(name, inputs, function, _fix_seed, move, loc=call.loc, fixed_batch=fixed, line_of=line_of)


def _names(call: LayerCall, tensors: Sequence[Tensor]) -> list[str]:
    """The names of tensors: of the parameters of ``forward`` that they are given for."""
    try:
        bound = inspect.signature(call.layer.forward).bind(*call.args, **call.kwargs).arguments
    except (TypeError, ValueError):
        bound = {"x": call.args, **call.kwargs}
    names: dict[int, str] = {}
    for parameter, value in bound.items():
        inner = list(_tensors(value))
        for i, t in enumerate(inner):
            names.setdefault(identity(t), parameter if isinstance(value, Tensor) else f"{parameter}[{i}]")
    return [names.get(identity(t), f"input {i}") for i, t in enumerate(tensors)]


def _replace_tensors(value: Any, given: Mapping[int, Tensor]) -> Any:
    """Nested containers with other tensors; as deep as people nest arguments."""
    if isinstance(value, Tensor):
        return value.carried(given[identity(value.carrier)])
    if isinstance(value, dict):
        return {k: _replace_tensors(v, given) for k, v in value.items()}
    if isinstance(value, list):
        return [_replace_tensors(v, given) for v in value]
    if isinstance(value, tuple):
        entries = [_replace_tensors(v, given) for v in value]
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    return value


@contextlib.contextmanager
def _evaluation_mode(layer: Layer) -> Iterator[None]:
    """Inside, the layer is in evaluation mode; afterwards modes, buffers and other attributes are as they were."""
    layers = layer.sublayers(include_self=True)
    fields = [(each.__dict__, dict(each.__dict__)) for each in layers]
    buffers = [(held, dict(held)) for each in layers if (held := each.__dict__["_buffers"])]
    tensors = [t.carrier for _, held in buffers for t in held.values() if isinstance(t, Tensor)]
    values = [(t, t.array.copy()) for t in tensors]
    layer.eval()
    try:
        yield
    finally:
        for current, before in (*fields, *buffers):
            current.clear()
            current.update(before)
        for t, array in values:
            if not np.array_equal(t.array, array, equal_nan=array.dtype.kind == "f"):
                t.set_value(array)


@contextlib.contextmanager
def _fix_seed(seed: int) -> Iterator[None]:
    """Inside, random numbers begin anew: gradtool's, Python's and NumPy's."""
    with state.keep_state(), seeds.seed_modules(seed):
        state.random.reset(seed)
        yield


@contextlib.contextmanager
def _jitter(layer: Layer, seed: int) -> Iterator[None]:
    """Inside, the parameters are slightly others, so that what begins at zero does not stay there."""
    rng = np.random.default_rng(seed)
    values = [(p, p.array.copy()) for p in layer.parameters()]
    for p, array in values:
        p.set_value(jitter(array, rng))
    try:
        yield
    finally:
        for p, array in values:
            p.set_value(array)


def _fixes_batch(layer: Layer) -> bool:
    """Return whether a layer in it takes its first axis for samples by definition."""
    kinds = tuple(k for k in (getattr(nn, name, None) for name in _BATCHED) if k is not None)
    layers = (
        e for e in layer.sublayers(include_self=True) if not type(e).__module__.startswith("gradtool.paddle.sparse.")
    )
    return any(isinstance(each, kinds) for each in layers)


_BATCHED = (
    *(f"{kind}{n}D" for kind in ("Conv", "MaxPool", "AvgPool", "AdaptiveAvgPool") for n in (1, 2, 3)),
    *("BatchNorm2D", "BatchNorm3D", "MultiHeadAttention"),
)
"""Not those that normalise rows: these may as well be the nodes of a graph or the points of a cloud."""
