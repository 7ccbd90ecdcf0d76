"""Draw forward and backward side by side as SVG, HTML, PNG, PDF, DOT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.wording import command_line, repeat_option
from gradtool.viz import forms

from ..context import Output, ascii_option, backward_options, model_options, note_options
from ..help_pages import Command
from ..rare import RareOption

FORMATS = tuple(forms.NAMED)
COLOURS = ("role", "norm", "time", "bytes", "dtype", "layer")


@click.command("graph", cls=Command)
@model_options
@backward_options
@click.option(
    "--part", cls=RareOption, type=click.Choice(["fwd", "bwd", "both"]), default="both", help="Choose which operators."
)
@click.option(
    "--collapse",
    "fold",
    type=click.Choice(["auto", "none", "layer", "repeat"]),
    default="auto",
    show_default=True,
    help="Draw repeated blocks once, or a layer as one box; auto: until --max-nodes is met.",
)
@click.option(
    "--max-nodes",
    cls=RareOption,
    type=click.IntRange(min=1),
    default=400,
    show_default=True,
    help="Draw at most so many boxes with --collapse auto.",
)
@click.option("--focus", metavar="SELECTOR", help="Draw only what is near an operator or tensor.")
@click.option(
    "--radius",
    cls=RareOption,
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="Draw so many operators around --focus.",
)
@click.option("--path", metavar="A..B", help="Draw only what lies between two operators or tensors.")
@click.option(
    "--layout",
    cls=RareOption,
    type=click.Choice(["mirror", "dot"]),
    default="mirror",
    help="Choose who places the boxes; dot: Graphviz.",
)
@click.option(
    "--dot-limit",
    cls=RareOption,
    type=float,
    default=20.0,
    show_default=True,
    help="Give --layout dot so many seconds.",
)
@click.option(
    "--color",
    type=click.Choice(COLOURS),
    default="role",
    show_default=True,
    help="Choose what the fills mean; norm and time run the model.",
)
@click.option("--feed", metavar="FILE[ROWS]", help="Feed the arrays in FILE where --color runs the program.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="Choose the format.  [default: by the ending of FILE, else dot]",
)
@click.option("-o", "--output", metavar="FILE", help="Write to FILE, whole or not at all.  [default: stdout]")
@click.option("--open", "open_", is_flag=True, help="Open the picture in the browser; without -o, a page.")
@ascii_option
@note_options
def command(**values: Any) -> None:
    """Draw MODEL: forward operators on the left, and opposite to each the operator that differentiates it.

    \b
    gradtool graph model.py -o model.svg
    gradtool graph model.py -o model.html
    gradtool graph model.py --open
    gradtool graph model.py -o near.svg --focus fc_0.w_0 --radius 3
    gradtool graph model.py -o way.png --path x..loss --color norm
    """
    out = Output.picture_output(values)
    out.watch()
    from gradtool.engine.questions.picture import Drawn
    from gradtool.engine.request.request import Request
    from gradtool.viz.views.picture import Drawing, Look

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
