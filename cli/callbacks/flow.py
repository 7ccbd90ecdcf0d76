"""Callback of ``gradtool flow``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.questions.flow import Flow
from gradtool.engine.request.request import Request
from gradtool.viz.views import flow

from ..context import Output


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    out = Output.take(values)
    question = Flow.take(values)
    out.emit(flow.view(question.ask(Request.take(values), out)))
