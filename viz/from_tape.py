"""From the tape behind tensors of dynamic mode to the neutral picture of their graph, without recursion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradtool.engine import names, source
from gradtool.engine.collector import paused_gc
from gradtool.engine.eager.tape import GradNode, Place
from gradtool.engine.eager.tensor import Leaf, Tensor
from gradtool.engine.spec import TensorSpec
from gradtool.engine.view import BACKWARD, FORWARD, OP, TENSOR, EdgeView, GraphView, NodeView


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
    found: set[GradNode] = set()
    todo = [t.node for t in tensors if t.node is not None]
    while todo:
        node = todo.pop()
        if node in found:
            continue
        found.add(node)
        todo += [p[0] for p in node.wrt if p is not None and not isinstance(p, Leaf)]
    return sorted(found, key=lambda n: n.sequence)


def inputs_of(node: GradNode) -> Iterator[Input]:
    """What a node read, slot by slot, as far as the tape knows it: inputs without gradient only while it holds them."""
    rule = node.op.rule
    held: dict[int, Sequence[Tensor | None]] = {}
    like: set[int] = set()
    kept: set[int] = set()
    for i, read in enumerate(rule.reads if rule is not None else ()):
        if read.kind != "in":
            continue
        (like if read.like else kept).add(read.place)
        value = node.args[i] if node.args is not None and not node.packed else None
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
                yield Input(_slot_name(node, "inputs", place), p, constant, place in kept, place in like - kept)


def leaf_tensors(nodes: Iterable[GradNode]) -> dict[Leaf, Tensor]:
    """The tensors at the leaves, where a node holds them."""
    found: dict[Leaf, Tensor] = {}
    for node in nodes:
        for value in (node.args or ()) if not node.packed else ():
            for v in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(v, Tensor) and v.node is None and v._leaf is not None:
                    found.setdefault(v._leaf, v)
    return found


def leaves_behind(tensors: Iterable[Tensor], nodes: Iterable[GradNode]) -> list[Leaf]:
    """The leaves that gradients of *tensors* end in, in the order of their first use."""
    found = {p: None for node in nodes for p in node.wrt if isinstance(p, Leaf)}
    found.update({t.leaf: None for t in tensors if t.node is None and not t.stop_gradient})
    return list(found)


@dataclass(frozen=True, slots=True)
class TapeGraph:
    """The picture of a tape, and where its operators were called.

    Attributes:
        locations: one per operator of the view, in its order.
        nodes: operator id -> recorded call; for a gradient operator the call that it belongs to.
        places: tensor id -> place on the tape, of forward tensors that take a gradient.
        reads, writes: operator id -> slot and tensor id of everything that it reads or writes.
    """

    view: GraphView
    locations: tuple[source.Location, ...]
    nodes: Mapping[str, GradNode]
    places: Mapping[str, Place]
    reads: Mapping[str, tuple[tuple[str, str], ...]]
    writes: Mapping[str, tuple[tuple[str, str], ...]]


def graph(tensors: Sequence[Tensor], *, title: str = "", named: Mapping[Tensor, str] | None = None) -> TapeGraph:
    """The graph behind *tensors*: forward operators oldest first, then their gradient operators as backward runs them.

    Args:
        title: what the picture is of.
        named: names for tensors, such as Python names; others are called after their own name, or after the operator
            that made them.

    Returns:
        Ids count in the order of the calls: the same program gives the same ids. A forward operator and its gradient
        operator name each other in ``pair``.
    """
    with paused_gc():
        return _Builder(tensors, named or {}).build(title)


def view(tensors: Sequence[Tensor], *, title: str = "", named: Mapping[Tensor, str] | None = None) -> GraphView:
    """The picture alone; see :func:`graph`."""
    return graph(tensors, title=title, named=named).view


class _Builder:
    def __init__(self, tensors: Sequence[Tensor], named: Mapping[Tensor, str]) -> None:
        self.named: dict[Place, str] = {}
        self.constant_names: dict[Tensor, str] = {}
        self.roots: dict[Place, Tensor] = {}
        for t in tensors:
            if not t.stop_gradient:
                self.roots.setdefault(t.on_tape(), t)
        self.nodes = nodes_behind(self.roots.values())
        self.inputs = {n: list(inputs_of(n)) for n in self.nodes}
        self.known = leaf_tensors(self.nodes)
        self.known.update({t.leaf: t for t in self.roots.values() if t.node is None})
        for t, name in named.items():
            if t.stop_gradient:
                self.constant_names[t] = name
                continue
            self.named.setdefault(t.on_tape(), name)
            if t.node is None:
                self.known[t.leaf] = t
        self.leaves = leaves_behind(self.roots.values(), self.nodes)
        self.slots: dict[GradNode, list[int]] = {}
        count = len(self.nodes)
        self.op_ids = {n: f"op{i}" for i, n in enumerate(self.nodes)}
        self.grad_ids = {n: f"op{2 * count - 1 - i}" for i, n in enumerate(self.nodes)}
        self.op_names = dict(zip(self.nodes, _numbered(n.op.type for n in self.nodes), strict=True))
        newest = self.nodes[::-1]
        self.grad_names = dict(zip(newest, _numbered(f"{n.op.type}_grad" for n in newest), strict=True))
        self.places: list[Place] = [*self.leaves, *((n, i) for n in self.nodes for i in range(len(n.outs)))]
        self.constants = list(
            dict.fromkeys(i.constant for n in self.nodes for i in self.inputs[n] if i.constant is not None)
        )
        for i, t in enumerate(self.constants):
            self.constant_names.setdefault(t, t._name or f"constant.{i}")
        total = len(self.places)
        self.ids: dict[Place, str] = {p: f"v{i}" for i, p in enumerate(self.places)}
        self.constant_ids = {t: f"v{total + i}" for i, t in enumerate(self.constants)}
        total += len(self.constants)
        self.gradients: dict[Place, str] = {p: f"v{total + i}" for i, p in enumerate(self.places)}

    def build(self, title: str) -> TapeGraph:
        nodes = [self._forward(n) for n in self.nodes]
        nodes += [self._backward(n) for n in self.nodes[::-1]]
        nodes += [self._tensor(p) for p in self.places]
        nodes += [self._constant(t) for t in self.constants]
        nodes += [self._gradient(p) for p in self.places]
        locations = [n.loc for n in (*self.nodes, *self.nodes[::-1])]
        edges = (*self._forward_edges(), *self._backward_edges())
        calls = {ids[n]: n for ids in (self.op_ids, self.grad_ids) for n in self.nodes}
        places = {i: p for p, i in self.ids.items()}
        reads, writes = {}, {}
        for node in self.nodes:
            forward, backward = self.op_ids[node], self.grad_ids[node]
            reads[forward] = tuple(self._forward_reads(node))
            writes[forward] = tuple((self._slot(p), self.ids[p]) for p in _results(node))
            reads[backward] = tuple(self._backward_reads(node))
            writes[backward] = tuple(self._backward_writes(node))
        view = GraphView(title, tuple(nodes), edges)
        return TapeGraph(view, tuple(locations), calls, places, reads, writes)

    def _forward_reads(self, node: GradNode) -> Iterator[tuple[str, str]]:
        for read in self.inputs[node]:
            tensor = self._read_id(read)
            if tensor:
                yield read.slot, tensor

    def _backward_reads(self, node: GradNode) -> Iterator[tuple[str, str]]:
        for place in _results(node):
            yield names.grad(self._slot(place)), self.gradients[place]
        for read in self.inputs[node]:
            tensor = self._read_id(read)
            if tensor and (read.kept or read.shape_only):
                yield read.slot, tensor
        for index, slot, _ in _kept_results(node):
            yield slot, self.ids[(node, index)]

    def _backward_writes(self, node: GradNode) -> Iterator[tuple[str, str]]:
        for read in self.inputs[node]:
            if read.place is not None:
                yield names.grad(read.slot), self.gradients[read.place]

    def _read_id(self, read: Input) -> str:
        """The tensor that was read, or an empty text where the tape knows nothing of it."""
        if read.place is not None:
            return self.ids[read.place]
        return self.constant_ids[read.constant] if read.constant is not None else ""

    # -- nodes ----------------------------------------------------------------------------------------------------

    def _forward(self, node: GradNode) -> NodeView:
        where = source.short(node.loc)
        return NodeView(
            self.op_ids[node],
            OP,
            self.op_names[node],
            node.op.type,
            "forward",
            FORWARD,
            pair=self.grad_ids[node],
            source=where,
        )

    def _backward(self, node: GradNode) -> NodeView:
        where = source.short(node.loc)
        return NodeView(
            self.grad_ids[node],
            OP,
            self.grad_names[node],
            f"{node.op.type}_grad",
            "backward",
            BACKWARD,
            pair=self.op_ids[node],
            source=where,
        )

    def _tensor(self, place: Place) -> NodeView:
        spec, where = self._spec(place), ""
        role = "loss" if place in self.roots else "temporary"
        if isinstance(place, Leaf):
            tensor = self.known.get(place)
            where = source.short(tensor.loc) if tensor is not None else ""
            role = "parameter" if getattr(tensor, "is_parameter", False) else "leaf"
        else:
            where = source.short(place[0].loc)
        name = self._name(place)
        return NodeView(
            self.ids[place],
            TENSOR,
            name,
            "tensor",
            role,
            FORWARD,
            spec.shape,
            spec.dtype.name,
            pair=self.gradients[place],
            source=where,
        )

    def _constant(self, t: Tensor) -> NodeView:
        where = source.short(t.loc)
        name = self.constant_names[t]
        spec = t.spec
        return NodeView(
            self.constant_ids[t], TENSOR, name, "tensor", "constant", FORWARD, spec.shape, spec.dtype.name, source=where
        )

    def _gradient(self, place: Place) -> NodeView:
        spec = self._spec(place)
        role = "gradient" if isinstance(place, Leaf) else "seed" if place in self.roots else "temporary"
        return NodeView(
            self.gradients[place],
            TENSOR,
            names.grad(self._name(place)),
            "tensor",
            role,
            BACKWARD,
            spec.shape,
            spec.dtype.name,
            pair=self.ids[place],
        )

    def _spec(self, place: Place) -> TensorSpec:
        return place.spec if isinstance(place, Leaf) else place[0].outs[place[1]]

    def _name(self, place: Place) -> str:
        if place in self.named:
            return self.named[place]
        if isinstance(place, Leaf):
            path = getattr(self.known.get(place), "layer_path", None)
            return f"{path} ({place.name})" if path and path != place.name else place.name
        root = self.roots.get(place)
        if root is not None and root._name is not None:
            return root._name
        node, index = place
        return self.op_names[node] if len(node.outs) == 1 else f"{self.op_names[node]}[{index}]"

    # -- edges ----------------------------------------------------------------------------------------------------

    def _forward_edges(self) -> Iterator[EdgeView]:
        for node in self.nodes:
            here = self.op_ids[node]
            for read in self.inputs[node]:
                if read.place is not None:
                    yield EdgeView(self._start(read.place), here, self.ids[read.place], read.slot)
                elif read.constant is not None:
                    start = self.constant_ids[read.constant]
                    yield EdgeView(start, here, start, read.slot)
            for i in range(len(node.outs)):
                if (node, i) in self.roots:
                    made = self.ids[(node, i)]
                    yield EdgeView(here, made, made, self._slot((node, i)))

    def _slot(self, place: tuple[GradNode, int]) -> str:
        """The name of the slot that a result stands in."""
        node, index = place
        if node not in self.slots:
            self.slots[node] = [p for p, _ in _outputs(node)]
        found = self.slots[node]
        return _slot_name(node, "outputs", found[index] if index < len(found) else index)

    def _start(self, place: Place) -> str:
        """Where a forward value comes from: its own node where the picture shows one."""
        if isinstance(place, Leaf) or place in self.roots:
            return self.ids[place]
        return self.op_ids[place[0]]

    def _backward_edges(self) -> Iterator[EdgeView]:
        for place in self.roots:
            seed = self.gradients[place]
            if not isinstance(place, Leaf):
                yield EdgeView(seed, self.grad_ids[place[0]], seed, names.grad(self._slot(place)))
        for node in self.nodes[::-1]:
            here = self.grad_ids[node]
            for read in self.inputs[node]:
                if read.kept or read.shape_only:
                    if read.place is not None:
                        start, tensor = self._start(read.place), self.ids[read.place]
                    elif read.constant is not None:
                        start = tensor = self.constant_ids[read.constant]
                    else:
                        continue
                    yield EdgeView(start, here, tensor, read.slot, read.kept, read.shape_only)
            for index, slot, shape_only in _kept_results(node):
                start = self._start((node, index))
                yield EdgeView(start, here, self.ids[(node, index)], slot, not shape_only, shape_only)
            for read in self.inputs[node]:
                to = read.place
                if to is None:
                    continue
                made = self.gradients[to]
                if isinstance(to, Leaf) or to in self.roots:
                    yield EdgeView(here, made, made, names.grad(read.slot))
                else:
                    yield EdgeView(here, self.grad_ids[to[0]], made, names.grad(self._slot(to)))


def _numbered(types: Iterable[str]) -> Iterator[str]:
    """``mul.0``, ``relu.0``, ``mul.1``, …"""
    counts: defaultdict[str, int] = defaultdict(int)
    for op_type in types:
        yield f"{op_type}.{counts[op_type]}"
        counts[op_type] += 1


def _outputs(node: GradNode) -> Iterator[tuple[int, int]]:
    """Position of the output slot and index among the outputs with a gradient, for each of those."""
    at = 0
    rule = node.op.rule
    slots = [r.place for r in rule.reads if r.kind == "dout"] if rule is not None else []
    for i, place in enumerate(slots):
        size = node.out_sizes[i] if node.out_sizes is not None else None
        for _ in range(1 if size is None else size):
            yield place, at
            at += 1


def _results(node: GradNode) -> list[tuple[GradNode, int]]:
    """The places of the results that take a gradient."""
    return [(node, i) for i in range(len(node.outs))]


def _kept_results(node: GradNode) -> Iterator[tuple[int, str, bool]]:
    """Index, slot and whether its shape alone is needed, for each result that backward needs."""
    rule = node.op.rule
    needed = {r.place: r.like for r in rule.reads if r.kind == "out"} if rule is not None else {}
    for place, index in _outputs(node):
        if place in needed:
            yield index, _slot_name(node, "outputs", place), needed[place]


def _slot_name(node: GradNode, side: str, place: int) -> str:
    """The name of a slot; operators of the user's own have none, so theirs are numbered."""
    slots = getattr(node.op, side, ())
    return slots[place].name if place < len(slots) else f"{'X' if side == 'inputs' else 'Out'}{place}"
