"""The forward operators of a tape that was recorded without the debugger, as far as the tape retains what they read.

What an operator read is known where its node keeps it, where it was made by an operator whose results are known, or
where somebody holds the tensor. What an operator made may be known through those who read it. The rest is computed
again if all that it was computed from is known; else it stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

from ..eager.parameter import parameters_at
from ..eager.recorded_calls import nodes_behind
from ..eager.tape import GradNode, Place
from ..eager.tensor import Leaf, Tensor
from ..ops.opdef import OpDef, Read
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
    arrays = _arrays(nodes, [*roots, *held])
    numbers: dict[Place, int] = {}
    for node in nodes:
        operands, complete = _operands(recorder, node, arrays, numbers)
        outs = _outs(recorder, node, arrays, numbers, complete)
        fixed = "" if complete else _UNKNOWN
        recorder.add(CallRecord(node.op, node.attrs, operands, outs, node.loc, node.key, fixed, backend=node.backend))


def _arrays(nodes: Sequence[GradNode], held: Iterable[Tensor]) -> dict[Place, Any]:
    """Arrays by their place on the tape."""
    leaves = {p for n in nodes for p in n.wrt if isinstance(p, Leaf)}
    arrays: dict[Place, Any] = {leaf: parameter.array for leaf, parameter in parameters_at(leaves).items()}

    def note(tensors: Iterable[Any]) -> None:
        for t in tensors:
            if isinstance(t, Tensor) and not t.stop_gradient:
                arrays.setdefault(t.tape_place(), t.array)

    note(held)
    for node in nodes:
        for read, entries in _list_retained_values(node):
            if read.kind == "in":
                note(entries)
                continue
            for place, array in zip(_results(node, read.place), entries, strict=False):
                if array is not None:
                    arrays.setdefault(place, getattr(array, "array", array))
    return arrays


def _list_retained_values(node: GradNode) -> Iterator[tuple[Read, Sequence[Any]]]:
    """Yield the operands and results of the operator that the node retains, with what each is."""
    assert node.op.rule is not None
    for read, value in zip(node.op.rule.reads, node.args or (), strict=False):
        if value is not None and not read.like and read.kind != "dout":
            yield read, value if isinstance(value, (list, tuple)) else (value,)


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
    recorder: Recorder, node: GradNode, arrays: Mapping[Place, Any], numbers: dict[Place, int]
) -> tuple[list[Any], bool]:
    """Return the operands of the operator, slot by slot, and whether all of it is known."""
    retained = {read.place: entries for read, entries in _list_retained_values(node) if read.kind == "in"}
    places = _places(node)
    operands: list[Any] = []
    complete = True
    for i, slot in enumerate(node.op.inputs):
        pairs = zip_longest(retained.get(i, ()), places.get(i, ()))
        slot_numbers = [_number(recorder, tensor, place, arrays, numbers) for tensor, place in pairs]
        complete = complete and bool(slot_numbers) and None not in slot_numbers
        operands.append(slot_numbers if slot.many else next(iter(slot_numbers), None))
    return operands, complete


def _places(node: GradNode) -> dict[int, list[Place | None]]:
    """The places that gradients go to, by the input slot that is differentiated."""
    assert node.op.rule is not None
    wrt = node.op.rule.wrt
    places = iter(node.wrt)
    return {
        slot: [*islice(places, 1 if size is None else size)]
        for slot, size in zip(wrt, node.wrt_sizes or [None] * len(wrt), strict=False)
    }


def _number(
    recorder: Recorder, tensor: Any, place: Place | None, arrays: Mapping[Place, Any], numbers: dict[Place, int]
) -> int | None:
    if place is None:
        return None if tensor is None else recorder.number_of(getattr(tensor, "array", tensor))
    if place not in numbers:
        if place not in arrays:
            return None
        numbers[place] = recorder.number_of(arrays[place])
    return numbers[place]


def _outs(
    recorder: Recorder, node: GradNode, arrays: Mapping[Place, Any], numbers: dict[Place, int], complete: bool
) -> list[Any]:
    """Numbers for what the operator made; those that are not known get one only if they can be computed."""
    outs: list[Any] = []
    for slot_index, slot in enumerate(node.op.outputs):
        slot_numbers = []
        for place in _results(node, slot_index):
            if place in arrays:
                numbers[place] = recorder.number_of(arrays[place])
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
