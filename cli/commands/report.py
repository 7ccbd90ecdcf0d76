"""``gradtool report``: everything about one model's gradients as one file to keep or to send."""

from __future__ import annotations

from typing import Any

import click

from gradtool.models.errors import CommandError
from gradtool.models.wording import command_line

from ..context import Output, backward_options, model_options, output_options
from ..views import Report, Table


@click.command("report")
@model_options
@click.option("--html", metavar="FILE", help="One page that needs nothing else and has no script.")
@click.option("--ipynb", metavar="FILE", help="A Jupyter notebook with its outputs, which runs again.")
@click.option("--md", metavar="FILE", help="Markdown.")
@click.option("--session", metavar="FILE", help="Add the cells of a saved session of the debugger.")
@click.option("--title", metavar="TEXT", default="", help="Stands at the top.")
@backward_options
@click.option("--feed", metavar="FILE.npz", help="Arrays to feed, by name.")
@click.option("--no-run", is_flag=True, help="Look at the graph alone: do not run a static program.")
@output_options
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int:
    """Write what backward, graph, stats, nan, why and where answer about MODEL as one document.

    \b
    gradtool report model.py --html report.html
    gradtool report model.py --html report.html --ipynb report.ipynb --md report.md
    gradtool report model.py --html hunt.html --session session.jsonl

    In it: the verdict on every parameter without a gradient, the param-grad table, the picture, sizes, the story of
    the first NaN, the lines of source with their call stacks, the cells of a session, versions, and all of it as JSON.
    MODEL is loaded once. The same model gives the same bytes. All files are written, or none.
    """
    out = Output.take(options)
    files = {form: options.pop(form) for form in ("html", "ipynb", "md")}
    files = {form: path for form, path in files.items() if path is not None}
    if not files:
        click.echo(context.get_help(), err=True)
        raise CommandError("nothing to write: none of --html, --ipynb and --md is given", "--html report.html")
    from gradtool.models.loader import Request

    from ..reporting import asking

    asking.check_distinct(files)
    session, title = options.pop("session"), options.pop("title")
    request = Request.take(options)
    made = asking.of_request(request, options, out, session=session, title=title)
    written = asking.rendered(made, files, request, options)
    out.emit(_report(made, files, written, request.words()), written)
    return 0


def _report(made: Any, files: dict[str, str], written: dict[str, str], words: list[str]) -> Report:
    import json

    table = Table(["form", "file", "bytes"])
    for form, path in files.items():
        table.rows.append([form, path, str(len(written[path].encode("utf-8", "backslashreplace")))])
    facts = " · ".join(f"{name} {text}" for name, text in made.facts if not name.startswith("note"))
    data = json.loads(made.json)
    del data["schema"]
    next_ = [command_line("gradtool", "why", *words), command_line("gradtool", "graph", *words, "-o", "graph.html")]
    return Report("report", data, [facts, table], next_, table)
