"""Show where an operator comes from: source, stack, pair, inputs and outputs."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, backward_options, model_options, output_options


@click.command("where")
@click.argument("what")
@model_options
@backward_options
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays that a function of dynamic mode is called with.")
@output_options
def command(**values: Any) -> None:
    """Source, stack, pair, inputs and outputs of the operators that WHAT names in MODEL.

    WHAT is an operator (relu.0, matmul_v2_grad.1), a type (relu), a tensor, or a line (line:model.py:21).

    \b
    gradtool where mul_grad.0 model.py
    gradtool where line:model.py:9 model.py
    gradtool where my_fc.w_0@GRAD model.py
    """
    out = Output.take(values)
    from gradtool.engine.questions.where import Where
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import where

    values["fed"] = values.pop("feed")
    question = Where.take(values)
    out.emit(where.view(question.ask(Request.take(values), out)))
