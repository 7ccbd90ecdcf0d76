"""``%load_ext gradtool``: every command as a magic, through the command's own implementation.

``%why w loss`` takes the name of a Tensor, Variable or Program in the notebook where the command line takes a model
file; a file will do as well. ``%%gradtool why`` runs the rest of its cell as a model file. What a command prints
becomes the value of the magic (:class:`~gradtool.cli.notebook.answer_display.CommandOutput`), an error one message.
"""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from gradtool.engine.core import source
from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.script import sessions
from gradtool.paddle import _alias

from ...engine.core.identity import identity
from .. import commands
from ..boundary import describe_error
from ..context import capture_views
from ..main import cli
from .answer_display import CommandOutput
from .debugger import Debugger, SessionStatus
from .error_display import Failed, Refused
from .names import CELL, SESSION, WATCH, magic_of
from .session import NotebookSession

Magic = tuple[Callable[[str], Any], str]
"""What a magic does with the rest of its line, and one sentence about it; what it returns is shown."""


class Extension:
    """The magics in one shell, and what they have replaced there.

    Args:
        shell: IPython's.
    """

    def __init__(self, shell: Any) -> None:
        self.session = NotebookSession(shell)
        self._debugger = Debugger(self.session)
        self._shell = shell
        self._before: list[tuple[str, str, Any]] = []

    def load(self) -> None:
        """Put the magics in place, and watch cells from this one on."""
        acts = {
            magic_of(c): (self._command(c), f"{commands.summary(c)} MODEL may be a loss.") for c in commands.names()
        }
        self.register({n: magic for n, magic in acts.items() if n is not None})
        self.register({CELL: (self._line, "Any command of gradtool's."), WATCH: (self._watch, _WATCH)})
        self._put("cell", CELL, self._cell)
        self.register(self._debugger.magics(), yielding=True)
        if self._magic("cell", SESSION) is None:
            self._put("cell", SESSION, self._run_debug_cell)
        for event, act in self._events():
            self._shell.events.register(event, act)
        source.call_files(self.session.cell_name)
        self.session.start_cell()

    def unload(self) -> None:
        """Take the magics away again; those that they replaced come back."""
        self.session.end_cell()
        source.call_files(None)
        for event, act in self._events():
            self._shell.events.unregister(event, act)
        while self._before:
            kind, name, before = self._before.pop()
            if before is None:
                del self._shell.magics_manager.magics[kind][name]
            else:
                self._shell.magics_manager.magics[kind][name] = before

    def _events(self) -> list[tuple[str, Callable[..., None]]]:
        return [("pre_run_cell", self.session.start_cell), ("post_run_cell", self.session.end_cell)]

    def register(self, table: Mapping[str, Magic], yielding: bool = False) -> None:
        """Put a line magic in place for every entry of *table*; :meth:`unload` takes them away.

        Args:
            table: name -> what the magic does with the rest of its line, and one sentence about it. What it returns is
                shown (``_repr_mimebundle_``), what it raises becomes a short message, and no cell is watched meanwhile.
            yielding: leave magics that have such a name as they are, and hand lines over as they are written: IPython
                fills braces in for other magics.
        """
        for name, (act, text) in table.items():
            if not yielding:
                self._put("line", name, self._guard(name, act, text))
            elif self._magic("line", name) is None:
                magic = self._guard(name, act, text)
                vars(magic)["_ipython_magic_no_var_expand"] = True
                self._put("line", name, magic)

    def _magic(self, kind: str, name: str) -> Any:
        return self._shell.magics_manager.magics[kind].get(name)

    def _put(self, kind: str, name: str, magic: Callable[..., Any]) -> None:
        self._before.append((kind, name, self._magic(kind, name)))
        self._shell.register_magic_function(magic, kind, name)

    def _guard(self, name: str, act: Callable[[str], Any], text: str) -> Callable[[str], Any]:
        def magic(line: str) -> Any:
            with self.session.aside(), sessions.enter_session(self.session):
                try:
                    return act(line)
                except Failed:
                    raise
                except (Exception, click.Abort) as error:
                    lines, code = describe_error(error, line.split(), explained=True)
                    raise Refused(lines, code) from None

        magic.__name__ = magic.__qualname__ = name
        magic.__doc__ = text
        return magic

    # -- what magics do -----------------------------------------------------------------------------------------------

    def _command(self, name: str) -> Callable[[str], CommandOutput | SessionStatus | None]:
        return lambda line: self._run([name, *_words(line)])

    def _line(self, line: str) -> CommandOutput | SessionStatus | None:
        return self._run(_words(line))

    def _run(self, words: list[str]) -> CommandOutput | SessionStatus | None:
        """Return the answer to a command line; None if everything was written to files."""
        shown, before = CommandOutput(), self.session.book
        with capture_views(shown):
            code = cli.main(words, prog_name="gradtool", standalone_mode=False)
        shown.code = code if isinstance(code, int) else shown.code
        opened = self.session.book
        if opened is not None and opened is not before:
            return SessionStatus(opened, shown.notes)
        return None if shown.empty else shown

    def _run_debug_cell(self, line: str, cell: str) -> Any:
        """A cell of the debugger's session: a verb, or Python of several lines that sees v, cur, ins, outs, …"""
        text = "\n".join([*([line] if line.strip() else []), cell.removesuffix("\n")])
        return self._guard(SESSION, self._debugger.line, "")(text)

    def _cell(self, line: str, cell: str) -> CommandOutput | SessionStatus | None:
        """Run a command on the rest of the cell: %%gradtool backward --no-grad head.b_0

        The cell is run as a model file is, with fresh programs, names and seeds; nothing of it gets into the notebook.
        Later commands may name it as the cell is called: %why head.w_0 In[5]
        """
        name = self.session.cell()
        self.session.keep(name, cell)
        act = self._guard(CELL, lambda text: self._run(_add_model(_words(text), name)), "")
        shown: CommandOutput | SessionStatus | None = act(line)
        return shown

    def _watch(self, line: str) -> None:
        wanted = line.strip() or ("off" if self.session.watches else "on")
        if wanted not in ("on", "off"):
            raise CommandError(f"%{WATCH} {wanted}: expected on or off")
        self.session.watches = wanted == "on"
        print(f"cells are {'' if self.session.watches else 'not '}watched from the next one on")


_WATCH = (
    "Watch what cells compute, or do not: %watching on, %watching off. Watched, a loss of dynamic mode can be "
    "explained by %why, and its operators take longer."
)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise CommandError(f"{line.strip()}: {error}") from None


def _add_model(words: list[str], name: str) -> list[str]:
    """The command line with the MODEL that a cell leaves out, or writes as ``-``."""
    if "-" in words:
        return [name if w == "-" else w for w in words]
    command = cli.get_command(click.Context(cli), words[0]) if words else None
    first = next((p.name for p in command.params if isinstance(p, click.Argument)), "") if command is not None else ""
    return [*words[:1], name, *words[1:]] if first == "model" else [*words, name]


_loaded: dict[int, Extension] = {}
"""By the id of the shell, which lives as long as its process."""

_stands_in: set[int] = set()
"""Ids of shells in which ``import paddle`` finds gradtool since the extension was loaded."""


def load_ipython_extension(shell: Any) -> None:
    """Make the commands magics, and watch cells: ``%load_ext gradtool``.

    Where no real Paddle is installed, ``import paddle`` finds gradtool in the cells that follow, as it does in scripts.

    Args:
        shell: IPython's ``InteractiveShell``.
    """
    if identity(shell) not in _loaded:
        if "paddle" not in sys.modules and importlib.util.find_spec("paddle") is None:
            _alias.install()
            _stands_in.add(identity(shell))
        extension = _loaded[identity(shell)] = Extension(shell)
        extension.load()


def unload_ipython_extension(shell: Any) -> None:
    """Make everything as it was before: ``%unload_ext gradtool``.

    Args:
        shell: IPython's ``InteractiveShell``.
    """
    extension = _loaded.pop(identity(shell), None)
    if extension is not None:
        extension.unload()
    if identity(shell) in _stands_in:
        _stands_in.discard(identity(shell))
        _alias.uninstall()


def magics_in(shell: Any) -> Extension | None:
    """The magics in *shell*, to :meth:`~Extension.register` more; None if they are not loaded there."""
    return _loaded.get(identity(shell))
