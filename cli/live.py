"""Models of a running program: losses that it holds by a name, asked about as the loss of a file is.

While the program computes it is noted what a command notes while a model file runs (:class:`Live`): a journal of
dynamic mode, freed graphs, the last feed of each program, the parameter lists and no-grad sets of ``append_backward``.
"""

from __future__ import annotations

import contextlib
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.core import source, state
from gradtool.engine.core.errors import LossError
from gradtool.engine.core.source import Location
from gradtool.engine.eager.journal import Journal, keep_journal
from gradtool.engine.eager.parameter import ParameterRecord
from gradtool.engine.eager.pass_start import PassRequest, Start
from gradtool.engine.eager.recorded_calls import nodes_behind
from gradtool.engine.eager.tape import as_they_were, keep_graphs
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.executor.scope import Scope, global_scope, scope_guard
from gradtool.engine.ir import default
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.recorders import live as running
from gradtool.engine.request.request import Request
from gradtool.engine.script.calls import PassCall
from gradtool.engine.script.script_state import Loaded
from gradtool.paddle.nn import Layer

from ..engine.core.identity import identity
from .loss_namespace import select_related, tensors_of

Context = contextlib.AbstractContextManager[Loaded]

_CALLS = 1 << 16
"""Calls of dynamic mode that are remembered at least."""


class _Given(NamedTuple):
    """Beginning of a backward pass: its roots, the gradients given there, and the line."""

    roots: Sequence[weakref.ref[Tensor]]
    gradients: tuple[Any, ...]
    location: Location


class Live(ABC):
    """Contents of a running program, and its events; the half of a ``sessions.LiveSession`` that gives models.

    Args:
        journal: what is written in; a new one by default.

    Attributes:
        births: of parameters that are part of a model even where no name leads to them.
    """

    def __init__(self, journal: Journal | None = None) -> None:
        self._journal = Journal(limit=_CALLS) if journal is None else journal
        self._starts = [0]
        self._fed: WeakKeyDictionary[Program, Mapping[str, Any]] = WeakKeyDictionary()
        self._made: WeakKeyDictionary[Program, list[PassCall]] = WeakKeyDictionary()
        self._given: dict[int, _Given] = {}
        """By the identity of a loss, how backward began there, where that was not one loss with ones."""
        self._watch: contextlib.ExitStack | None = None
        self._by_graph: Callable[[], Sequence[Answer]] | None = None
        """Answers about the loss of a framework that is asked about, from its graph alone."""
        self.births: list[ParameterRecord] = []

    @abstractmethod
    def names(self) -> dict[str, Any]:
        """The user's names, and what they stand for."""

    # -- watching -----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Watch from here on, where something new begins: a cell, a test."""
        self.end()
        self._starts.append(self._journal.tick())
        self._resume()

    def _resume(self) -> None:
        self._watch = contextlib.ExitStack()
        for watching in self._watchers():
            self._watch.enter_context(watching)

    def _watchers(self) -> Iterator[contextlib.AbstractContextManager[Any]]:
        """Yield the contexts to enter for watching."""
        yield keep_journal(journal=self._journal)
        yield keep_graphs()
        yield state.runs.watch(self._ran)
        yield state.appended.watch(self._note_append)
        yield state.passes.listen(self._note_backward)
        yield running.listen()

    def end(self) -> None:
        """Watch no more; what began is over."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Inside, nothing is watched: a command runs."""
        watched = self._watch is not None
        self.end()
        try:
            yield
        finally:
            if watched:
                self._resume()

    def _ran(self, program: Program, feed: Mapping[str, Any]) -> None:
        if feed:
            self._fed[program] = feed

    def _note_append(self, loss: Variable, listed: Any, no_grad: Any, checkpoints: Sequence[str]) -> None:
        names = None if listed is None else [v.name for v in listed]  # a variable would keep its program alive
        made = PassCall(0, "append_backward", loss.name, source.here(), names, set(no_grad), checkpoints)
        self._made.setdefault(loss.block.program, []).append(made)

    def _note_backward(
        self, roots: Sequence[Tensor], how: str, recorded: bool, request: PassRequest | None = None
    ) -> None:
        start = Start.of(roots, () if request is None else request.gradients)
        if how != "backward":
            return
        loss = start.loss
        self._given.pop(identity(loss), None)
        if not start.is_plain:
            key = identity(loss)
            references = [weakref.ref(t, lambda _: self._given.pop(key, None)) for t in start.roots]
            self._given[key] = _Given(references, start.gradients, source.here())

    def _call_of(self, loss: Tensor) -> list[PassCall]:
        """The backward pass that began at *loss*, where it was given gradients or several roots."""
        given = self._given.get(identity(loss))
        roots = () if given is None else tuple([t for t in (r() for r in given.roots) if t is not None])
        if given is None or len(roots) < len(given.roots):
            return []
        return [PassCall(1, "backward", loss, given.location, start=Start(roots, given.gradients))]

    # -- models -------------------------------------------------------------------------------------------------------

    def model_of(self, value: Any, request: Request) -> Context | None:
        """Return the context that the loader makes of *value*; None if it is no Tensor, Variable or Program.

        Args:
            request: its model is what answers call it.
        """
        names = self.names()
        if running.is_foreign(value):
            self._by_graph = partial(running.program().explain_by_graph, value, names)
            value = _stand_in(value)
        names = dict(running.names(names))
        for kind, model in _LIVE:
            if isinstance(value, kind):
                return model(self, value, names, request)
        return None

    @contextlib.contextmanager
    def _tensor(self, loss: Tensor, names: Mapping[str, Any], request: Request) -> Iterator[Loaded]:
        """A loss of dynamic mode, as it stands; what is done to its graph is undone."""
        if request.run.spared:
            Loaded(request.model, {}, Program(), Program(), live=True).must_run("--prove")
        nodes = nodes_behind([loss])
        journal = self._journal if self._journal.knows(loss, nodes) else None
        values = {n: v for n, v in names.items() if not isinstance(v, (Program, Variable))}
        kept = select_related(values, loss, nodes, journal, self._starts)
        with state.keep_state(), as_they_were(nodes):
            state.disable_static()
            left = Loaded(request.model, kept, Program(), Program(), request.model, loss, journal=journal, live=True)
            left.calls.swept += self._call_of(loss)
            left.by_graph = self._by_graph if journal is None else None
            others = {identity(t) for n, v in values.items() if n not in kept for t in tensors_of(v)}
            left.births = [b for b in self.births if identity(b.parameter) not in others]
            yield left

    @contextlib.contextmanager
    def _program(self, of: Program | Variable, names: Mapping[str, Any], request: Request) -> Iterator[Loaded]:
        """A copy of a program, and of the values that its parameters have now."""
        program = of if isinstance(of, Program) else of.block.program
        copy = _copy(program)

        def twin(v: Any) -> Any:
            if v is program:
                return copy
            return copy.blocks[v.block.idx].vars[v.name] if _is_in(program, v) else v

        kept = {
            n: twin(v) for n, v in names.items() if not isinstance(v, (Tensor, Layer, Variable)) or _is_in(program, v)
        }
        scope = Scope()
        scope.values.update(global_scope().values)
        with state.keep_state(), scope_guard(scope):
            state.enable_static()
            fed = self._fed.get(program)
            loaded = Loaded(
                request.model, kept, copy, default.default_startup_program(), request.model, twin(of), live=True
            )
            loaded.calls.fed = [] if fed is None else [(copy, fed)]
            block = copy.global_block()
            for made in self._made.get(program, ()):
                theirs = None if made.listed is None else [block.vars[n] for n in made.listed if n in block.vars]
                if made.loss in block.vars:
                    calls = loaded.calls.appended
                    calls.append(replace(made, number=len(calls) + 1, loss=block.vars[made.loss], listed=theirs))
            yield loaded


_LIVE: tuple[tuple[Any, Callable[[Live, Any, Mapping[str, Any], Request], Context]], ...] = (
    (Tensor, Live._tensor),
    (Variable, Live._program),
    (Program, Live._program),
)


def _stand_in(loss: Any) -> Any:
    """Return what stands for a foreign loss; without its gradients where the framework has freed its graph."""
    try:
        return running.stand_in(loss)
    except LossError:
        return running.stand_in(loss, differentiated=False)


def _is_in(program: Program, v: Any) -> bool:
    return isinstance(v, Variable) and v.block.program is program


def _copy(program: Program) -> Program:
    """A clone whose variables stand in the order in which they were made."""
    copy = program.clone()
    for block, twin in zip(program.blocks, copy.blocks, strict=True):
        twin.vars = {name: twin.vars[name] for name in block.vars}
    return copy
