"""Callback of ``gradtool graph --dump``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.questions.dump import Dump
from gradtool.engine.request.request import Request
from gradtool.viz.views import dump

from ..context import Output
from ..files import make_folder


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    out = Output.take(values)
    folder = values.pop("folder")
    stamp = dump.stamp() if values.pop("stamp") else ""
    values["grads"] |= values["feed"] is not None
    question = Dump.take(values)
    answer = question.ask(Request.take(values), out)
    make_folder(folder)
    files = dump.files(answer.graph, folder, answer.gradients, stamp, answer.outline)
    out.emit(dump.view(answer, folder, files), files)
