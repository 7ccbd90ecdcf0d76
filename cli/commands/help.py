"""Say which command answers a symptom: gradtool help gradient is zero."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, output_options


@click.command("help")
@click.argument("symptom", nargs=-1)
@output_options
def command(symptom: tuple[str, ...], **values: Any) -> None:
    """Say which command answers SYMPTOM, in words as they come: gradtool help loss is nan.

    Titles and symptoms of the cookbook are searched, and error messages of Paddle and PyTorch: paste yours as it is,
    in quotes. They come with gradtool. Without SYMPTOM, a short guide.
    """
    out = Output.take(values)
    from gradtool.viz.views import guide

    from ..guide import cookbook, messages
    from . import names

    if not symptom:
        out.emit(guide.first_words([*map(cookbook.row, cookbook.first())]))
        return
    text = " ".join(symptom)
    rows: list[tuple[str, str, tuple[str, ...], str]] = [
        (m.framework, m.title, (m.text,), m.command) for m in messages.search(text)
    ]
    rows += [cookbook.row(question) for question in cookbook.search(text)]
    out.emit(guide.matches(symptom, rows, [*symptom] if len(symptom) == 1 and symptom[0] in names() else []))
