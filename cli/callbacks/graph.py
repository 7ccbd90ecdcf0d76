"""Callback of ``gradtool graph``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.wording import command_line, repeat_option
from gradtool.engine.questions.picture import Drawn
from gradtool.engine.request.request import Request
from gradtool.viz import forms
from gradtool.viz.views.picture import Drawing, Look

from ..commands.graph import FORMATS
from ..context import Output


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    out = Output.picture_output(values)
    out.watch()
    opened, format_ = values.pop("open_"), values.pop("format_")
    into = _output_words(out.file, format_, opened)
    if opened and out.file in (None, "-"):
        out.file = _somewhere(format_ or "html")
    form = _format(format_, out)
    look = Look.take(values, ascii=out.ascii)
    values |= {"measure": look.measure, "full_stacks": form == "html"}
    question = Drawn.take(values)
    request = Request.take(values)
    words = [*request.words(), *question.words, *look.words, *repeat_option("--feed", filter(None, [question.feed]))]
    command = command_line("gradtool", "graph", *words, *into)
    file = "graph.dot" if out.file in (None, "-") else out.file
    drawing = Drawing(question.ask(request, out), look, file=file, command=command, notes=out)
    made = drawing.render(form)
    if out.taker is not None:
        out.taker.picture(made, form, drawing.render("text"))
        return
    out.text(made) if isinstance(made, str) else out.binary(made)
    if opened:
        _show(str(out.file), out)


def _output_words(file: str | None, format_: str | None, opened: bool) -> list[str]:
    """The words that say where the picture goes, for the command that pictures repeat."""
    into = ["-o", file] if file is not None else []
    into += ["--format", format_] if format_ is not None else []
    return [*into, "--open"] if opened and file in (None, "-") else into


def _somewhere(form: str) -> str:
    """A file to show that nobody asked to keep."""
    import tempfile

    return str(Path(tempfile.mkdtemp(prefix="gradtool-"), f"graph.{form}"))


def _show(file: str, out: Output) -> None:
    import webbrowser

    address = Path(file).absolute().as_uri()
    if not webbrowser.open(address):
        out.note(f"there is no browser to open {address}")


def _format(asked: str | None, out: Output) -> str:
    """The format asked for, else the one that the file's name says, else DOT; SVG where someone takes pictures."""
    if asked is not None:
        return asked
    file = out.file
    if file is None or file == "-":
        return "dot" if out.taker is None else "svg"
    form = forms.BY_ENDING.get(f".{file.rpartition('.')[2].lower()}")
    if form is None:
        raise CommandError(f"-o {file}: the name does not say which format", f"--format {'|'.join(FORMATS)}")
    return form.name
