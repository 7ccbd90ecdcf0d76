"""Print the program; pair forward operators with their gradient operators."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, backward_options, model_options, output_options


@click.command("program")
@model_options
@backward_options
@click.option("--part", type=click.Choice(["fwd", "bwd", "both"]), default="both", help="Which operators.")
@click.option("--pairs", is_flag=True, help="A forward operator and its gradient operator on one row.")
@click.option("--source", "source_", is_flag=True, help="Which line made each operator.")
@click.option("--blocks", is_flag=True, help="All blocks, not block 0 alone.")
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays that a function of dynamic mode is called with.")
@output_options
def command(**values: Any) -> None:
    """Print MODEL's program, with the backward part of its loss; in dynamic mode the recorded tape behind the loss.

    \b
    gradtool program model.py --part bwd --source
    gradtool program model.py --pairs
    """
    out = Output.take(values)
    from gradtool.engine.questions.program import Operators
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import program

    pairs, sources = values.pop("pairs"), values.pop("source_")
    values["fed"] = values.pop("feed")
    question = Operators.take(values)
    answer = question.ask(Request.take(values), out)
    out.emit(program.pairs(answer) if pairs else program.view(answer, sources, out.format in ("tsv", "markdown")))
