"""Callback of ``gradtool gradients``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.questions.gradients import Gradients
from gradtool.engine.request.request import Request
from gradtool.viz.views import gradients

from ..context import Output


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    out = Output.take(values)
    question = Gradients.take(values)
    out.emit(gradients.view(question.ask(Request.take(values), out)))
