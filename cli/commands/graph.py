"""Draw forward and backward side by side as SVG, HTML, PNG, PDF, DOT."""

from __future__ import annotations

from typing import Any

import click

from gradtool.viz import forms

from ..callbacks import call
from ..context import ascii_option, backward_options, model_options, note_options
from ..help_pages import Command
from ..rare_options import RareOption

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
def command(**values: Any) -> int:
    """Draw MODEL: forward operators on the left, and opposite to each the operator that differentiates it.

    \b
    gradtool graph model.py -o model.svg
    gradtool graph model.py -o model.html
    gradtool graph model.py --open
    gradtool graph model.py -o near.svg --focus fc_0.w_0 --radius 3
    gradtool graph model.py -o way.png --path x..loss --color norm
    """
    return call("graph", values)
