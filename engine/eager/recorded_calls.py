"""Facts about the recorded calls of a tape: what they read, what they made, which leaves they end in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ..core.records import dataclass
from ..core.vocabulary import title
from .tape import GradNode, Place
from .tensor import Leaf, Tensor


@dataclass(frozen=True, slots=True)
class Input:
    """Something that a recorded operator read.

    Attributes:
        slot: the name of the input slot.
        place: where it stands on the tape; None for a tensor without gradient.
        constant: the tensor without gradient, if the node still holds it.
        kept: whether the node keeps its values for backward; False where only its shape is needed, or nothing.
        shape_only: whether backward needs its shape only.
    """

    slot: str
    place: Place | None
    constant: Tensor | None
    kept: bool
    shape_only: bool


def nodes_behind(tensors: Iterable[Tensor]) -> list[GradNode]:
    """The recorded operator calls that *tensors* were computed by, oldest first."""
    return sorted(collect_nodes(t.node for t in tensors if t.node is not None), key=lambda n: -n.key)


def collect_nodes(ends: Iterable[GradNode]) -> set[GradNode]:
    """Return *ends* and all recorded operator calls that they were computed from."""
    nodes: set[GradNode] = set()
    todo = [*ends]
    while todo:
        node = todo.pop()
        if node in nodes:
            continue
        nodes.add(node)
        todo += [p[0] for p in node.wrt if p is not None and not isinstance(p, Leaf)]
    return nodes


def inputs_of(node: GradNode) -> Iterator[Input]:
    """Return the inputs of a node, slot by slot, as far as the tape knows them: inputs without gradient only while it
    holds them.
    """
    rule = node.op.rule
    held: dict[int, Sequence[Tensor | None]] = {}
    like: set[int] = set()
    valued: set[int] = set()
    for i, read in enumerate(rule.reads if rule is not None else ()):
        if read.kind != "in":
            continue
        (like if read.like else valued).add(read.place)
        value = node.args[i] if node.args is not None else None
        entries = value if isinstance(value, (list, tuple)) else (value,)
        held[read.place] = [v if isinstance(v, Tensor) else None for v in entries]
    at = 0
    places: dict[int, list[Place | None]] = {}
    for i, place in enumerate(rule.wrt if rule is not None else ()):
        size = node.wrt_sizes[i] if node.wrt_sizes is not None else None
        count = 1 if size is None else size
        places[place] = list(node.wrt[at : at + count])
        at += count
    if rule is None:
        places = {0: list(node.wrt)}
    for place in sorted({*places, *held}):
        on_tape = places.get(place, [None] * len(held.get(place, ())))
        tensors = held.get(place, ())
        for i, p in enumerate(on_tape):
            tensor = tensors[i] if i < len(tensors) else None
            if p is not None or tensor is not None:
                constant = tensor if p is None else None
                yield Input(slot_name(node, "inputs", place), p, constant, place in valued, place in like - valued)


def leaf_tensors(nodes: Iterable[GradNode]) -> dict[Leaf, Tensor]:
    """The tensors at the leaves, where a node holds them."""
    tensors: dict[Leaf, Tensor] = {}
    for node in nodes:
        for value in node.args or ():
            for v in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(v, Tensor) and v.node is None and v._leaf is not None:
                    tensors.setdefault(v._leaf, v)
    return tensors


def leaves_behind(tensors: Iterable[Tensor], nodes: Iterable[GradNode]) -> list[Leaf]:
    """The leaves that gradients of *tensors* end in, in the order of their first use."""
    places = chain.from_iterable(node.wrt for node in nodes)
    leaves = {p: None for p in places if isinstance(p, Leaf)}
    leaves.update({t.leaf: None for t in tensors if t.node is None and not t._stop})
    return list(leaves)


def outputs_of(node: GradNode) -> Iterator[tuple[int, int]]:
    """Position of the output slot and index among the outputs with a gradient, for each of those."""
    at = 0
    rule = node.op.rule
    slots = [r.place for r in rule.reads if r.kind == "dout"] if rule is not None else []
    for i, place in enumerate(slots):
        size = node.out_sizes[i] if node.out_sizes is not None else None
        for _ in range(1 if size is None else size):
            yield place, at
            at += 1


def results_of(node: GradNode) -> list[tuple[GradNode, int]]:
    """The places of the results that take a gradient."""
    return [(node, i) for i in range(len(node.outs))]


def iterate_kept_results(node: GradNode) -> Iterator[tuple[int, str, bool]]:
    """Index, slot and whether its shape alone is needed, for each result that backward needs."""
    rule = node.op.rule
    needed = {r.place: r.like for r in rule.reads if r.kind == "out"} if rule is not None else {}
    for place, index in outputs_of(node):
        if place in needed:
            yield index, slot_name(node, "outputs", place), needed[place]


def slot_name(node: GradNode, side: str, place: int) -> str:
    """The name of a slot; operators of the user's own have none, so theirs are numbered."""
    slots = getattr(node.op, side, ())
    if place < len(slots):
        return str(slots[place].name)
    return f"X{place}" if side == "inputs" else f"Out{place}"


def number_types(types: Iterable[str]) -> Iterator[str]:
    """``mul.0``, ``relu.0``, ``mul.1``, …"""
    counts: defaultdict[str, int] = defaultdict(int)
    for op_type in types:
        name = title(op_type)
        yield f"{name}.{counts[name]}"
        counts[name] += 1
