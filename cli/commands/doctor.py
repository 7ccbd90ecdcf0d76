"""Say all that is quickly said about a model; without one, what this installation consists of."""

from __future__ import annotations

from typing import Any

import click

from ..asking import decided, exit_option
from ..computing import computing_options
from ..context import Output, loading_options, output_options
from ..errors import CLEAN, ENGINE


@click.command("doctor")
@click.argument("model", required=False)
@loading_options
@computing_options
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays to feed, by name.")
@exit_option()
@output_options
def command(**values: Any) -> int:
    """What is wrong with MODEL's gradients: the findings of why, nan and stats, and the table, on one screen.

    \b
    gradtool train.py
    gradtool doctor train.py -- --lr 3

    The file is run once. What is wrong comes first, each with the command that digs deeper; below the table stands what
    was looked at, and what was not. MODEL alone, without a command, asks the same.

    Without MODEL: versions of Python and of what gradtool needs, whether Graphviz's dot is there, and the backends.
    """
    out = Output.take(values)
    if values["model"] is None:
        from gradtool.viz.views import doctor

        out.emit(doctor.view(bool(out.verbose)))
        return CLEAN
    from gradtool.engine.questions.others import look_at
    from gradtool.engine.request.request import Request
    from gradtool.viz.report import checkup
    from gradtool.viz.report.findings import Inquiry, Noting, of_file

    exit_code = values.pop("exit_code")
    inquiry = Inquiry.take(values := {**values, "params": (), "no_grad": (), "no_run": False})
    request = Request.take(values)
    told = of_file(request, inquiry, Noting(out))
    if exit_code:
        look_at(told.others, request, inquiry.feed)
    screen = checkup.view(told, request)
    out.emit(screen)
    if told.failed:
        return ENGINE
    return decided(screen.data["findings"], told.others) if exit_code else CLEAN
