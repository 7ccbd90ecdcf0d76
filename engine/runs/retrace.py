"""The forward operators of a tape that was recorded without the debugger, as far as the tape retains what they read.

What an operator read is known where its node keeps it, where it was made by an operator whose results are known, or
where somebody holds the tensor. What an operator made may be known through those who read it. The rest is computed
again if all that it was computed from is known; else it stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..eager.parameter import parameters_at
from ..eager.recorded import nodes_behind
from ..eager.tape import GradNode, Place
from ..eager.tensor import Leaf, Tensor
from ..ops.opdef import OpDef
from .calls import CallRecord
from .recorder import Recorder
from .timeline import NOBODY

_UNKNOWN = "the tape does not hold all that it read"


def retrace(recorder: Recorder, roots: Sequence[Tensor], held: Iterable[Tensor] = ()) -> None:
    """Have *recorder* know the operators behind *roots*.

    Args:
        held: tensors that somebody holds; their values are known.
    """
    nodes = [n for n in nodes_behind(roots) if isinstance(n.op, OpDef) and n.op.rule is not None]
    arrays = _known(nodes, [*roots, *held])
    numbers: dict[Place, int] = {}
    for node in nodes:
        operands, complete = _operands(recorder, node, arrays, numbers)
        outs = _outs(recorder, node, arrays, numbers, complete)
        fixed = "" if complete else _UNKNOWN
        recorder.add(CallRecord(node.op, node.attrs, operands, outs, node.loc, node.key, fixed, backend=node.backend))


def _known(nodes: Sequence[GradNode], held: Iterable[Tensor]) -> dict[Place, Any]:
    """Arrays by their place on the tape."""
    arrays: dict[Place, Any] = {}
    leaves = {p for n in nodes for p in n.wrt if isinstance(p, Leaf)}
    for leaf, parameter in parameters_at(leaves).items():
        arrays[leaf] = parameter.array
    for t in held:
        if not t.stop_gradient:
            arrays.setdefault(t.on_tape(), t.array)
    for node in nodes:
        rule = node.op.rule
        assert rule is not None
        for read, value in zip(rule.reads, node.args or (), strict=False):
            if read.like or read.kind == "dout":
                continue
            entries = value if isinstance(value, (list, tuple)) else (value,)
            if read.kind == "in":
                for t in entries:
                    if isinstance(t, Tensor) and not t.stop_gradient:
                        arrays.setdefault(t.on_tape(), t.array)
                continue
            for place, array in zip(_results(node, read.place), entries, strict=False):
                if array is not None:
                    arrays.setdefault(place, getattr(array, "array", array))
    return arrays


def _results(node: GradNode, slot: int) -> list[tuple[GradNode, int]]:
    """The places of what an output slot holds."""
    assert node.op.rule is not None
    at, places = 0, []
    douts = [r.place for r in node.op.rule.reads if r.kind == "dout"]
    for place, size in zip(douts, node.out_sizes or [None] * len(douts), strict=True):
        count = 1 if size is None else size
        if place == slot:
            places += [(node, at + i) for i in range(count)]
        at += count
    return places


def _operands(
    recorder: Recorder, node: GradNode, known: Mapping[Place, Any], numbers: dict[Place, int]
) -> tuple[list[Any], bool]:
    """What the operator took, slot by slot, and whether all of it is known."""
    op, rule = node.op, node.op.rule
    assert rule is not None
    retained = {r.place: v for r, v in zip(rule.reads, node.args or (), strict=False) if r.kind == "in" and not r.like}
    places: dict[int, list[Place | None]] = {}
    at = 0
    for wanted, size in zip(rule.wrt, node.wrt_sizes or [None] * len(rule.wrt), strict=False):
        count = 1 if size is None else size
        places[wanted] = list(node.wrt[at : at + count])
        at += count
    operands: list[Any] = []
    complete = True
    for i, slot in enumerate(op.inputs):
        value = retained.get(i)
        tensors = list(value) if isinstance(value, (list, tuple)) else [value] if value is not None else []
        on_tape = places.get(i, [])
        slot_numbers = []
        for k in range(max(len(tensors), len(on_tape))):
            tensor = tensors[k] if k < len(tensors) else None
            place = on_tape[k] if k < len(on_tape) else None
            slot_numbers.append(_number(recorder, tensor, place, known, numbers))
        complete = complete and bool(slot_numbers) and None not in slot_numbers
        operands.append(slot_numbers if slot.many else slot_numbers[0] if slot_numbers else None)
    return operands, complete


def _number(
    recorder: Recorder, tensor: Any, place: Place | None, known: Mapping[Place, Any], numbers: dict[Place, int]
) -> int | None:
    if place is not None:
        if place not in numbers:
            if place not in known:
                return None
            numbers[place] = recorder.number_of(known[place])
        return numbers[place]
    return None if tensor is None else recorder.number_of(getattr(tensor, "array", tensor))


def _outs(
    recorder: Recorder, node: GradNode, known: Mapping[Place, Any], numbers: dict[Place, int], complete: bool
) -> list[Any]:
    """Numbers for what the operator made; those that are not known get one only if they can be computed."""
    outs: list[Any] = []
    for slot_index, slot in enumerate(node.op.outputs):
        slot_numbers = []
        for place in _results(node, slot_index):
            if place in known:
                numbers[place] = recorder.number_of(known[place])
            elif complete:
                numbers[place] = recorder.unknown()
            slot_numbers.append(numbers.get(place, NOBODY))
        outs.append(
            slot_numbers if slot.many else slot_numbers[0] if slot_numbers else _aside(recorder, node, slot_index)
        )
    return outs


def _aside(recorder: Recorder, node: GradNode, slot: int) -> int:
    """A result that no gradient flows through, such as the mask of dropout."""
    assert node.op.rule is not None
    for read, value in zip(node.op.rule.reads, node.args or (), strict=False):
        if read.kind == "out" and read.place == slot and not read.like and value is not None:
            return recorder.number_of(getattr(value, "array", value))
    return NOBODY
