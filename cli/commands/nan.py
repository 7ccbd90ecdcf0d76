"""Find where the first NaN or infinity was born, forward or backward, and why."""

from __future__ import annotations

from typing import Any

import click

from ..asking import ask, exit_option, judged
from ..context import Output, model_options, output_options


@click.command("nan")
@model_options
@click.option("--big", type=float, metavar="LIMIT", help="Numbers beyond it count as overflow, e.g. 1e4.")
@click.option("--subnormal", is_flag=True, help="Numbers too small for full precision count.")
@click.option(
    "--order", type=click.IntRange(1, 2), default=1, show_default=True, help="2: gradients of gradients, too."
)
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays to feed, by name.")
@exit_option(always=True)
@output_options
def command(**values: Any) -> int:
    """Search MODEL for the place where NaN or infinity is born, forward and backward.

    \b
    gradtool nan model.py
    gradtool nan train.py --steps 50 --big 1e4

    The file is watched while it runs. If it runs backward itself, all its passes (static: runs) are searched until one
    goes wrong, N of them with --steps, or one alone with --backward. If it does not, backward runs once. A file with a
    function step() has it called N times by --steps.

    Exit code 1: there is a finding. Infinities written on purpose, and values that reach neither the loss nor a
    gradient, are listed and are no findings.
    """
    out = Output.take(values)
    from gradtool.engine.questions.nan import Nan
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import nan

    steps, exit_code = values["steps"], values.pop("exit_code")
    question = Nan.take(values)
    return ask(
        question,
        Request.take(values, steps=steps),
        out,
        lambda answer: nan.view(answer, as_table=out.format == "tsv"),
        lambda answer: judged(answer, exit_code),
    )
