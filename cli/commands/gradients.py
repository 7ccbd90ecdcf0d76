"""Print gradients of chosen targets with respect to chosen inputs."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import model_options, output_options, run_options
from ..help_pages import Command


@click.command("gradients", cls=Command)
@model_options
@click.option("--target", "--targets", "target", multiple=True, metavar="SELECTOR", help="Differentiate these tensors.")
@click.option(
    "--input",
    "--inputs",
    "input",
    multiple=True,
    metavar="SELECTOR",
    help="Differentiate with respect to these tensors.",
)
@click.option(
    "--target-grad",
    "--target-grads",
    "target_grad",
    multiple=True,
    metavar="NAME",
    help="Start from this tensor, or from 'ones': one for each target in turn.",
)
@click.option("--no-grad", multiple=True, metavar="SELECTOR", help="Treat these tensors as constants.")
@run_options
@output_options
def command(**values: Any) -> int:
    """Print gradients of targets with respect to inputs, and the reason for each None.

    Targets are the loss, inputs are the parameters, unless you choose others.

    \b
    gradtool gradients model.py --target h --input x
    gradtool gradients model.py --target y1,y2 --target-grad dy1,ones --input 'fc_*.w_0' --run
    """
    return call("gradients", values)
