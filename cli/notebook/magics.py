"""``%load_ext gradtool``: every command as a magic, through the command's own implementation.

``%why w loss`` takes the name of a Tensor, Variable or Program in the notebook where the command line takes a model
file; a file will do as well. ``%%gradtool why`` runs the rest of its cell as a model file. What a command prints
becomes the value of the magic (:class:`~gradtool.cli.notebook.shown.Shown`), an error one short message.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from gradtool.engine import source

from .. import sessions
from ..boundary import told
from ..context import taken_by
from ..errors import CommandError
from ..main import COMMANDS, cli
from .names import CELL, WATCH, as_magic, magic_of
from .session import Session
from .shown import Shown

Magic = tuple[Callable[[str], Any], str]
"""What a magic does with the rest of its line, and one sentence about it; what it returns is shown."""


class Refused(Exception):
    """What gradtool refuses, shown in a notebook as the command line shows it; the cell fails, the kernel goes on."""

    def __init__(self, lines: Sequence[str], code: int) -> None:
        super().__init__(lines[0])
        self.lines = list(map(_hint_as_magic, lines))
        self.code = code

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback: the frames in between are gradtool's own."""
        return [f"error: {self.lines[0]}", *self.lines[1:]]


def _hint_as_magic(line: str) -> str:
    before, hint, command = line.partition("  hint  ")
    return f"{before}{hint}{as_magic(command)}" if hint else line


class Extension:
    """The magics in one shell, and what they have replaced there.

    Args:
        shell: IPython's.
    """

    def __init__(self, shell: Any) -> None:
        self.session = Session(shell)
        self._shell = shell
        self._before: list[tuple[str, str, Any]] = []

    def load(self) -> None:
        """Put the magics in place, and watch cells from this one on."""
        commands = {magic_of(c): (self._command(c), f"{text} MODEL may be a loss.") for c, text in COMMANDS.items()}
        self.register({n: magic for n, magic in commands.items() if n is not None})
        self.register({CELL: (self._line, "Any command of gradtool's."), WATCH: (self._watch, _WATCH)})
        self._put("cell", CELL, self._cell)
        for event, act in self._events():
            self._shell.events.register(event, act)
        source.call_files(self.session.called)
        self.session.begin()

    def unload(self) -> None:
        """Take the magics away again; those that they replaced come back."""
        self.session.end()
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
        return [("pre_run_cell", self.session.begin), ("post_run_cell", self.session.end)]

    def register(self, table: Mapping[str, Magic]) -> None:
        """Put a line magic in place for every entry of *table*; :meth:`unload` takes them away.

        Args:
            table: name -> what the magic does with the rest of its line, and one sentence about it. What it returns is
                shown (``_repr_mimebundle_``), what it raises becomes a short message, and no cell is watched meanwhile.
        """
        for name, (act, text) in table.items():
            self._put("line", name, self._guarded(name, act, text))

    def _put(self, kind: str, name: str, magic: Callable[..., Any]) -> None:
        self._before.append((kind, name, self._shell.magics_manager.magics[kind].get(name)))
        self._shell.register_magic_function(magic, kind, name)

    def _guarded(self, name: str, act: Callable[[str], Any], text: str) -> Callable[[str], Any]:
        def magic(line: str) -> Any:
            with self.session.aside(), sessions.within(self.session):
                try:
                    return act(line)
                except (Exception, click.Abort) as error:
                    lines, code = told(error, line.split())
                    raise Refused(lines, code) from None

        magic.__name__ = magic.__qualname__ = name
        magic.__doc__ = text
        return magic

    # -- what magics do -----------------------------------------------------------------------------------------------

    def _command(self, name: str) -> Callable[[str], Shown | None]:
        return lambda line: _run([name, *_words(line)])

    def _line(self, line: str) -> Shown | None:
        return _run(_words(line))

    def _cell(self, line: str, cell: str) -> Shown | None:
        """Run a command on the rest of the cell: %%gradtool backward --no-grad head.b_0

        The cell is run as a model file is, with fresh programs, names and seeds; nothing of it gets into the notebook.
        Later commands may name it as the cell is called: %why head.w_0 In[5]
        """
        name = self.session.cell()
        self.session.keep(name, cell)
        act = self._guarded(CELL, lambda text: _run(_with_model(_words(text), name)), "")
        found: Shown | None = act(line)
        return found

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


def _with_model(words: list[str], name: str) -> list[str]:
    """The command line with the MODEL that a cell leaves out, or writes as ``-``."""
    if "-" in words:
        return [name if w == "-" else w for w in words]
    found = cli.get_command(click.Context(cli), words[0]) if words else None
    first = next((p.name for p in found.params if isinstance(p, click.Argument)), "") if found is not None else ""
    return [*words[:1], name, *words[1:]] if first == "model" else [*words, name]


def _run(words: list[str]) -> Shown | None:
    """What a command line answers; None if everything was written to files."""
    shown = Shown()
    with taken_by(shown):
        code = cli.main(words, prog_name="gradtool", standalone_mode=False)
    shown.code = code if isinstance(code, int) else shown.code
    return None if shown.empty else shown


_loaded: dict[int, Extension] = {}
"""By the id of the shell, which lives as long as its process."""


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext gradtool`` calls: the commands become magics, and cells are watched.

    Args:
        shell: IPython's ``InteractiveShell``.
    """
    if id(shell) not in _loaded:
        extension = _loaded[id(shell)] = Extension(shell)
        extension.load()


def unload_ipython_extension(shell: Any) -> None:
    """What ``%unload_ext gradtool`` calls: everything is as before.

    Args:
        shell: IPython's ``InteractiveShell``.
    """
    extension = _loaded.pop(id(shell), None)
    if extension is not None:
        extension.unload()


def magics_in(shell: Any) -> Extension | None:
    """The magics in *shell*, to :meth:`~Extension.register` more; None if they are not loaded there."""
    return _loaded.get(id(shell))
