"""Compare gradients with differences; say what is wrong with those that differ."""

from __future__ import annotations

from typing import Any

import click

from ..asking import ask, exit_option, judged
from ..context import Output, model_options, output_options
from ..errors import CLEAN, ENGINE


@click.command("gradcheck")
@model_options
@click.option(
    "--order", type=click.IntRange(1, 2), default=1, show_default=True, help="2: gradients of gradients, too."
)
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays to feed, by name.")
@exit_option(always=True)
@output_options
def command(**values: Any) -> int:
    """Compare the gradients of MODEL's loss with differences of the loss, along random directions.

    \b
    gradtool gradcheck model.py --order 2

    The forward pass is computed again in double precision at other values of each parameter, branches and loops as they
    went; the file runs once. A parameter behind a kink (a relu at 0, two equal maxima, a condition about to change) is
    refused, and the operator named.

    Exit code 1: a gradient is wrong. 4: nothing is wrong, but something was refused. What cannot be repeated is named
    as not looked at, and is no error.
    """
    out = Output.take(values)
    from gradtool.engine.questions.gradcheck import Comparison, Gradcheck
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import gradcheck

    exit_code = values.pop("exit_code")
    question = Gradcheck.take(values)

    def code(answer: Comparison) -> int:
        return judged(answer, exit_code) or (ENGINE if answer.story.refused else CLEAN)

    return ask(question, Request.take(values), out, gradcheck.view, code)
