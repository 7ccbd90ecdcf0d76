"""Write a program as a file for Paddle or as an ONNX model."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import backward_options, model_options, output_options
from ..help_pages import Command


@click.command("export", cls=Command)
@model_options
@backward_options
@click.option("--forward-only", is_flag=True, help="Omit the backward part.")
@output_options
def command(**values: Any) -> int:
    """Write the program of MODEL with its backward part, for Paddle itself or as an ONNX model.

    \b
    gradtool export model.py -o net.onnx
    gradtool export model.py -o net.pdmodel

    -o NAME.onnx writes a model for onnxruntime that computes outputs, loss and gradients. -o NAME.pdmodel writes
    NAME.pdmodel, NAME.pdparams and NAME.pdopt. Paddle reads them with static.Program.parse_from_string and static.load;
    version 3 needs FLAGS_enable_pir_api=0.
    """
    return call("export", values)
