"""Backward through the tape, as users ask for it: gradients added to ``.grad``, or given."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from ..core import state, watch
from ..core.identity import identity
from ..ops.registry import get_by_type
from . import mode, piecewise_linear
from .leaf_gradients import own, store
from .mode import _GradMode
from .pass_start import PassRequest, nodes_between
from .passes import Pass, as_tensor
from .record import apply
from .tape import Place
from .tensor import Leaf, Tensor

F = TypeVar("F", bound=Callable[..., Any])


def _as_it_is(function: F) -> F:
    """*function*, in which nothing is cast: gradients have the types of what they are gradients of."""

    @functools.wraps(function)
    def run(*args: Any, **named: Any) -> Any:
        if mode.casting is None:
            return function(*args, **named)
        with mode.cast_by(None):
            return function(*args, **named)

    return cast(F, run)


@_as_it_is
def backward(
    tensors: Sequence[Tensor], grad_tensors: Sequence[Tensor | None], *, retain_graph: bool, create_graph: bool = False
) -> None:
    """Compute the gradients of *tensors* and add them to the ``.grad`` of the leaves they depend on.

    A tensor with ``stop_gradient`` is passed over. Nothing is added before all gradients and all hooks are done, so a
    pass that fails leaves every ``.grad`` as it was.
    """
    try:
        _fill(tensors, grad_tensors, Pass(retain_graph=retain_graph, create_graph=create_graph))
    finally:
        state.passed.note()


def _fill(tensors: Sequence[Tensor], grad_tensors: Sequence[Tensor | None], work: Pass) -> None:
    create_graph = work.create_graph
    for tensor, gradient in zip(tensors, grad_tensors, strict=True):
        if not tensor._stop:
            work.seed(tensor, gradient)
    work.adds_rows = not create_graph
    work.run()
    leaves = list(work.leaves)
    if state.swept.is_heard:
        state.swept.note({leaf: work.total(leaf) for leaf in leaves})
    with _GradMode(create_graph):
        gradients = [[work.run_leaf_hooks(leaf, work.total(leaf))] for leaf in leaves]
        work.leaves.clear()  # each is held once now
        for leaf, gradient in work.intermediate:
            store(leaf, [gradient], tensors[0])
        for leaf, held in zip(leaves, gradients, strict=True):
            store(leaf, held, tensors[0])
    if watch.noting:
        watch.note(watch.Filled((*(leaf for leaf, _ in work.intermediate), *leaves)))
    for leaf in leaves:
        for after in list(leaf.after.values()):
            after()


@_as_it_is
def grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None],
    *,
    retain_graph: bool,
    create_graph: bool,
    constants: Sequence[Tensor] = (),
) -> list[Tensor | None]:
    """The gradients of *outputs* by *inputs*, None for an input that does not matter; no ``.grad`` is touched.

    Hooks on intermediate results act, hooks on leaves do not: they belong to ``.grad``.
    """
    state.passes.note(outputs, "grad", create_graph, PassRequest(grad_outputs, inputs, retain_graph))
    try:
        return _gradients_of_inputs(outputs, inputs, grad_outputs, retain_graph, create_graph, constants)
    finally:
        state.passed.note()


def _gradients_of_inputs(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None],
    retain_graph: bool,
    create_graph: bool,
    constants: Sequence[Tensor],
) -> list[Tensor | None]:
    wanted: dict[Place, None] = {t.tape_place(): None for t in inputs if not t._stop}
    roots = [t for t in outputs if not t._stop]
    stops = frozenset(t.tape_place() for t in constants)
    work = Pass(
        retain_graph=retain_graph,
        create_graph=create_graph,
        fill=False,
        targets=wanted,
        needed=nodes_between(wanted, roots, stops),
        constants=stops,
    )
    for tensor, gradient in zip(outputs, grad_outputs, strict=True):
        if not tensor._stop:
            work.seed(tensor, gradient)
    work.run()
    held = {identity(t) for t in grad_outputs}
    with _GradMode(create_graph):
        gradients = [None if t._stop else _result(work, t, held) for t in inputs]
    for wanted_of, g in zip(inputs, gradients, strict=True):
        if work.bends and g is not None:
            piecewise_linear.note(g, wanted_of.tape_place(), work.bends)
    if state.swept.is_heard:
        pairs = zip(inputs, gradients, strict=True)
        state.swept.note({asked.tape_place(): g.array for asked, g in pairs if g is not None})
    if watch.noting:
        watch.note(watch.Given(tuple(inputs), tuple(gradients)))
        for t in gradients:
            if t is not None and t.node is None:  # a constant, unless the pass is recorded itself
                watch.note(watch.Copied("grad", tuple(outputs), t))
        if create_graph:
            watch.note(watch.Differentiated(tuple(outputs)))
    return gradients


def _result(work: Pass, tensor: Tensor, held: set[int]) -> Tensor | None:
    """Return the result of :func:`grad` for *tensor*: storage of its own, whatever the gradient shares.

    Args:
        held: identities of tensors that are in someone's hands already; the result's is added.
    """
    place = tensor.tape_place()
    total = work.total(place)
    if total is None:
        return None
    if not isinstance(place, Leaf) and work.needed is not None and place[0] not in work.needed:
        total = work.run_output_hooks(*place, total)  # the sweep did not get there, so its hooks have not run
    if not work.create_graph:
        held_by_all = [total.array.copy() if isinstance(total, Tensor) else total]
        del total
        return Tensor(own(held_by_all, others=1))
    result = apply(get_by_type("assign"), [total], {}) if identity(total) in held else as_tensor(total)
    held.add(identity(result))
    result.stop_gradient = False
    return result
