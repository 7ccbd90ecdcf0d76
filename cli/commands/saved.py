"""The forward values that backward keeps alive: bytes, producer, readers, lifetime."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, model_options, output_options


@click.command("saved")
@model_options
@click.option("--top", type=click.IntRange(1), metavar="N", help="Only the N largest buffers.")
@click.option("--held", is_flag=True, help="Also what the program holds anyway: parameters, fed data, leaves.")
@click.option("--feed", metavar="FILE[ROWS]", help="Arrays to feed, by name.")
@output_options
def command(**values: Any) -> None:
    """The forward values that MODEL's backward pass keeps alive: bytes, producer, readers, lifetime.

    \b
    gradtool saved model.py --top 10

    A buffer counts once, whatever the number of its readers and views. "again" marks what could be computed again from
    values that are kept anyway, "twice" and "same as" what has the contents of an earlier buffer. What a loop of a
    program keeps of its iterations is one row; JSON has them one by one.
    """
    out = Output.take(values)
    from gradtool.engine.questions.saved import Saved
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import saved

    top, held = values.pop("top"), values.pop("held")
    question = Saved.take(values)
    out.emit(saved.view(question.ask(Request.take(values), out), top, held))
