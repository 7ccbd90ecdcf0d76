"""Callback of ``gradtool why``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.loading.targets import is_model
from gradtool.engine.questions.why import Verdicts, Why
from gradtool.engine.request.request import Request
from gradtool.viz.views import why

from ..context import Output
from ..errors import ENGINE
from ..queries import ask, find_exit_code


def run(values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    out = Output.take(values)
    exit_code = values.pop("exit_code")
    del values["run"]  # a program is run unless --no-run says otherwise
    *values["variables"], values["model"] = _words(values.pop("words"))
    question = Why.take(values)

    def code(answers: Verdicts) -> int:
        return find_exit_code(answers, exit_code) if answers.failure is None or question.error else ENGINE

    every = exit_code and not question.variables
    return ask(question, Request.take(values), out, why.view, code, every)


def _words(words: tuple[str, ...]) -> list[str]:
    """The variables, then the model: the last word, or the first one if only that is a model."""
    if len(words) > 1 and not is_model(words[-1]) and is_model(words[0]):
        return [*words[1:], words[0]]
    return list(words)
