"""Callback of ``gradtool nan``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.questions.nan import Nan
from gradtool.engine.request.request import Request
from gradtool.viz.views import nan

from ..context import Output
from ..queries import ask, find_exit_code


def run(values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    out = Output.take(values)
    steps, exit_code = values["steps"], values.pop("exit_code")
    question = Nan.take(values)
    return ask(
        question,
        Request.take(values, steps=steps),
        out,
        lambda answer: nan.view(answer, as_table=out.format == "tsv"),
        lambda answer: find_exit_code(answer, exit_code),
    )
