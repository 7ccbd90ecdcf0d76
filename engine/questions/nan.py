"""``nan``: where the first NaN or infinity was born."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace

from ..answers import magnitudes
from ..answers.coverage import Coverage
from ..answers.nan import Hunt, NanStory
from ..core import watch
from ..core.answer import Answered
from ..core.command_errors import CommandError
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..core.wording import count
from ..eager.tensor import Tensor
from ..kinds.about import About
from ..kinds.model import Model
from ..kinds.names import Names
from ..kinds.run_notes import scope_of
from ..loading import loader, opening
from ..request.request import Request
from ..script import users_code
from ..script.attributes import is_a
from ..script.script_state import Loaded, has_two_sides
from .one_pass import listen, number_of
from .question import Question

FORWARD_OVER = "the forward pass, which was over before the search"
"""What is not looked at where a tensor is asked about that is there already."""


@dataclass(frozen=True, slots=True)
class Births(Answered):
    """Births of NaN and infinity in a model.

    Attributes:
        number: of the backward pass that alone was searched; None where all were.
    """

    about: About
    story: NanStory
    names: Names
    number: int | None = None

    @property
    def findings(self) -> int:
        """As in the base: births."""
        return len(self.story.births)

    @property
    def clean(self) -> bool | None:
        """Return whether nothing is born; None where only a part was searched."""
        return self.story.clean if self.about.scope.is_whole or self.story.births else None


@dataclass(frozen=True, kw_only=True)
class Nan(Question[Births]):
    """Numbers to search for, and the length of the search.

    Attributes:
        big: numbers beyond it count as overflow.
        subnormal: whether numbers too small for full precision count.
        order: 2 for gradients of gradients, too.
        steps: how many steps of training to look at.
        feed: a file of arrays to feed.
    """

    big: float | None = None
    subnormal: bool = False
    order: int = 1
    steps: int | None = None
    feed: str | None = None

    def hunt(self) -> Hunt:
        """A search for what counts."""
        return Hunt(self.big, self.subnormal, self.steps)

    def ask(self, request: Request, notes: Notes = SILENT) -> Births:
        """As in the base; the file is watched while it runs."""
        with self.listen(request) as answer, loader.run_model(request, notes) as left:
            return answer(left, notes)

    @contextlib.contextmanager
    def listen(self, request: Request) -> Iterator[Callable[[Loaded, Notes], Births]]:
        """Search the file that runs inside; yield the function that answers while its model is open."""
        hunt = self.hunt()
        coverage = Coverage(hunt)
        number = number_of(request)
        with listen(coverage, number) as adapter:

            def answer(left: Loaded, notes: Notes) -> Births:
                run_steps(left, self.steps)
                adapter.finish()
                with watch.pause_watchers():
                    end(hunt, left)
                    return replace(self._search(left, request, hunt, coverage, notes), number=number)

            yield answer

    def answer(self, model: Model, notes: Notes = SILENT) -> Births:
        """The answer about a model that is loaded: its own passes are over, one more is searched."""
        hunt = self.hunt()
        coverage = Coverage(hunt)
        run(model, coverage, self, notes)
        return Births(model.about, hunt.story(coverage.find_missing()), model.names())

    def _search(self, left: Loaded, request: Request, hunt: Hunt, coverage: Coverage, notes: Notes) -> Births:
        model = self._model(left, request, hunt)
        again = not hunt.own or (self.order == 2 and not hunt.story().births)
        if request.inputs.arrays is not None and model is not None and not model.computes_while_loading:
            again = True  # what the file itself fed is not what is asked about
        if model is not None and again:
            # A static program has not run before, or its runs are not the one that is looked at.
            if not model.computes_while_loading:
                hunt = self.hunt()
                coverage = Coverage(hunt)
            run(model, coverage, self, notes)
        elif hunt.steps:
            searched = "the requested one, and no other"
            if request.backward is None:
                searched = count(hunt.steps, "backward pass")
            notes.note(f"{left.name} ran backward itself: searched {searched}")
        hunt.steps -= has_two_sides(left.error) and hunt.steps > left.passes  # the pass that failed is none
        unchecked = coverage.find_missing()
        if model is not None and model.live and model.computes_while_loading:
            unchecked.append(FORWARD_OVER)
        if self.order == 2 and model is None:
            unchecked.append(f"gradients of gradients, since {left.name} leaves no loss behind to start from")
        if model is not None:
            return Births(model.about, hunt.story(unchecked), model.names())
        mode = "static" if left.main.global_block().ops else "eager"
        return Births(About(left.name, mode, request.words(), scope=scope_of(left)), hunt.story(unchecked), Names())

    def _model(self, left: Loaded, request: Request, hunt: Hunt) -> Model | None:
        """The model; None where the file ran backward itself and leaves no loss."""
        model = None
        try:
            model = opening.model_in(left, request)
        except CommandError as error:
            if not hunt.steps and callable(left.namespace.get("step")):
                raise CommandError(str(error), "--steps N searches N calls of its function step()") from None
            if not hunt.steps:
                raise
        if self.steps and not (hunt.steps if model is None else hunt.own):
            raise CommandError(
                f"--steps: {left.name} has no function step(), and runs no backward pass itself",
                "put one step of training into step(), or the loop into the file",
            )
        return model


def end(hunt: Hunt, left: Loaded) -> None:
    """Tell a search that the file is over, with the losses and parameters that it leaves and that are not finite.

    Of a file that was cut, what came after the last pass belongs to a step without an end.
    """
    tensors: list[Tensor] = []
    if left.calls.stopped is None:
        values = [*left.namespace.values(), *(left.result if isinstance(left.result, (list, tuple)) else [left.result])]
        tensors += [v.carrier for v in values if is_a(v, Tensor) and v.node is not None and v.spec.count == 1]
        tensors += [birth.parameter for birth in left.births if birth.parameter is not None]
    hunt.end([t.array for t in tensors if magnitudes.kinds(t.array, None, False)], left.error is not None)


def run_steps(left: Loaded, steps: int | None) -> None:
    """Call the file's function ``step`` so many times, if it has one: one step of training."""
    step = left.namespace.get("step")
    if steps and callable(step):
        for _ in range(steps):
            users_code.call(left.name, step)


def run(model: Model, listener: Coverage, asked: Nan, notes: Notes) -> None:
    """One backward pass of *model* under watch."""
    model.must_take({"--feed": asked.feed})
    model.must_be_finite()
    model.run(listener, asked.feed, notes, order=asked.order)
