"""Write a report about a model: an HTML page, a notebook or Markdown."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call_in_context
from ..context import backward_options, feed_option, model_options, output_options
from ..help_pages import Command


@click.command("report", cls=Command)
@model_options
@click.option("--html", metavar="FILE", help="Write one page without scripts, which needs no other file.")
@click.option("--ipynb", metavar="FILE", help="Write a Jupyter notebook with its outputs, which runs again.")
@click.option("--md", metavar="FILE", help="Write Markdown.")
@click.option("--session", metavar="FILE", help="Add the cells of a saved session of the debugger.")
@click.option("--title", metavar="TEXT", default="", help="Put TEXT at the top.")
@backward_options
@feed_option
@click.option("--no-run", is_flag=True, help="Look at the graph only; do not run a static program.")
@output_options
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Write what backward, graph, stats, nan and why answer about MODEL as one document.

    \b
    gradtool report model.py --html report.html
    gradtool report model.py --html report.html --ipynb report.ipynb --md report.md
    gradtool report model.py --html hunt.html --session session.jsonl

    It has the verdict on every parameter without a gradient, the table, the picture, sizes, and the story of the first
    NaN. It has the lines of source with their call stacks, the cells of a session, versions, and all of it as JSON.
    MODEL is loaded once. The same model gives the same bytes. All files are written, or none.
    """
    return call_in_context("report", context, values)
