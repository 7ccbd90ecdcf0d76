"""Run of a static program with its backward part, under watch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..autodiff.backward import append_backward
from ..autodiff.existing_gradients import gradients_of_parameters
from ..autodiff.gradients import gradients
from ..core import watch
from ..core.collector import pause_gc
from ..executor.executor import Executor
from ..ir.program import Program
from ..ir.variable import Variable
from .events import Adapter, Listener
from .tape_pass import check_order


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
    check_order(order)
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
    return getattr(listener, "summary_needs", None) is not None


def _fetch(program: Program, feed: Mapping[str, Any] | None, fetch: list[Variable], stays: bool) -> list[Any]:
    executor = Executor()
    if not stays:
        return executor.run(program, feed=feed, fetch_list=fetch)
    return [h.value for h in executor.run(program, feed=feed, fetch_list=fetch, return_numpy=False)]
