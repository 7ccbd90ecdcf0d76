"""Find the first NaN or infinity, forward or backward, and explain it."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import exit_option, feed_option, model_options, output_options
from ..help_pages import Command


@click.command("nan", cls=Command)
@model_options
@click.option("--big", type=float, metavar="LIMIT", help="Count numbers beyond LIMIT as overflow, such as 1e4.")
@click.option("--subnormal", is_flag=True, help="Count numbers that are too small for full precision.")
@click.option(
    "--order",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="Search gradients of gradients, too, with 2.",
)
@feed_option
@exit_option(always=True)
@output_options
def command(**values: Any) -> int:
    """Find the place in MODEL where NaN or infinity first appears, forward or backward.

    \b
    gradtool nan model.py
    gradtool nan train.py --steps 50 --big 1e4

    The file is watched while it runs. If it runs backward itself, all its passes (static: runs) are searched until one
    goes wrong: N of them with --steps, only one with --backward. If it does not, backward runs once. If the file has a
    function step(), --steps N calls it N times.

    Exit code 1: there is a finding. Infinities that you wrote on purpose, and values that reach neither the loss nor a
    gradient, are listed but are no findings.
    """
    return call("nan", values)
