"""Print the program, operator by operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..callbacks import call
from ..context import backward_options, model_options, output_options
from ..help_pages import Command

F = TypeVar("F", bound=Callable[..., Any])


def operator_options(command: F) -> F:
    """Add the options of a list of operators."""
    for option in reversed(
        (
            model_options,
            backward_options,
            click.option(
                "--part", type=click.Choice(["fwd", "bwd", "both"]), default="both", help="Choose which operators."
            ),
            click.option("--blocks", is_flag=True, help="Print all blocks, not only block 0."),
            click.option(
                "--feed", metavar="FILE[ROWS]", help="Call a function of dynamic mode with the arrays in FILE."
            ),
            output_options,
        )
    ):
        command = option(command)
    return command


@click.command("graph --text", cls=Command)
@operator_options
@click.option("--source", "source_", is_flag=True, help="Add the line that made each operator.")
def command(**values: Any) -> int:
    """Print MODEL's program with the backward part of its loss; in dynamic mode the tape behind the loss.

    \b
    gradtool graph --text model.py
    gradtool graph --text model.py --part bwd --source
    """
    return call("graph_text", values)
