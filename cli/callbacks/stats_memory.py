"""Callback of ``gradtool stats --memory``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.questions.saved import Saved
from gradtool.engine.request.request import Request
from gradtool.viz.views import saved

from ..context import Output


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    out = Output.take(values)
    top, held = values.pop("top"), values.pop("held")
    question = Saved.take(values)
    out.emit(saved.view(question.ask(Request.take(values), out), top, held))
