"""A model of dynamic mode: a loss, the calls that were recorded behind it, and the tensors that it knows by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...answers.flow.fact import Fact
from ...answers.tape_pass import expect_recorded
from ...answers.why.statistics import find_in_journal
from ...core import source
from ...core.command_errors import CommandError
from ...core.records import dataclass
from ...eager.journal import Journal
from ...eager.pass_start import Start
from ...eager.tape import GradNode, Place, finite
from ...eager.tensor import Leaf, Tensor
from ...ir.program import Program
from ...ir.variable import Variable
from ...request.request import Request
from ...runs.recorder import Recorder
from ...script.attributes import is_a
from ...script.calls import PassCall
from ...script.script_state import Loaded
from ...script.shares import LeafShare
from ...view import from_tape
from ...view.from_tape import TapeGraph
from .. import run_notes
from ..gradients import GradientTable
from ..model import Model, Refusal
from ..origins import Origin

_STATIC = Refusal("{what} works on static programs, and {name} works in dynamic mode")
_WHOLE = Refusal("{what}: a recorded graph is shown as a whole", "gradtool backward takes it")


@dataclass
class TapeEntry:
    """A tensor of the model.

    Attributes:
        tensor: stands for the leaf where nobody holds the leaf's tensor any more.
        python: its Python name, or the path from one (``model.head.weight``); None when nothing is known.
        path: its path inside its model, if a Layer holds it.
        container: the plain list of a Layer that it was reached through, such as ``net.blocks``; empty if none.
        aliases: other names that are bound to it.
        dropped: of a parameter that nobody holds and the loss does not depend on, how many its line made.
        is_buffer: whether a layer holds it as a buffer.
    """

    tensor: Tensor
    python: str | None
    path: str | None
    container: str = ""
    aliases: tuple[str, ...] = ()
    dropped: int = 0
    is_buffer: bool = False

    @property
    def name(self) -> str:
        return self.tensor.name

    @property
    def names(self) -> list[str]:
        return [n for n in (self.name, self.python, self.path, *self.aliases) if n is not None]

    @property
    def display_name(self) -> str:
        """The name that says most to people: names of tensors are mostly made up."""
        return self.python or self.path or self.name

    @property
    def is_parameter(self) -> bool:
        return bool(getattr(self.tensor, "is_parameter", False))


@dataclass(repr=False)
class TapeModel(Model):
    """A model of dynamic mode, ready for its backward pass.

    Attributes:
        name: the file's name, for people.
        loss: None only where the command can do without.
        entries: leaves and named results: first the leaves of the loss's graph in the order of their use.
        nodes: the recorded calls behind the loss, oldest first.
        leaves_behind: the leaves that its gradients end in.
        restored: whether the file ran backward over the graph itself.
        constants: what tensors are called that the calls read and that take no gradient.
        journal: what happened while the file ran, if the command asked for it.
        pass_call: the backward pass that the file ran from the loss, where it did.
        shares: what passes of the file gave to leaves in the last step of each, where the pass that is meant is the
            last one.
        siblings: the models of the other passes of that step.
        by_graph: see ``Loaded``.
    """

    name: str
    loss: Tensor
    loss_name: str
    entries: list[TapeEntry]
    nodes: list[GradNode]
    leaves_behind: list[Leaf]
    restored: bool
    journal: Journal | None = None
    live: bool = False
    words: list[str] = field(default_factory=list)
    seed: int = 0
    request: Request | None = None
    constants: Mapping[Tensor, str] = field(default_factory=dict)
    pass_call: PassCall | None = None
    shares: Mapping[Leaf, LeafShare] = field(default_factory=dict)
    siblings: Sequence[TapeModel] = ()
    by_graph: Callable[[], Sequence[Any]] | None = None

    mode: ClassVar = "eager"
    tasks: ClassVar[Mapping[str, str]] = {
        "find_in": "tape.finding.find",
        "selection": "tape.selectors.TapeSelectors",
        "names": "tape.naming.names",
        "differentiate": "tape.gradients.table",
        "draw": "tape.drawing.graph",
        "as_it_stands": "tape.drawing.whole_graph",
        "spots_in": "tape.call_places.spots_in",
        "outline": "tape.outlining.outline",
        "dump": "tape.outlining.dump",
        "list_operators": "tape.listing.list_operators",
        "spots": "tape.call_places.spots",
        "case": "tape.case.case",
        "run": "tape.running.run",
        "timeline": "tape.timeline.timeline",
        "sizes": "tape.running.sizes",
        "measure": "tape.measures.measure_graph",
        "measure_costs": "tape.costs.measure_costs",
        "find_groups": "tape.costs.find_groups",
        "compare_gradients": "tape.checking.check",
    }
    computes_while_loading: ClassVar = True
    refusals: ClassVar[Mapping[str, Refusal]] = {
        **dict.fromkeys(("--callbacks", "--feed", "--backend", "--checkpoints", "--memory-budget"), _STATIC),
        **dict.fromkeys(("shown --params", "shown --no-grad"), _WHOLE),
        "gradients": Refusal(
            "{name} works in dynamic mode: this command takes static programs",
            "gradtool backward, program and dump take both",
        ),
    }

    @classmethod
    def claims(cls, left: Loaded, request: Request, recorder: Recorder | None = None) -> bool:
        """Return whether the file left tensors, or ran backward, and built no program."""
        if _is_eager(left, request):
            return True
        ran = recorder is not None and bool(recorder.passes or left.error)
        return ran and request.run.mode == "auto" and not left.main.global_block().ops

    def gradients_of_file(self) -> dict[Leaf, Any] | None:
        """By leaf what the file's own passes gave, in the last step of each leaf; None where there was no pass."""
        call = self.pass_call
        if call is None or call.start is None or not call.is_done or call.how != "backward" or call.recorded:
            return None
        return {**call.gave, **{leaf: share.array for leaf, share in self.shares.items()}}

    def origins(self) -> list[Origin]:
        """The file's own passes that its gradients come from."""
        told = []
        for model in sorted([self, *self.siblings], key=lambda model: model.number_of_pass or 0):
            call = model.pass_call
            if call is not None:
                given = any(g is not None for g in model.start.gradients)
                roots = [model.tensor_names.get(t, t.name) for t in model.start.differentiated]
                told.append(Origin(call.number, source.short(call.location), roots, given, self._calls_at(call)))
        return told

    def is_left_out(self, t: Tensor) -> bool:
        """Return whether the file's own pass was asked for other gradients, and not for that of a leaf behind
        its loss.
        """
        inputs = self.start.inputs
        return inputs is not None and t._leaf in self.leaves_behind and t._leaf not in inputs

    def _calls_at(self, call: PassCall) -> int:
        """Return the number of calls on the line of *call* that belong to the step."""
        line = source.file_and_line(call.location)
        passes = {n: at for share in self.file_shares().values() for n, at in share.passes}
        return max(1, sum(source.file_and_line(at) == line for at in passes.values()))

    @property
    def number_of_pass(self) -> int | None:  # type: ignore[override]  # known once it is asked for
        """As in the base."""
        return None if self.pass_call is None else self.pass_call.number

    @property
    def has_own_rules(self) -> bool:  # type: ignore[override]
        """As in the base."""
        from ...answers.own_rules import is_own

        return any(map(is_own, self.nodes))

    def file_shares(self) -> dict[Tensor, LeafShare]:
        """Return the shares that the passes of the file gave to the named leaves in the last step of each."""
        leaves = [e.tensor for e in self.entries if e.tensor._leaf is not None and e.tensor.node is None]
        shares = ((t, self.shares.get(t.leaf)) for t in leaves)
        return {t: share for t, share in shares if share is not None}

    def parameters(self) -> list[Tensor]:
        """As in the base."""
        return [e.tensor for e in self.entries if e.is_parameter and not e.dropped]

    @property
    def dropped(self) -> list[str]:
        """As in the base."""
        return [e.display_name for e in self.entries if e.dropped]

    @cached_property
    def statistics(self) -> frozenset[Tensor]:
        """The parameters that operators keep for themselves, as far as it was watched how they were called."""
        if self.journal is None:
            return frozenset()
        kept = find_in_journal(self.journal)
        own = (e.tensor for e in self.entries if e.is_parameter and e.tensor.stop_gradient)
        return frozenset(t for t in own if self.journal.number(t) in kept)

    def leaves(self) -> list[Tensor]:
        """As in the base."""
        return [e.tensor for e in self.gradient_entries()]

    def gradient_entries(self) -> list[TapeEntry]:
        """The entries of the leaves that take gradients."""
        return [e for e in self.entries if e.tensor.is_leaf and not (e.tensor.stop_gradient or e.dropped)]

    def entries_with_frozen(self) -> list[TapeEntry]:
        """The same, and parameters that are frozen."""
        named = (e for e in self.entries if e.tensor.is_leaf and not e.dropped and e.tensor not in self.statistics)
        return [e for e in named if e.is_parameter or not e.tensor.stop_gradient]

    def inputs(self) -> list[Tensor]:
        """The named tensors that nothing on the tape made and that take no gradient."""
        return [e.tensor for e in self.entries if e.tensor.is_leaf and e.tensor.stop_gradient and not e.is_parameter]

    def target_name(self) -> str:
        """As in the base."""
        return self.loss_name

    def loss_value(self) -> float | None:
        """As in the base."""
        return float(self.loss.array.reshape(())) if self.loss.spec.count == 1 else None

    def hazards(self) -> Sequence[Fact]:
        """As in the base."""
        from ...answers.flow.hazards import hazards
        from ...answers.flow.of_nodes import record_nodes

        return list(hazards(*record_nodes(self.start.differentiated, self.name)))

    @cached_property
    def start(self) -> Start:
        """The roots of its backward pass, with the gradients that the file gave there."""
        given = None if self.pass_call is None else self.pass_call.start
        return Start.of(self.loss) if given is None or given.loss is not self.loss else given

    @cached_property
    def tape_graph(self) -> TapeGraph:
        """The recorded graph behind the loss, as pictures and names of operators are made of it."""
        return from_tape.graph(self.start.differentiated, title=self.name, named=self.tensor_names)

    @property
    def tensor_names(self) -> dict[Tensor, str]:
        """Names in pictures of the tensors that have a Python name."""
        return {**self.constants, **{e.tensor: e.python for e in self.entries if e.python is not None}}

    def is_finite(self) -> bool:
        """As in the base: its loss, what backward keeps, and the gradients of its leaves."""
        gradients = [leaf.grad for leaf in self.leaves_behind if leaf.grad is not None]
        return self._find_bad_values() is None and finite(gradients)

    @property
    def has_graph(self) -> bool:
        """As in the base: an operator was recorded for the loss."""
        return not self.loss.stop_gradient

    @property
    def is_watched(self) -> bool:
        """As in the base: a journal was kept, or a framework's graph answers in its place."""
        return self.journal is not None or self.by_graph is not None

    def must_be_finite(self) -> None:
        """As in the base: backward would be blamed for what was born before it."""
        where = self._find_bad_values() if self.live else None
        if where is None:
            return
        raise CommandError(
            f"{self.name} has been computed, and {where} is not finite: it was born forward, before the search",
            "begin the cell that computes it with %%gradtool nan, or put it into a file",
        )

    def _find_bad_values(self) -> str | None:
        """Return the place of a forward value that is not finite: the loss, or a value that an operator keeps."""
        bad = next((n for n in self.nodes if not finite(n.args or ())), None)
        if bad is not None:
            return f"what {bad.op.type} keeps at {source.short(bad.loc)}"
        return None if finite(self.start.differentiated) else "the loss"

    def describe_compilation(self, table: GradientTable, feed: str | None) -> list[str]:
        """As in the base."""
        return [run_notes.backend_note()] if run_notes.is_left_to_another() else []


def record_graph(model: TapeModel) -> TapeGraph:
    """The graph behind the model's loss.

    Raises:
        LossError: no recorded operator made the loss.
    """
    expect_recorded(model.loss, model.loss_name)
    return model.tape_graph


def stand_in(place: Place) -> Tensor:
    """A tensor of any values at *place*, for a leaf or result that nobody holds any more."""
    spec = place.spec if isinstance(place, Leaf) else place[0].outs[place[1]]
    values = np.broadcast_to(np.zeros((), spec.dtype.numpy), spec.shape)
    if isinstance(place, Leaf):
        made = Tensor(values, stop_gradient=False, name=place.name)
        made._leaf = place
        return made
    return Tensor(values, stop_gradient=False, node=place[0], index=place[1])


def _is_eager(left: Loaded, request: Request) -> bool:
    """Return whether the file made a model of dynamic mode: it left tensors and built no program."""
    if request.run.mode != "auto":
        return request.run.mode == "eager"
    values = [*left.namespace.values(), *_parts(left.result)]
    if left.calls.swept and not left.calls.appended:
        return True
    if any(is_a(v, (Variable, Program)) for v in values) or left.main.global_block().ops:
        return False
    return any(is_a(v, Tensor) for v in values)


def _parts(result: Any) -> Sequence[Any]:
    return result if is_a(result, (tuple, list)) else (result,)
