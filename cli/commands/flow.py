"""Whether one value of a model depends on another, and by which operators."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, model_options, output_options


@click.command("flow")
@model_options
@click.option("--from", "from_", multiple=True, metavar="VALUE", help="What is changed: x, x[3], x[:, 2:]; repeatable.")
@click.option("--to", multiple=True, metavar="VALUE", help="What is looked at: out[1]; the loss if left out.")
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays to feed to programs, by name.")
@click.option("--step", type=click.IntRange(1), metavar="N", help="The backward pass to look at; the last one.")
@output_options
def command(**values: Any) -> None:
    """Change values of MODEL, and say which others become different, by which operators.

    \b
    gradtool flow model.py --from "x[3]" --to "out[1]"
    gradtool flow model.py

    Without --from each input is changed. Unlike a gradient a change passes through detach, no_grad and operators
    without a derivative; where it ends, the operator is named. Random numbers stay those that were drawn. What cannot
    be computed again on other values is "unknown". The arguments of a layer that the file calls go by the names that
    its forward() has for them, what it gives by out.
    """
    out = Output.take(values)
    from gradtool.engine.questions.flow import Flow
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import flow

    question = Flow.take(values)
    out.emit(flow.view(question.ask(Request.take(values), out)))
