"""List the codes of errors."""

from __future__ import annotations

from typing import Any

import click

from gradtool.viz.views import explained

from ..context import Output, output_options
from ..guide import pages
from ..help_pages import Command


@click.command("explain --codes", cls=Command)
@output_options
def command(**values: Any) -> None:
    """List the codes of gradtool's errors, with a few words about each."""
    out = Output.take(values)
    out.emit(explained.every([(code, pages.page(code).title) for code in pages.codes()]))
