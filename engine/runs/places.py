"""Values at places of a tape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..eager.recorded_calls import outputs_of
from ..eager.tape import GradNode, Place
from ..eager.tensor import Leaf, Tensor
from ..ops.opdef import OpDef
from .calls import CallRecord, Pull, UsersOp, UsersSlot, flat
from .recorder import Recorder
from .timeline import NOBODY

THROUGH_NUMPY = "its values went through NumPy"


class TapeValues:
    """The values at the places of a tape, as far as operators read or made them.

    Args:
        nodes: the recorded calls.
        roots: what the backward pass starts from.

    Attributes:
        at: the number of the value at each place.
        of_leaf: the leaf that a value is.
    """

    def __init__(self, recorder: Recorder, nodes: Iterable[GradNode], roots: Sequence[Tensor]) -> None:
        self._recorder = recorder
        self._nodes = list(nodes)
        self.at: dict[Place, int] = {}
        self.of_leaf: dict[int, Leaf] = {}
        for node in self._nodes:
            self._note(node)
        for root in roots:
            number = recorder.find_number(root.array)
            if number is not None:
                self.at.setdefault(root.tape_place(), number)

    def note_leaves(self, tensors: Iterable[Tensor]) -> None:
        """Know the values of leaves that the tape alone does not tell: the user's own operators read them."""
        for t in tensors:
            number = self._recorder.find_number(t.array)
            if number is not None and t.leaf not in self.at:
                self.at[t.leaf] = number
                self.of_leaf[number] = t.leaf

    def all_calls(self) -> list[CallRecord]:
        """The calls of the run, and those of PyLayers whose results no operator made: they went through NumPy."""
        calls = self._recorder.calls
        makers = {n for c in calls for n in flat(c.outs)}
        own: list[CallRecord] = []
        for node in self._nodes:
            numbers = [self.at.get((node, i), NOBODY) for i in range(len(node.shapes))]
            outs = [n if n not in makers else NOBODY for n in numbers]
            if self._is_called(node) or not flat(outs):
                continue
            operands = [self._sources(p)[0] if p is not None else None for p in node.wrt]
            op = UsersOp(
                node.op.type,
                tuple(UsersSlot(f"X{i}") for i in range(len(operands))),
                tuple(UsersSlot(f"Out{i}") for i in range(len(outs))),
            )
            own.append(CallRecord(op, {}, operands, outs, node.loc, node.key, THROUGH_NUMPY, node=node))
        return sorted([*calls, *own], key=lambda c: -c.key) if own else calls

    def user_nodes(self) -> list[GradNode]:
        """The user's own operators from one of whose arguments no operators lead to a result that somebody reads."""
        maker = {n: c for c in self._recorder.calls for n in flat(c.outs)}
        outside: list[GradNode] = []
        for node in self._nodes:
            if self._is_called(node):
                continue
            results = [self.at[node, i] for i in range(len(node.shapes)) if (node, i) in self.at]
            if results and not self._lead(node, results, maker):
                outside.append(node)
        return outside

    @staticmethod
    def _is_called(node: GradNode) -> bool:
        """Return whether a node is that of an operator whose call was recorded, and not of the user's own."""
        return isinstance(node.op, OpDef) and not getattr(node, "adopted", False)

    def _lead(self, node: GradNode, results: Sequence[int], maker: Mapping[int, CallRecord]) -> bool:
        """Return whether operators lead from all that the user's own operator took to *results*, and to each of
        these.
        """
        taken = [self._sources(p) for p in node.wrt if p is not None]
        if any(not complete for _, complete in taken):
            return False
        wanted = {n for numbers, _ in taken for n in numbers}
        found: set[int] = set()
        for result in results:
            behind = _sources_of(result, wanted, maker)
            if result not in maker and not behind:
                return False
            found |= behind
        return wanted <= found

    def operands_of(self, node: GradNode) -> list[int] | None:
        """The values that the operator of *node* read, laid flat; None where its call was not recorded."""
        call = self._recorder.call_of(node.key)
        return flat(call.operands) if call is not None and call.op is node.op else None

    def needs(self, node: GradNode, pull: Pull) -> list[int]:
        """Return the values that the gradient of an operator depends on next to its operands: all that forward
        took and made.
        """
        call = self._recorder.call_of(node.key)
        if call is not None and call.op is node.op:
            return [*flat(call.operands), *flat(call.outs)]
        sources = flat([self._sources(p)[0] for p in node.wrt if p is not None])
        return [n for n in sources if n not in pull.saved]

    def _sources(self, place: Place) -> tuple[list[int], bool]:
        """The values at a place, or what it comes from where PyLayers handed it on and no operator read it.

        And whether the value of each leaf there is known.
        """
        sources: list[int] = []
        seen: set[Place] = set()
        todo, complete = [place], True
        while todo:
            p = todo.pop()
            if p in self.at:
                sources.append(self.at[p])
            elif isinstance(p, Leaf):
                complete = False
            elif p not in seen and not self._is_called(p[0]):
                seen.add(p)
                todo += [q for q in p[0].wrt if q is not None]
        return sources, complete

    def _note(self, node: GradNode) -> None:
        call = self._recorder.call_of(node.key)
        if call is None or call.op is not node.op or node.op.rule is None:
            return
        first: dict[int, int] = {}
        for slot, at in outputs_of(node):
            outs = call.outs[slot]
            self.at[node, at] = outs[at - first.setdefault(slot, at)] if isinstance(outs, list) else outs
        places = iter(node.wrt)
        sizes = node.wrt_sizes or [None] * len(node.op.rule.wrt)
        for slot, size in zip(node.op.rule.wrt, sizes, strict=False):
            operand = call.operands[slot] if slot < len(call.operands) else None
            for number, place in zip(
                operand if isinstance(operand, list) else [operand],
                [next(places) for _ in range(size or 1)],
                strict=False,
            ):
                if place is None or type(number) is not int:
                    continue
                self.at.setdefault(place, number)
                if isinstance(place, Leaf):
                    self.of_leaf[number] = place


def _sources_of(result: int, wanted: set[int], maker: Mapping[int, CallRecord]) -> set[int]:
    """Those of the *wanted* values that operators made *result* of."""
    found: set[int] = set()
    seen: set[int] = set()
    todo = [result]
    while todo:
        number = todo.pop()
        if number in seen:
            continue
        seen.add(number)
        if number in wanted:
            found.add(number)
        elif number in maker:
            todo += flat(maker[number].operands)
    return found
