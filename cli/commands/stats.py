"""Sizes of gradients per parameter, layer or operator, and whether they vanish or explode."""

from __future__ import annotations

from typing import Any

import click

from gradtool.models.errors import CommandError

from ..asking import ask, exit_option, judged, must_be_one
from ..context import Output, model_options, output_options


@click.command("stats")
@model_options
@click.option("--by", type=click.Choice(["parameter", "layer", "op"]), help="What a row is.  [default: parameter]")
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

    With --steps, how all of this goes over the steps of a training, and what began at which step:

    \b
    gradtool stats train.py --steps 50
    """
    out = Output.take(values)
    if values["steps"] is not None:
        return _over_time(values, out)
    from gradtool.models.loader import Request
    from gradtool.models.questions.stats import Stats
    from gradtool.viz.views import stats

    exit_code = values.pop("exit_code")
    values["by"] = values["by"] or "parameter"
    question = Stats.take(values)
    return ask(question, Request.take(values), out, stats.view, lambda answer: judged(answer, exit_code))


def _over_time(values: dict[str, Any], out: Output) -> int:
    """The answer over the steps of a training."""
    from gradtool.models.loader import Request
    from gradtool.models.questions.over_time import OverTime
    from gradtool.viz.views import over_time

    exit_code = values.pop("exit_code")
    for option in ("worst", "histogram", "feed"):
        if values.pop(option):
            raise CommandError(f"--{option} is about one backward pass", "leave out --steps")
    question = OverTime.take(values)
    request = Request.take(values)
    must_be_one(request, "--steps")
    answer = question.ask(request, out)
    out.emit(over_time.view(answer))
    return judged(answer, exit_code)
