"""The backward pass over a tape that fills :class:`~gradtool.engine.answers.why.slopes.Slopes`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...core.source import NOWHERE, Location
from ...eager.journal import Journal
from ...eager.journal_entries import Call
from ...eager.pass_start import Start
from ...eager.tape import GradNode, each
from ...eager.tensor import Keep, Tensor
from .. import backend_replay
from ..gradient_operator import DifferentiatedOperator
from . import callers
from .slopes import Slopes, Visit

Arrays = Mapping[str, Any]


def sweep_tape(
    journal: Journal, loss: Tensor | Start, constants: Sequence[Tensor] = (), keep: Collection[int] = ()
) -> Slopes[int, Call]:
    """One backward pass from *loss* over the calls of *journal*; no ``.grad`` is touched.

    Args:
        constants: tensors through which no gradient flows.
        keep: the numbers of the values whose parts are wanted as arrays.
    """
    by_key = {c.key: c for c in journal.calls if c.key is not None}
    start = Start.of(loss)
    slopes: Slopes[int, Call] = Slopes([journal.number(t) for t in start.differentiated], keep)

    def look(at: DifferentiatedOperator) -> None:
        node, again = at.node, at.again
        call = by_key.get(node.key)
        if call is None:
            return
        arrived = {journal.place(node.key, j): g for j, g in enumerate(at.arriving)}

        def pull(arriving: Mapping[int, Any]) -> list[Any]:
            assert again is not None
            return lay_out(call, node.wrt, again([arriving[w] for w in arrived]))

        slopes.visit(
            Visit(
                call,
                call.type,
                node.attrs,
                call.reads,
                slots_of(node.op, len(call.reads)),
                arrived,
                lay_out(call, node.wrt, at.gradients),
                [place is not None for place in lay_out(call, node.wrt, node.wrt)],
                lambda: _read_saved(node, at.retained()),
                None if again is None or _is_written_by_users(node) else pull,
                rule=_rule_at(node),
                hooked=_find_hooks(journal, node),
                reach=journal.reaches.get(call.time),
                flushed=at.flushed,
            )
        )

    work = start.begin(constants=[t.tape_place() for t in constants])
    backend_replay.sweep(work, look)
    return slopes


def lay_out(call: Call, wrt: Sequence[Any], gradients: Sequence[Any]) -> list[Any]:
    """*gradients*, which a node gives by the places in *wrt*, by what *call* read."""
    by_read: list[Any] = [None] * len(call.reads)
    places = (i for i, passes in enumerate(call.passes) if passes)
    for i, place, g in zip(places, wrt, gradients, strict=False):
        by_read[i] = None if place is None else g
    return by_read


def _is_written_by_users(node: GradNode) -> bool:
    """Return whether the rule is Python of the user, which may do more than compute."""
    return getattr(node.op, "grad_op", None) is None


def slots_of(op: Any, count: int) -> list[str]:
    """The slot of each of *count* operands laid flat; a list slot holds what the others leave."""
    inputs = getattr(op, "inputs", None)
    if inputs is None:
        return [f"X{i}" for i in range(count)]
    spare = count - sum(not s.many for s in inputs)
    slots: list[str] = []
    for s in inputs:
        slots += [s.name] * (max(spare, 0) if s.many else 1)
        spare = 0 if s.many else spare
    return [*slots, *("" for _ in range(count - len(slots)))][:count]


def _rule_at(node: GradNode) -> Location:
    """Return the line where the user wrote the gradient of a PyLayer."""
    there = getattr(node, "rule_at", None)
    if there:
        return there  # type: ignore[no-any-return]  # of another engine, whose rules are not at hand
    layer = getattr(node.op.rule, "cls", None)
    code = getattr(getattr(layer, "backward", None), "__code__", None)
    return NOWHERE if code is None else callers.result(code)


def _find_hooks(journal: Journal, node: GradNode) -> Mapping[int, Location]:
    """The results of a node with hooks that may change their gradients: where the last one returns what it makes."""
    at: dict[int, Location] = {}
    for i, hooks in (node.hooks or {}).items():
        for hook in hooks.values():
            if isinstance(hook, Keep):
                continue
            at[journal.place(node.key, i)] = callers.hook_place(hook)
    return at


def _read_saved(node: GradNode, retained: Sequence[Any]) -> tuple[Arrays, Arrays]:
    """The forward arrays that a rule reads, by slot."""
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    rule = node.op.rule
    slots = getattr(node.op, "inputs", None)
    if rule is None or slots is None:
        return inputs, outputs
    for (kind, place, like, _), value in zip(rule.reads, retained, strict=True):
        if value is None or like or kind == "dout":
            continue
        arrays = each(value, lambda v: v.array if isinstance(v, Tensor) else v)
        if kind == "in":
            inputs[slots[place].name] = arrays
        else:
            outputs[node.op.outputs[place].name] = arrays
    return inputs, outputs
