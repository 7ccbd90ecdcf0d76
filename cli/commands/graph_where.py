"""Print where an operator comes from: source, stack, pair, inputs, outputs."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import backward_options, model_options, output_options
from ..help_pages import Command


@click.command("graph --where", cls=Command)
@click.option("--where", "what", metavar="OP", required=True, help="Choose operators by name, type, tensor or line.")
@model_options
@backward_options
@click.option("--feed", metavar="FILE[ROWS]", help="Call a function of dynamic mode with the arrays in FILE.")
@output_options
def command(**values: Any) -> int:
    """Print source, stack, pair, inputs and outputs of the operators of MODEL that OP names.

    OP is an operator (relu.0, matmul_v2_grad.1), a type (relu), a tensor, or a line (line:model.py:21).

    \b
    gradtool graph --where mul_grad.0 model.py
    gradtool graph --where line:model.py:9 model.py
    gradtool graph --where my_fc.w_0@GRAD model.py
    """
    return call("graph_where", values)
