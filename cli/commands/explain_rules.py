"""List the rules of gradtool check."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, output_options
from ..help_pages import Command


@click.command("explain --rules", cls=Command)
@output_options
def command(**values: Any) -> None:
    """List the rules that gradtool check applies: code, name, severity, what each finds."""
    out = Output.take(values)
    from gradtool.viz.views import rules

    out.emit(rules.every())
