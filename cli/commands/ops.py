"""List the operators, or explain one."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, output_options


@click.command("ops")
@click.argument("type_", metavar="[TYPE]", required=False)
@output_options
def command(type_: str | None, **values: Any) -> None:
    """List the operators that programs can hold, or explain the one of TYPE (gradient operators too)."""
    out = Output.take(values)
    from gradtool.viz.views import operators

    out.emit(operators.every() if type_ is None else operators.one(type_))
