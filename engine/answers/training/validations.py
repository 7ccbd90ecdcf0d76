"""Evaluations under ``no_grad`` by a network that is trained and still works as in training."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Any

from ...core import watch
from ...core.identity import identity
from ...core.listeners import handles
from ...core.records import dataclass
from ...core.source import Location
from ...eager.mode import grad_enabled
from ...eager.parameter import TensorParameter
from ...eager.tensor import Tensor
from .modes import MASKS, trains

_STATISTICS, _TWO = slice(3, 5), 2
"""Places of the running mean and variance among the operands of batch norm; without them it has one mode alone."""

_NUMBERS = frozenset({"item", "tolist", "numpy", "__array__", "__float__", "__int__"})
"""How numbers leave that a person or a script reads."""

_BOUND = 4096
"""Values that are followed at a time: those of one evaluation."""


@dataclass(eq=False)
class Validation:
    """Calls of a network in training mode of which only numbers are used.

    Attributes:
        loc: the line of the call.
        operator: the first operator that works otherwise in training.
        made: its line.
        tensors: parameters that the call reads and an optimizer holds.
        by: the class of that.
        blocks: how many blocks under ``no_grad`` had such calls.
        updates: how many steps were made before the first.
        is_measured: whether numbers were taken from its results.
        is_used: whether something that is differentiated reads its results.
    """

    loc: Location
    operator: str
    made: Location
    tensors: tuple[Tensor, ...]
    by: str
    updates: int
    blocks: int = 1
    is_measured: bool = False
    is_used: bool = False


@dataclass
class _Block:
    """Course of a block in which nothing is recorded.

    Attributes:
        read: parameters that were read, by identity.
        moded: the first operator that works as in training: its type, and where it was called.
        is_seen: whether it reads data that was trained on.
        validation: what is known of it, once both are known.
    """

    read: dict[int, Tensor] = field(default_factory=dict)
    moded: tuple[str, Location] | None = None
    is_seen: bool = False
    validation: Validation | None = None

    @property
    def is_ready(self) -> bool:
        """True if parameters were read, a layer works as in training, and nobody has said so yet."""
        return self.moded is not None and bool(self.read) and self.validation is None and not self.is_seen


@dataclass
class Validations:
    """Hears of what runs under ``no_grad``, and what becomes of its results.

    Attributes:
        found: by line of the call.
    """

    found: dict[Any, Validation] = field(default_factory=dict)
    _held: dict[int, tuple[str, int]] = field(default_factory=dict)
    """By parameter, the class of its optimizer and how many steps that has made."""
    _modes: dict[int, bool] = field(default_factory=dict)
    """By parameter, whether its layers were switched to evaluation: True since they were, False where they were
    switched to training since the last step, which is on purpose."""
    _blocks: list[_Block | None] = field(default_factory=list)
    """The blocks that are open, None for one that records."""
    _given: dict[int, tuple[weakref.ref[Any], Validation]] = field(default_factory=dict)
    """By identity, what calls in training mode have given."""
    _trained_on: dict[int, weakref.ref[Any]] = field(default_factory=dict)
    """Data that a recorded operator has read together with a parameter."""

    def find_measured(self) -> Iterator[Validation]:
        """Yield the calls of whose results only numbers were used."""
        yield from (v for v in self.found.values() if v.is_measured and not v.is_used)

    @handles(watch.Computed)
    def step(self, event: watch.Computed) -> None:
        """Hear of a step."""
        block = self._blocks[-1] if self._blocks else None
        if block is None or block.moded is not None or not self._held:
            return
        if _works_as_in_training(event):
            block.moded = event.op.type, event.loc

    def __call__(self, event: Any) -> None:
        """Hear of a tensor; nothing is spared."""
        _HANDLERS[type(event)](self, event)

    def _open(self, event: watch.Guarding) -> None:
        encloses = event.enclosure is not None and event.enclosure.kind != "inference_mode"
        self._blocks.append(None if event.enabled or encloses else _Block())

    def _close(self, event: watch.Guarded) -> None:
        if self._blocks:
            self._blocks.pop()

    def _note_copy(self, event: watch.Copied) -> None:
        self._follow(event.given, [event.made])

    def _note_switch(self, event: watch.Switched) -> None:
        self._modes.update((identity(t), not event.training) for t in event.tensors)

    def _note_update(self, event: watch.Updating) -> None:
        for t in event.tensors:
            key = identity(t)
            self._held[key] = event.by, self._held.get(key, ("", 0))[1] + 1
            if self._modes.get(key) is False:
                del self._modes[key]

    def _call(self, event: watch.Called) -> None:
        block = self._blocks[-1] if self._blocks else None
        if block is None or grad_enabled():
            self._note_training(event)
            return
        if self._held:
            self._note_evaluation(event, block)

    def _note_evaluation(self, event: watch.Called, block: _Block) -> None:
        operands = [t for t in _tensors(event.operands) if isinstance(t, Tensor)]
        read = {identity(t): t for t in operands if identity(t) in self._held}
        if read and not _normalises(event):
            block.read.update(read)
            block.is_seen = block.is_seen or any(map(self._is_trained_on, operands))
        if block.is_ready:
            self._begin(block)
        if block.validation is not None:
            self._give(event.results, block.validation)
        self._follow(operands, event.results)

    def _begin(self, block: _Block) -> None:
        """A network that is trained works as in training."""
        tensors = tuple(block.read.values())
        if any(identity(t) in self._modes for t in tensors):
            return  # some layers are left in training mode on purpose, or all were switched to it for this
        assert block.moded is not None
        operator, made = block.moded
        loc = find_call(made)
        by, updates = self._held[identity(tensors[0])]
        known = self.found.get(loc)
        if known is None:
            known = self.found[loc] = Validation(loc, operator, made, tensors, by, updates, 0)
        known.blocks += 1
        block.validation = known

    def _note_training(self, event: watch.Called) -> None:
        """Note what is trained on, and what of an evaluation a loss goes on with."""
        operands = _tensors(event.operands)
        others = [t for t in operands if not isinstance(t, TensorParameter)]
        if len(others) < len(operands) and not _normalises(event):
            self._trained_on.update((identity(t), weakref.ref(t)) for t in others if t.node is None)
        if self._given:
            self._note_use(operands, _tensors(event.results))

    def _note_use(self, operands: Sequence[Any], results: Sequence[Any]) -> None:
        """Note that something reads *operands*: what is differentiated, or computes further numbers."""
        if all(r.node is None for r in results):
            self._follow(operands, results)
            return
        for validation in filter(None, map(self._find_validation, operands)):
            validation.is_used = True

    def _is_trained_on(self, t: Tensor) -> bool:
        reference = self._trained_on.get(identity(t))
        return reference is not None and reference() is t

    def _leave(self, event: watch.Left) -> None:
        validation = self._find_validation(event.tensor)
        if validation is None or event.how not in _NUMBERS:
            return
        array = event.tensor.array
        if array.size == 1 or array.dtype.kind in "biu":
            validation.is_measured = True

    def _find_validation(self, t: Any) -> Validation | None:
        reference, validation = self._given.get(identity(t), (None, None))
        return validation if reference is not None and reference() is t else None

    def _follow(self, operands: Sequence[Any], results: Sequence[Any]) -> None:
        """Note results that are computed from those of an evaluation."""
        if not self._given:
            return
        validation = next((v for v in map(self._find_validation, operands) if v is not None), None)
        if validation is not None:
            self._give(results, validation)

    def _give(self, results: Sequence[Any], validation: Validation) -> None:
        for t in _tensors(results):
            self._given[identity(t)] = weakref.ref(t), validation
        if len(self._given) > _BOUND:
            self._given = {key: known for key, known in self._given.items() if known[0]() is not None}


_HANDLERS: dict[type, Callable[[Validations, Any], None]] = {
    watch.Called: Validations._call,
    watch.Guarding: Validations._open,
    watch.Guarded: Validations._close,
    watch.Left: Validations._leave,
    watch.Copied: Validations._note_copy,
    watch.Switched: Validations._note_switch,
    watch.Updating: Validations._note_update,
}
handles(*_HANDLERS)(Validations.__call__)


def _normalises(event: watch.Called) -> bool:
    """Return whether an operator reads running statistics, in training as well as in evaluation."""
    return "norm" in event.op.type


def _works_as_in_training(event: watch.Computed) -> bool:
    """Return whether an operator works as in training and would work otherwise in evaluation."""
    kind = event.op.type
    if kind in MASKS:
        return True
    if not trains(kind, event.attrs):
        return False
    return "norm" not in kind or sum(v is not None for v in event.inputs[_STATISTICS]) == _TWO


def find_call(loc: Location) -> Location:
    """Return the line that calls a network, from that of one of its operators: the first outside of ``forward``."""
    forwards = [i for i, (code, _) in enumerate(loc) if code.co_name in _FORWARD]
    outside = loc[forwards[-1] + 1 :] if forwards else loc
    return outside or loc


_FORWARD = frozenset({"forward", "__call__"})


def _tensors(values: Sequence[Any]) -> list[Any]:
    """The tensors of slots, of which some hold lists."""
    tensors: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            tensors += [t for t in value if t is not None]
        elif value is not None:
            tensors.append(value)
    return tensors
