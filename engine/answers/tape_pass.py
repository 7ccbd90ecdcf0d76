"""Backward pass over a recorded loss, under watch."""

from __future__ import annotations

from typing import Any

from ..core import watch
from ..core.errors import LossError, UsageError
from ..core.vocabulary import say
from ..eager.pass_start import Start
from ..eager.passes import Pass
from ..eager.recorded_calls import leaves_behind, nodes_behind
from ..eager.tensor import Leaf, Tensor
from . import backend_replay
from .events import Listener


def watch_tape(loss: Tensor | Start, listener: Listener, order: int = 1) -> dict[Leaf, Any]:
    """Run backward from *loss* and tell *listener*; no ``.grad`` is touched, and the graph is kept.

    Args:
        order: 2 goes on to the gradients of half the square norm of all gradients.

    Returns:
        The gradient of every leaf, as an array; those of the last order.

    Raises:
        LossError: no recorded operator made the loss.
    """
    check_order(order)
    start = Start.of(loss)
    expect_recorded(start.loss, start.loss.name)
    with backend_replay.hear(listener) as telling:
        work = start.begin(create_graph=order > 1)
        work.run()
        if order > 1:
            with watch.pause_watchers():
                behind = leaves_behind(start.differentiated, nodes_behind(start.differentiated))
                totals = [work.total(leaf) for leaf in behind]
            again = [g for g in totals if isinstance(g, Tensor) and not g.stop_gradient]
            work = Pass(retain_graph=True, fill=False)
            for g in again:
                work.seed(g, g.detach())
            if again:
                work.run()
        with watch.pause_watchers():
            return telling.settle({leaf: work.total(leaf) for leaf in work.leaves})


def expect_recorded(loss: Tensor, name: str) -> None:
    """Raise :class:`LossError` for a loss, which people know as *name*, behind which nothing is recorded."""
    if loss.stop_gradient:
        raise LossError(
            say("the loss '{name}' has no recorded graph: it has {stops}.", name=name),
            variable=name,
            hint=say(
                "it was computed from tensors with {stops} only, under no_grad, or was detached; "
                "parameters of layers and tensors made with {takes} take gradients"
            ),
        )


def check_order(order: int) -> None:
    """Raise :class:`UsageError` for an order of derivatives that is neither 1 nor 2."""
    if order not in (1, 2):
        raise UsageError(f"order must be 1 or 2, but is {order}.")
