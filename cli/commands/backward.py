"""List every parameter with its gradient, or the reason why it has none."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import backward_options, exit_option, model_options, output_options, run_options
from ..help_pages import Command
from ..rare_options import RareOption
from ..sizes import byte_size


@click.command("backward", cls=Command)
@model_options
@backward_options
@click.option(
    "--callbacks",
    cls=RareOption,
    multiple=True,
    metavar="MOD:FN",
    help="Call FN(block, context) for each new operator; repeatable.",
)
@click.option(
    "--checkpoints",
    multiple=True,
    metavar="SELECTOR|auto",
    help="Keep these tensors, and compute the others before the last of them again.",
)
@click.option(
    "--memory-budget",
    cls=RareOption,
    metavar="BYTES",
    callback=byte_size,
    help="Choose checkpoints so that values and gradients fit into BYTES, such as 512M.",
)
@run_options
@click.option("--only-grads", cls=RareOption, is_flag=True, help="Print exactly the list that append_backward returns.")
@click.option("--dot", metavar="FILE", help="Write the graph to FILE for Graphviz.")
@click.option(
    "--part", cls=RareOption, type=click.Choice(["fwd", "bwd", "both"]), default="both", help="Choose what --dot draws."
)
@click.option("--dump", metavar="DIR", help="Write both graphs and the stack of every operator to DIR.")
@click.option("--list", "listed", is_flag=True, help="List the backward passes of MODEL, and stop there.")
@exit_option()
@output_options
def command(**values: Any) -> int:
    """Append the backward part of MODEL's loss. List every parameter with its gradient, or the reason why it has none.

    \b
    gradtool backward model.py --no-grad my_fc.b_0
    gradtool backward model.py --params '*.w_0' --run
    gradtool backward model.py:build --arg n=3 --dot graph.dot
    gradtool backward model.py --checkpoints auto --memory-budget 64M
    gradtool backward train.py --list

    In dynamic mode the loss is a Tensor, the rows are its leaves, and norms are always shown. The source of a leaf is
    the line that made it; where that is not known, it is the first line that used it.
    """
    return call("backward", values)
