"""Print the versions of gradtool and of what it uses, and the backends that are ready."""

from __future__ import annotations

from typing import Any

import click

from ..backend_options import add_backend_options
from ..context import Output, output_options
from ..help_pages import Command


@click.command("self version", cls=Command)
@add_backend_options
@output_options
def command(**values: Any) -> None:
    """Print the versions of gradtool, Python, the packages it uses and Graphviz's dot, and the backends.

    With -v it adds where these programs are. With --backend NAME it prints what would compute then.
    """
    out = Output.take(values)
    from gradtool.viz.views import doctor

    out.emit(doctor.view(bool(out.verbose)))
