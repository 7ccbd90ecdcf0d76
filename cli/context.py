"""Options that commands share, and where results and notes go.

Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import field
from typing import Any, Final, Protocol, TypeVar

import click

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.records import dataclass
from gradtool.engine.request.limits import (
    EACH,
    ENGINES,
    ENOUGH,
    LOSS_FUNCTIONS,
    PATIENCE,
    passes_watched,
    which_pass,
)
from gradtool.viz.text import legible
from gradtool.viz.views import view as views

from . import streams, terminal
from .backend_options import add_backend_options
from .boundary import describe_error, say
from .files import Content, write_all
from .main import RAISED, SCRIPT
from .rare_options import RareOption

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

OF_EACH = ("backward", "why", "nan", "stats", "stats --time", "gradcheck")
"""The commands that answer about every distinct backward pass if they are asked to."""

STDOUT = "-"
"""Standard output, where an option takes the name of a file to write."""

FORMATS = ("text", "json", "tsv", "markdown")


def _options(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    def add(command: F) -> F:
        for decorate in reversed(decorators):
            command = decorate(command)
        return command

    return add


def output_options(command: F, more: tuple[str, ...] = ()) -> F:
    """Add the options of results; *more* are forms that only this command has."""
    forms = click.Choice((*FORMATS, *more))
    return _options(
        click.option("--format", "format_", type=forms, default="text", help="Choose the form of the result."),
        click.option("-o", "--output", metavar="FILE", help="Write the result to FILE, whole or not at all."),
        note_options,
        color_option,
        ascii_option,
    )(command)


def note_options(command: F) -> F:
    """Add ``--quiet`` and ``--verbose``."""
    return _options(
        click.option("-q", "--quiet", cls=RareOption, is_flag=True, help="Print no notes on stderr."),
        click.option("-v", "--verbose", cls=RareOption, count=True, help="Print more detail."),
    )(command)


def color_option(command: F) -> F:
    """Add ``--color``."""
    return click.option(
        "--color",
        cls=RareOption,
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help="Use colours; NO_COLOR turns them off, too.",
    )(command)


def ascii_option(command: F) -> F:
    """Add ``--ascii``."""
    return click.option("--ascii", "ascii_", cls=RareOption, is_flag=True, help="Use ASCII characters only.")(command)


def exit_option(*, always: bool = False) -> Callable[[F], F]:
    """``--exit-code``.

    Args:
        always: the command is a gate: it needs no option for that.
    """
    what = "Exit with 1 if there is a finding" + (" (always on in this command)." if always else ".")
    return click.option("--exit-code", is_flag=True, default=always, help=what)


def mesh_option(command: F) -> F:
    """Add ``--mesh``: one step as several devices that share the rows compute it."""
    return click.option(
        "--mesh",
        metavar="data=N",
        help="Compute one step as N devices that share the rows would, and print what differs.",
    )(command)


def feed_option(command: F) -> F:
    """Add ``--feed``: arrays for a program, or for a function."""
    return click.option("--feed", metavar="FILE[ROWS]", help="Feed the arrays in FILE, by their names.")(command)


def model_options(command: F) -> F:
    """Add MODEL, and the options of loading and computing."""
    return _options(click.argument("model"), add_model_options, add_backend_options)(command)


def add_model_options(command: F) -> F:
    """Add the options of loading a model."""
    return _options(
        click.option(
            "--loss", cls=RareOption, metavar="NAME", help="Take NAME as the loss: a Python name or a tensor name."
        ),
        click.option(
            "--loss-fn",
            cls=RareOption,
            type=click.Choice(LOSS_FUNCTIONS),
            help="Make a loss for a saved program that has none: compare its output (or --loss) with --label.",
        ),
        click.option(
            "--label", cls=RareOption, metavar="NAME", help="Feed the label of --loss-fn as NAME.  [default: label]"
        ),
        click.option(
            "--arg",
            cls=RareOption,
            multiple=True,
            metavar="NAME=VALUE",
            help="Pass an argument to the model's function; repeatable.",
        ),
        click.option(
            "--seed", cls=RareOption, type=int, default=0, show_default=True, help="Seed parameters and random feeds."
        ),
        click.option(
            "--mode",
            cls=RareOption,
            type=click.Choice(["auto", "static", "eager"]),
            default="auto",
            help="Choose the mode; static: as if the file began with paddle.enable_static().",
        ),
        click.option(
            "--engine",
            cls=RareOption,
            type=click.Choice(ENGINES),
            default="gradtool",
            help="Choose what runs a script; paddle: the real one, in a process of its own (of GRADTOOL_PYTHON).",
        ),
        click.option(
            "--stdin-filename", cls=RareOption, metavar="NAME", default="<stdin>", help="Call the source on stdin NAME."
        ),
        click.option("-m", "as_module", cls=RareOption, is_flag=True, help="Run MODEL as a module, as python -m does."),
        click.option(
            "--backward",
            cls=RareOption,
            metavar="N|line:FILE:LINE|each",
            callback=_backward,
            help="Choose the backward pass.  [default: the last one]",
        ),
        click.option(
            "--steps",
            cls=RareOption,
            metavar="N|all",
            callback=_steps,
            help=f"Stop the file after N backward passes.  [default: {ENOUGH}, and not before {PATIENCE:g} s]",
        ),
        click.option(
            "--limit",
            cls=RareOption,
            metavar="SECONDS",
            type=click.FloatRange(0, min_open=True),
            help="Stop the file after so many seconds.",
        ),
        click.option(
            "--write",
            cls=RareOption,
            is_flag=True,
            help="Let the file change other files; without it only its run sees that.",
        ),
        click.option("--script-arguments", "script", hidden=True, callback=_script, help="What follows --."),
    )(command)


def _script(context: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Return the words after ``--``: the arguments of the file."""
    words: tuple[str, ...] = context.meta.get(SCRIPT, ())
    return words


def _backward(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Return the backward pass as it is written."""
    if value == EACH and context.command.name not in OF_EACH:
        raise click.BadParameter(f"only {', '.join(OF_EACH)} answer about each backward pass")
    return _convert(which_pass, value)


def _steps(context: click.Context, option: click.Parameter, value: Any) -> int | None:
    """Return the number of backward passes; None where nobody gave one."""
    return _convert(passes_watched, value)


def _convert(read: Callable[[Any], T], value: Any) -> T:
    """Convert an option's value with *read*."""
    try:
        return read(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def backward_options(command: F) -> F:
    """Add ``--params`` and ``--no-grad``."""
    return _options(
        click.option(
            "--params",
            multiple=True,
            metavar="SELECTOR",
            help="Return the gradients of these parameters: names, globs, layer:, op:, line:, tensor:.",
        ),
        click.option(
            "--no-grad",
            multiple=True,
            metavar="SELECTOR",
            help="Cut gradients at these tensors; a glob matches parameters, tensor:GLOB tensors.",
        ),
    )(command)


def run_options(command: F) -> F:
    """Add ``--run`` and ``--feed``."""
    return _options(
        click.option("--run", is_flag=True, help="Run the program and add the norms of the gradients."),
        click.option("--feed", metavar="FILE[ROWS]", help="Feed the arrays in FILE, by their names; implies --run."),
    )(command)


class Taker(Protocol):
    """Takes what a command would print, where that is not a terminal's or a pipe's: in a notebook."""

    def note(self, text: str) -> None: ...

    def report(self, report: views.View, form: str, ascii: bool) -> None:
        """A report, as ``text`` or as ``markdown``."""
        ...

    def text(self, text: str, form: str) -> None:
        """A finished text; *form* as ``--format`` names it."""
        ...

    def picture(self, picture: Content, form: str, text: Content) -> None:
        """A picture, and what it shows in plain text."""
        ...


_taker: ContextVar[Taker | None] = ContextVar("gradtool_taker", default=None)


@contextmanager
def capture_views(taker: Taker) -> Iterator[None]:
    """Hand what commands print inside to *taker*; what they write to files is written."""
    token = _taker.set(taker)
    try:
        yield
    finally:
        _taker.reset(token)


_MET: Final = {"unlike_paddle": ("differences", "list_differences"), "ran_otherwise": ("deviations", "entries")}
"""By entry of JSON, the table of the engine and its function that gives the entries that a run has met."""


def _collect_differences() -> dict[str, list[dict[str, str]]]:
    """Return the differences to Paddle that the run met; empty where no engine was loaded."""
    tables = ((entry, sys.modules.get(f"gradtool.engine.core.{name}"), get) for entry, (name, get) in _MET.items())
    return {entry: getattr(table, get)() for entry, table, get in tables if table is not None}


@dataclass
class Output:
    """Output of a command, results and notes; made from the options of :func:`output_options`."""

    format: str = "text"
    file: str | None = None
    quiet: bool = False
    verbose: int = 0
    color: str = "auto"
    ascii: bool = False
    _told: set[str] = field(default_factory=set, init=False)
    _incomplete: str = field(default="", init=False)
    _is_result: bool = field(default=False, init=False)
    _shown: Any = field(default=None, init=False)

    @classmethod
    def take(cls, values: dict[str, Any]) -> Output:
        """The output options of a command, taken out of its *values*."""
        out = cls(
            values.pop("format_"),
            values.pop("output"),
            values.pop("quiet"),
            values.pop("verbose"),
            values.pop("color"),
            values.pop("ascii_"),
        )
        out.watch()
        out._is_result = True
        return out

    @classmethod
    def picture_output(cls, values: dict[str, Any]) -> Output:
        """The output options of a command that shows no view, taken out of *values*."""
        return cls(
            file=values.pop("output", None),
            quiet=values.pop("quiet"),
            verbose=values.pop("verbose"),
            ascii=values.pop("ascii_"),
        )

    def note(self, text: str) -> None:
        """Something worth knowing that is not the result; on stderr, each text once."""
        if self.quiet or text in self._told:
            return
        self._told.add(text)
        taker = _taker.get()
        if taker is not None:
            taker.note(encodable(legible(text), None, self.ascii))
        else:
            with suppress(OSError):
                print(encodable(legible(text), sys.stderr.encoding, self.ascii), file=sys.stderr)

    def note_stop(self, text: str) -> None:
        """The file was stopped before its end: that is a part of the result, where this is no picture."""
        if self._is_result:
            self._incomplete = text
        else:
            self.note(text)

    def note_error(self, error: Exception, what: str) -> None:
        """The model raised, which decides the exit code, and an answer follows."""
        lines, code = describe_error(error, (), explained=True)
        context = click.get_current_context(silent=True)
        if context is not None:
            context.meta[RAISED] = code
        lines.append(f"  {what}")
        taker = _taker.get()
        if taker is not None:
            taker.note(encodable("\n".join(["error: " + lines[0], *lines[1:]]), None, self.ascii))
        else:
            say(lines)

    def watch(self) -> None:
        """From now on say on a terminal how far the command is, until it has something to show."""
        if self.quiet or _taker.get() is not None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            return
        from .progress import begin

        self._shown = begin(self.ascii)

    @property
    def taker(self) -> Taker | None:
        """Whoever takes what would go to stdout, if someone does."""
        return _taker.get() if self.file in (None, "-") else None

    def emit(self, report: views.View, also: Mapping[str, Content] | None = None) -> None:
        """Show the result in the form asked for; files in *also* are written with it, all or none."""
        if self._shown is not None:
            self._shown.close()
        report = views.add_met(views.add_end(report, self._incomplete), _collect_differences())
        if STDOUT in (also or {}) and self.file in (None, STDOUT):
            self._print_beside(also or {})  # alone, so that another program can read it
            return
        if self.taker is not None and self.format in ("text", "markdown"):
            write_all(also or {})
            self.taker.report(report, self.format, self.ascii)
            return
        if self.ascii or (self.file in (None, "-") and not _utf8(sys.stdout.encoding)):
            report = views.render_ascii(report)
        if self.format == "json":
            text = views.to_json(report.data, report.kind)
        elif self.format == "text" and self.file in (None, "-"):
            sign = "..." if self.ascii or not _utf8(sys.stdout.encoding) else "…"
            text = views.to_text(report, terminal.room(), terminal.use_colours(self.color), sign)
        else:
            text = {"text": views.to_text, "tsv": views.to_tsv, "markdown": views.to_markdown}[self.format](report)
        self.text(text, also)

    def text(self, text: str, also: Mapping[str, Content] | None = None) -> None:
        """Write a finished text to stdout or to the file asked for."""
        if self._shown is not None:
            self._shown.close()
        files: dict[str, Content] = dict(also or {})
        if self.file is not None and self.file != STDOUT:
            files[self.file] = views.to_ascii(text) if self.ascii else text
        self._print_beside(files)
        if self.file in (None, STDOUT):
            self._print(text, self.format)

    def _print_beside(self, files: Mapping[str, Content]) -> None:
        """Write files, and print the one that is called ``-``."""
        write_all({path: content for path, content in files.items() if path != STDOUT})
        if STDOUT not in files:
            return
        content = files[STDOUT]
        self._print(content if isinstance(content, str) else content.decode("utf-8", "backslashreplace"), "text")

    def _print(self, text: str, form: str) -> None:
        taker = _taker.get()
        if taker is not None:
            taker.text(encodable(text, None, self.ascii), form)
            return
        with streams.convert_write_errors(nothing_else=True):
            sys.stdout.write(encodable(text, sys.stdout.encoding, self.ascii))
            sys.stdout.flush()

    def binary(self, content: bytes) -> None:
        """Write a picture to stdout or to the file asked for."""
        if self._shown is not None:
            self._shown.close()
        if self.file is not None and self.file != "-":
            write_all({self.file: content})
            return
        if sys.stdout.isatty():
            raise CommandError("a picture is no text for a terminal", "-o FILE writes it to a file")
        with streams.convert_write_errors(nothing_else=True):
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()


def _utf8(encoding: str | None) -> bool:
    return (encoding or "utf-8").lower().replace("-", "").startswith("utf")


def encodable(text: str, encoding: str | None, ascii_only: bool = False) -> str:
    """*text* with what *encoding* cannot hold replaced."""
    if ascii_only or not _utf8(encoding):
        lines = text.split("\n")
        return "\n".join(map(views.to_ascii, lines))
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
