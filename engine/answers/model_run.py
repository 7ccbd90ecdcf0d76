"""Run of a function, a loss or a program, forward and backward under watch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core import upward
from ..core.errors import ArgumentTypeError
from ..eager.tensor import Tensor
from ..ir.variable import Variable
from . import backend_replay
from .events import Listener
from .pass_count import PassCount
from .program_run import watch_program
from .tape_pass import watch_tape


def any_model(
    model: Any, listener: Listener, feed: Mapping[str, Any] | None = None, order: int = 1, steps: int = 1
) -> Any:
    """Run *model* forward and backward under watch; see :func:`gradtool.nan` for what it may be.

    Returns:
        The loss.

    Raises:
        ArgumentTypeError: *model* is nothing that can be run.
    """
    live = upward.part("running frameworks")
    model = live.stand_in(model)
    if isinstance(model, Variable):
        watch_program(model, listener, feed, order)
        return model
    if isinstance(model, Tensor):
        watch_tape(model, listener, order)
        return model
    if not callable(model):
        raise ArgumentTypeError(
            f"expected a function that returns a loss, a loss Tensor or a loss Variable, but received "
            f"{type(model).__name__}."
        )
    loss = None
    for _ in range(steps):
        passes = PassCount(listener)
        with live.listen(), backend_replay.hear(passes) as telling:
            returned = model()
            telling.finish()
        loss = _loss_in(returned, differentiated=not passes.count)
        if isinstance(loss, Variable):
            watch_program(loss, listener, feed, order)
        elif loss is None and not passes.count:
            raise ArgumentTypeError(
                f"the function must return a loss or run backward itself, but it returned {type(returned).__name__}."
            )
        elif loss is not None and (order > 1 or not passes.count):
            watch_tape(loss, listener, order)
    return loss


def compute_loss(model: Any) -> Tensor | Variable:
    """The loss that *model* is, or that it returns when it is called.

    Raises:
        ArgumentTypeError: there is none.
    """
    returned = model
    if callable(model) and not isinstance(model, (Tensor, Variable)):
        with upward.part("running frameworks").listen():
            returned = model()
    loss = _loss_in(returned)
    if loss is None:
        raise ArgumentTypeError(
            f"expected a loss Tensor, a loss Variable, or a function that returns one, but received "
            f"{type(returned).__name__}."
        )
    return loss


def _loss_in(returned: Any, *, differentiated: bool = True) -> Tensor | Variable | None:
    """Return the loss in what a function returned: the first tensor; of another framework's, what stands for it."""
    entries = list(returned) if isinstance(returned, (list, tuple)) else [returned]
    live = upward.part("running frameworks")
    found = next((v for v in entries if isinstance(v, (Tensor, Variable)) or live.is_foreign(v)), None)
    loss: Tensor | Variable | None = live.stand_in(found, differentiated=differentiated)
    return loss
