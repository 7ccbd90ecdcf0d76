"""Puts what stands beside a recorded graph into its picture: calls without a gradient, and operands no record keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import chain, count
from types import CodeType

from ..core import assigned_names, source
from ..core.collector import pause_gc
from ..core.records import dataclass
from ..core.source import NOWHERE, Location
from ..core.vocabulary import title
from ..eager.journal import Journal
from ..eager.journal_entries import Call, iterate_by_type
from ..eager.tape import Place
from ..eager.tensor import Leaf, Tensor
from ..ops import registry
from .from_tape import TapeGraph
from .graph import FORWARD, OP, TENSOR, EdgeView, GraphView, NodeView
from .scopes import fill_layers


@dataclass(frozen=True, slots=True)
class Branched:
    """The picture of a tape with what stands beside it.

    Attributes:
        locations: one per operator of the view, in its order.
        numbers: tensor id -> the number that the journal knows it by, of forward tensors.
        calls: id of a forward operator -> its call, where the journal has it.
    """

    view: GraphView
    locations: tuple[Location, ...]
    numbers: Mapping[str, int]
    calls: Mapping[str, Call]

    @property
    def makers(self) -> dict[int, str]:
        """The id of the forward operator that made a value, by the number of the value."""
        return {number: i for i, call in self.calls.items() for number in call.writes}


def view_branches(
    tape: TapeGraph,
    journal: Journal,
    calls: Sequence[Call],
    depends: Set[int | None],
    named: Mapping[Tensor, str],
    loose: Iterable[Tensor] = (),
) -> Branched:
    """The picture of *tape* and of *calls* beside it.

    Args:
        calls: as :func:`~gradtool.engine.view.unrecorded_calls.find_detached_calls` chooses them.
        depends: the numbers of the values that the loss depends on.
        named: names for tensors, such as Python names.
        loose: parameters that are shown even where no operator of the picture reads them.

    Returns:
        Operators and tensors of the tape keep their ids; those of others count on. Forward operators stand in the order
        of the calls.
    """
    with pause_gc():
        return _Branches(tape, journal, calls, depends, named).build(loose)


class _Branches:
    def __init__(
        self,
        tape: TapeGraph,
        journal: Journal,
        calls: Sequence[Call],
        depends: Set[int | None],
        named: Mapping[Tensor, str],
    ) -> None:
        self.tape, self.journal, self.beside, self.depends = tape, journal, calls, depends
        self.tensors = {journal.number(t): t for t in named}
        self.named = {journal.number(t): name for t, name in named.items()}
        self.leaf_numbers = {t._leaf: n for n, t in self.tensors.items() if t._leaf is not None}
        self._number_tape()
        self._number_calls()
        self.added: dict[str, NodeView] = {}
        self.op_names = {n.id: n.name for n in tape.view.nodes if n.id in self.recorded}
        self.writers = {n: i for i, call in self.recorded.items() if call is not None for n in call.writes}
        self.made_by: Counter[str] = Counter()
        self.unnamed = count(len(tape.constants))
        self.starts = {tensor: op for op in self.recorded for _, tensor in tape.writes[op]}
        self.operands: dict[str, Counter[str]] = {}
        self.living = journal.live_tensors()
        self.next_tensor = 1 + max((int(n.id[1:]) for n in tape.view.nodes if n.kind != OP), default=-1)

    def _number_tape(self) -> None:
        """Number the tensors of the tape and its own calls as the journal does."""
        journal = self.journal
        self.id_of: dict[int, str] = {}
        for i, place in self.tape.places.items():
            self.id_of.setdefault(self._number(place), i)
        by_key = {call.key: call for call in journal.calls if call.key is not None}
        forward = [n.id for n in self.tape.view.nodes if n.kind == OP and n.part == FORWARD]
        self.recorded: dict[str, Call | None] = {i: by_key.get(self.tape.nodes[i].key) for i in forward}
        self.twins: dict[str, str] = {}
        for i, number in self._constants():
            first = self.id_of.setdefault(number, i)
            if first != i:
                self.twins[i] = first

    def _constants(self) -> Iterator[tuple[str, int]]:
        """Id and number of the constants of the tape: a node that was freed keeps a copy of what it read."""
        places = self.tape.places
        for op, call in self.recorded.items():
            if call is None:
                continue
            numbers: dict[str, list[int]] = {}
            for slot, number in _reads(call):
                numbers.setdefault(slot, []).append(number)
            constants: dict[str, list[str]] = {}
            for slot, tensor in self.tape.reads[op]:
                if tensor not in places:
                    constants.setdefault(slot, []).append(tensor)
                elif self._number(places[tensor]) in numbers.get(slot, ()):
                    numbers[slot].remove(self._number(places[tensor]))
            for slot, tensors in constants.items():
                if len(tensors) == len(numbers.get(slot, ())):
                    yield from zip(tensors, numbers[slot], strict=True)

    def _number(self, place: Place) -> int:
        """The number of a place on the tape; of a leaf that the journal has not met that of its tensor."""
        if not isinstance(place, Leaf):
            return self.journal.place(place[0].key, place[1])
        number = self.journal.leaf(place)
        return self.leaf_numbers.get(place, -1) if number is None else number

    def _number_calls(self) -> None:
        """Ids and names of the calls beside the tape, and which of them makes a value."""
        first = 1 + max((int(n.id[2:]) for n in self.tape.view.nodes if n.kind == OP), default=-1)
        self.call_ids = {call.time: f"op{i}" for i, call in enumerate(self.beside, first)}
        behind = {node.key for node in self.tape.nodes.values()}
        types = {call.type for call in self.beside}
        counts: Counter[str] = Counter()
        self.call_names: dict[int, str] = {}
        asked = (call for call in self.journal.calls if call.type in types)
        for call in iterate_by_type(asked, lambda c: c.key in behind, self.depends):
            if call.time in self.call_ids:
                self.call_names[call.time] = f"{call.type}.{counts[title(call.type)]}"
            counts[title(call.type)] += 1
        self.maker = {n: call for call in self.beside for n in call.writes}

    def build(self, loose: Iterable[Tensor]) -> Branched:
        edges = [*self._tape_edges(), *self._edges_of_calls(), *self._add_operands()]
        for t in loose:
            number = self.journal.number(t)
            if number not in self.id_of:
                self._tensor(number)
        view = self.tape.view
        ops = dict(zip((n.id for n in view.nodes if n.kind == OP), self.tape.locations, strict=True))
        ops |= {self.call_ids[call.time]: call.loc for call in self.beside}
        nodes = (*self._operators(), *self._others())
        locations = tuple(ops[n.id] for n in nodes if n.kind == OP)
        calls = {i: call for i, call in self.recorded.items() if call is not None}
        calls |= {self.call_ids[call.time]: call for call in self.beside}
        numbers = {i: n for n, i in self.id_of.items()}
        return Branched(replace(view, nodes=nodes, edges=tuple(edges)), locations, numbers, calls)

    # -- nodes ----------------------------------------------------------------------------------------------------

    def _operators(self) -> list[NodeView]:
        """Forward operators in the order of the calls."""
        timed: list[tuple[int, NodeView]] = []
        last = 0
        for n in self.tape.view.nodes:
            if n.kind == OP and n.part == FORWARD:
                call = self.recorded[n.id]
                last = last if call is None else call.time
                timed.append((last, n))
        scopes = fill_layers([(self._layer(call), call.loc) for call in self.beside])
        timed += [(call.time, self._operator(call, scope)) for call, scope in zip(self.beside, scopes, strict=True)]
        return [n for _, n in sorted(timed, key=lambda entry: entry[0])]

    def _operator(self, call: Call, scope: str) -> NodeView:
        name, where = self.call_names[call.time], source.short(call.loc)
        return NodeView(self.call_ids[call.time], OP, name, call.type, "forward", FORWARD, source=where, scope=scope)

    def _layer(self, call: Call) -> str:
        for number in call.reads:
            t = None if number is None else self.tensors.get(number)
            path = getattr(t, "layer_path", None) or ""
            if "." in path:
                return str(path).rpartition(".")[0]
        return ""

    def _others(self) -> Iterator[NodeView]:
        """Yield the remaining nodes of the tape, then tensors that it does not know."""
        numbers = {i: n for n, i in self.id_of.items()}
        for n in self.tape.view.nodes:
            if n.id in self.twins or (n.kind == OP and n.part == FORWARD):
                continue
            if n.id in self.tape.constants and n.id in numbers:
                number = numbers[n.id]
                t = self._live_tensor(number)
                role = "temporary" if number in self.maker else n.role
                made = source.short(self._birthplace(number, t))
                n = n._replace(name=self._name(number, t) or n.name, role=role, source=made)
            yield n
        yield from self.added.values()

    def _tensor(self, number: int) -> str:
        """The id of the tensor with that number, which gets a node if it has none."""
        tensor = self.id_of.get(number)
        if tensor is not None:
            return tensor
        tensor = self.id_of[number] = f"v{self.next_tensor}"
        self.next_tensor += 1
        t = self._live_tensor(number)
        spec = None if t is None else t.spec
        self.added[tensor] = NodeView(
            tensor,
            TENSOR,
            self._name(number, t) or f"constant.{next(self.unnamed)}",
            "tensor",
            self._role(number, t),
            FORWARD,
            None if spec is None else spec.shape,
            None if spec is None else spec.dtype.name,
            source=source.short(self._birthplace(number, t)),
        )
        return tensor

    def _role(self, number: int, t: Tensor | None) -> str:
        if number in self.maker or number in self.writers:
            return "temporary"
        if getattr(t, "is_parameter", False):
            return "parameter"
        return "constant" if t is None or t.stop_gradient else "leaf"

    def _birthplace(self, number: int, t: Tensor | None) -> Location:
        if t is not None and t.loc:
            return t.loc
        maker = self._makers.get(number)
        return self.journal.entered.get(number, NOWHERE) if maker is None else maker.loc

    @cached_property
    def _makers(self) -> dict[int, Call]:
        """The call that made a value, of all calls of the program."""
        return {n: call for call in self.journal.calls for n in call.writes}

    @cached_property
    def _line_names(self) -> dict[int, str]:
        """Names that lines assign: to the result of their last call, or of each where they assign several."""
        names: dict[int, str] = {}
        lines: dict[CodeType, list[Call]] = {}
        for call in self.journal.calls:
            code, line = call.loc[0] if call.loc else (None, 0)
            if code is None:
                continue
            before = lines.setdefault(code, [])
            if before and before[0].loc[0][1] != line:
                names.update(_target_names(before))
                before.clear()
            before.append(call)
        for before in lines.values():
            names.update(_target_names(before))
        return names

    def _name(self, number: int, t: Tensor | None) -> str:
        """Return the name that people use for a value; empty if they have none."""
        if number in self.named:
            return self.named[number]
        if t is not None and t._name is not None:
            return t._name
        maker = self.maker.get(number)
        if maker is not None:
            return _result(self.call_names[maker.time], maker, number)
        if number in self.writers:
            return _result(self.op_names[self.writers[number]], self._makers[number], number)
        return self._target_name(number, t)

    def _target_name(self, number: int, t: Tensor | None) -> str:
        """Return the name that the line gives to a value it made; empty where it makes more than that."""
        maker = self._makers.get(number)
        if maker is None:
            return assigned_names.value_target(self._birthplace(number, t))
        name = self._line_names.get(number, "").removeprefix("self.")
        if name or number in self.maker:
            return name
        place = self.made_by[title(maker.type)]
        self.made_by[title(maker.type)] += 1
        return f"{maker.type}.{place}"

    def _live_tensor(self, number: int) -> Tensor | None:
        return self.tensors.get(number, self.living.get(number))

    # -- edges ----------------------------------------------------------------------------------------------------

    def _start(self, number: int) -> str:
        """Return where a value comes from: an operator next to the tape, a node of the tape, or the tensor itself."""
        maker = self.maker.get(number)
        if maker is not None:
            return self.call_ids[maker.time]
        tensor = self._tensor(number)
        return self.starts.get(tensor) or self.writers.get(number, tensor)

    def _tape_edges(self) -> Iterator[EdgeView]:
        """The edges of the tape; what a call beside it made comes from there."""
        made = {i: self.call_ids[self.maker[n].time] for n, i in self.id_of.items() if n in self.maker}
        forward = self.recorded.keys()
        for e in self.tape.view.edges:
            tensor = self.twins.get(e.tensor, e.tensor)
            edge = e if tensor == e.tensor else e._replace(source=tensor, tensor=tensor)
            if edge.source == tensor and tensor in made:
                edge = edge._replace(source=made[tensor])
            if edge.source in forward and edge.target == tensor:
                self.starts[tensor] = tensor
            if edge.target in forward:
                self.operands.setdefault(edge.target, Counter())[tensor] += 1
            yield edge

    def _edges_of_calls(self) -> Iterator[EdgeView]:
        read: set[int | None] = set()
        for call in self.beside:
            here = self.call_ids[call.time]
            read.update(call.reads)
            for slot, number in _reads(call):
                start = self._start(number)
                yield EdgeView(start, here, self._tensor(number), slot)
        read.update(chain.from_iterable(c.reads for c in self.recorded.values() if c is not None))
        for call in self.beside:
            for i, number in enumerate(call.writes):
                if number not in read and number in self.named:
                    tensor = self._tensor(number)
                    yield EdgeView(self.call_ids[call.time], tensor, tensor, f"Out{i}" if i else "Out")

    def _add_operands(self) -> Iterator[EdgeView]:
        """Yield edges of operands that recorded operators read, that backward does not need and that the tape frees."""
        for here, call in self.recorded.items():
            if call is None:
                continue
            known = Counter(self.operands.get(here, ()))
            for slot, number in _reads(call):
                tensor = self._tensor(number)
                if known[tensor]:
                    known[tensor] -= 1
                    continue
                yield EdgeView(self._start(number), here, tensor, slot)


def _result(name: str, call: Call, number: int) -> str:
    """Return the name of a result of the operator *name*: ``split.0[1]`` where there are several."""
    return name if len(call.writes) == 1 else f"{name}[{call.writes.index(number)}]"


def _reads(call: Call) -> Iterator[tuple[str, int]]:
    """Slot and number of everything that a call read."""
    for slot, number in zip(_slots(call), call.reads, strict=True):
        if number is not None:
            yield slot, number


def _target_names(calls: Sequence[Call]) -> Iterator[tuple[int, str]]:
    """The numbers of what a line made, with the names that it gives."""
    targets = assigned_names.targets(calls[0].loc)
    if len(targets) == 1:
        yield from ((number, targets[0]) for number in calls[-1].writes)
    elif len(targets) == len(calls):
        yield from ((number, name) for call, name in zip(calls, targets, strict=True) for number in call.writes)


def _slots(call: Call) -> list[str]:
    """A slot for each read: one list slot takes what the others leave; of several, reads are numbered."""
    definition = registry.find(call.type)
    inputs = () if definition is None else definition.inputs
    spare = len(call.reads) - len(inputs)
    lists = sum(slot.many for slot in inputs)
    if spare < 0 or lists > 1 or (spare and not lists):
        return ["X"] if len(call.reads) == 1 else [f"X{i}" for i in range(len(call.reads))]
    return [slot.name for slot in inputs for _ in range(1 + spare if slot.many else 1)]
