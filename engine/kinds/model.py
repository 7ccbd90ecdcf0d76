"""Base of every kind of model: a name, a loss, and answers to the same questions in the same words.

A kind of model is a class in :data:`~gradtool.engine.loading.opening.KINDS`. It says how its tensors are selected, how
it is differentiated, drawn, listed and run; what it cannot do stands in its table of refusals, and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from ..answers.flow.fact import Fact
from ..answers.why.answers import Answer
from ..core import upward
from ..core.command_errors import CommandError, RefusedByModel, raise_for_python
from ..core.errors import ArgumentTypeError, did_you_mean
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..request.options import BackwardOptions, Cuts, Debug, ExportOptions, GradientsOptions, WhyOptions
from ..request.request import Request
from ..runs.recorder import Recorder
from ..runs.timeline import Timeline
from ..script import users_code
from ..script.script_state import Loaded, too_late_error
from .about import About, ModelGraph
from .gradients import GradientTable
from .other_losses import Other
from .selection import SelectorForms
from .watched_extent import WatchedPart

if TYPE_CHECKING:
    from ..answers.diff.outline import Outline
    from ..answers.fused import FusedStory
    from ..answers.profile import ProfileStory
    from ..answers.stats import Gatherer, StatsStory
    from ..answers.why.case import Case
    from ..questions.flow import Flows
    from ..questions.fusion import FusedGroups
    from ..questions.gradcheck import Comparison
    from ..questions.nan import Births
    from ..questions.over_time import Training
    from ..questions.picture import PictureAnswer
    from ..questions.profile import Costs
    from ..questions.question import Question
    from ..questions.saved import Kept
    from ..questions.stats import Sizes
    from ..questions.where import Places
    from ..questions.why import Verdicts
    from ..sweeps.sweep import Swept
    from .derivatives import Derivatives
    from .export import Exported
    from .listing import Listing
    from .names import Names
    from .operator_places import Spots


A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a kind of model does not take something; ``{what}`` and ``{name}`` in it are that and the model."""

    text: str
    hint: str | None = None


class Model(ABC):
    """A model, ready for its backward pass.

    Attributes:
        mode: what programs of this kind are called: ``static`` or ``eager``.
        tasks: method -> file in this folder, and the function there that does it. The file is loaded when the method is
            called. The function takes the model, and then what the method takes; that of a class method, only the
            latter.
        refusals: what it cannot do: an option or a question -> why. Options of questions that show the graph as it is
            have ``shown`` in front.
        computes_while_loading: whether its forward pass is over when it is loaded.
        name: the file's name, for people.
        words: those of a command line that load it again.
        request: what was loaded; None for what was there already.
        live: whether it was there before it was asked about and is not run again.
        scope: how much of the file was seen.
        left_out: the backward passes of other losses of the file, which nobody asked about.
        siblings: the models of the other backward passes of the same step.
        together: these passes.
    """

    mode: ClassVar[str]
    tasks: ClassVar[Mapping[str, str]]
    refusals: ClassVar[Mapping[str, Refusal]] = {}
    computes_while_loading: ClassVar[bool] = False
    name: str
    words: Sequence[str]
    request: Request | None
    live: bool
    scope: WatchedPart = WatchedPart()
    left_out: Sequence[Other] = ()
    siblings: Sequence[Model] = ()
    together: Sequence[Other] = ()

    number_of_pass: int | None = None
    """The number of the backward pass that the file ran from its loss; None where there is none."""

    has_own_rules: bool = False
    """Whether gradients of it come from rules of the user's own, as far as that is known without a run."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}, loss {self.target_name() or 'unknown'}>"

    @classmethod
    def _task(cls, name: str) -> Callable[..., Any]:
        """Return the function that does a task of this kind of model."""
        file, _, function = cls.tasks[name].rpartition(".")
        task: Callable[..., Any] = getattr(import_module(f".{file}", __package__), function)
        return task

    # -- what a kind of model is ------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def claims(cls, left: Loaded, request: Request, recorder: Recorder | None = None) -> bool:
        """Return whether what a file left behind is a model of this kind.

        Args:
            recorder: listened while the file ran, if one did.
        """

    @classmethod
    def find_in(cls, left: Loaded, request: Request) -> Self:
        """The model in what a file left behind.

        Raises:
            CommandError: no loss, several, or an unknown name.
        """
        model: Self = cls._task("find_in")(left, request)
        return model

    @abstractmethod
    def parameters(self) -> list[Any]:
        """Its parameters, in the order in which they were made."""

    @property
    def dropped(self) -> list[str]:
        """The parameters that were made, that nobody holds any more and the loss does not depend on."""
        return []

    @abstractmethod
    def leaves(self) -> list[Any]:
        """Return the ends of gradients: parameters, and other tensors that take gradients."""

    @abstractmethod
    def inputs(self) -> list[Any]:
        """Return the inputs: tensors that are fed, or were given, and are no leaves."""

    @abstractmethod
    def target_name(self) -> str:
        """Return the name of the loss for people; empty if there is none."""

    def loss_value(self) -> float | None:
        """Return the value of the loss, where it has been computed and is one number."""
        return None

    def selection(self) -> SelectorForms[Any]:
        """Return the selector of its tensors."""
        forms: SelectorForms[Any] = self._task("selection")(self)
        return forms

    def names(self) -> Names:
        """Return the names of operators and tensors in a run of it."""
        names: Names = self._task("names")(self)
        return names

    # -- what can be done with it -----------------------------------------------------------------------------------

    def differentiate(self, asked: BackwardOptions, notes: Notes = SILENT) -> GradientTable:
        """Its gradients under a parameter list and a no-grad set.

        Raises:
            CommandError: a selector selects nothing, or this kind of model does not take an option.
            GradtoolError: the engine refused.
        """
        table: GradientTable = self._task("differentiate")(self, asked, notes)
        return table

    def evaluate(self, table: GradientTable, asked: BackwardOptions, notes: Notes = SILENT) -> GradientTable:
        """The table with values; they are there already where the model computes while it is loaded."""
        return table

    def draw(self, cuts: Cuts, notes: Notes = SILENT) -> ModelGraph:
        """Forward and backward operators, to be drawn."""
        graph: ModelGraph = self._task("draw")(self, cuts, notes)
        return graph

    def is_finite(self) -> bool:
        """Return whether all values computed so far are finite, as far as that is known."""
        return True

    @property
    def has_graph(self) -> bool:
        """True if there is anything to draw."""
        return True

    def as_it_stands(self) -> ModelGraph:
        """The graph as it is now, without a backward part that is yet to be made."""
        graph: ModelGraph = self._task("as_it_stands")(self)
        return graph

    def spots_in(self, graph: ModelGraph) -> Spots:
        """The operators in *graph* with all that is known of where they stand."""
        spots: Spots = self._task("spots_in")(self, graph)
        return spots

    def outline(self, asked: BackwardOptions, notes: Notes = SILENT) -> Outline:
        """The graph as plain data, to be compared with another one."""
        outline: Outline = self._task("outline")(self, asked, notes)
        return outline

    def dump(self, asked: BackwardOptions, notes: Notes = SILENT) -> tuple[ModelGraph, Outline, GradientTable | None]:
        """Return the parts of a dump: the picture, the outline, and the gradients with their values if it is to run."""
        parts: tuple[ModelGraph, Outline, GradientTable | None] = self._task("dump")(self, asked, notes)
        return parts

    def list_operators(self, part: str, blocks: bool, cuts: Cuts, notes: Notes = SILENT) -> Listing:
        """Its operators one by one: ``fwd``, ``bwd`` or ``both``."""
        listing: Listing = self._task("list_operators")(self, part, blocks, cuts, notes)
        return listing

    def hazards(self) -> Sequence[Fact]:
        """Operators that can become NaN or infinite later; none where the operators are not recorded while it loads."""
        return ()

    def spots(self, cuts: Cuts, notes: Notes = SILENT) -> Spots:
        """Its operators with all that is known of where they stand."""
        spots: Spots = self._task("spots")(self, cuts, notes)
        return spots

    @property
    def is_watched(self) -> bool:
        """True if it is known how it was computed, so that ``why`` has an answer."""
        return True

    def case(self, asked: WhyOptions, notes: Notes = SILENT) -> Case[Any, Any]:
        """Return the case that ``why`` answers from."""
        case: Case[Any, Any] = self._task("case")(self, asked, notes)
        return case

    def case_beside(self, asked: WhyOptions) -> Case[Any, Any] | None:
        """Return the case that ``why`` answers from during a run that is made anyway; None where that would
        save nothing.
        """
        return None

    def run(
        self,
        listener: Any,
        feed: str | None = None,
        notes: Notes = SILENT,
        *,
        order: int = 1,
        table: GradientTable | None = None,
    ) -> Mapping[Any, Any]:
        """Run one backward pass, tell *listener*, and give the gradients as arrays, by what they belong to.

        Args:
            listener: None where the gradients are all that is asked for.
            order: 2 goes on to gradients of gradients.
            table: gets its values from the same pass, if it has none yet.
        """
        gradients: Mapping[Any, Any] = self._task("run")(self, listener, feed, notes, order=order, table=table)
        return gradients

    def derivatives(self, asked: GradientsOptions, notes: Notes = SILENT) -> Derivatives:
        """Gradients of targets by inputs; kinds of models that have none refuse ``gradients``."""
        raise self.refusal("gradients", self.name) or CommandError(f"{self.name} has no gradients of chosen targets")

    @classmethod
    def timeline(
        cls, left: Loaded, request: Request, recorder: Recorder, asked: Debug, notes: Notes
    ) -> tuple[Timeline, Self | None]:
        """The backward pass that the debugger goes through, and the model that it is of; *recorder* listened.

        There is no model where the file raised before it had a loss.

        Raises:
            CommandError: no loss, a selector that selects nothing, an option that fits no such model.
        """
        run: tuple[Timeline, Self | None] = cls._task("timeline")(left, request, recorder, asked, notes)
        return run

    def sizes(self, gatherer: Gatherer, gradients: Mapping[Any, Any]) -> StatsStory:
        """Return the sizes of the gradients of a run that *gatherer* listened to."""
        story: StatsStory = self._task("sizes")(self, gatherer, gradients)
        return story

    def measure(self, measure: str, feed: str | None, stopwatch: Any, notes: Notes = SILENT) -> dict[str, float]:
        """Id in the graph -> ``norm``, ``bytes`` or ``time``; *stopwatch* listened while the model was loaded."""
        numbers: dict[str, float] = self._task("measure")(self, measure, feed, stopwatch, notes)
        return numbers

    def measure_costs(self, calls: Any, repeats: int, feed: str | None, notes: Notes = SILENT) -> ProfileStory:
        """Measure the costs of its operators; *calls* listened while the model was loaded."""
        story: ProfileStory = self._task("measure_costs")(self, calls, repeats, feed, notes)
        return story

    def find_groups(self, repeats: int, feed: str | None, notes: Notes = SILENT) -> FusedStory:
        """Find the operators that are computed together, and what that takes."""
        story: FusedStory = self._task("find_groups")(self, repeats, feed, notes)
        return story

    def compare_gradients(self, recorder: Any, order: int, feed: str | None, notes: Notes = SILENT) -> list[Any]:
        """Its gradients compared with differences; *recorder* listened while the model was loaded."""
        entries: list[Any] = self._task("compare_gradients")(self, recorder, order, feed, notes)
        return entries

    def describe_compilation(self, table: GradientTable, feed: str | None) -> list[str]:
        """Return the parts of it and of the gradients in *table* that the backend in use compiles, in lines."""
        return []

    def mend(self, answer: Answer) -> None:
        """Take the cut that *answer* names out of the model, before it is looked at.

        Nothing to do where the lines of cuts are spared while the model is loaded.
        """
        return

    # -- what all kinds share ---------------------------------------------------------------------------------------

    @property
    def about(self) -> About:
        """Subject of answers about it."""
        return About(
            self.name,
            self.mode,
            self.words,
            self.dropped,
            self.scope,
            others=self.left_out,
            together=self.together,
        )

    def select(self, text: str, *, parameters_only: bool = False) -> list[Any]:
        """The tensors that a selector of the command line selects: a name, a glob, ``layer:``, ``op:``, ``line:``."""
        return self.selection().select("select", [text], SILENT, parameters_only=parameters_only)

    @classmethod
    def refusal(cls, feature: str, name: str) -> CommandError | None:
        """Return the error for a request of *feature*, such as ``--feed``; None if it can be answered."""
        refusal = cls.refusals.get(feature)
        if refusal is None:
            return None
        what = feature.rpartition(" ")[2]
        return RefusedByModel(refusal.text.format(what=what, name=name), refusal.hint)

    def refuses(self, feature: str) -> bool:
        """Return whether this kind of model cannot do *feature*."""
        return feature in self.refusals

    def must_take(self, asked: Mapping[str, Any]) -> None:
        """Raise for the first feature in *asked* that was asked for and is refused.

        Args:
            asked: feature -> whether it was asked for.
        """
        for feature, value in asked.items():
            refused = self.refusal(feature, self.name) if value else None
            if refused is not None:
                raise refused

    def must_be_finite(self) -> None:
        """Raise :class:`CommandError` where forward values that were there before are bad already."""
        return

    def must_have_request(self, what: str) -> Request:
        """Return the request that loads it again, for a question that watches it while it is loaded."""
        if self.live or self.request is None:
            raise too_late_error(what, self.name)
        return self.request

    def must_run(self, what: str) -> None:
        """Raise :class:`CommandError` for a live model: *what* watches the model while it computes."""
        if self.live:
            raise too_late_error(what, self.name)

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call something that may run the user's code (callbacks, hooks, PyLayers)."""
        return users_code.call(self.name, function, *args, **kwargs)

    def export_program(self, asked: ExportOptions, notes: Notes = SILENT) -> Exported:
        """The model as a program of Paddle's; raises :class:`CommandError` where it is no program."""
        raise CommandError(
            f"{self.name} works in dynamic mode: Paddle's files hold static programs",
            "--mode static, or paddle.jit.save(layer, NAME) in the file",
        )

    # -- questions, in the words of the command line ----------------------------------------------------------------

    def ask(self, question: Question[A], notes: Notes = SILENT) -> A:
        """The answer to a question, as its command gives it: the file is run once more, watched as the question needs.

        Raises:
            UsageError: an option does not fit the model (a ValueError).
        """
        with raise_for_python("gradtool.load"):
            return question.ask(self.must_have_request("a question"), notes)

    def _ask(self, name: str, **words: Any) -> Any:
        """Return the answer to the question of that name."""
        kind = upward.part("questions").question_class(name)
        known = [each.name for each in fields(kind)]
        for word in words:
            if word not in known:
                raise ArgumentTypeError(
                    f"Model.{name}: there is no keyword {word!r}; expected {', '.join(known)}.",
                    hint=did_you_mean(word, known),
                )
        return self.ask(kind(**words))

    def backward(self, **words: Any) -> GradientTable:
        """Every parameter or leaf with its gradient: ``backward(no_grad=["fc_0.b_0"], run=True)``.

        The words are the fields of :class:`~gradtool.engine.questions.backward.Backward`.
        """
        answer: GradientTable = self._ask("backward", **words)
        return answer

    def gradients(self, **words: Any) -> Derivatives:
        """Gradients of targets by inputs: ``gradients(target="h", input="x")``.

        The words are the fields of :class:`~gradtool.engine.questions.gradients.Gradients`.
        """
        answer: Derivatives = self._ask("gradients", **words)
        return answer

    def operators(self, **words: Any) -> Listing:
        """The operators one by one, as ``gradtool graph --text`` lists them: ``operators(part="bwd")``.

        The words are the fields of :class:`~gradtool.engine.questions.program.Operators`.
        """
        answer: Listing = self._ask("operators", **words)
        return answer

    def graph(self, **words: Any) -> PictureAnswer:
        """Return the content of a picture: ``graph(no_grad=["fc_0.b_0"], measure="norm")``.

        The words are the fields of :class:`~gradtool.engine.questions.picture.Drawn`.
        """
        answer: PictureAnswer = self._ask("graph", **words)
        return answer

    def why(self, *variables: str, **words: Any) -> Verdicts:
        """Why tensors have no gradient or a zero one: ``why("fc_0.w_0", prove=True)``.

        The words are the fields of :class:`~gradtool.engine.questions.why.Why`.
        """
        answer: Verdicts = self._ask("why", variables=variables, **words)
        return answer

    def where(self, what: str, **words: Any) -> Places:
        """Return the places that operators come from: ``where("relu.0")``.

        The words are the fields of :class:`~gradtool.engine.questions.where.Where`.
        """
        answer: Places = self._ask("where", what=what, **words)
        return answer

    def nan(self, **words: Any) -> Births:
        """Return the birth of the first NaN or infinity: ``nan(big=1e4, order=2)``.

        The words are the fields of :class:`~gradtool.engine.questions.nan.Nan`.
        """
        answer: Births = self._ask("nan", **words)
        return answer

    def stats(self, **words: Any) -> Sizes:
        """Sizes of gradients: ``stats(by="layer", worst=10)``.

        The words are the fields of :class:`~gradtool.engine.questions.stats.Stats`.
        """
        answer: Sizes = self._ask("stats", **words)
        return answer

    def over_time(self, **words: Any) -> Training:
        """Gradients over the steps of a training, as ``gradtool stats --steps``: ``over_time(steps=50, by="layer")``.

        The words are the fields of :class:`~gradtool.engine.questions.over_time.OverTime`.
        """
        answer: Training = self._ask("over_time", **words)
        return answer

    def flow(self, **words: Any) -> Flows:
        """Return which values depend on which: ``flow(from_="x[3]", to="out[1]")``.

        The words are the fields of :class:`~gradtool.engine.questions.flow.Flow`.
        """
        answer: Flows = self._ask("flow", **words)
        return answer

    def saved(self, **words: Any) -> Kept:
        """The forward values that backward keeps alive.

        The words are the fields of :class:`~gradtool.engine.questions.saved.Saved`.
        """
        answer: Kept = self._ask("saved", **words)
        return answer

    def sweep(self, question: str, *, models: str | Sequence[str] = (), **words: Any) -> Swept:
        """One question at many points: ``sweep("stats", rows="data.npz:64", seeds=range(3))``.

        Args:
            question: the name of another question.
            models: other models, or patterns of their files, that are asked as well.

        The words are the fields of :class:`~gradtool.engine.sweeps.at_points.AtPoints`: the options of the command.
        Every point loads the model anew; ``.rows`` of the answer has an object of JSON's types for each.
        """
        with raise_for_python("gradtool.load"):
            request = self.must_have_request("a sweep")
            patterns = (models,) if isinstance(models, str) else models
            points = upward.part("sweeps").AtPoints(question=question, **words)
            swept: Swept = points.ask_with(request, patterns)
            return swept

    def profile(self, **words: Any) -> Costs:
        """Measure the costs of forward and backward: ``profile(repeats=10)``.

        The words are the fields of :class:`~gradtool.engine.questions.profile.Profile`.
        """
        answer: Costs = self._ask("profile", **words)
        return answer

    def fusion(self, **words: Any) -> FusedGroups:
        """Find the operators that are computed together, and what that takes: ``fusion(repeats=10)``, ``profile
        --fused``.

        The words are the fields of :class:`~gradtool.engine.questions.fusion.Fusion`.
        """
        answer: FusedGroups = self._ask("fusion", **words)
        return answer

    def gradcheck(self, **words: Any) -> Comparison:
        """Gradients compared with differences: ``gradcheck(order=2)``.

        The words are the fields of :class:`~gradtool.engine.questions.gradcheck.Gradcheck`.
        """
        answer: Comparison = self._ask("gradcheck", **words)
        return answer
