"""From the tape behind tensors of dynamic mode to the neutral picture of their graph, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count

from ..core import assigned_names, names, source
from ..core.collector import pause_gc
from ..core.records import dataclass
from ..core.spec import TensorSpec
from ..core.vocabulary import add_suffix
from ..eager.parameter import parameters_at
from ..eager.recorded_calls import (
    Input,
    inputs_of,
    iterate_kept_results,
    leaf_tensors,
    leaves_behind,
    nodes_behind,
    number_types,
    outputs_of,
    results_of,
    slot_name,
)
from ..eager.tape import GradNode, Place
from ..eager.tensor import Leaf, Tensor
from ..eager.tensor_copies import original
from .graph import BACKWARD, FORWARD, OP, TENSOR, EdgeView, GraphView, NodeView
from .scopes import fill_layers


@dataclass(frozen=True, slots=True)
class TapeGraph:
    """The picture of a tape, and where its operators were called.

    Attributes:
        locations: one per operator of the view, in its order.
        nodes: operator id -> recorded call; for a gradient operator the call that it belongs to.
        places: tensor id -> place on the tape, of forward tensors that take a gradient.
        constants: tensor id -> tensor, of those that take none.
        reads, writes: operator id -> slot and tensor id of everything that it reads or writes.
    """

    view: GraphView
    locations: tuple[source.Location, ...]
    nodes: Mapping[str, GradNode]
    places: Mapping[str, Place]
    constants: Mapping[str, Tensor]
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
    with pause_gc():
        return _TapeBuilder(tensors, named or {}).build(title)


def view(tensors: Sequence[Tensor], *, title: str = "", named: Mapping[Tensor, str] | None = None) -> GraphView:
    """The picture alone; see :func:`graph`."""
    return graph(tensors, title=title, named=named).view


def layers_of(nodes: Sequence[GradNode], path: Callable[[Leaf], str]) -> list[str]:
    """The layer of every recorded call, in the order of the run; empty where it is not known.

    Args:
        path: where a parameter stands in its model; empty when no Layer holds it.
    """

    def own(node: GradNode) -> str:
        paths = (path(place) for place in node.wrt if isinstance(place, Leaf))
        return next((p.rpartition(".")[0] for p in paths if "." in p), "")

    return fill_layers([(own(node), node.loc) for node in nodes])


class _TapeBuilder:
    def __init__(self, tensors: Sequence[Tensor], named: Mapping[Tensor, str]) -> None:
        self.roots: dict[Place, Tensor] = {}
        for t in tensors:
            if not t.stop_gradient:
                self.roots.setdefault(t.tape_place(), t)
        self.nodes = nodes_behind(self.roots.values())
        self.inputs = {n: list(inputs_of(n)) for n in self.nodes}
        self.leaves = leaves_behind(self.roots.values(), self.nodes)
        self._name_tensors(named)
        self._name_operators()
        self._number_tensors()

    def _name_tensors(self, named: Mapping[Tensor, str]) -> None:
        """The names that users know tensors by, and the tensors of leaves."""
        self.named: dict[Place, str] = {}
        self.constant_names: dict[Tensor, str] = {}
        self.tensors = leaf_tensors(self.nodes)
        self.tensors.update({t.leaf: t for t in self.roots.values() if t.node is None})
        for t, name in named.items():
            if t.node is None:
                self.constant_names[t] = name
            if t.stop_gradient:
                continue
            self.named.setdefault(t.tape_place(), name)
            if t.node is None:
                self.tensors[t.leaf] = t
        self.tensors.update(parameters_at(set(self.leaves)))

    def _name_operators(self) -> None:
        """Ids, names and layers of operators; gradient operators count from the newest."""
        self.slots: dict[GradNode, list[int]] = {}
        newest = self.nodes[::-1]
        self.op_ids = {n: f"op{i}" for i, n in enumerate(self.nodes)}
        self.grad_ids = {n: f"op{i}" for i, n in enumerate(newest, len(newest))}
        self.scopes = dict(zip(self.nodes, layers_of(self.nodes, self._path), strict=True))
        self.op_names = dict(zip(self.nodes, number_types(n.op.type for n in self.nodes), strict=True))
        self.grad_names = dict(zip(newest, number_types(add_suffix(n.op.type, "_grad") for n in newest), strict=True))

    def _number_tensors(self) -> None:
        """Ids of leaves and results, then of constants, then of the gradients of the first."""
        self.places: list[Place] = [*self.leaves, *chain.from_iterable(map(results_of, self.nodes))]
        reads = chain.from_iterable(self.inputs[n] for n in self.nodes)
        self.constants = list(dict.fromkeys(original(i.constant) for i in reads if i.constant is not None))
        for i, t in enumerate(self.constants):
            self.constant_names.setdefault(t, t._name or assigned_names.value_target(t.loc) or f"constant.{i}")
        ids = map("v{}".format, count())
        self.ids: dict[Place, str] = dict(zip(self.places, ids, strict=False))
        self.constant_ids = dict(zip(self.constants, ids, strict=False))
        self.gradients: dict[Place, str] = dict(zip(self.places, ids, strict=False))

    def build(self, title: str) -> TapeGraph:
        newest = self.nodes[::-1]
        nodes = [
            *map(self._forward, self.nodes),
            *map(self._backward, newest),
            *map(self._tensor, self.places),
            *map(self._constant, self.constants),
            *map(self._gradient, self.places),
        ]
        locations = [n.loc for n in (*self.nodes, *newest)]
        edges = (*self._forward_edges(), *self._backward_edges())
        calls = {ids[n]: n for ids in (self.op_ids, self.grad_ids) for n in self.nodes}
        places = {i: p for p, i in self.ids.items()}
        reads, writes = {}, {}
        for node in self.nodes:
            forward, backward = self.op_ids[node], self.grad_ids[node]
            reads[forward] = tuple(self._forward_reads(node))
            writes[forward] = tuple((self._slot(p), self.ids[p]) for p in results_of(node))
            reads[backward] = tuple(self._backward_reads(node))
            writes[backward] = tuple(self._backward_writes(node))
        view = GraphView(title, tuple(nodes), edges)
        constants = {i: t for t, i in self.constant_ids.items()}
        return TapeGraph(view, tuple(locations), calls, places, constants, reads, writes)

    def _forward_reads(self, node: GradNode) -> Iterator[tuple[str, str]]:
        for read in self.inputs[node]:
            tensor = self._read_id(read)
            if tensor:
                yield read.slot, tensor

    def _backward_reads(self, node: GradNode) -> Iterator[tuple[str, str]]:
        for place in results_of(node):
            yield names.grad(self._slot(place)), self.gradients[place]
        for read in self.inputs[node]:
            tensor = self._read_id(read)
            if tensor and (read.kept or read.shape_only):
                yield read.slot, tensor
        for index, slot, _ in iterate_kept_results(node):
            yield slot, self.ids[(node, index)]

    def _backward_writes(self, node: GradNode) -> Iterator[tuple[str, str]]:
        for read in self.inputs[node]:
            if read.place is not None:
                yield names.grad(read.slot), self.gradients[read.place]

    def _read_id(self, read: Input) -> str:
        """The tensor that was read, or an empty text where the tape knows nothing of it."""
        if read.place is not None:
            return self.ids[read.place]
        return self.constant_ids[original(read.constant)] if read.constant is not None else ""

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
            scope=self.scopes[node],
        )

    def _backward(self, node: GradNode) -> NodeView:
        where = source.short(node.loc)
        return NodeView(
            self.grad_ids[node],
            OP,
            self.grad_names[node],
            add_suffix(node.op.type, "_grad"),
            "backward",
            BACKWARD,
            pair=self.op_ids[node],
            source=where,
            scope=self.scopes[node],
        )

    def _path(self, leaf: Leaf) -> str:
        """Return where a parameter stands in its model; empty when no Layer holds it."""
        return getattr(self.tensors.get(leaf), "layer_path", None) or ""

    def _tensor(self, place: Place) -> NodeView:
        spec, where = self._spec(place), ""
        role = "loss" if place in self.roots else "temporary"
        if isinstance(place, Leaf):
            tensor = self.tensors.get(place)
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

    def _role_of_gradient(self, place: Place) -> str:
        if isinstance(place, Leaf):
            return "gradient"
        return "seed" if place in self.roots else "temporary"

    def _gradient(self, place: Place) -> NodeView:
        spec = self._spec(place)
        return NodeView(
            self.gradients[place],
            TENSOR,
            self._name(place, names.grad),
            "tensor",
            self._role_of_gradient(place),
            BACKWARD,
            spec.shape,
            spec.dtype.name,
            pair=self.ids[place],
        )

    def _spec(self, place: Place) -> TensorSpec:
        return place.spec if isinstance(place, Leaf) else place[0].outs[place[1]]

    def _name(self, place: Place, form: Callable[[str], str] = str) -> str:
        """The name of the tensor at *place*, or of its gradient, if *form* makes that of it."""
        if place in self.named:
            return form(self.named[place])
        if isinstance(place, Leaf):
            path = self._path(place)
            return f"{form(path)} ({place.name})" if path and path != place.name else form(place.name)
        root = self.roots.get(place)
        if root is not None and root._name is not None:
            return form(root._name)
        node, index = place
        return form(self.op_names[node] if len(node.outs) == 1 else f"{self.op_names[node]}[{index}]")

    # -- edges ----------------------------------------------------------------------------------------------------

    def _forward_edges(self) -> Iterator[EdgeView]:
        for node in self.nodes:
            here = self.op_ids[node]
            for read in self.inputs[node]:
                if read.place is not None:
                    yield EdgeView(self._start(read.place), here, self.ids[read.place], read.slot)
                elif read.constant is not None:
                    start = self.constant_ids[original(read.constant)]
                    yield EdgeView(start, here, start, read.slot)
            for i in range(len(node.outs)):
                if (node, i) in self.roots:
                    output = self.ids[(node, i)]
                    yield EdgeView(here, output, output, self._slot((node, i)))

    def _slot(self, place: tuple[GradNode, int]) -> str:
        """The name of the slot that a result stands in."""
        node, index = place
        if node not in self.slots:
            self.slots[node] = [p for p, _ in outputs_of(node)]
        slots = self.slots[node]
        return slot_name(node, "outputs", slots[index] if index < len(slots) else index)

    def _start(self, place: Place) -> str:
        """Return where a forward value comes from: its own node where the picture shows one."""
        if isinstance(place, Leaf) or place in self.roots:
            return self.ids[place]
        return self.op_ids[place[0]]

    def _backward_edges(self) -> Iterator[EdgeView]:
        for place in self.roots:
            seed = self.gradients[place]
            if not isinstance(place, Leaf):
                yield EdgeView(seed, self.grad_ids[place[0]], seed, names.grad(self._slot(place)))
        for node in self.nodes[::-1]:
            yield from self._edges_of_values(node)
            for read in self.inputs[node]:
                if read.place is not None:
                    yield self._edge_of_gradient(node, read.slot, read.place)

    def _edges_of_values(self, node: GradNode) -> Iterator[EdgeView]:
        """From forward values to the gradient operator that reads them, or their shapes."""
        here = self.grad_ids[node]
        for read in self.inputs[node]:
            tensor = self._read_id(read)
            if tensor and (read.kept or read.shape_only):
                start = self._start(read.place) if read.place is not None else tensor
                yield EdgeView(start, here, tensor, read.slot, read.kept, read.shape_only)
        for index, slot, shape_only in iterate_kept_results(node):
            start = self._start((node, index))
            yield EdgeView(start, here, self.ids[(node, index)], slot, not shape_only, shape_only)

    def _edge_of_gradient(self, node: GradNode, slot: str, to: Place) -> EdgeView:
        """From a gradient operator to the one that its gradient goes to, or to the gradient's own node."""
        here, gradient = self.grad_ids[node], self.gradients[to]
        if isinstance(to, Leaf) or to in self.roots:
            return EdgeView(here, gradient, gradient, names.grad(slot))
        return EdgeView(here, self.grad_ids[to[0]], gradient, names.grad(self._slot(to)))
