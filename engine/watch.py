"""Step events: what computes and what runs backward, told to whoever watches.

==============  ============================================================================================
event           when
==============  ============================================================================================
``Step``        an operator of a static program was computed (``engine/executor/plan.py``)
``Computed``    an operator was computed on tensors of dynamic mode, recorded or not
``Began``       a backward pass over a tape begins
``Pulled``      one recorded operator of the tape was differentiated
``Ended``       the backward pass is over, or failed
==============  ============================================================================================

An event holds the arrays themselves, not copies: a watcher looks at them at once, or copies what it wants to keep. The
engine knows nothing of what watchers do. It costs nothing while nobody watches: kernels are bound anew when watching
begins and when it ends, and a pass looks once whether there is a watcher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from .source import Location

# What happens is told in the terms of dynamic mode, which stands above this module: hence ``Any``.
OpDef = Any
GradNode = Any
Place = Any
Tensor = Any


@dataclass(frozen=True, slots=True)
class Computed:
    """An operator was computed on tensors.

    Attributes:
        inputs: one array per slot, a list of them for a list slot, None for an empty one.
        outputs: likewise, one per output slot.
        seconds: what the kernel took.
        key: the ``key`` of its node, if the call is recorded; if not, the next node of another operator may have it.
    """

    op: OpDef
    attrs: Mapping[str, Any]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    loc: Location
    key: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Began:
    """A backward pass begins.

    Attributes:
        roots: the tensors that it starts from.
        recorded: whether the pass is itself recorded (``create_graph``).
    """

    roots: tuple[Tensor, ...]
    recorded: bool


@dataclass(frozen=True, slots=True)
class Pulled:
    """A recorded operator was differentiated.

    Attributes:
        arriving: the gradient of each result, None where none arrived.
        wrt: where the gradients go, None where none is wanted.
        gradients: one for each of these places, not summed yet with what other operators send there.
        recorded: whether the pass is itself recorded.
        seconds: what the rule took.
    """

    node: GradNode
    arriving: tuple[Any, ...]
    wrt: tuple[Place | None, ...]
    gradients: tuple[Any, ...]
    recorded: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    """The backward pass that began last is over."""


Watcher = Callable[[Any], object]
"""Called with each event. Where a tape's backward pass is stepped through, a true result pauses it."""

_watcher: ContextVar[Watcher | None] = ContextVar("gradtool_watcher", default=None)

watcher = _watcher.get
"""Who watches, or None."""

_on_switch: list[Callable[[], None]] = []
_watching = 0


def is_watched() -> bool:
    """Whether anyone in this process watches."""
    return _watching > 0


def when_switched(act: Callable[[], None]) -> Callable[[], None]:
    """Have *act* called when the first watcher comes and when the last has gone."""
    _on_switch.append(act)
    return act


@contextmanager
def watched(by: Watcher) -> Iterator[None]:
    """Inside, *by* is called with every event of this thread (or task), instead of who watched before."""
    token = _watcher.set(by)
    _count(1)
    try:
        yield
    finally:
        _count(-1)
        _watcher.reset(token)


@contextmanager
def unwatched() -> Iterator[None]:
    """Inside, nobody is told: for watchers that compute with the engine themselves."""
    token = _watcher.set(None)
    try:
        yield
    finally:
        _watcher.reset(token)


def _count(change: int) -> None:
    global _watching
    before, _watching = _watching, _watching + change
    if (before > 0) != (_watching > 0):
        for act in _on_switch:
            act()
