"""A static program as a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from ...answers.why.answers import Answer
from ...core.notes import SILENT, Notes
from ...core.records import dataclass
from ...ir.program import Program
from ...ir.variable import Variable
from ...kernels import choice
from ...request.options import BackwardOptions, ExportOptions, GradientsOptions, WhyOptions
from ...request.request import Request
from ...runs.recorder import Recorder
from ...script.calls import PassCall
from ...script.script_state import Loaded
from ..gradients import GradientTable
from ..model import Model, Refusal

if TYPE_CHECKING:
    from ...answers.why.case import Case
    from ..derivatives import Derivatives
    from ..export import Exported


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
    tasks: ClassVar[Mapping[str, str]] = {
        "find_in": "program.finding.find",
        "selection": "program.selectors.select_in",
        "names": "program.naming.names",
        "differentiate": "program.gradients.table",
        "evaluate": "program.gradients.evaluate",
        "draw": "program.gradients.draw",
        "as_it_stands": "program.gradients.graph",
        "spots_in": "program.operator_places.spots_in",
        "outline": "program.outlining.outline",
        "dump": "program.outlining.dump",
        "export_program": "program.exporting.export",
        "list_operators": "program.listing.list_operators",
        "spots": "program.operator_places.spots",
        "case": "program.case.case",
        "run": "program.running.run",
        "derivatives": "program.derivatives.derivatives",
        "timeline": "program.timeline.timeline",
        "sizes": "program.running.sizes",
        "measure": "program.measures.measure_program",
        "measure_costs": "program.costs.measure_costs",
        "find_groups": "program.costs.find_groups",
        "describe_compilation": "program.compiled.describe",
        "compare_gradients": "program.checking.check",
        "mend": "program.cut_removal.mend",
    }
    refusals: ClassVar[Mapping[str, Refusal]] = {
        "--step": Refusal("{what} works in dynamic mode: {name} is a static program, which is run once"),
    }

    @classmethod
    def claims(cls, left: Loaded, request: Request, recorder: Recorder | None = None) -> bool:
        """As in the base: what no other kind claims is looked through for a program."""
        return True

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

    def case_beside(self, asked: WhyOptions) -> Case[Any, Any] | None:
        """As in the base: a run whose plan is compiled as a whole is better left alone."""
        return None if choice.current().compiles else self.case(asked)

    def evaluate(self, table: GradientTable, asked: BackwardOptions, notes: Notes = SILENT) -> GradientTable:
        """As in the base: the program runs once."""
        filled: GradientTable = self._task("evaluate")(self, table, asked, notes)
        return filled

    def export_program(self, asked: ExportOptions, notes: Notes = SILENT) -> Exported:
        """As in the base."""
        exported: Exported = self._task("export_program")(self, asked, notes)
        return exported

    def derivatives(self, asked: GradientsOptions, notes: Notes = SILENT) -> Derivatives:
        """As in the base; what computes them stays in the program."""
        derivatives: Derivatives = self._task("derivatives")(self, asked, notes)
        return derivatives

    def describe_compilation(self, table: GradientTable, feed: str | None) -> list[str]:
        """As in the base."""
        lines: list[str] = self._task("describe_compilation")(self, table, feed)
        return lines

    def mend(self, answer: Answer) -> None:
        """As in the base."""
        self._task("mend")(self, answer)
