"""Write both graphs as DOT, and the stack of every operator, to a folder."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..context import backward_options, model_options, output_options
from ..help_pages import Command


@click.command("graph --dump", cls=Command)
@click.option("--dump", "folder", metavar="DIR", required=True, help="Write the files to DIR.")
@model_options
@backward_options
@click.option("--grads", is_flag=True, help="Add grads.npz: the gradients of one run, by the names of the parameters.")
@click.option("--feed", metavar="FILE[ROWS]", help="Feed the arrays in FILE, by their names; implies --grads.")
@click.option("--stamp", is_flag=True, help="Put the time before the names, so that nothing is replaced.")
@output_options
def command(**values: Any) -> int:
    """Write backward_graph.dot, ref_forward_graph.dot, call_stack.log, outline.json, manifest.json for MODEL to DIR.

    \b
    gradtool graph --dump graphs model.py

    Two dumps of one model are the same files. gradtool diff DIR MODEL prints what has changed since, by outline.json.
    """
    return call("graph_dump", values)
