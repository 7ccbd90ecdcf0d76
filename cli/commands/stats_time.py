"""Measure time and bytes of forward and backward, by operator, type, layer or line."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import feed_option, model_options, output_options
from ..help_pages import Command


@click.command("stats --time", cls=Command)
@model_options
@click.option(
    "--by",
    type=click.Choice(["op", "type", "layer", "line", "iteration", "part"]),
    default="type",
    show_default=True,
    help="Choose what a row is.",
)
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="Measure so many times.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="Print only the N slowest rows.")
@click.option(
    "--flame", metavar="FILE", help="Write stacks for a flame graph: folded, or for speedscope if FILE ends in .json."
)
@click.option("--fused", is_flag=True, help="Show which operators are computed together, and the time that takes.")
@feed_option
@output_options
def command(**values: Any) -> int:
    """Measure MODEL's operators, forward and backward: median over the repeats, and their spread.

    \b
    gradtool stats --time model.py --by layer
    gradtool stats --time model.py --flame stacks.txt
    gradtool stats --time model.py --fused

    The time is that of the kernel or the gradient rule, without the Python around it, after a first run that does not
    count. Operators inside a branch or a loop of a program have times of their own; the branch has the rest. The file
    runs once: in dynamic mode the operators of its last forward pass are called again on what they read.

    On JAX (--backend jax) it is the time on the device of the compiled program. The time of what XLA has fused is
    shared among its operators. What belongs to none of them has rows of its own.

    With --fused, print the groups of operators that one compiled function computes once a program has run often
    (--backend numba). Each has its operators and their lines, its time, and the time of the operators one by one.
    """
    return call("stats_time", values)
