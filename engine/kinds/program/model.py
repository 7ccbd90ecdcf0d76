"""A static program as a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ...core.notes import SILENT, Notes
from ...ir.program import Program
from ...ir.variable import Variable
from ...kernels import choice
from ...request.request import Request
from ...runs.recorder import Recorder
from ...runs.timeline import Timeline
from ...script.calls import PassCall
from ...script.loaded import Loaded
from ..model import Model, ModelGraph, Refusal

if TYPE_CHECKING:
    from ...answers.diff.outline import Outline
    from ...answers.fused import FusedStory
    from ...answers.profile import ProfileStory
    from ...answers.stats import Gatherer, StatsStory
    from ...answers.why.answers import Answer
    from ...answers.why.case import Case
    from ...request.options import BackwardOptions, Cuts, Debug, ExportOptions, GradientsOptions, WhyOptions
    from ..derivatives import Derivatives
    from ..exported import Exported
    from ..gradients import GradientTable
    from ..listing import Listing
    from ..names import Names
    from ..spots import Spots
    from .selectors import Selectors


@dataclass(repr=False)
class ProgramModel(Model):
    """A static program and its loss.

    Attributes:
        name: the file's name, for people.
        program: backward operators that the file made itself are taken out.
        startups: programs that give parameters their first values.
        loss: None only where the question can do without.
        named: Python name -> variable; parameters of layers by their Python path.
        feed: what to feed, if the file says so; *feed_from* says where it was found.
        stripped: how many operators were taken out.
        namespace: the module's names.
        calls: calls of ``append_backward`` for this loss that the file made; the one that is asked about is the last.
        others: those for other losses.
        outputs: the names of what it computes, where its file says that.
        seed: of random feeds and of the run.
    """

    name: str
    program: Program
    startups: list[Program]
    loss: Variable | None
    named: dict[str, Variable]
    feed: dict[str, Any] | None
    feed_from: str
    stripped: int
    namespace: dict[str, Any]
    calls: list[PassCall] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    seed: int = 0
    live: bool = False
    request: Request | None = None
    others: list[PassCall] = field(default_factory=list)
    outputs: tuple[str, ...] = ()

    mode: ClassVar = "static"
    refusals: ClassVar[Mapping[str, Refusal]] = {
        "--step": Refusal("{what} works in dynamic mode: {name} is a static program, which is run once"),
    }

    @classmethod
    def claims(cls, left: Loaded, request: Request, recorder: Recorder | None = None) -> bool:
        """As in the base: what no other kind claims is looked through for a program."""
        return True

    @classmethod
    def find_in(cls, left: Loaded, request: Request) -> ProgramModel:
        """As in the base."""
        from .finding import find

        return find(left, request)

    @property
    def the_loss(self) -> Variable:
        """The loss of a question that cannot do without."""
        assert self.loss is not None
        return self.loss

    def parameters(self) -> list[Variable]:
        """As in the base."""
        return list(self.program.all_parameters())

    def leaves(self) -> list[Variable]:
        """As in the base."""
        return [p for p in self.parameters() if not p.stop_gradient]

    def inputs(self) -> list[Variable]:
        """The variables that are fed."""
        return [v for v in self.program.global_block().vars.values() if v.is_data]

    def target_name(self) -> str:
        """As in the base."""
        return "" if self.loss is None else self.loss.name

    def selection(self) -> Selectors:
        """As in the base."""
        from .selectors import Selectors

        return Selectors(self.program, self.named)

    def names(self) -> Names:
        """As in the base."""
        from .naming import ProgramNames

        return ProgramNames(self.program)

    def differentiate(self, asked: BackwardOptions, notes: Notes = SILENT) -> GradientTable:
        """As in the base; the backward part stays in the program."""
        from .gradients import table

        return table(self, asked, notes)

    def evaluate(self, table: GradientTable, asked: BackwardOptions, notes: Notes = SILENT) -> GradientTable:
        """As in the base: the program runs once."""
        from .feeds import run
        from .gradients import fetch_list, fill

        fill(table, run(self, fetch_list(self, table), asked.feed, notes, asked.backend))
        return table

    def drawn(self, cuts: Cuts, notes: Notes = SILENT) -> ModelGraph:
        """As in the base; without a loss the forward part alone."""
        from ...request.options import BackwardOptions

        return self.differentiate(BackwardOptions(params=cuts.params, no_grad=cuts.no_grad), notes).graph()

    def as_it_stands(self) -> ModelGraph:
        """As in the base."""
        from .gradients import graph

        return graph(self)

    def spots_in(self, graph: ModelGraph) -> Spots:
        """As in the base."""
        from .spots import spots_in_view

        return spots_in_view(self.program, graph.view, self.named)

    def outline(self, asked: BackwardOptions, notes: Notes = SILENT) -> Outline:
        """As in the base."""
        from .outlining import outline

        return outline(self, asked, notes)

    def dump(self, asked: BackwardOptions, notes: Notes = SILENT) -> tuple[ModelGraph, Outline, GradientTable | None]:
        """As in the base."""
        from .outlining import differentiate

        table, outline = differentiate(self, asked, notes)
        assert table is not None
        if asked.run:
            table = self.evaluate(table, asked, notes)
        return table.graph(), outline, table if asked.run else None

    def export_program(self, asked: ExportOptions, notes: Notes = SILENT) -> Exported:
        """As in the base."""
        from .exporting import export

        return export(self, asked, notes)

    def list_operators(self, part: str, blocks: bool, cuts: Cuts, notes: Notes = SILENT) -> Listing:
        """As in the base."""
        from .listing import list_operators

        return list_operators(self, part, blocks, cuts, notes)

    def spots(self, cuts: Cuts, notes: Notes = SILENT) -> Spots:
        """As in the base."""
        from .spots import spots

        return spots(self, cuts, notes)

    def case(self, asked: WhyOptions, notes: Notes = SILENT) -> Case[Any, Any]:
        """As in the base."""
        from .case import case

        return case(self, asked, notes)

    def case_beside(self, asked: WhyOptions) -> Case[Any, Any] | None:
        """As in the base: a run whose plan is compiled as a whole is better left alone."""
        return None if choice.current().compiles else self.case(asked)

    def run(
        self,
        listener: Any,
        feed: str | None = None,
        notes: Notes = SILENT,
        *,
        order: int = 1,
        table: GradientTable | None = None,
    ) -> dict[Variable, Any]:
        """As in the base: by parameter."""
        from .running import run

        return run(self, listener, feed, notes, order=order, table=table)

    def derivatives(self, asked: GradientsOptions, notes: Notes = SILENT) -> Derivatives:
        """As in the base; what computes them stays in the program."""
        from .derivatives import derivatives

        return derivatives(self, asked, notes)

    @classmethod
    def timeline(
        cls, left: Loaded, request: Request, recorder: Recorder, asked: Debug, notes: Notes
    ) -> tuple[Timeline, ProgramModel | None]:
        """As in the base: one run of the program."""
        from .timeline import timeline

        return timeline(left, request, asked, notes)

    def sizes(self, gatherer: Gatherer, gradients: Mapping[Any, Any]) -> StatsStory:
        """As in the base."""
        from .running import sizes

        return sizes(self, gatherer, gradients)

    def measure(self, measure: str, feed: str | None, stopwatch: Any, notes: Notes = SILENT) -> dict[str, float]:
        """As in the base."""
        from .measures import measure_program

        return measure_program(self, measure, feed, notes)

    def measure_costs(self, calls: Any, repeats: int, feed: str | None, notes: Notes = SILENT) -> ProfileStory:
        """As in the base."""
        from .running import measure_costs

        return measure_costs(self, repeats, feed, notes)

    def find_groups(self, repeats: int, feed: str | None, notes: Notes = SILENT) -> FusedStory:
        """As in the base."""
        from .running import find_groups

        return find_groups(self, repeats, feed, notes)

    def compiled(self, table: GradientTable, feed: str | None) -> list[str]:
        """As in the base."""
        from .compiled import describe

        return describe(self, table, feed)

    def compared(self, recorder: Any, order: int, feed: str | None, notes: Notes = SILENT) -> list[Any]:
        """As in the base."""
        from .running import check

        return check(self, order, feed, notes)

    def mend(self, answer: Answer) -> None:
        """As in the base."""
        from .mending import mend

        mend(self, answer)
