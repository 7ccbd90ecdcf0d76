"""Explain why a gradient is None or zero, and name the line."""

from __future__ import annotations

from typing import Any

import click

from ..backend_options import add_backend_options
from ..callbacks import call
from ..context import add_model_options, backward_options, exit_option, output_options, run_options
from ..help_pages import Command


@click.command("why", cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="[VAR]... MODEL")
@add_model_options
@add_backend_options
@backward_options
@click.option("--contributions", is_flag=True, help="Show what each use of a shared tensor adds to its gradient.")
@click.option("--prove", is_flag=True, help="Run again without the cut, and show the gradient that comes then.")
@click.option(
    "--error", "error", is_flag=True, help="Explain the error that backward raises: freed or overwritten values."
)
@click.option("--no-run", is_flag=True, help="Look at the graph only; do not run a static program.")
@run_options
@exit_option()
@output_options
def command(**values: Any) -> int:
    """Explain why each VAR of MODEL has no gradient, or a zero one. Without VAR, explain every parameter that has none.

    \b
    gradtool why my_fc.b_0 model.py
    gradtool why model.py
    gradtool why 'encoder.*' model.py --prove

    The answer has the verdict, the path from the loss with the place where it is cut, the line, and what would connect
    it. A static program runs once if a gradient has to be computed.
    """
    return call("why", values)
