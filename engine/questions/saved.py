"""``saved``: the forward values that backward keeps alive."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from ..answers import backend_replay
from ..answers.pass_count import PassCount
from ..answers.saved import Keeper, SavedStory, mark_leaves
from ..core import watch
from ..core.answer import Answered
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.about import About
from ..kinds.model import Model
from ..kinds.names import Names
from ..loading import loader, opening
from ..request.request import Request
from ..script.script_state import Loaded
from .one_pass import listen, number_of
from .question import Question


@dataclass(frozen=True, slots=True)
class Kept(Answered):
    """Buffers that backward keeps alive in a model.

    Attributes:
        number: of the backward pass that was asked for; None for the last one.
    """

    about: About
    story: SavedStory
    names: Names
    number: int | None = None


@dataclass(frozen=True, kw_only=True)
class Saved(Question[Kept]):
    """Options of the run.

    Attributes:
        feed: a file of arrays to feed.
    """

    feed: str | None = None

    def ask(self, request: Request, notes: Notes = SILENT) -> Kept:
        """As in the base; the file is watched while it runs."""
        with backend_replay.as_it_was(), self.listen(request) as answer, loader.run_model(request, notes) as left:
            return answer(left, notes)

    @contextlib.contextmanager
    def listen(self, request: Request) -> Iterator[Callable[[Loaded, Notes], Kept]]:
        """Watch the file that runs inside; yield the function that answers while its model is open."""
        keeper = Keeper()
        passes = PassCount(keeper)
        number = number_of(request)

        def answer(left: Loaded, notes: Notes) -> Kept:
            with watch.pause_watchers():
                model = opening.model_in(left, request)
                if not model.computes_while_loading:
                    return self.answer(model, notes)
                model.must_run("saved")
                model.must_take({"--feed": self.feed})
                if not passes.count:
                    model.run(keeper)
                return Kept(model.about, keeper.story(), model.names(), number)

        with contextlib.ExitStack() as stack:
            with backend_replay.as_it_was():  # other readers of the same run may want what the backend computes
                stack.enter_context(listen(passes, number))
            stack.enter_context(mark_leaves())
            yield answer

    def answer(self, model: Model, notes: Notes = SILENT) -> Kept:
        """Return the buffers that one run of a program keeps; a model of dynamic mode has to be watched while
        it is loaded.
        """
        if model.computes_while_loading:
            return self.ask(model.must_have_request("saved"), notes)
        keeper = Keeper()
        model.run(keeper, self.feed, notes)
        return Kept(model.about, keeper.story(), model.names())
