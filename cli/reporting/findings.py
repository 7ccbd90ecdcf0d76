"""What several commands answer about one model: loaded once, run once, asked several times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradtool.engine.answers import running
from gradtool.engine.answers.coverage import Coverage
from gradtool.engine.answers.events import Adapter
from gradtool.engine.answers.nan import Hunt
from gradtool.engine.answers.stats import Gatherer
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.core import watch
from gradtool.engine.core.errors import GradientError
from gradtool.engine.core.source import Location
from gradtool.engine.view.graph import GraphView
from gradtool.models import backward_part, cases, feeds, spots
from gradtool.models.cases import Opened
from gradtool.models.errors import CommandError
from gradtool.models.loader import Request
from gradtool.models.program_model import ProgramModel
from gradtool.models.run_names import Names
from gradtool.models.spots import Spot
from gradtool.models.tape_model import TapeModel
from gradtool.models.wording import finite, repeated

from .. import eager_table, nan_report
from ..commands import backward, stats, why
from ..commands.nan import FORWARD_OVER, refuse_bad_values
from ..context import Output
from ..views import Report

NOT_RUN = "The program was not run."


@dataclass
class Findings:
    """The answers, and what pictures and excerpts are made of.

    Attributes:
        mode: ``static`` or ``eager``.
        loss: its name.
        value: what the loss is; None where it was not computed, is no single number, or is not finite.
        reports: kind -> the answer of that command.
        refused: kind -> why that command has no answer.
        places: the user's lines that the findings are about, the most important first.
        notes: what else has to be said, such as what was fed.
    """

    name: str
    mode: str
    loss: str = ""
    value: float | None = None
    reports: dict[str, Report] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    view: GraphView | None = None
    spots: Sequence[Spot] = ()
    places: list[Location] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def ask(self, kind: str, answer: Callable[[], Report]) -> None:
        """Keep the answer, or why the engine has none."""
        try:
            self.reports[kind] = answer()
        except GradientError as error:
            self.refused[kind] = str(error)


@dataclass
class Noting(Output):
    """Keeps the notes, and passes them on unless it is quiet."""

    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            super().note(text)


class Search:
    """A search for NaN and infinity that watches a model while it is loaded.

    Attributes:
        hunt: finds where they are born.
        coverage: notes what it does not see.
    """

    def __init__(self) -> None:
        self.hunt = Hunt()
        self.coverage = Coverage(self.hunt)

    @property
    def over(self) -> bool:
        """Whether the model ran backward itself, so that there is nothing more to look for."""
        return self.hunt.steps > 0

    def beside(self, gatherer: Gatherer) -> Callable[[Any], None]:
        """Who listens to the report's own pass: *gatherer*, and the search unless it is over."""
        over = self.over

        def listen(event: Any) -> None:
            gatherer(event)
            if not over:
                self.coverage(event)

        return listen


def options_of(options: dict[str, Any], seed: int) -> dict[str, Any]:
    """The options of a report as the parts that answer know them."""
    run = not options["no_run"]
    return {**options, "run_": run, "backend": "numpy", "seed": seed, "contributions": False}


def of_file(request: Request, options: dict[str, Any], out: Noting) -> Findings:
    """Load a model file and ask about it; errors as for ``cases.opened``.

    Args:
        options: ``params``, ``no_grad``, ``feed`` and ``no_run`` of the command.
    """
    request = replace(request, full_stacks=True, journal=True, post_mortem=True)
    search = Search()
    adapter = Adapter(search.coverage)
    known = options_of(options, request.seed)
    with watch.watched(adapter), cases.opened(request, (), known, out) as found, watch.unwatched():
        adapter.finish()
        return about(found, search, known, request.words(), out)


def about(found: Opened, search: Search, options: dict[str, Any], words: list[str], out: Noting) -> Findings:
    """Ask about a model that is loaded.

    Args:
        search: it watched while that was done.
        words: those that load it again.
    """
    again = [*words, *repeated("--no-grad", options["no_grad"]), *repeated("--params", options["params"])]
    told = Findings(found.name, found.mode, found.loss)
    if found.failure is not None:
        told.notes.append(f"{found.name} raised an error, which is explained; nothing else could be asked.")
        told.places += _lines(found.failure)
        told.reports["why"] = why.report(found, [found.failure], 0, again)
        return told
    if found.error is not None:
        told.notes.append(
            f"{found.name} raised: {str(found.error).splitlines()[0]}; told is what it had computed until then."
        )
    case, model = found.case, found.model
    assert case is not None
    assert model is not None
    if isinstance(model, TapeModel) and not model.loss.stop_gradient:
        # Before anything is asked: the journal goes on, and the passes that answers take are not the user's.
        assert model.journal is not None  # every report asks for one
        told.view = model.graph.view
        told.spots = spots.of_tape(model.graph, model.journal, model.loss, {}).spots
    answers: list[Answer] = []

    def verdicts() -> Report:
        answers.extend(case.answers())
        return why.report(found, answers, len(case.subjects()), again)

    told.ask("why", verdicts)
    told.places += [line for a in answers if a.finding for line in _lines(a)]
    ask = _eager if isinstance(model, TapeModel) else _static
    births = ask(told, model, search, options, again, out)
    told.places[:0] = births
    told.places += [line for a in answers if not a.finding for line in _lines(a)]
    told.notes += out.notes
    return told


def _lines(answer: Answer) -> list[Location]:
    """The lines that an answer is about."""
    return [answer.location, *(line for _, line in answer.places)]


# -- static -----------------------------------------------------------------------------------------------------------


def _static(
    told: Findings, model: Any, search: Search, options: dict[str, Any], again: list[str], out: Noting
) -> list[Location]:
    from gradtool.engine.view.from_program import view

    parts: list[Any] = []
    quiet = replace(out, quiet=True)

    def gradients() -> Report:
        parts.append(backward_part.append(model, options["params"], options["no_grad"], quiet))
        return backward.report(model, parts[0], None, again, [])

    told.ask("backward", gradients)
    pairs = dict(parts[0].pairs) if parts else {}
    told.view = view(model.program, title=model.name, loss=model.the_loss, gradients=pairs)
    told.spots = spots.of_program(model.program, told.view, model.named).spots
    if not parts or not options["run_"]:
        told.refused |= dict.fromkeys(("stats", "nan"), NOT_RUN if parts else told.refused.get("backward", ""))
        return []
    search = search if search.over else Search()
    gatherer = Gatherer()
    extra: list[Any] = []

    def run(fetch: Sequence[Any]) -> Sequence[Any]:
        wanted = [*fetch, *backward.fetched(model, parts[0])]
        found = feeds.run(model, wanted, options["feed"], options["backend"], options["seed"], out)
        extra.extend(found[len(fetch) :])
        return found[: len(fetch)]

    arrays: dict[Any, Any] = {}
    made = dict(running.through_program(model.the_loss, search.beside(gatherer), run=run, keep=arrays))
    values = backward.values(parts[0], extra)
    told.value = finite(values[0])
    told.reports["backward"] = backward.report(model, parts[0], values, again, [])
    _sizes(told, stats.of_program(model, gatherer, made, arrays), again)
    return _births(told, model, search, again)


# -- dynamic ----------------------------------------------------------------------------------------------------------


def _eager(
    told: Findings, model: Any, search: Search, options: dict[str, Any], again: list[str], out: Noting
) -> list[Location]:
    parts: list[Any] = []
    quiet = replace(out, quiet=True)

    def gradients() -> Report:
        parts.append(eager_table.run(model, options["params"], options["no_grad"], quiet))
        return eager_table.report(parts[0], again)

    told.ask("backward", gradients)
    if model.loss.spec.count == 1:
        told.value = finite(float(model.loss.array.reshape(())))
    if not parts:
        told.refused["stats"] = told.refused["backward"]
        return _births(told, model, search, again, ["backward: there is nothing to go back through"])
    gatherer = Gatherer()
    unchecked: list[str] = []
    if model.live and not search.over:
        unchecked.append(FORWARD_OVER)
        try:
            refuse_bad_values(model)
        except CommandError as error:
            told.refused["nan"] = error.message

    arrived = model.call(running.through_tape, model.loss, search.beside(gatherer))
    _sizes(told, stats.of_tape(model, gatherer, arrived), again)
    return _births(told, model, search, again, unchecked) if "nan" not in told.refused else []


# -- both -------------------------------------------------------------------------------------------------------------


def _sizes(told: Findings, known: tuple[Any, Names], again: list[str]) -> None:
    story, names = known
    lines = story.parameters
    shown = {"by": "parameter", "histogram": True}
    told.reports["stats"] = stats.report(story, names, lines, len(lines), told.name, told.mode, shown, again)


def _births(
    told: Findings, model: ProgramModel | TapeModel, search: Search, again: list[str], unchecked: Sequence[str] = ()
) -> list[Location]:
    story = search.hunt.story([*search.coverage.missing(), *unchecked])
    told.reports["nan"] = nan_report.report(story, told.name, told.mode, names_of(model), again, "text")
    return [b.loc for b in story.births]


def names_of(model: ProgramModel | TapeModel) -> Names:
    """The names in *model*; of a loss that nothing was recorded for, those that a run knows."""
    if isinstance(model, TapeModel) and model.loss.stop_gradient:
        return Names()
    return Names.of(model)
