"""List the operators that programs can hold."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, output_options
from ..help_pages import Command


@click.command("explain --ops", cls=Command)
@output_options
def command(**values: Any) -> None:
    """List the operators that programs can hold: inputs, outputs, attributes, gradient operator."""
    out = Output.take(values)
    from gradtool.viz.views import operators

    out.emit(operators.every())
