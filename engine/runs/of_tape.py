"""From what a recorder wrote down of dynamic mode to a timeline."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from ..core import names, source
from ..core.vocabulary import add_suffix, title
from ..eager.tape import GradNode, Place
from ..eager.tensor import Leaf, Tensor
from ..view import from_tape
from ..view.graph import BACKWARD, FORWARD
from . import wiring
from .calls import CallRecord, Failure, Hooked, PassRecord, Pull, flat
from .places import TapeValues
from .recorder import Recorder
from .tape_names import TapeNames
from .timeline import NOBODY, Entry, Timeline, Value


def timeline(
    recorder: Recorder,
    *,
    title: str = "",
    named: Mapping[Tensor, str] | None = None,
    shown: Mapping[Leaf, str] | None = None,
    also: Mapping[Leaf, Sequence[str]] | None = None,
    buffers: Collection[Tensor] = (),
    failed: BaseException | None = None,
) -> Timeline:
    """The last backward pass that was recorded, with the operators that it needed.

    If the run failed outside of a pass, what was computed after the last one, as far as the operator that failed needed
    it.

    Args:
        named: names for tensors, such as Python names.
        shown: the leaves that the run is about, with their names for people; by default those that got a gradient.
        also: further names for leaves.
        buffers: the buffers of layers among the named tensors: they are no data.
        failed: what the run ended in.
    """
    failure = recorder.failure
    if failure is not None and (failed is None or not failure.led_to(failed)):
        failure = None
    work = recorder.last or PassRecord(())
    call = failure.of if failure is not None and isinstance(failure.of, CallRecord) else None
    if failed is not None and work.done and (call is not None or recorder.calls_since_pass):
        work = PassRecord(())
    builder = _Builder(recorder, work, named or {}, shown, also or {}, call, buffers=buffers)
    return builder.build(title, failed, failure)


def forward(recorder: Recorder, result: Tensor, tensors: Iterable[Tensor] = ()) -> Timeline:
    """The operators that led to *result*, without any backward pass.

    Args:
        tensors: leaves that may have been read by operators that the tape does not know, in the user's own.
    """
    recorder.number_of(result.array)
    builder = _Builder(recorder, PassRecord((result,)), {}, None, {}, None, tensors)
    run = builder.build("", None, None)
    for number, leaf in sorted(builder.of_leaf.items()):
        run.leaves.setdefault(leaf, []).append(number)
    run.gaps += [
        (f"cannot be repeated: {title(n.op.type)} at {source.short(n.loc)}: it computes outside of operators", n.loc)
        for n in builder.places.user_nodes()
    ]
    return run


class _Builder:
    def __init__(
        self,
        recorder: Recorder,
        work: PassRecord,
        named: Mapping[Tensor, str],
        shown: Mapping[Leaf, str] | None,
        also: Mapping[Leaf, Sequence[str]],
        call: CallRecord | None,
        tensors: Iterable[Tensor] = (),
        buffers: Collection[Tensor] = (),
    ) -> None:
        self.recorder = recorder
        self.work = work
        self.named = named
        self.shown = shown
        self.failing = call
        self.values = [Value("", role="constant") for _ in range(recorder.count)]
        self.entries: list[Entry] = []
        self.graph = from_tape.graph(work.roots, named=named) if work.roots else None
        self.called = TapeNames(self.graph, shown, also)
        self.forward_of: dict[int, int] = {}
        self.nodes = {n.key: n for n, _ in self.called.nodes}
        self.unnamed: dict[str, Iterator[int]] = {}
        self.by_number: dict[int, str] = {}
        self.roles: dict[int, str] = {}
        self.nth: dict[int, int] = {}
        """How many summands there were before the last one of a sum."""
        self._know_named(buffers)
        self.places = TapeValues(recorder, self.nodes.values(), work.roots)
        self.places.note_leaves(tensors)
        self.of_leaf = self.places.of_leaf
        for number in self.of_leaf:
            self._give(number, "parameter")

    def _know_named(self, buffers: Collection[Tensor]) -> None:
        """Names of values; and which values are there before the run: parameters, and what was made of nothing."""
        made_by: dict[int, CallRecord] = {n: c for c in self.recorder.calls for n in flat(c.outs)}
        for t, name in self.named.items():
            number = self.recorder.find_number(t.array)
            if number is None:
                continue
            self.by_number.setdefault(number, name)
            parameter = bool(getattr(t, "is_parameter", False))
            maker = made_by.get(number)
            given = t in buffers if maker is None else not flat(maker.operands)
            if t.node is None and (parameter or given):
                self._give(number, "parameter" if parameter else "buffer" if maker is None else "data")

    def _give(self, number: int, role: str) -> None:
        """Have a value be there before the run; how its first numbers came to be is no part of it."""
        store = self.recorder.store
        if number in store:
            store.keep(number, store.get(number))
            self.roles[number] = role

    def build(self, title: str, failed: BaseException | None, failure: Failure | None) -> Timeline:
        calls = self._calls_behind()
        for call in calls:
            self._forward(call)
        if self.failing is not None:
            self._forward(self.failing)
        begin = len(self.entries)
        for event in self.work.events:
            if isinstance(event, Pull):
                self._backward(event)
            else:
                self._hooks(event)
        totals = self.work.totals
        for leaf, number in [(p, n) for p, n in totals.items() if isinstance(p, Leaf)]:
            hooks = list(leaf.hooks.values())
            if hooks and self.work.done:
                after = len(self.values)
                self.values.append(Value("", role="gradient"))
                self._hooks(Hooked(number, after, leaf, hooks, ()))
                totals = {**totals, leaf: after}
        shown = (
            self.shown if self.shown is not None else self.called.distinct([p for p in totals if isinstance(p, Leaf)])
        )
        results = {name: totals.get(leaf) for leaf, name in shown.items()}
        for gradient in results.values():
            if gradient is not None:
                self.values[gradient].role = "gradient"
        self._name_leaves()
        loss = next((self.recorder.find_number(t.array) for t in self.work.roots), None)
        run = Timeline(title, "eager", self.entries, self.values, self.recorder.store, results, begin, loss)
        if self.graph is not None:
            view = self.graph.view
            run.picture = lambda: view
        if failed is not None:
            run.failed = len(self.entries) - (failure is not None), failed
        return run

    # -- which operators --------------------------------------------------------------------------------------------

    def _calls_behind(self) -> list[CallRecord]:
        """The forward operators that lead to a root or to what backward read, in the order of the run."""
        wanted = {self.recorder.find_number(t.array) for t in self.work.roots}
        if self.failing is not None:
            wanted.update(flat(self.failing.operands))
        for event in self.work.events:
            if isinstance(event, Pull):
                wanted.update(
                    flat(event.operands if event.operands is not None else self.places.needs(event.node, event))
                )
                wanted.update(flat(event.saved))
        everything = not self.work.roots and self.failing is None
        wanted -= self.roles.keys()
        calls = []
        for call in reversed(self.places.all_calls() if self.work.roots else self.recorder.calls_since_pass):
            of = self.nodes.get(call.key)
            outs = flat(call.outs)
            if everything:
                needed = not outs or any(n not in self.roles for n in outs)
            else:
                needed = (of is not None and of.op is call.op) or not wanted.isdisjoint(outs)
            if needed:
                wanted.update(n for n in flat(call.operands) if n not in self.roles)
                calls.append(call)
        return calls[::-1]

    # -- entries ----------------------------------------------------------------------------------------------------

    def _entry(self, name: str, type_: str, part: str, loc: Any, layer: str, origin: Any) -> Entry:
        entry = Entry(len(self.entries), name, type_, part, loc, layer, origin=origin)
        self.entries.append(entry)
        return entry

    def _forward(self, call: CallRecord) -> None:
        """An entry for what an operator did: its name, its kernel, its results."""
        node = call.node or self.nodes.get(call.key)
        if node is not None and node.op is not call.op and call.node is None:
            node = None
        if node is not None and call is not self.failing:
            name, layer = self.called.nodes[node, FORWARD]
            self.forward_of[node.key] = len(self.entries)
        else:
            # The names of operators that gradients flow through count those alone.
            aside = "c" if self.graph is not None else ""
            name, layer = f"{call.op.type}.{aside}{next(self.unnamed.setdefault(title(call.op.type), count()))}", ""
        entry = self._entry(name, call.op.type, FORWARD, call.loc, layer, call)
        self._bind(entry, call)
        self._name_results(entry, node)

    def _bind(self, entry: Entry, call: CallRecord) -> None:
        """Bind the function that runs the operator again, or record why there is none."""
        failed = call is self.failing
        if failed and not call.fixed and any(s.many for s in call.op.outputs):
            entry.fixed = "it failed"
            return
        wiring.forward(entry, call, self.recorder.store, failed)

    def _name_results(self, entry: Entry, node: GradNode | None) -> None:
        """Names for what an operator made: the user's, else that of its place on the tape, else the operator's."""
        # The places of the tape have an order of their own, and not every result has one.
        results = [(node, i) for i in range(len(node.shapes))] if node is not None else []
        placed = {self.places.at.get(place, NOBODY): place for place in results}
        is_alone = len(entry.outs) == 1
        for i, (slot, number) in enumerate(entry.outs):
            if number < 0:
                continue
            value = self.values[number]
            value.maker, value.slot, value.role = entry.index, slot, "temporary"
            if number in placed:
                value.name = self.called.place(placed[number])
            elif is_alone:
                value.name = entry.name
            else:
                value.name = f"{entry.name}.{slot}" if placed else f"{entry.name}[{i}]"
            value.name = self.by_number.get(number, value.name)
            if is_alone and value.name != entry.name:
                value.names = (entry.name,)

    def _name_leaves(self) -> None:
        """Names for what no operator made and no gradient goes to."""
        constants = count()
        used = {n for e in self.entries for n in e.inputs}
        for number in sorted(used):
            value = self.values[number]
            leaf = self.of_leaf.get(number)
            if leaf is not None and value.maker == NOBODY:
                value.name, value.role = self.called.place(leaf), "parameter"
                value.names = self.called.others(leaf, value.name)
            elif not value.name and value.maker == NOBODY:
                value.name = self.by_number.get(number) or f"constant.{next(constants)}"
                value.role = self.roles.get(number, "constant")

    def _backward(self, pull: Pull) -> None:
        node = pull.node
        named = self.called.nodes.get((node, BACKWARD))
        name, layer = named if named is not None else (f"{node.op.type}_grad.?", "")
        entry = self._entry(name, add_suffix(node.op.type, "_grad"), BACKWARD, node.loc, layer, node)
        forward = self.forward_of.get(node.key)
        if forward is not None:
            entry.pair = forward
            self.entries[forward].pair = entry.index
        for i, seed in enumerate(pull.arriving):
            if seed is not None and self.work.seeds.get((node, i)) == seed:
                self._name_gradient(seed, (node, i), NOBODY, "")
        wiring.backward(entry, pull, self.places)
        slots = [s for s, _ in entry.outs]
        sums = {added: (total, before) for total, before, added in pull.sums}
        for slot, number, place in zip(slots, pull.outs, pull.wrt, strict=True):
            if number < 0:
                continue
            if place is None:
                # The user's backward made it for an argument that takes no gradient.
                value = self.values[number]
                value.name, value.maker, value.slot, value.role = f"{name}.{slot}", entry.index, slot, "temporary"
                continue
            self._name_gradient(number, place, entry.index, slot)
            if number in sums:
                total, before = sums[number]
                self._name_gradient(total, place, entry.index, slot)
                self.values[total].parts = (before, number)
                entry.sums.append(total)
                for part in (before, number):
                    if self.values[part].parts is None:
                        self.values[part].role = "part"
                self.nth[total] = self.nth.get(before, 0) + 1
                self.values[number].name += f"#{self.nth[total]}"

    def _name_gradient(self, number: int, place: Place, maker: int, slot: str) -> None:
        value = self.values[number]
        value.name, value.maker, value.slot = names.grad(self.called.place(place)), maker, slot
        value.role = "temporary"
        if isinstance(place, Leaf):
            value.names = tuple(names.grad(n) for n in self.called.others(place, self.called.place(place)))

    def _hooks(self, event: Hooked) -> None:
        number = next(self.unnamed.setdefault("hook", count()))
        entry = self._entry(f"hook.{number}", "hook", BACKWARD, event.loc, "", event)
        entry.operands = [event.before]
        slot = names.grad("Out")
        entry.reads = [(slot, event.before)]
        entry.outs = [(slot, event.after)]
        if not self.values[event.before].name:
            self._name_gradient(event.before, event.place, NOBODY, "")
        self._name_gradient(event.after, event.place, entry.index, slot)
        hooks = event.hooks

        def call(gradient: Any) -> list[Any]:
            tensor = Tensor(gradient.copy())
            for hook in hooks:
                result = hook(tensor)
                tensor = tensor if result is None else result
            return [tensor.array]

        entry.kernel = call
