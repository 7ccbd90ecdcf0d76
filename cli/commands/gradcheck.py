"""Compare gradients with numeric differences, and explain those that differ."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import exit_option, feed_option, model_options, output_options
from ..help_pages import Command


@click.command("gradcheck", cls=Command)
@model_options
@click.option(
    "--order",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="Check gradients of gradients, too, with 2.",
)
@feed_option
@exit_option(always=True)
@output_options
def command(**values: Any) -> int:
    """Compare the gradients of MODEL's loss with numeric differences of the loss along random directions.

    \b
    gradtool gradcheck model.py --order 2

    The file runs once. The forward pass is then computed again in double precision at other values of each parameter,
    with branches and loops as they went. A parameter behind a kink is refused, and the operator is named: a relu at 0,
    two equal maxima, a condition that is about to change.

    Exit code 1: a gradient is wrong. 4: nothing is wrong, but something was refused. What cannot be repeated is listed
    as not looked at, and is no error.
    """
    return call("gradcheck", values)
