"""Callback of ``gradtool gradcheck``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.questions.gradcheck import Comparison, Gradcheck
from gradtool.engine.request.request import Request
from gradtool.viz.views import gradcheck

from ..context import Output
from ..errors import CLEAN, ENGINE
from ..queries import ask, find_exit_code


def run(values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    out = Output.take(values)
    exit_code = values.pop("exit_code")
    question = Gradcheck.take(values)

    def code(answer: Comparison) -> int:
        return find_exit_code(answer, exit_code) or (ENGINE if answer.story.refusals else CLEAN)

    return ask(question, Request.take(values), out, gradcheck.view, code)
