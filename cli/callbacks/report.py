"""Callback of ``gradtool report``."""

from __future__ import annotations

from typing import Any

import click

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.request.request import Request
from gradtool.viz.report import from_python
from gradtool.viz.report.findings import Inquiry
from gradtool.viz.views import report

from ..context import Output


def run(context: click.Context, values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    out = Output.take(values)
    files = {form: values.pop(form) for form in ("html", "ipynb", "md")}
    files = {form: path for form, path in files.items() if path is not None}
    if not files:
        click.echo(context.get_help(), err=True)
        raise CommandError("nothing to write: none of --html, --ipynb and --md is given", "--html report.html")
    from_python.check_distinct(files)
    session, title = values.pop("session"), values.pop("title")
    inquiry = Inquiry.take(values)
    request = Request.take(values)
    document = from_python.report_on_request(request, inquiry, out, session=session, title=title)
    written = from_python.render(document, files, request, inquiry)
    out.emit(report.view(document, files, written, request.words()), written)
    return 0
