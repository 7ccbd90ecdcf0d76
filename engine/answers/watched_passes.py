"""Backward passes under watch: of a recorded loss, of a function, of a static program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..autodiff.backward import append_backward
from ..autodiff.existing_gradients import gradients_of_parameters
from ..autodiff.gradients import gradients
from ..core import upward, watch
from ..core.collector import pause_gc
from ..core.errors import ArgumentTypeError, LossError, UsageError
from ..core.summary import Asked
from ..core.vocabulary import say
from ..eager.pass_start import Start
from ..eager.passes import Pass
from ..eager.recorded_calls import leaves_behind, nodes_behind
from ..eager.tensor import Leaf, Tensor
from ..executor.executor import Executor
from ..ir.program import Program
from ..ir.variable import Variable
from . import backend_replay
from .events import Adapter, Begin, Listener, Quiet


def watch_tape(loss: Tensor | Start, listener: Listener, order: int = 1) -> dict[Leaf, Any]:
    """Run backward from *loss* and tell *listener*; no ``.grad`` is touched, and the graph is kept.

    Args:
        order: 2 goes on to the gradients of half the square norm of all gradients.

    Returns:
        The gradient of every leaf, as an array; those of the last order.

    Raises:
        LossError: no recorded operator made the loss.
    """
    _check_order(order)
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


def watch_program(
    loss: Variable,
    listener: Listener | None,
    feed: Mapping[str, Any] | None = None,
    order: int = 1,
    run: Callable[[Sequence[Variable]], Any] | None = None,
    keep: dict[Variable, Any] | None = None,
) -> list[tuple[Variable, Variable]]:
    """Append the backward part of *loss* where there is none, run the program once and tell *listener*.

    Args:
        listener: None where the gradients are all that is asked for.
        order: 2 appends the gradients of half the square norm of all gradients, too.
        run: runs the program for a list of variables to fetch; by default an Executor does, on *feed*.
        keep: gets the values of these variables.

    Returns:
        Parameters and their gradients.
    """
    _check_order(order)
    program = loss.block.program
    there = gradients_of_parameters(loss)
    pairs = [*(append_backward(loss) if there is None else there.items())]
    firsts = [g for _, g in pairs]
    fetch = [loss, *firsts]
    if order > 1 and pairs:
        fetch += [g for g in gradients(firsts, [p for p, _ in pairs], firsts) if g is not None]
    adapter = None if listener is None else Adapter(listener)
    with pause_gc(), watch.watch(adapter):  # what listeners note of a run stays
        values = _fetch(program, feed, fetch, stays(listener)) if run is None else run(fetch)
        if adapter is not None:
            adapter.finish()
    if keep is not None:
        keep.update(zip(fetch, values, strict=True))
    return pairs


def stays(listener: Listener | None) -> bool:
    """Return whether *listener* needs no values where it is, so that they may stay on a device."""
    return getattr(listener, "summarised", None) is not None


def _fetch(program: Program, feed: Mapping[str, Any] | None, fetch: list[Variable], stays: bool) -> list[Any]:
    executor = Executor()
    if not stays:
        return executor.run(program, feed=feed, fetch_list=fetch)
    return [h.value for h in executor.run(program, feed=feed, fetch_list=fetch, return_numpy=False)]


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
        passes = Passes(listener)
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


class Passes:
    """Counts the backward passes that a listener is told of, but for those that compute for another one."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.count = 0

    @property
    def summarised(self) -> Asked | None:
        """Return what the listener needs in place of arrays."""
        return getattr(self.listener, "summarised", None)

    def uneventful(self, quiet: Quiet) -> None:
        """Operators with whose results nothing is wrong."""
        self.count += len([p for p in quiet.passes if not p.recorded])
        quiet.tell(self.listener)

    def __call__(self, event: Any) -> None:
        self.count += isinstance(event, Begin) and not event.recorded
        self.listener(event)


def _loss_in(returned: Any, *, differentiated: bool = True) -> Tensor | Variable | None:
    """Return the loss in what a function returned: the first tensor; of another framework's, what stands for it."""
    entries = list(returned) if isinstance(returned, (list, tuple)) else [returned]
    live = upward.part("running frameworks")
    found = next((v for v in entries if isinstance(v, (Tensor, Variable)) or live.is_foreign(v)), None)
    loss: Tensor | Variable | None = live.stand_in(found, differentiated=differentiated)
    return loss


def _check_order(order: int) -> None:
    if order not in (1, 2):
        raise UsageError(f"order must be 1 or 2, but is {order}.")


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
