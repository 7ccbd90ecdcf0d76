"""Explain why a gradient is None or zero, and name the line."""

from __future__ import annotations

from typing import Any

import click

from ..asking import ask, exit_option, find_exit_code
from ..computing import add_backend_options
from ..context import Output, add_model_options, backward_options, output_options, run_options
from ..errors import ENGINE
from ..help_pages import Command


@click.command("why", cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="[VAR]... MODEL")
@add_model_options
@add_backend_options
@backward_options
@click.option("--contributions", is_flag=True, help="Show what each use of a shared tensor adds to its gradient.")
@click.option("--prove", is_flag=True, help="Run again without the cut, and show the gradient that comes then.")
@click.option(
    "--error", "error", is_flag=True, help="Explain the error that backward raises: freed or overwritten values."
)
@click.option("--no-run", is_flag=True, help="Look at the graph only; do not run a static program.")
@run_options
@exit_option()
@output_options
def command(**values: Any) -> int:
    """Explain why each VAR of MODEL has no gradient, or a zero one. Without VAR, explain every parameter that has none.

    \b
    gradtool why my_fc.b_0 model.py
    gradtool why model.py
    gradtool why 'encoder.*' model.py --prove

    The answer has the verdict, the path from the loss with the place where it is cut, the line, and what would connect
    it. A static program runs once if a gradient has to be computed.
    """
    out = Output.take(values)
    from gradtool.engine.questions.why import Verdicts, Why
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import why

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
    from gradtool.engine.loading.targets import is_model

    if len(words) > 1 and not is_model(words[-1]) and is_model(words[0]):
        return [*words[1:], words[0]]
    return list(words)
