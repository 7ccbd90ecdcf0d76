"""Test if one value depends on another, and name the operators between them."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import feed_option, model_options, output_options
from ..help_pages import Command


@click.command("flow", cls=Command)
@model_options
@click.option(
    "--from", "from_", multiple=True, metavar="VALUE", help="Change this value: x, x[3], x[:, 2:]; repeatable."
)
@click.option("--to", multiple=True, metavar="VALUE", help="Watch this value: out[1].  [default: the loss]")
@feed_option
@click.option("--step", type=click.IntRange(1), metavar="N", help="Choose the backward pass.  [default: the last one]")
@output_options
def command(**values: Any) -> int:
    """Change values of MODEL, and print which others change, and through which operators.

    \b
    gradtool flow model.py --from "x[3]" --to "out[1]"
    gradtool flow model.py

    Without --from each input is changed. Unlike a gradient, a change passes through detach, no_grad and operators
    without a derivative. Where it ends, the operator is named. Random numbers stay as they were drawn. What cannot be
    computed again on other values is "unknown". The arguments of a layer that the file calls have the names that its
    forward() gives them; its result is out.
    """
    return call("flow", values)
