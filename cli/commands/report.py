"""Write all of this about one model as one HTML page, notebook or Markdown file."""

from __future__ import annotations

from typing import Any

import click

from gradtool.engine.core.command_errors import CommandError

from ..context import Output, backward_options, model_options, output_options


@click.command("report")
@model_options
@click.option("--html", metavar="FILE", help="One page that needs nothing else and has no script.")
@click.option("--ipynb", metavar="FILE", help="A Jupyter notebook with its outputs, which runs again.")
@click.option("--md", metavar="FILE", help="Markdown.")
@click.option("--session", metavar="FILE", help="Add the cells of a saved session of the debugger.")
@click.option("--title", metavar="TEXT", default="", help="Stands at the top.")
@backward_options
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays to feed, by name.")
@click.option("--no-run", is_flag=True, help="Look at the graph alone: do not run a static program.")
@output_options
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Write what backward, graph, stats, nan, why and where answer about MODEL as one document.

    \b
    gradtool report model.py --html report.html
    gradtool report model.py --html report.html --ipynb report.ipynb --md report.md
    gradtool report model.py --html hunt.html --session session.jsonl

    In it: the verdict on every parameter without a gradient, the param-grad table, the picture, sizes, the story of
    the first NaN, the lines of source with their call stacks, the cells of a session, versions, and all of it as JSON.
    MODEL is loaded once. The same model gives the same bytes. All files are written, or none.
    """
    out = Output.take(values)
    files = {form: values.pop(form) for form in ("html", "ipynb", "md")}
    files = {form: path for form, path in files.items() if path is not None}
    if not files:
        click.echo(context.get_help(), err=True)
        raise CommandError("nothing to write: none of --html, --ipynb and --md is given", "--html report.html")
    from gradtool.engine.request.request import Request
    from gradtool.viz.report import asking
    from gradtool.viz.report.findings import Inquiry
    from gradtool.viz.views import report

    asking.check_distinct(files)
    session, title = values.pop("session"), values.pop("title")
    inquiry = Inquiry.take(values)
    request = Request.take(values)
    document = asking.of_request(request, inquiry, out, session=session, title=title)
    written = asking.rendered(document, files, request, inquiry)
    out.emit(report.view(document, files, written, request.words()), written)
    return 0
