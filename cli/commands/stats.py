"""Sizes of gradients per parameter, layer or operator, and whether they vanish or explode."""

from __future__ import annotations

from typing import Any

import click

from ..asking import exit_option, judged
from ..context import Output, model_options, output_options


@click.command("stats")
@model_options
@click.option("--by", type=click.Choice(["parameter", "layer", "op"]), default="parameter", help="What a row is.")
@click.option("--worst", type=click.IntRange(1), metavar="N", help="Only the N rows to look at first.")
@click.option("--histogram", is_flag=True, help="Add how many elements are of each order of magnitude.")
@click.option("--feed", metavar="FILE.npz", help="Arrays to feed, by name.")
@exit_option()
@output_options
def command(**values: Any) -> int:
    """Norms of MODEL's gradients, their ratio to the weights, zeros and numbers that are not finite.

    \b
    gradtool stats model.py --worst 10
    gradtool stats model.py --by layer --histogram
    """
    out = Output.take(values)
    from gradtool.models.loader import Request
    from gradtool.models.questions.stats import Stats
    from gradtool.viz.views import stats

    exit_code = values.pop("exit_code")
    question = Stats.take(values)
    answer = question.ask(Request.take(values), out)
    out.emit(stats.view(answer))
    return judged(answer, exit_code)
