"""Callback of ``gradtool graph --where``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.questions.where import Where
from gradtool.engine.request.request import Request
from gradtool.viz.views import where

from ..context import Output


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    out = Output.take(values)
    values["fed"] = values.pop("feed")
    question = Where.take(values)
    out.emit(where.view(question.ask(Request.take(values), out)))
