"""Callback of ``gradtool graph --text``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.questions.program import Operators
from gradtool.engine.request.request import Request
from gradtool.viz.views import program
from gradtool.viz.views.view import View

from ..context import Output


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    sources = values.pop("source_")
    print_operators(values, lambda view, answer, as_table: view.view(answer, sources, as_table))


def print_operators(values: dict[str, Any], show: Callable[[Any, Any, bool], View]) -> None:
    """Ask for the operators, and print the view that *show* makes of them.

    Args:
        values: the options of :func:`operator_options`.
        show: takes the module of views, the answer, and True where a table is wanted.
    """
    out = Output.take(values)
    values["fed"] = values.pop("feed")
    question = Operators.take(values)
    answer = question.ask(Request.take(values), out)
    out.emit(show(program, answer, out.format in ("tsv", "markdown")))
