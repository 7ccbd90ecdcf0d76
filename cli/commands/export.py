"""Write a static program as Paddle itself reads it, or as an ONNX model."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, backward_options, model_options, output_options


@click.command("export")
@model_options
@backward_options
@click.option("--forward-only", is_flag=True, help="Leave the backward part out.")
@output_options
def command(**values: Any) -> None:
    """Write MODEL with its backward part as a program of Paddle itself, or as an ONNX model.

    -o NAME.onnx writes what onnxruntime runs: outputs, loss and gradients. -o NAME.pdmodel writes NAME.pdmodel,
    NAME.pdparams and NAME.pdopt. Paddle reads them with static.Program.parse_from_string and static.load, version 3
    with FLAGS_enable_pir_api=0.
    """
    target = values["output"]
    values["output"] = None  # what is shown of the files goes to the terminal
    out = Output.take(values)
    from gradtool.engine.questions.export import Export
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import export

    file = export.checked_name(target)
    values["form"] = export.form(file)
    question = Export.take(values)
    answer = question.ask(Request.take(values), out)
    files = export.files(answer, file)
    out.emit(export.view(answer, file, files), files)
