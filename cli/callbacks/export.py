"""Callback of ``gradtool export``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.questions.export import Export
from gradtool.engine.request.request import Request
from gradtool.viz.views import export

from ..context import Output


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    target = values["output"]
    values["output"] = None  # what is shown of the files goes to the terminal
    out = Output.take(values)
    file = export.check_name(target)
    values["form"] = export.form(file)
    question = Export.take(values)
    answer = question.ask(Request.take(values), out)
    files = export.files(answer, file)
    out.emit(export.view(answer, file, files), files)
