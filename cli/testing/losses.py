"""The losses of a test as models: while the test and its fixtures run it is watched as a model file is."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import Any

from gradtool.engine.answers.coverage import Coverage
from gradtool.engine.answers.events import Adapter
from gradtool.engine.answers.nan import Hunt
from gradtool.engine.core import state, watch
from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.errors import UsageError
from gradtool.engine.eager import journal
from gradtool.engine.eager.journal import Journal
from gradtool.engine.eager.parameter import ParameterRecord
from gradtool.engine.eager.recorded_calls import nodes_behind
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable
from gradtool.engine.kinds.model import Model
from gradtool.engine.loading import opening
from gradtool.engine.questions.nan import Births, Nan
from gradtool.engine.recorders import live as running
from gradtool.engine.request.request import Request
from gradtool.engine.script import sessions
from gradtool.engine.script.calls import frame_names as frames_running
from gradtool.engine.script.paths import is_users

from ..live import Context, Live

_RUNNERS = ("_pytest", "pluggy", "unittest")
"""Packages whose frames end what belongs to a test."""


class TestedSession(Live):
    """Tensors of a test, and its events; a ``sessions.LiveSession``.

    Args:
        name: what answers call the model.
        values: names that the test has beside those of its functions: its module's, its fixtures'.
        kept: a journal that is kept already.

    Attributes:
        hunt: a search for NaN and infinity through all that the test computes.
        backpropagated: the losses of its backward passes, each with the names of the functions that were running.
        file: the test's, if it has one.
        update: whether graphs that are kept as text are written and not compared.
    """

    def __init__(
        self,
        name: str,
        values: Mapping[str, Any],
        file: str = "",
        *,
        update: bool = False,
        kept: Journal | None = None,
    ) -> None:
        super().__init__(kept)
        self.name, self.file, self.update = name, file, update
        self.hunt = Hunt()
        self.coverage = Coverage(self.hunt)
        self.backpropagated: list[tuple[str, Any, dict[str, Any]]] = []
        self.loss: Any = None
        self._adapter = Adapter(self.coverage)
        self._values = values
        self._names: dict[str, Any] = {}
        self._parameters: list[Any] = []

    def names(self) -> dict[str, Any]:
        """As in the base."""
        return self._names

    def _watchers(self) -> Iterator[contextlib.AbstractContextManager[Any]]:
        yield from super()._watchers()
        yield state.made.watch(self._born)
        yield state.passes.watch(self._began)
        yield watch.watch(self._adapter)

    def _born(self, birth: ParameterRecord) -> None:
        """Note a parameter, and keep it: what a function makes would be gone when it returns its loss."""
        self.births.append(birth)
        self._parameters.append(birth.parameter)

    def _began(self, roots: Sequence[Any], how: str, recorded: bool, *_: Any) -> None:
        if roots:
            names = {name: value for scope in frames_running(sys._getframe(1)) for name, value in scope.values.items()}
            self.backpropagated.append((how, roots[0], names))

    def _note_append(self, loss: Variable, listed: Any, no_grad: Any, checkpoints: Sequence[str]) -> None:
        super()._note_append(loss, listed, no_grad, checkpoints)
        self.backpropagated.append(("append_backward", loss, {}))

    @contextlib.contextmanager
    def loss_request(
        self,
        loss: Any,
        names: Mapping[str, Any],
        feed: Mapping[str, Any] | None = None,
        *,
        graph_will_do: bool = False,
    ) -> Iterator[Request]:
        """Inside, the model of the request that is given is *loss*, and nothing is watched.

        Args:
            names: of the functions that are running.
            feed: of a static program; what it was run with last if None.
            graph_will_do: a framework's graph may answer where nobody listened.

        Raises:
            UsageError: *loss* was computed before the test was watched, or is no loss.
        """
        foreign, self._by_graph = loss, None
        loss = running.stand_in(loss, differentiated=not graph_will_do)
        if not isinstance(loss, (Tensor, Variable)):
            raise UsageError(
                f"expected a loss Tensor, a loss Variable or a function that computes one, but received "
                f"{type(loss).__name__}."
            )
        if isinstance(loss, Tensor) and feed is not None:
            raise UsageError(f"'feed' is for static programs, and '{loss.name}' is a Tensor.")
        unheard = isinstance(loss, Tensor) and not self._journal.knows(loss, nodes_behind([loss]))
        if unheard and graph_will_do and foreign is not loss:
            values = {**running.names_of_callers(), **self._values, **names}
            self._by_graph = partial(running.program().explain_by_graph, foreign, values)
        elif unheard:
            raise UsageError(
                f"nothing is known of the tensor '{loss.name}': it was computed before this test, or nobody watched.",
                hint="compute it in a test that takes the fixture 'gradients' or has the marker gradtool, or give a "
                "function that computes it",
            )
        if feed is not None:
            self._fed[loss.block.program] = dict(feed)
        before = self.loss, self._names
        self.loss, self._names = loss, {**self._values, **names}
        try:
            with self.aside(), sessions.enter_session(self):
                yield Request(self.name)
        finally:
            self.loss, self._names = before

    def births_of(self, request: Request) -> Births:
        """Return the places where NaN and infinity are born in the model of a request that :meth:`loss_request` gave.

        What was born forward, before anyone asked, was seen by :attr:`hunt`.
        """
        with open_model(request) as model:
            try:
                model.must_be_finite()
            except CommandError as bad:
                if model.has_graph and not self.hunt.steps:
                    model.run(self.coverage)
                births = Births(model.about, self.hunt.story(self.coverage.find_missing()), model.names())
                if births.story.births:
                    return births
                hint = "compute it in the test, or give a function that computes it"
                raise CommandError(bad.message, hint) from None
            return Nan().answer(model)

    # -- as a session -------------------------------------------------------------------------------------------------

    def source(self, name: str) -> str | None:
        """No text stands for a model."""
        return None

    def has(self, name: str) -> bool:
        """Return whether *name* is that of the loss."""
        return name == self.name

    def live(self, request: Request) -> Context | None:
        """The loss that is asked about."""
        return self.model_of(self.loss, request) if request.model == self.name else None

    def value(self, name: str) -> Any:
        """Nothing has a name that commands could use."""
        return None

    def start_debugging(self, book: Any) -> None:
        """There is no prompt in a test."""
        raise CommandError("a test has no prompt", "gradtool debug FILE opens the debugger on a model file")


@contextlib.contextmanager
def open_model(request: Request, **needs: Any) -> Iterator[Model]:
    """The model of a request that :meth:`TestedSession.loss_request` gave.

    Args:
        needs: what a question needs of it, as its ``needs`` say.
    """
    with opening.open_model(request.change(**needs)) as model:
        yield model


_current: list[TestedSession] = []


def current() -> TestedSession | None:
    """Return the session of the running test; None where no test is watched."""
    return _current[-1] if _current else None


@contextlib.contextmanager
def watch_test(item: Any) -> Iterator[None]:
    """Watch a test with its fixtures.

    Args:
        item: pytest's.
    """
    held = TestedSession(item.name, _Values(item), str(item.path), update=item.config.getoption("gradtool_update"))
    with _watch(held):
        yield


@contextlib.contextmanager
def _watch(held: TestedSession) -> Iterator[TestedSession]:
    _current.append(held)
    held.begin()
    try:
        yield held
    finally:
        held.end()
        _current.remove(held)


class _Values(Mapping[str, Any]):
    """The names of a test's module and of its fixtures, as they are when they are asked for."""

    def __init__(self, item: Any) -> None:
        self._item = item

    def _now(self) -> dict[str, Any]:
        module = vars(getattr(self._item, "module", None) or object)
        own = vars(getattr(self._item, "instance", None) or object)
        return {**module, **_plain(own), **getattr(self._item, "funcargs", {})}

    def __getitem__(self, name: str) -> Any:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


@contextlib.contextmanager
def request_for(
    loss: Any, feed: Mapping[str, Any] | None = None, *, graph_will_do: bool = False
) -> Iterator[tuple[TestedSession, Request]]:
    """Yield the session that holds *loss*, and a request for its model; a function is called under watch and gives the
    loss.

    Args:
        feed: arrays by name for a static program.
        graph_will_do: see :meth:`TestedSession.loss_request`.

    Raises:
        UsageError: *loss* is a Tensor, and no test is watched; or it is no loss.
    """
    names = names_of_callers()
    with contextlib.ExitStack() as stack:
        holder = current() or TestedSession("loss", {}, kept=journal.current())
        if callable(loss) and not isinstance(loss, (Tensor, Variable)):
            if current() is None:
                stack.enter_context(_watch(holder))
            names["function"] = loss
            with running.listen():
                loss = _loss_in(loss())
        yield holder, stack.enter_context(holder.loss_request(loss, names, feed, graph_will_do=graph_will_do))


def _loss_in(value: Any) -> Any:
    entries = value if isinstance(value, (list, tuple)) else [value]
    return next((v for v in entries if isinstance(v, (Tensor, Variable)) or running.is_foreign(v)), value)


def names_of_callers() -> dict[str, Any]:
    """Return the values by name in the user's functions that are running, those of inner functions before others."""
    frames: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] in _RUNNERS:
            break
        if is_users(module) and frame.f_code.co_name != "<module>":
            frames.append(frame)
        frame = frame.f_back
    return {name: value for frame in reversed(frames) for name, value in frame.f_locals.items()}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not name.startswith("_")}
