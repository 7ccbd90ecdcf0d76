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

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .listeners import join

# Whoever reports or watches needs this file alone: the events are its names, too.
from .step_events import Began as Began
from .step_events import Computed as Computed
from .step_events import Doubled as Doubled
from .step_events import Ended as Ended
from .step_events import Entered as Entered
from .step_events import Exited as Exited
from .step_events import OpFailed as OpFailed
from .step_events import Pulled as Pulled
from .tensor_events import Added as Added
from .tensor_events import Applied as Applied
from .tensor_events import Called as Called
from .tensor_events import Chosen as Chosen
from .tensor_events import Cleared as Cleared
from .tensor_events import Copied as Copied
from .tensor_events import Cutting as Cutting
from .tensor_events import DeepCopied as DeepCopied
from .tensor_events import Differentiated as Differentiated
from .tensor_events import Enclosure as Enclosure
from .tensor_events import Filled as Filled
from .tensor_events import Given as Given
from .tensor_events import GradientMoved as GradientMoved
from .tensor_events import Guarded as Guarded
from .tensor_events import Guarding as Guarding
from .tensor_events import Initialised as Initialised
from .tensor_events import Left as Left
from .tensor_events import Lent as Lent
from .tensor_events import Made as Made
from .tensor_events import Released as Released
from .tensor_events import Reused as Reused
from .tensor_events import SetAside as SetAside
from .tensor_events import Unfilled as Unfilled
from .tensor_events import Written as Written
from .training_events import Advanced as Advanced
from .training_events import Awaited as Awaited
from .training_events import Clipped as Clipped
from .training_events import DataBegan as DataBegan
from .training_events import GradRead as GradRead
from .training_events import Labelled as Labelled
from .training_events import Limited as Limited
from .training_events import Listed as Listed
from .training_events import Replaced as Replaced
from .training_events import Scaled as Scaled
from .training_events import Scheduled as Scheduled
from .training_events import Switched as Switched
from .training_events import Unscaled as Unscaled
from .training_events import Updated as Updated
from .training_events import Updating as Updating

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
