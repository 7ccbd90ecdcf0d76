"""Print the sizes of gradients, and find those that vanish or explode."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ..callbacks import call
from ..context import exit_option, feed_option, mesh_option, model_options, output_options
from ..help_pages import Command


@click.command("stats", cls=Command)
@model_options
@click.option(
    "--by", type=click.Choice(["parameter", "layer", "op"]), help="Choose what a row is.  [default: parameter]"
)
@click.option("--worst", type=click.IntRange(1), metavar="N", help="Print only the N rows to look at first.")
@click.option("--histogram", is_flag=True, help="Count the elements of each order of magnitude.")
@feed_option
@click.option("--tensorboard", metavar="DIR", help="Write an event file for TensorBoard into DIR; needs --steps.")
@mesh_option
@exit_option()
@partial(output_options, more=("csv", "svg"))
def command(**values: Any) -> int:
    """Print the norms of MODEL's gradients, their ratios to the weights, zeros, and numbers that are not finite.

    \b
    gradtool stats model.py --worst 10
    gradtool stats model.py --by layer --histogram
    gradtool stats model.py --mesh data=8

    With --steps, print how all of this changes over the steps of a training, and what began at which step:

    \b
    gradtool stats train.py --steps 50
    gradtool stats train.py --steps 50 -o heat.svg
    gradtool stats train.py --steps 50 -o steps.parquet --tensorboard runs/first
    """
    return call("stats", values)
