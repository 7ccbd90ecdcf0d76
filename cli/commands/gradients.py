"""Gradients of chosen targets by chosen inputs."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, model_options, output_options, run_options


@click.command("gradients")
@model_options
@click.option("--target", "--targets", "target", multiple=True, metavar="SELECTOR", help="What to differentiate.")
@click.option("--input", "--inputs", "input", multiple=True, metavar="SELECTOR", help="By what.")
@click.option(
    "--target-grad",
    "--target-grads",
    "target_grad",
    multiple=True,
    metavar="NAME",
    help="For each target in turn the tensor to start from, or 'ones'.",
)
@click.option("--no-grad", multiple=True, metavar="SELECTOR", help="Tensors that count as constants.")
@run_options
@output_options
def command(**values: Any) -> None:
    """Gradients of targets (by default the loss) by inputs (by default the parameters); None with its reason.

    \b
    gradtool gradients model.py --target h --input x
    gradtool gradients model.py --target y1,y2 --target-grad dy1,ones --input 'fc_*.w_0' --run
    """
    out = Output.take(values)
    from gradtool.engine.questions.gradients import Gradients
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import gradients

    question = Gradients.take(values)
    out.emit(gradients.view(question.ask(Request.take(values), out)))
