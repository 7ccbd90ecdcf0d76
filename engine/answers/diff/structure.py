"""The differences of two graphs: causes in the order of execution, and apart from them what follows from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import takewhile
from typing import Any

from ...core.records import dataclass
from .matching import Matching, match, operand_pairs
from .outline import CONSTANT, NOTHING, PARAMETER, Outline, OutlineLeaf, OutlineOperand, OutlineOperation
from .recorded_outline import comparable

_NAMES = 6
"""Operators that a change names before it says how many more there are."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Attributes:
        kind: ``added``, ``removed``, ``replaced``, ``moved``, ``attributes``, ``rewired``, ``cut``, ``connected``,
            ``leaf``, ``frozen``, ``gradient``, ``setting``, ``backward``.
        text: the difference in one line.
        before, after: the names of the operators or leaves on each side.
        source, source_after: the lines on each side, or empty.
        layer: the layer it stands in, or empty.
    """

    kind: str
    text: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    source: str = ""
    source_after: str = ""
    layer: str = ""

    def data(self) -> dict[str, Any]:
        """The change in JSON's types."""
        return {
            "kind": self.kind,
            "text": self.text,
            "before": list(self.before),
            "after": list(self.after),
            "source": {"before": self.source or None, "after": self.source_after or None},
            "layer": self.layer or None,
        }


@dataclass(frozen=True)
class GraphDifference:
    """The differences of two graphs.

    Attributes:
        changes: the causes, in the order of execution; empty if the graphs are the same.
        effects: what follows from them: gradients won and lost, backward operators.
        matching: which operators and leaves belong together.
    """

    matching: Matching
    changes: Sequence[Change]
    effects: Sequence[Change] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Return whether nothing differs."""
        return not self.changes and not self.effects


def difference(before: Outline, after: Outline) -> GraphDifference:
    """Return the differences of two graphs. Names of files, lines and numbered names of operators do not count."""
    before, after = comparable(before, after)
    matching = match(before, after)
    forward = [change for _, change in sorted(_forward(matching), key=lambda placed: placed[0])]
    parameters = [*_parameters(matching)]
    settings = [*_settings(before, after)]
    gradients = [*_gradients(matching)]
    backward = [*_backward(matching)]
    # A leaf that was frozen or freed is a cause; that others get no gradient follows from what stands before.
    freed = [c for c in gradients if c.kind == "frozen"]
    lost = [c for c in gradients if c.kind != "frozen"]
    for effects in ([*lost, *backward], backward):
        causes = [*settings, *forward, *parameters, *freed]
        if causes:
            return GraphDifference(matching, causes, effects)
        freed = lost
    return GraphDifference(matching, backward)


# -- forward operators -----------------------------------------------------------------------------------------------


@dataclass
class _Sides:
    """One direction of a comparison: from a graph to the other one.

    Attributes:
        one, other: the graphs.
        operations: positions in *one* -> in *other*; leaves likewise.
    """

    one: Outline
    other: Outline
    operations: Mapping[int, int]
    leaves: Mapping[str, str]

    def unmatched(self, explained: Collection[int] = ()) -> list[int]:
        """Forward operators of *one* without a partner, but for those that something else explains."""
        return [n for n in range(self.one.forward) if n not in self.operations and n not in explained]


def _forward(matching: Matching) -> Iterator[tuple[float, Change]]:
    """Changes of forward operators, with the place in the order of execution at which they are told."""
    gone = _Sides(matching.before, matching.after, matching.operations, matching.leaves)
    fresh = _Sides(matching.after, matching.before, matching.back, matching.leaves_back)
    # Leaves that take gradients on one side alone explain operators that are recorded for these.
    behind, ahead = matching.recorded_before, matching.recorded_after
    # Operands that nothing makes any more explain the operators that made them.
    cut, made = _cuts(gone, "cut", behind)
    connected, made_now = _cuts(fresh, "connected", ahead)
    yield from cut
    yield from connected
    yield from _compare_unmatched(matching, gone.unmatched({*behind, *made}), fresh.unmatched({*ahead, *made_now}))
    for here, there in matching.operations.items():
        left, right = matching.before.operations[here], matching.after.operations[there]
        yield from ((here, change) for change in _compare_partners(matching, here in matching.moved, left, right))


def _compare_unmatched(
    matching: Matching, removed: Sequence[int], added: Sequence[int]
) -> Iterator[tuple[float, Change]]:
    """Changes of operators that are on one side alone; one for one in the same place is a replacement."""
    replaced = dict(_replacements(matching, removed, added))
    for here, there in replaced.items():
        yield here, _find_replacement(matching.before.operations[here], matching.after.operations[there])
    instead = set(replaced.values())
    for group in _groups(matching.before, [n for n in removed if n not in replaced]):
        yield group[0], _several("removed", matching.before, group)
    for group in _groups(matching.after, [n for n in added if n not in instead]):
        yield _place(matching, group[0]), _several("added", matching.after, group)


def _compare_partners(
    matching: Matching, is_moved: bool, left: OutlineOperation, right: OutlineOperation
) -> Iterator[Change]:
    """Changes of an operator that is on both sides."""
    if is_moved:
        yield _change("moved", f"{left.name} stands elsewhere in the order", left, right)
    text = _attributes(left, right)
    if text:
        yield _change("attributes", f"{left.name}: {text}", left, right)
    for said in _find_rewiring(matching, left, right):
        yield _change("rewired", f"{left.name}: {said}", left, right)


def _change(kind: str, text: str, left: OutlineOperation, right: OutlineOperation) -> Change:
    return Change(kind, text, [left.name], [right.name], left.source, right.source, left.layer or right.layer)


def _place(matching: Matching, added: int) -> float:
    """Return where an operator of *after* would stand in *before*: behind the last one before it that has a partner."""
    at = added
    while at >= 0 and at not in matching.back:
        at -= 1
    return matching.back[at] + 0.5 if at >= 0 else -0.5


def _cuts(sides: _Sides, kind: str, explained: Collection[int]) -> tuple[list[tuple[float, Change]], set[int]]:
    """Operands that an unmatched operator makes in *one* and nothing in *other*; and what stands behind only these."""
    one, other = sides.one, sides.other
    cut: dict[int, tuple[int, OutlineOperand]] = {}
    for here, there in sorted(sides.operations.items()):
        for left, right in operand_pairs(one.operations[here], other.operations[there]):
            if left.maker in explained or left.maker in sides.operations:
                continue
            if left.maker != NOTHING and right.maker == NOTHING:
                cut.setdefault(left.maker, (here, right))
    if not cut:
        return [], set()
    behind = _only_behind(sides, {*cut})
    count = f"{len(behind)} operators" if len(behind) != 1 else "1 operator"
    changes: list[tuple[float, Change]] = []
    for maker, (here, right) in cut.items():
        reader, partner = one.operations[here], other.operations[sides.operations[here]]
        made, leaf = one.operations[maker].name, other.leaves[right.tensor]
        if kind == "cut":
            text = f"{partner.name} reads a {leaf.role}, not what {made} makes ({count} behind it left the graph)"
            changes.append((here, _change(kind, text, reader, partner)))
        else:
            text = f"{reader.name} reads what {made} makes, not a {leaf.role} ({count} joined the graph)"
            changes.append((sides.operations[here], _change(kind, text, partner, reader)))
    return changes, behind


def _only_behind(sides: _Sides, makers: set[int]) -> set[int]:
    """Unmatched operators of *one* whose results go nowhere but to cut operands."""
    readers = _find_readers(sides.one)
    behind: set[int] = set()
    for n in range(sides.one.forward - 1, -1, -1):
        if n in sides.operations:
            continue
        is_cut, reading = n in makers, readers.get(n, ())
        if (is_cut or reading) and all(r in behind or (r in sides.operations and is_cut) for r in reading):
            behind.add(n)
    return behind


def _find_readers(outline: Outline) -> dict[int, list[int]]:
    """Return the forward operators that read what a forward operator makes, by that operator."""
    readers: dict[int, list[int]] = {}
    for n in range(outline.forward):
        for operand in outline.operations[n].operands:
            if operand.maker != NOTHING:
                readers.setdefault(operand.maker, []).append(n)
    return readers


def _replacements(matching: Matching, removed: Sequence[int], added: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Removed and added operators that stand in the same place and read the same, one for one."""
    waiting: dict[float, list[int]] = {}
    for there in added:
        waiting.setdefault(_place(matching, there), []).append(there)
    taken: set[int] = set()
    replaced: dict[int, int] = {}
    for here in removed:
        at = here
        while at >= 0 and at not in matching.operations:
            at -= 1
        place = at + 0.5 if at >= 0 else -0.5
        candidates = [n for n in waiting.get(place, ()) if n not in taken]
        for there in candidates:
            if _reads_the_same(matching, here, there, replaced):
                taken.add(there)
                replaced[here] = there
                yield here, there
                break


def _reads_the_same(matching: Matching, here: int, there: int, replaced: Mapping[int, int]) -> bool:
    """Return whether two operators read the same first operand."""
    left, right = matching.before.operations[here].operands, matching.after.operations[there].operands
    if not left or not right:
        return not left and not right
    if (left[0].maker == NOTHING) != (right[0].maker == NOTHING):
        return False
    if left[0].maker == NOTHING:
        return matching.leaves.get(left[0].tensor) == right[0].tensor
    partner = matching.operations.get(left[0].maker, replaced.get(left[0].maker))
    return partner == right[0].maker


def _find_replacement(left: OutlineOperation, right: OutlineOperation) -> Change:
    return _change("replaced", f"{left.name} is {right.name} now", left, right)


def _groups(outline: Outline, positions: Sequence[int]) -> Iterator[list[int]]:
    """Operators one after the other that belong together: of one layer, or one reading the other."""
    group: list[int] = []
    for n in positions:
        if group and not (n == group[-1] + 1 and _belongs(outline, group, n)):
            yield group
            group = []
        group.append(n)
    if group:
        yield group


def _belongs(outline: Outline, group: Sequence[int], n: int) -> bool:
    op, last = outline.operations[n], outline.operations[group[-1]]
    return bool(op.layer and op.layer == last.layer) or any(o.maker in group for o in op.operands)


def _several(kind: str, outline: Outline, group: Sequence[int]) -> Change:
    operations = [outline.operations[n] for n in group]
    names = [op.name for op in operations]
    layer = _common(op.layer for op in operations if op.layer)
    where = f" in layer {layer}" if layer else ""
    text = f"{_list_names(names)} {kind}{where}"
    source = next((op.source for op in operations if op.source), "")
    if kind == "added":
        return Change(kind, text, [], names, "", source, layer)
    return Change(kind, text, names, [], source, "", layer)


def _common(layers: Iterable[str]) -> str:
    """The innermost layer around several ones; empty if there is none."""
    paths = [layer.split(".") for layer in layers]
    same = takewhile(lambda parts: len({*parts}) == 1, zip(*paths, strict=False))
    return ".".join(parts[0] for parts in same)


def _list_names(names: Sequence[str]) -> str:
    if len(names) <= _NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMES])} and {len(names) - _NAMES} more"


def _attributes(left: OutlineOperation, right: OutlineOperation) -> str:
    """``axis 1 → -1, keepdim (none) → True``; empty if they are the same."""
    if left.type != right.type or left.attributes is None or right.attributes is None:
        return ""
    names = sorted({*left.attributes, *right.attributes})
    absent = object()
    told = []
    for name in names:
        was, now = left.attributes.get(name, absent), right.attributes.get(name, absent)
        if repr(was) != repr(now):
            shown = ["(none)" if value is absent else repr(value) for value in (was, now)]
            told.append(f"{name} {shown[0]} → {shown[1]}")
    return ", ".join(told)


def _find_rewiring(matching: Matching, left: OutlineOperation, right: OutlineOperation) -> Iterator[str]:
    """Yield sentences about operands that come from elsewhere, where no operator that came or went explains it."""
    for was, now in operand_pairs(left, right):
        said = _elsewhere(matching, was, now)
        if said:
            yield said
    fewer = _count_lasting(left, matching.operations, matching.before, matching.leaves, matching.after)
    more = _count_lasting(right, matching.back, matching.after, matching.leaves_back, matching.before)
    if fewer != more and len(left.operands) != len(right.operands) and left.type == right.type:
        yield f"reads {len(right.operands)} tensors, read {len(left.operands)}"


def _elsewhere(matching: Matching, was: OutlineOperand, now: OutlineOperand) -> str:
    """Return the words about an operand that comes from elsewhere.

    Empty if it does not, or what came or went explains it.
    """
    was_leaf, is_leaf = was.maker == NOTHING, now.maker == NOTHING
    # What made it before, or makes it now, came or went itself.
    if not (was_leaf or was.maker in matching.operations) or not (is_leaf or now.maker in matching.back):
        return ""
    if was_leaf == is_leaf and _is_same_operand(matching, was, now):
        return ""
    source = f"is {now.tensor}" if is_leaf else f"comes from {_maker(matching.after, now)}"
    before = f"was {was.tensor}" if was_leaf else f"came from {_maker(matching.before, was)}"
    return f"{was.slot} {source}, {before}"


def _is_same_operand(matching: Matching, was: OutlineOperand, now: OutlineOperand) -> bool:
    """Return whether two leaves, or two results of operators, are partners."""
    if was.maker == NOTHING:
        return matching.leaves.get(was.tensor) == now.tensor or _constants(matching, was, now)
    return matching.operations[was.maker] == now.maker and was.tensor == now.tensor


def _constants(matching: Matching, was: OutlineOperand, now: OutlineOperand) -> bool:
    """Return whether two leaves are constants, which have no names of their own."""
    return matching.before.leaves[was.tensor].role == matching.after.leaves[now.tensor].role == CONSTANT


def _count_lasting(
    op: OutlineOperation, matched: Mapping[int, int], outline: Outline, leaves: Mapping[str, str], other: Outline
) -> int:
    """Return how many operands must be there on the other side.

    Neither constant nor frozen there, nor made by what went.
    """
    count = 0
    for operand in op.operands:
        if operand.maker != NOTHING:
            count += operand.maker in matched
            continue
        partner = other.leaves.get(leaves.get(operand.tensor, ""))
        constant = outline.leaves[operand.tensor].role == CONSTANT
        count += not constant and not (partner is not None and partner.is_frozen)
    return count


def _maker(outline: Outline, operand: OutlineOperand) -> str:
    return outline.operations[operand.maker].name


# -- leaves, settings, gradients, backward operators -----------------------------------------------------------------


def _parameters(matching: Matching) -> Iterator[Change]:
    """Parameters that came, went, or have another name, shape or type."""
    before, after = matching.before.leaves, matching.after.leaves
    for name, leaf in before.items():
        partner = matching.leaves.get(name)
        if partner is not None:
            said = _leaf_changes(leaf, after[partner])
            if said:
                text = f"{leaf.role} {name}: {said}"
                yield Change("leaf", text, [name], [partner], leaf.source, after[partner].source)
        elif leaf.role == PARAMETER:
            yield Change("leaf", f"parameter {name} {leaf.spec} removed", [name], [], leaf.source)
    for name, leaf in after.items():
        if name not in matching.leaves_back and leaf.role == PARAMETER:
            yield Change("leaf", f"parameter {name} {leaf.spec} added", [], [name], "", leaf.source)


def _leaf_changes(leaf: OutlineLeaf, other: OutlineLeaf) -> str:
    told = []
    if leaf.role == PARAMETER and leaf.name != other.name:
        told.append(f"is called {other.name} now")
    if (leaf.shape, leaf.dtype) != (other.shape, other.dtype):
        told.append(f"{leaf.spec} → {other.spec}")
    return ", ".join(told)


def _settings(before: Outline, after: Outline) -> Iterator[Change]:
    """Yield changes of the arguments that the backward parts were made with."""
    for name in sorted({*before.settings, *after.settings}):
        was, now = list(before.settings.get(name, ())), list(after.settings.get(name, ()))
        if was != now:
            shown = [", ".join(names) or "nothing" for names in (was, now)]
            yield Change("setting", f"{name}: {shown[0]} → {shown[1]}", was, now)


def _gradients(matching: Matching) -> Iterator[Change]:
    """Gradients that came or went, or are missing for another reason."""
    before, after = matching.before, matching.after
    for name, leaf in before.leaves.items():
        other = after.leaves.get(matching.leaves.get(name, ""))
        if other is None or not _is_other_gradient(leaf, other):
            continue
        if other.gradient == "ok":
            text = f"{other.name} gets a gradient now (was: {leaf.gradient})"
        elif leaf.gradient == "ok":
            text = f"{other.name} gets no gradient any more: {other.gradient}"
        else:
            text = f"{other.name}: {leaf.gradient} → {other.gradient}"
        kind = "frozen" if leaf.is_frozen != other.is_frozen and "ok" in (leaf.gradient, other.gradient) else "gradient"
        yield Change(kind, text, [name], [other.name], leaf.source, other.source)


def _is_other_gradient(leaf: OutlineLeaf, other: OutlineLeaf) -> bool:
    """Return whether the gradients of two partners differ in a way that is worth a line."""
    if leaf.reason == other.reason or not leaf.gradient or not other.gradient:
        return False
    return "ok" in (leaf.gradient, other.gradient) or leaf.role == PARAMETER


def _backward(matching: Matching) -> Iterator[Change]:
    """Gradient operators of operators on both sides that came or went, and how many there are."""
    before, after = matching.before, matching.after
    for here, there in matching.operations.items():
        left = [before.operations[n] for n in before.gradients.get(here, ())]
        right = [after.operations[n] for n in after.gradients.get(there, ())]
        if sorted(op.type for op in left) != sorted(op.type for op in right):
            yield _gradient_operators(before.operations[here], after.operations[there], left, right)
    if before.backward != after.backward:
        text = f"{before.backward} → {after.backward} backward operators"
        yield Change("backward", text)


def _gradient_operators(
    here: OutlineOperation, there: OutlineOperation, left: Sequence[OutlineOperation], right: Sequence[OutlineOperation]
) -> Change:
    was, now = _types(left), _types(right)
    text = f"backward of {there.name}: {was} → {now}"
    return Change("backward", text, [op.name for op in left], [op.name for op in right], here.source, there.source)


def _types(operations: Iterable[OutlineOperation]) -> str:
    return ", ".join(op.type for op in operations) or "nothing"
