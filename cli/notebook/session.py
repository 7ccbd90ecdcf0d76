"""The models of a notebook: losses in its namespace, and cells that were run as model files."""

from __future__ import annotations

import contextlib
import sys
from importlib import util
from typing import Any

from gradtool.engine.core.command_errors import CommandError, unknown
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.loading.targets import exists
from gradtool.engine.recorders import live as running
from gradtool.engine.request.request import Request
from gradtool.engine.script.script_state import Loaded
from gradtool.viz.debugger.notebook import Notebook

from ..live import Live


class NotebookSession(Live):
    """Models of a notebook, and their events; a ``sessions.LiveSession``.

    While cells run they are watched, so that a loss in the notebook is explained as well as one in a file.

    Args:
        shell: IPython's.

    Attributes:
        watches: whether cells are watched.
        book: the session of the debugger that is open.
    """

    def __init__(self, shell: Any) -> None:
        super().__init__()
        self._shell = shell
        self._cells: dict[str, str] = {}
        self.watches = True
        self.book: Notebook | None = None

    # -- watching cells -----------------------------------------------------------------------------------------------

    def start_cell(self, *_: Any) -> None:
        """Watch from here on, if cells are watched; a cell begins."""
        self.end()
        if self.watches:
            self.begin()

    def end_cell(self, *_: Any) -> None:
        """Watch no more; the cell is over."""
        self.end()

    # -- names --------------------------------------------------------------------------------------------------------

    def cell(self) -> str:
        """Return the name of the running cell: ``In[3]``."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            name = self.cell_name(frame.f_code.co_filename)
            if name is not None:
                return name
            frame = frame.f_back
        return f"In[{self._shell.execution_count}]"

    def cell_name(self, file: str) -> str | None:
        """``In[3]``, if that is what *file* stands for."""
        name = self._shell.compile.format_code_name(file)
        return None if name is None else str(name[1])

    def names(self) -> dict[str, Any]:
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
        """Return whether *name* is that of a cell, of a program, or of something computed."""
        return name in self._cells or self._is_model(self.names().get(name))

    @staticmethod
    def _is_model(value: Any) -> bool:
        """Return whether a value is a program, or was computed."""
        if isinstance(value, Tensor) or running.is_foreign(value):
            return not value.is_leaf
        return isinstance(value, (Variable, Program))

    def value(self, name: str) -> Any:
        """Return the notebook's value of a name, or None."""
        return self.names().get(name)

    def start_debugging(self, book: Notebook) -> None:
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
        names = self.names()
        model = self.model_of(names.get(name), request)
        if model is not None:
            return model
        if not exists(name) and util.find_spec(name) is None:
            kinds = (Tensor, Variable, Program)
            known = [n for n, v in names.items() if isinstance(v, kinds) or running.is_foreign(v)]
            raise unknown("loss, file or module", name, known)
        return None
