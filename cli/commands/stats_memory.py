"""Print the forward values that backward keeps in memory: bytes, producer, readers, lifetime."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import feed_option, model_options, output_options
from ..help_pages import Command


@click.command("stats --memory", cls=Command)
@model_options
@click.option("--top", type=click.IntRange(1), metavar="N", help="Print only the N largest buffers.")
@click.option("--held", is_flag=True, help="Add what the program holds anyway: parameters, fed data, leaves.")
@feed_option
@output_options
def command(**values: Any) -> int:
    """Print the forward values that MODEL's backward pass keeps in memory: bytes, producer, readers, lifetime.

    \b
    gradtool stats --memory model.py --top 10

    A buffer counts once, however many readers and views it has. "again" marks a buffer that could be computed again
    from values that are kept anyway. "twice" and "same as" mark one with the contents of an earlier buffer. What a loop
    of a program keeps of its iterations is one row; JSON has one entry for each.
    """
    return call("stats_memory", values)
