"""The models of a notebook: losses in its namespace, and cells that were run as model files."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import util
from typing import Any
from weakref import WeakKeyDictionary

from gradtool.engine.core import source, state
from gradtool.engine.eager.journal import Journal, keeping
from gradtool.engine.eager.recorded import nodes_behind
from gradtool.engine.eager.tape import as_they_were, keeping_graphs
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.executor.scope import Scope, global_scope, scope_guard
from gradtool.engine.ir import default
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.models.calls import PassCall
from gradtool.models.errors import CommandError, unknown
from gradtool.models.loader import Loaded, Request
from gradtool.models.targets import exists
from gradtool.nn import Layer
from gradtool.viz.debugger.notebook import Notebook

from .related import related

Context = contextlib.AbstractContextManager[Any]


_CALLS = 1 << 16
"""Calls of dynamic mode that a notebook remembers at least."""


class Session:
    """What a notebook's models are, and what happened to them; a ``sessions.Session``.

    While cells run it is noted what a command notes while a model file runs, so that a loss in the notebook is
    explained as well as one in a file: a journal of dynamic mode, freed graphs, the last feed of each program, the
    parameter lists and no-grad sets of ``append_backward``.

    Args:
        shell: IPython's.

    Attributes:
        watches: whether cells are watched.
        book: the session of the debugger that is open.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cells: dict[str, str] = {}
        self._journal = Journal(limit=_CALLS)
        self._starts = [0]
        self._fed: WeakKeyDictionary[Program, Mapping[str, Any]] = WeakKeyDictionary()
        self._made: WeakKeyDictionary[Program, list[tuple[Any, ...]]] = WeakKeyDictionary()
        self._watch: contextlib.ExitStack | None = None
        self.watches = True
        self.book: Notebook | None = None

    # -- watching cells -----------------------------------------------------------------------------------------------

    def begin(self, *_: Any) -> None:
        """Watch from here on, if cells are watched; a cell begins."""
        self.end()
        if self.watches:
            self._starts.append(self._journal.tick())
            self._resume()

    def _resume(self) -> None:
        watch = contextlib.ExitStack()
        watch.enter_context(keeping(journal=self._journal))
        watch.enter_context(keeping_graphs())
        watch.enter_context(state.runs.watched(self._ran))
        watch.enter_context(state.appended.watched(self._appended))
        self._watch = watch

    def end(self, *_: Any) -> None:
        """Watch no more; the cell is over."""
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

    def _appended(self, loss: Variable, listed: Any, no_grad: Any) -> None:
        names = None if listed is None else [v.name for v in listed]  # a variable would keep its program alive
        self._made.setdefault(loss.block.program, []).append((loss.name, names, set(no_grad), source.here()))

    # -- names --------------------------------------------------------------------------------------------------------

    def cell(self) -> str:
        """What the cell that is running is called: ``In[3]``."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            name = self.called(frame.f_code.co_filename)
            if name is not None:
                return name
            frame = frame.f_back
        return f"In[{self._shell.execution_count}]"

    def called(self, file: str) -> str | None:
        """``In[3]``, if that is what *file* stands for."""
        name = self._shell.compile.format_code_name(file)
        return None if name is None else str(name[1])

    def _names(self) -> dict[str, Any]:
        """The user's names: without those of the shell, and of what it keeps of earlier cells."""
        hidden = self._shell.user_ns_hidden
        return {
            n: v
            for n, v in self._shell.user_ns.items()
            if not n.startswith("_") and not (n in hidden and hidden[n] is v)
        }

    # -- models -------------------------------------------------------------------------------------------------------

    def keep(self, name: str, text: str) -> None:
        """Let *name* stand for the text of a cell."""
        self._cells[name] = text

    def source(self, name: str) -> str | None:
        """The text of a cell that was run as a model."""
        return self._cells.get(name)

    def has(self, name: str) -> bool:
        """Whether *name* is that of a cell, of a program, or of something computed."""
        value = self._names().get(name)
        leaf = isinstance(value, Tensor) and value.is_leaf
        return name in self._cells or (isinstance(value, (Tensor, Variable, Program)) and not leaf)

    def value(self, name: str) -> Any:
        """What the notebook has under a name, or None."""
        return self._names().get(name)

    def debugging(self, book: Notebook) -> None:
        """Have the debugger's magics work on *book*."""
        self.book = book

    def live(self, request: Request) -> contextlib.AbstractContextManager[Loaded] | None:
        """The Tensor, Variable or Program that *request* names.

        Raises:
            CommandError: the name is nothing at all, or a cell that is no model.
        """
        name = request.model
        if name == "-":
            raise CommandError("a notebook has no standard input", "%%gradtool takes the rest of its cell")
        if name.startswith("In[") and name.partition(":")[0] not in self._cells:
            raise unknown("cell that begins with %%gradtool:", name, self._cells)
        if not name.isidentifier():
            return None
        names = self._names()
        for kind, model in _LIVE:
            if isinstance(names.get(name), kind):
                return model(self, names[name], names, request)
        if not exists(name) and util.find_spec(name) is None:
            known = [n for n, v in names.items() if isinstance(v, (Tensor, Variable, Program))]
            raise unknown("loss, file or module", name, known)
        return None

    @contextlib.contextmanager
    def _tensor(self, loss: Tensor, names: Mapping[str, Any], request: Request) -> Iterator[Loaded]:
        """A loss of dynamic mode, as it stands; what is done to its graph is undone."""
        if request.spared:
            Loaded(request.model, {}, Program(), Program(), live=True).must_run("--prove")
        nodes = nodes_behind([loss])
        journal = self._journal if self._journal.knows(loss, nodes) else None
        kept = {n: v for n, v in names.items() if not isinstance(v, (Program, Variable))}
        kept = related(kept, loss, nodes, journal, self._starts)
        with state.kept(), as_they_were(nodes):
            state.disable_static()
            yield Loaded(request.model, kept, Program(), Program(), request.model, loss, journal=journal, live=True)

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
        with state.kept(), scope_guard(scope):
            state.enable_static()
            fed = self._fed.get(program)
            loaded = Loaded(
                request.model, kept, copy, default.default_startup_program(), request.model, twin(of), live=True
            )
            loaded.calls.fed = [] if fed is None else [(copy, fed)]
            block = copy.global_block()
            for name, listed, no_grad, where in self._made.get(program, ()):
                theirs = None if listed is None else [block.vars[n] for n in listed if n in block.vars]
                if name in block.vars:
                    calls = loaded.calls.appended
                    calls.append(PassCall(len(calls) + 1, "append_backward", block.vars[name], where, theirs, no_grad))
            yield loaded


_LIVE: tuple[tuple[Any, Callable[[Session, Any, Mapping[str, Any], Request], Context]], ...] = (
    (Tensor, Session._tensor),
    (Variable, Session._program),
    (Program, Session._program),
)


def _is_in(program: Program, v: Any) -> bool:
    return isinstance(v, Variable) and v.block.program is program


def _copy(program: Program) -> Program:
    """A clone whose variables stand in the order in which they were made."""
    copy = program.clone()
    for block, twin in zip(program.blocks, copy.blocks, strict=True):
        twin.vars = {name: twin.vars[name] for name in block.vars}
    return copy
