"""Say what this installation consists of."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, output_options


@click.command("doctor")
@output_options
def command(**values: Any) -> None:
    """Versions of Python and of what gradtool needs, whether Graphviz's dot is there, and the backends."""
    out = Output.take(values)
    from gradtool.viz.views import doctor

    out.emit(doctor.view(bool(out.verbose)))
