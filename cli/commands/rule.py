"""Explain a rule of the gate: why it matters, a wrong and a right model."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, output_options


@click.command("rule")
@click.argument("code", metavar="CODE")
@output_options
def command(code: str, **values: Any) -> None:
    """Explain the rule CODE (GT103, or detached): what it finds, why that matters, a wrong and a right model."""
    out = Output.take(values)
    from gradtool.viz.views import rules

    out.emit(rules.one(code))
